/* SPDX-License-Identifier: MIT */
/*
 * fsck: checks the files of refs, packs and their side files,
 * multi-pack-indexes and commit-graphs. Also finds files in the directories of
 * loose objects that are not loose objects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/fsck-parts.h"
#include "builtin/refs-parts.h"
#include "graph/commit-graph-verify.h"
#include "midx/multi-pack.h"
#include "object/hash.h"
#include "pack-bitmap.h"
#include "pack/verify.h"
#include "sys/io.h"
#include "sys/map.h"

static void note(struct fsck_run *r, unsigned found, const struct error *why)
{
	builtin_error("%s", why->msg);
	r->found |= found;
}

/* ---- refs */

void fsck_check_refs(struct fsck_run *r)
{
	struct shown_path shown;
	struct refs_check check = {
		.rules = &r->rules,
		.report = refs_report_print,
		.looking = r->a.verbose ? refs_report_looking : NULL,
		.ctx = &shown,
	};
	struct error why = ERROR_INIT;

	if (shown_path_init(&shown, r->s.repo, &why) < 0 ||
	    refs_check_run(&check, r->s.repo, &why) < 0) {
		builtin_error("%s", why.msg);
		check.failed = true;
	}
	shown_path_release(&shown);
	if (check.failed)
		r->found |= FSCK_FOUND_REFS;
}

/* ---- files that are no objects */

struct loose_dir {
	struct buf path; /* "<objects>/ab" */
	enum hash_algo algo;
	const struct shown_path *shown;
};

/*
 * Report a file among the loose objects whose name is not an object id.
 * Temporary files are not reported; git prune removes them.
 */
static int judge_name(void *ctx, const char *name)
{
	const struct loose_dir *dir = ctx;
	const char *prefix, *shown;
	size_t len = strlen(name);

	if (strncmp(name, "tmp_obj_", strlen("tmp_obj_")) != 0 &&
	    (len != hash_hex_len(dir->algo) - 2 ||
	     strspn(name, "0123456789abcdefABCDEF") != len)) {
		shown = shown_path_get(dir->shown, dir->path.data, &prefix);
		fprintf(stderr, "bad sha1 file: %s%s/%s\n", prefix, shown,
			name);
	}
	return 0;
}

static void name_non_objects(struct fsck_run *r, const char *objects,
			     const struct shown_path *shown)
{
	struct error why = ERROR_INIT;

	for (unsigned i = 0; i < 256; i++) {
		struct loose_dir dir = {BUF_INIT, r->s.repo->algo, shown};
		int ret = buf_printf(&dir.path, "%s/%02x", objects, i);

		if (!ret)
			ret = sys_dir_each(dir.path.data, judge_name, &dir,
					   &why);
		if (ret < 0 && ret != ERR_MISSING)
			note(r, FSCK_FOUND_OBJECT, &why);
		buf_release(&dir.path);
	}
}

int fsck_name_non_objects(struct fsck_run *r)
{
	const struct odb *odb = r->s.odb;
	struct shown_path shown;
	int ret = shown_path_init(&shown, r->s.repo, r->err);

	for (size_t i = 0; !ret && i < odb->dir_nr; i++)
		name_non_objects(r, odb->dirs[i], &shown);
	shown_path_release(&shown);
	return ret;
}

/* ---- packs and their side files */

/*
 * Check the order of entries and the checksum in the file "<pack>.rev". A pack
 * without this file is no error.
 */
static void check_rev(struct fsck_run *r, const struct pack *pack)
{
	struct error why = ERROR_INIT;

	if (pack_verify_rev(pack, &why) < 0) {
		note(r, FSCK_FOUND_REV, &why);
		builtin_error("invalid rev-index for pack '%s.pack'",
			      pack->path);
	}
}

static void check_packs(struct fsck_run *r)
{
	const struct odb *odb = r->s.odb;

	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		struct error why = ERROR_INIT;

		if (!r->a.connectivity_only &&
		    pack_verify_files(odb->packs[i].pack, &why) < 0)
			note(r, FSCK_FOUND_PACK, &why);
		check_rev(r, odb->packs[i].pack);
	}
}

static void print_line(void *ctx, const char *line)
{
	fprintf(stderr, "%s\n", line);
}

/*
 * Check the multi-pack-indexes of all object directories, with all layers of
 * chains. Does nothing if core.multiPackIndex is false.
 */
static void check_midxes(struct fsck_run *r)
{
	const struct odb *odb = r->s.odb;
	struct error why = ERROR_INIT;

	for (size_t i = 0; r->uses_midx && i < odb->dir_nr; i++) {
		int ret = multi_pack_verify(odb, i, print_line, NULL, NULL,
					    &why);

		if (ret < 0)
			note(r, FSCK_FOUND_MIDX, &why);
		else if (ret)
			r->found |= FSCK_FOUND_MIDX;
	}
}

static void check_commit_graphs(struct fsck_run *r)
{
	struct error why = ERROR_INIT;

	for (size_t i = 0; r->uses_graph && i < r->s.odb->dir_nr; i++) {
		const struct commit_graph_verify_options o = {
			.dir_nr = i,
			.threads = repo_threads(r->s.repo),
			.complain = print_line,
		};
		int ret = commit_graph_verify_dir(r->s.odb, &o, &why);

		if (ret < 0)
			note(r, FSCK_FOUND_COMMIT_GRAPH, &why);
		else if (ret)
			r->found |= FSCK_FOUND_COMMIT_GRAPH;
	}
}

static void check_bitmaps(struct fsck_run *r)
{
	struct pack_bitmap *bitmap;
	struct error why = ERROR_INIT;
	/*
	 * An odb that has the multi-pack-indexes, because a bitmap index may
	 * belong to one of them. r->s.odb was opened without them.
	 */
	struct odb *odb;
	size_t next = 0;
	int ret = odb_open(&odb, r->s.repo, NULL, &why);

	if (ret < 0)
		note(r, FSCK_FOUND_BITMAP, &why);
	for (ret = 1; odb && ret;) {
		ret = pack_bitmap_open_next(&bitmap, odb, &next, &why);
		if (ret < 0 ||
		    (ret && bitmap_file_verify(&bitmap->file, &why) < 0))
			note(r, FSCK_FOUND_BITMAP, &why);
		pack_bitmap_close(bitmap);
	}
	odb_close(odb);
}

void fsck_check_files(struct fsck_run *r)
{
	check_packs(r);
	check_midxes(r);
	check_commit_graphs(r);
	check_bitmaps(r);
}
