/* SPDX-License-Identifier: MIT */
/* The steps of `git repack`. */
#include <string.h>

#include "base/mem.h"
#include "repack/old-packs.h"
#include "repack/pack-job.h"
#include "repack/repack.h"
#include "repack/roots.h"
#include "repack/server-info.h"
#include "repo/odb.h"
#include "repo/refs.h"
#include "sys/io.h"

struct run {
	const struct repo *repo;
	const struct repack_options *options;
	struct repack_result *result;
	struct pack_job_options job_options;
	struct pack_job job;
	struct old_packs old;
	struct refs *refs;
	struct odb *odb;
	char *dir;  /* owned: "<objects>/pack" */
	char *base; /* owned: "<objects>/pack/pack" */
};

static void run_release(struct run *r)
{
	pack_job_close(&r->job);
	odb_close(r->odb);
	refs_close(r->refs);
	old_packs_release(&r->old);
	free(r->dir);
	free(r->base);
}

static void set_job_options(struct run *r)
{
	const struct repack_options *o = r->options;

	r->job_options = (struct pack_job_options){
		.newpack = &o->newpack,
		.dir = r->dir,
		.base = r->base,
		.loose_only = !o->all,
		.local = o->local,
		.honor_keep = !o->pack_kept_objects,
		.write_bitmap = o->write_bitmap,
		.bitmap_is_default = o->bitmap_is_default,
		.tip_island = o->all,
		.delta_islands = o->delta_islands,
	};
}

/*
 * The order matters: what will be removed is listed before references are
 * read, so that nothing is removed that they did not name yet.
 */
static int open_all(struct run *r, struct error *err)
{
	struct error warning = ERROR_INIT;
	int ret;

	r->dir = repo_object_path(r->repo, "pack");
	r->base = repo_object_path(r->repo, "pack/pack");
	if (!r->dir || !r->base)
		return error_nomem(err);
	ret = sys_mkdir_p(r->dir, err);
	if (!ret)
		ret = old_packs_list(&r->old, r->dir, err);
	if (!ret)
		ret = refs_open(&r->refs, r->repo, err);
	if (!ret)
		ret = refs_list_now(r->refs, err);
	if (!ret)
		ret = odb_open(&r->odb, r->repo, &warning, err);
	/* A pack that cannot be read may hold what refs need: do not go on. */
	if (!ret && warning.code)
		ret = error_set(err, warning.code, "%s", warning.msg);
	if (ret < 0)
		return ret;
	old_packs_spare_kept(&r->old, r->odb);
	set_job_options(r);
	return pack_job_open(&r->job, r->odb, r->refs, &r->job_options, err);
}

static void take_result(struct run *r)
{
	const struct newpack *np = &r->job.newpack;

	r->result->warning = r->job.warning;
	if (!r->job.items.nr)
		return;
	r->result->is_new = true;
	r->result->checksum = np->checksum;
	r->result->object_nr = (uint32_t)np->nr;
	r->result->report = np->report;
	r->result->bitmap_nr = np->bitmap_nr;
	r->result->bitmap_len = np->bitmap_len;
}

/*
 * A pack of the same name that was there before may have had parts that the
 * new one has not, or have been a cruft pack.
 */
static int remove_stale_parts(const struct run *r, struct error *err)
{
	const struct newpack *np = &r->job.newpack;
	const char *const stale[] = {
		"mtimes",
		np->bitmap_len ? NULL : "bitmap",
		r->options->newpack.write_rev ? NULL : "rev",
	};
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf path = BUF_INIT;
	int ret = 0;

	oid_to_hex(hex, &np->checksum, r->repo->algo);
	for (size_t i = 0; i < ARRAY_NR(stale) && !ret; i++) {
		buf_reset(&path);
		if (!stale[i])
			continue;
		if (buf_printf(&path, "%s-%s.%s", r->base, hex, stale[i]) < 0)
			ret = error_nomem(err);
		else
			ret = sys_unlink(path.data, err);
	}
	buf_release(&path);
	return ret;
}

static int remove_redundant(struct run *r, struct error *err)
{
	const struct oid *keep = r->result->is_new ? &r->result->checksum
						   : NULL;
	int ret = 0;

	if (r->options->all)
		ret = old_packs_remove(&r->old, keep, r->repo->algo, err);
	return ret < 0 ? ret : old_packs_prune_loose(r->repo, err);
}

/* Everything up to the list of objects to pack. */
static int find_objects(struct run *r, struct error *err)
{
	int ret = open_all(r, err);

	if (!ret)
		ret = roots_add(&r->job.walk, &r->job.wants, r->refs, true,
				err);
	return ret < 0 ? ret : pack_job_enumerate(&r->job, err);
}

/*
 * A reference that moved after the packs were opened may name what only a
 * newer pack has: look again, once.
 */
static int find_objects_again(struct run *r, struct error *err)
{
	struct run fresh = {
		.repo = r->repo,
		.options = r->options,
		.result = r->result,
	};

	run_release(r);
	*r = fresh;
	return find_objects(r, err);
}

int repack_run(struct repack_result *result, const struct repo *repo,
	       const struct repack_options *options, struct error *err)
{
	struct run r = {.repo = repo, .options = options, .result = result};
	int ret;

	*result = (struct repack_result){.warning = ERROR_INIT};
	ret = find_objects(&r, err);
	if (ret == ERR_MISSING)
		ret = find_objects_again(&r, err);
	if (!ret && r.job.items.nr) {
		ret = pack_job_run(&r.job, err);
		if (!ret)
			ret = remove_stale_parts(&r, err);
	}
	if (!ret)
		take_result(&r);
	if (!ret && options->remove_redundant)
		ret = remove_redundant(&r, err);
	if (!ret && options->update_server_info)
		ret = server_info_update(repo, r.refs, err);
	run_release(&r);
	return ret;
}
