/* SPDX-License-Identifier: MIT */
/* git bitmap show: prints the bitmap of one commit. */
#include <inttypes.h>
#include <stdio.h>

#include "builtin/bitmap-parts.h"
#include "builtin/options.h"

static const char usage[] = "git bitmap show [--count | --objects] <commit>";

struct show {
	struct bitmap_place place;
	struct oid oid; /* the commit */
	bool count, objects;
	/*
	 * text to print before the next number of a pseudo-merge: "" for the
	 * first one
	 */
	const char *comma;
	struct error *err;
};

static int resolve(struct show *s, const char *name)
{
	struct store *store = &s->place.store;
	enum object_type type;
	struct oid named;
	int ret = store_resolve(store, &named, name, s->err);

	if (!ret)
		ret = odb_peel(store->reader, &named, &s->oid, &type, s->err);
	if (!ret && type != OBJ_COMMIT)
		ret = error_set(s->err, ERR_INVALID, "'%s' is not a commit",
				name);
	return ret;
}

static int print_pseudo(void *ctx, uint32_t nr)
{
	struct show *s = ctx;

	printf("%s%" PRIu32, s->comma, nr);
	s->comma = ",";
	return 0;
}

/* Print the numbers of the pseudo-merges that the commit belongs to. */
static int print_pseudos(struct show *s, uint32_t idx_pos)
{
	const struct pack_bitmap *pb = s->place.pb;
	uint32_t bit;
	int ret = 0;

	s->comma = "";
	printf("pseudo-merges=");
	if (bitmap_space_bit_of(&pb->space, idx_pos, &bit))
		ret = pseudo_merges_each_of(&pb->file.pseudo, bit, print_pseudo,
					    s, s->err);
	putchar('\n');
	return ret;
}

static void print_id(const char *key, const struct pack_bitmap *pb,
		     uint32_t idx_pos)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (idx_pos >= pb->file.object_nr)
		return;
	oid_raw_to_hex(hex, bitmap_space_id(&pb->space, idx_pos),
		       pb->odb->algo);
	printf("%s=%s\n", key, hex);
}

static int print_stored(struct show *s, uint32_t row)
{
	const struct bitmap_file *f = &s->place.pb->file;
	struct bitmap_row at = bitmap_file_row(f, row);
	struct bitmap_stored stored;
	int ret = bitmap_file_stored(&stored, f, row, s->err);

	if (ret < 0)
		return ret;
	printf("offset=%" PRIu64 "\nbytes=%" PRIu64 "\nxor-depth=%" PRIu32 "\n",
	       at.off, stored.len, stored.depth);
	if (at.xor_row != BITMAP_NO_XOR)
		print_id("xor-base", s->place.pb,
			 bitmap_file_row(f, at.xor_row).idx_pos);
	return 0;
}

static int print_object(void *ctx, uint32_t obj_pos, enum object_type type)
{
	const struct show *s = ctx;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	odb_oid(&oid, s->place.store.odb, obj_pos);
	oid_to_hex(hex, &oid, s->place.store.odb->algo);
	printf("%s %s\n", hex, object_type_name(type));
	return 0;
}

static void print_counts(struct show *s, const struct pack_bitmap_result *marks)
{
	uint64_t counts[BITMAP_TYPE_NR];

	pack_bitmap_count(counts, s->place.pb, marks);
	printf("commits=%" PRIu64 "\ntrees=%" PRIu64 "\nblobs=%" PRIu64
	       "\ntags=%" PRIu64 "\n",
	       counts[BITMAP_COMMITS], counts[BITMAP_TREES],
	       counts[BITMAP_BLOBS], counts[BITMAP_TAGS]);
}

/*
 * Print the objects in the bitmap of a commit. The options decide what is
 * printed: the ids of the objects, the number of objects of each type, or only
 * the number of all objects.
 */
static int print_marks(struct show *s, uint32_t row)
{
	struct pack_bitmap_result marks = PACK_BITMAP_RESULT_INIT;
	const struct pack_bitmap *pb = s->place.pb;
	struct bitset scratch = BITSET_INIT;
	int ret = 0;

	if (bitset_init(&marks.packed, pb->file.object_nr) < 0)
		ret = error_nomem(s->err);
	if (!ret)
		ret = bitmap_file_or(&marks.packed, &pb->file, row, &scratch,
				     s->err);
	if (!ret && s->count)
		print_counts(s, &marks);
	else if (!ret && s->objects)
		ret = pack_bitmap_each(pb, &marks, print_object, s, s->err);
	else if (!ret)
		printf("marks=%zu\n", bitset_count(&marks.packed));
	bitset_release(&scratch);
	pack_bitmap_result_release(&marks);
	return ret;
}

/*
 * Print the bitmap. Returns 1 if the commit has no bitmap, otherwise 0 or a
 * negative error code.
 */
static int show(struct show *s)
{
	const struct pack_bitmap *pb = s->place.pb;
	bool is_brief = s->count || s->objects;
	uint32_t idx_pos, row = 0;
	bool in_pack = bitmap_space_find(&pb->space, s->oid.bytes, &idx_pos);
	bool has_bitmap = in_pack && bitmap_file_find(&pb->file, idx_pos, &row);
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = 0;

	oid_to_hex(hex, &s->oid, pb->odb->algo);
	if (is_brief && !has_bitmap)
		builtin_error("commit %s has no bitmap", hex);
	if (!is_brief)
		printf("commit=%s\npath=%s\npacked=%s\nbitmap=%s\n", hex,
		       pb->path, in_pack ? "yes" : "no",
		       has_bitmap ? "yes" : "no");
	if (!is_brief && in_pack)
		ret = print_pseudos(s, idx_pos);
	if (!ret && !is_brief && has_bitmap)
		ret = print_stored(s, row);
	if (!ret && has_bitmap)
		ret = print_marks(s, row);
	return ret < 0 ? ret : !has_bitmap;
}

int bitmap_show(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct show s = {.err = &err};
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "count",
		 .flag = &s.count,
		 .help = "print only the number of marked objects of each "
			 "type"},
		{.kind = OPTION_FLAG,
		 .long_name = "objects",
		 .flag = &s.objects,
		 .help = "print only the marked objects, by type"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	int code, ret;

	if (operands < 0)
		return 129;
	if (operands != 1 || (s.count && s.objects))
		return options_usage(options, usage);
	code = bitmap_place_open(&s.place, env, false);
	if (!code) {
		ret = resolve(&s, argv[1]);
		if (!ret)
			ret = show(&s);
		code = ret < 0 ? builtin_fail(&err) : ret;
	}
	bitmap_place_close(&s.place);
	return code;
}
