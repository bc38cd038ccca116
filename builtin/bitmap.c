/* SPDX-License-Identifier: MIT */
/*
 * git bitmap: shows what bitmap indexes contain and how useful they are. All
 * subcommands except list have files of their own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "builtin/bitmap-parts.h"
#include "builtin/date-format.h"
#include "builtin/options.h"

static const char usage_text[] =
	"git bitmap list [--commits]\n"
	"git bitmap show [--count | --objects] <commit>\n"
	"git bitmap stats\n"
	"git bitmap verify [--sample=<n> [--seed=<n>]]\n"
	"git bitmap explain [--filter=<filter-spec>] [--stdin] <rev>...\n"
	"git bitmap explain (--request=<text> | --record)";

/* ---- git bitmap list: prints all indexes and their commits */

static const char list_usage[] = "git bitmap list [--commits]";

/*
 * Print "<id> <date> <depth> <bytes>" for a commit with a bitmap. <depth> is
 * the number of other bitmaps to decode first. <bytes> is the stored size.
 */
static int print_commit(struct bitmap_place *place,
			const struct pack_bitmap *pb, uint32_t row,
			const struct bitmap_stored *stored, struct error *err)
{
	uint32_t idx_pos = bitmap_file_row(&pb->file, row).idx_pos;
	uint32_t obj_pos, commit;
	struct history *h = &place->walk.history;
	struct buf date = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = 0;

	if (idx_pos >= pb->file.object_nr)
		ret = error_set(
			err, ERR_CORRUPT,
			"%s: the object number of a bitmap is out of range",
			pb->path);
	if (!ret &&
	    (objspace_add(h->space, bitmap_space_id(&pb->space, idx_pos),
			  &obj_pos) < 0 ||
	     history_add(h, obj_pos, &commit) < 0))
		ret = error_nomem(err);
	if (!ret)
		ret = history_parse(h, commit, err);
	if (ret < 0)
		return ret;
	if (date_format_append(&date, h->commits[commit].date, 0,
			       DATE_FORMAT_ISO_STRICT) < 0)
		return error_nomem(err);
	oid_raw_to_hex(hex, bitmap_space_id(&pb->space, idx_pos),
		       pb->odb->algo);
	printf("%s %s %" PRIu32 " %" PRIu64 "\n", hex, date.data, stored->depth,
	       stored->len);
	buf_release(&date);
	return 0;
}

/*
 * Print the commits with bitmaps in the order of the bitmap index. If gitreach
 * wrote the index, ancestors come before descendants.
 */
static int print_commits(struct bitmap_place *place,
			 const struct pack_bitmap *pb, struct error *err)
{
	uint32_t nr = pb->file.row_nr;
	uint32_t *order = mem_alloc(nr, sizeof(*order));
	struct bitmap_stored *stored = mem_alloc(nr, sizeof(*stored));
	int ret = 0;

	if (!order || !stored || bitmap_file_order(order, &pb->file) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = bitmap_file_stored_all(stored, &pb->file, err);
	for (uint32_t i = 0; i < nr && !ret; i++)
		ret = print_commit(place, pb, order[i], &stored[order[i]], err);
	free(order);
	free(stored);
	return ret;
}

/*
 * Print the next bitmap index. Returns 1 if an index was printed, 0 if there
 * are no more indexes, or a negative error code.
 */
static int list_next(struct bitmap_place *place, size_t *next, bool commits,
		     struct error *err)
{
	struct pack_bitmap *pb;
	int ret = pack_bitmap_open_next(&pb, place->store.odb, next, err);

	if (ret <= 0)
		return ret;
	ret = pack_bitmap_prove(pb, err);
	if (!ret)
		bitmap_print_index(pb, ' ');
	if (!ret && commits)
		ret = print_commits(place, pb, err);
	pack_bitmap_close(pb);
	return ret < 0 ? ret : 1;
}

static int list(int argc, const char **argv, struct builtin_env *env)
{
	bool commits = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "commits",
		 .flag = &commits,
		 .help = "also list the commits that have a bitmap"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, list_usage);
	struct bitmap_place place;
	size_t next = 0;
	int code, ret = 1;

	if (operands < 0)
		return 129;
	if (operands)
		return options_usage(options, list_usage);
	code = bitmap_place_open(&place, env, true);
	while (code <= 1 && ret) {
		struct error err = ERROR_INIT;

		ret = list_next(&place, &next, commits, &err);
		if (ret >= 0)
			continue;
		builtin_error("%s", err.msg);
		code = 1;
	}
	bitmap_place_close(&place);
	return code;
}

/* ---- the command */

int cmd_bitmap(int argc, const char **argv, struct builtin_env *env)
{
	static const struct subcommand subcommands[] = {
		{"explain", bitmap_explain}, {"list", list},
		{"show", bitmap_show},       {"stats", bitmap_stats},
		{"verify", bitmap_verify},   {NULL, NULL},
	};

	return subcommand_run(subcommands, usage_text, argc, argv, env);
}
