/* SPDX-License-Identifier: MIT */
/* git bitmap: opens the repository and the index for a subcommand. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "builtin/bitmap-parts.h"

int bitmap_place_open(struct bitmap_place *place, struct builtin_env *env,
		      bool without_index)
{
	struct error err = ERROR_INIT;
	int ret, code;

	*place = (struct bitmap_place){.has_walk = false};
	code = store_open(&place->store, env);
	if (code)
		return code;
	if (walk_open(&place->walk, place->store.odb, NULL, 0, &err) < 0)
		return builtin_fail(&err);
	place->has_walk = true;
	if (without_index)
		return 0;
	ret = pack_bitmap_open(&place->pb, place->store.odb, &err);
	if (ret > 0) {
		if (err.code)
			builtin_warn("%s", err.msg);
		if (!pack_bitmap_prove(place->pb, &err))
			return 0;
	}
	builtin_error("%s", ret ? err.msg : "there is no bitmap index");
	return 1;
}

void bitmap_place_close(struct bitmap_place *place)
{
	pack_bitmap_close(place->pb);
	if (place->has_walk)
		walk_close(&place->walk);
	store_close(&place->store);
}

static void print_extensions(const struct bitmap_file *f)
{
	static const struct {
		unsigned flag;
		const char *name;
	} extensions[] = {
		{BITMAP_HASH_CACHE, "hash-cache"},
		{BITMAP_LOOKUP_TABLE, "lookup-table"},
		{BITMAP_PSEUDO_MERGES, "pseudo-merges"},
	};
	const char *comma = "";

	printf("extensions=");
	for (size_t i = 0; i < ARRAY_NR(extensions); i++) {
		if (!(f->flags & extensions[i].flag))
			continue;
		printf("%s%s", comma, extensions[i].name);
		comma = ",";
	}
}

void bitmap_print_index(const struct pack_bitmap *pb, char separator)
{
	const struct bitmap_file *f = &pb->file;

	printf("objects=%" PRIu32 "%c", f->object_nr, separator);
	printf("bitmaps=%" PRIu32 "%c", f->row_nr, separator);
	printf("pseudo-merges=%" PRIu32 "%c", f->pseudo.nr, separator);
	print_extensions(f);
	printf("%cbytes=%" PRIu64 "%cpath=%s\n", separator, bitmap_file_len(f),
	       separator, pb->path);
}
