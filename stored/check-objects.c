/* SPDX-License-Identifier: MIT */
/*
 * Checks the packs, the bitmap indexes and the reachability of a repository in
 * a directory.
 */
#include <string.h>

#include "graph/commit-graph-verify.h"
#include "midx/multi-pack.h"
#include "pack-bitmap.h"
#include "pack/verify.h"
#include "packs/keep-deltas.h"
#include "packs/prepare.h"
#include "packs/roots.h"
#include "refs/refs.h"
#include "stored/check.h"
#include "sys/thread.h"
#include "walk/walk.h"

struct objects {
	const struct stored_check *how;
	struct repo *repo;
	struct refs *refs;
	struct odb *odb;
	struct walk walk;
	bool has_walk;
	int wrong_nr;
	struct error *err;
};

static void tell_line(void *ctx, const char *line)
{
	struct objects *o = ctx;

	o->wrong_nr++;
	o->how->wrong(o->how->ctx, line);
}

/*
 * Handles the result `ret` of one check. ERR_NOMEM and ERR_CANCELLED are
 * returned, because they are no problems of the repository. Any other negative
 * code is a problem: its message is reported. Returns 0 if the next check can
 * be made.
 */
static int note(struct objects *o, int ret, const struct error *why)
{
	if (ret != ERR_NOMEM && ret != ERR_CANCELLED) {
		if (ret < 0)
			tell_line(o, why->msg);
		return 0;
	}
	if (o->err)
		*o->err = *why;
	return ret;
}

static int open_all(struct objects *o, const char *dir)
{
	const struct repo_options options = {
		.path = dir,
		.flags = REPO_OPEN_EXACT | REPO_OPEN_NO_OWNER,
	};
	int ret = repo_open(&o->repo, &options, o->err);

	if (!ret)
		ret = refs_open(&o->refs, o->repo, o->err);
	if (!ret)
		ret = odb_open_whole(&o->odb, o->repo, o->err);
	if (!ret)
		ret = walk_open(&o->walk, o->odb, NULL, 0, o->err);
	o->has_walk = !ret;
	if (!ret)
		history_check_graph(&o->walk.history);
	return ret;
}

static int check_pack(struct objects *o, const struct pack *pack)
{
	struct pack_chains chains = {0};
	struct error why = ERROR_INIT;
	int ret = pack_verify_files(pack, &why);

	if (!ret)
		ret = pack_verify_rev(pack, &why);
	if (!ret)
		ret = pack_chains_init(&chains, pack, &why);
	if (!ret)
		ret = pack_verify(&chains, sys_cpu_nr(), &why);
	pack_chains_release(&chains);
	return note(o, ret, &why);
}

static int check_packs(struct objects *o)
{
	struct error why = ERROR_INIT;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < o->odb->pack_nr; i++)
		ret = check_pack(o, o->odb->packs[i].pack);
	return ret ? ret
		   : note(o,
			  multi_pack_verify(o->odb, 0, tell_line, o, NULL,
					    &why),
			  &why);
}

static int check_bitmaps(struct objects *o)
{
	const struct pack_bitmap_verify how = {.progress = o->how->progress};
	size_t next = 0;
	int ret = 0, found = 1;

	while (!ret && found) {
		struct error why = ERROR_INIT;
		struct pack_bitmap *pb;

		found = pack_bitmap_open_next(&pb, o->odb, &next, &why);
		if (found > 0 &&
		    pack_bitmap_verify(pb, &o->walk, &how, &why) < 0)
			found = why.code;
		pack_bitmap_close(pb);
		ret = note(o, found, &why);
	}
	return ret;
}

/*
 * Checks the files that are made from the packs, such as bitmap indexes and
 * commit-graphs.
 */
static int check_derived(struct objects *o)
{
	const struct commit_graph_verify_options graph = {
		.complain = tell_line,
		.ctx = o,
	};
	struct error why = ERROR_INIT;
	size_t nr, checked;
	int ret = note(o, commit_graph_verify_dir(o->odb, &graph, &why), &why);

	if (!ret)
		ret = note(o, prepare_verify(&nr, o->odb, o->refs, 0, &why),
			   &why);
	if (!ret)
		ret = note(o,
			   keep_deltas_verify(&nr, &checked, o->odb, 0, &why),
			   &why);
	return ret;
}

static int check_links(struct objects *o)
{
	const struct walk_options options = {.objects = true};
	struct walk_tips wants = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct walk_result found = WALK_RESULT_INIT;
	struct error why = ERROR_INIT;
	int ret = roots_add(&o->walk, &wants, o->refs, 0, &why);

	if (!ret)
		ret = walk_enumerate(&found, &o->walk, &wants, &none, &options,
				     &why);
	if (!ret)
		ret = walk_check_items(&o->walk, &found.objects, &why);
	walk_result_release(&found);
	walk_tips_release(&wants);
	return note(o, ret, &why);
}

int stored_check_objects(const char *dir, const struct stored_check *how,
			 struct error *err)
{
	struct objects o = {.how = how, .err = err};
	int ret = open_all(&o, dir);

	if (!ret)
		ret = check_packs(&o);
	if (!ret)
		ret = check_bitmaps(&o);
	if (!ret)
		ret = check_derived(&o);
	if (!ret)
		ret = check_links(&o);
	if (o.has_walk)
		walk_close(&o.walk);
	odb_close(o.odb);
	refs_close(o.refs);
	repo_close(o.repo);
	return ret ? ret : o.wrong_nr;
}
