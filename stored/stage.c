/* SPDX-License-Identifier: MIT */
/*
 * Prepares a local repository for import as a generation. The source may be
 * repacked meanwhile, so the order of these steps matters:
 *
 *	1. read refs
 *	2. look for loose objects, and for alternates
 *	3. list packs
 *	4. link packs
 *	5. if step 2 found something: pack objects that are not in these packs,
 *	   or are in a pack of which a delta chain does not end
 *
 * If step 2 finds nothing, all objects of the refs are in packs, and step 3
 * lists these packs. In the other order, a repack could move loose objects into
 * a pack after the packs were listed. Step 2 would then find no loose objects,
 * and the stage would lack the objects.
 */
#include <string.h>

#include "base/mem.h"
#include "pack/chains.h"
#include "packs/pack-job.h"
#include "packs/roots.h"
#include "refs-write/ref-migrate.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "stored/stage.h"
#include "sys/io.h"

struct making {
	struct stored_stage *stage;
	const struct repo *source;
	const struct progress_out *progress;
	/* owned: objects of the source */
	struct odb *odb;
	struct refs *refs; /* owned: refs of the stage */
	/*
	 * Sound packs of the source repository, without the packs of its
	 * alternates.
	 */
	struct strlist packs;
	char *pack_dir, *pack_base; /* owned */
	struct error *err;
};

static int check_source(const struct repo *source, struct error *err)
{
	if (!source->is_bare)
		return error_set(err, ERR_UNSUPPORTED,
				 "'%s' is not a bare repository",
				 source->git_dir);
	if (source->has_promisor)
		return error_set(err, ERR_UNSUPPORTED,
				 "'%s' is a partial clone, so it lacks objects",
				 source->git_dir);
	return 0;
}

/* ---- refs and configuration */

static int copy_refs(struct making *m)
{
	struct repo to = *m->source;

	to.refs_dir = to.refs_common_dir = m->stage->dir.path;
	to.ref_storage = REPO_REFS_REFTABLE;
	return ref_migrate_write(m->source, &to, true, m->err);
}

static int write_config(struct making *m)
{
	char *from = repo_common_path(m->source, "config");
	char *to = stored_join(m->stage->dir.path, "config", m->err);
	struct buf text = BUF_INIT;
	int ret = from && to ? sys_read_any(&text, from, m->err)
			     : error_nomem(m->err);

	if (!ret &&
	    (config_edit(&text, "core", "repositoryformatversion", "1") < 0 ||
	     config_edit(&text, "core", "bare", "true") < 0 ||
	     config_edit(&text, "extensions", "refstorage", "reftable") < 0))
		ret = error_nomem(m->err);
	if (!ret)
		ret = sys_tempfile_replace(to, text.data, text.len,
					   SYS_FSYNC_NONE, m->err);
	buf_release(&text);
	free(from);
	free(to);
	return ret;
}

static int open_stage(struct making *m)
{
	const struct repo_options options = {
		.path = m->stage->dir.path,
		.flags = REPO_OPEN_EXACT | REPO_OPEN_NO_OWNER,
	};
	int ret = repo_open(&m->stage->repo, &options, m->err);

	return ret ? ret : refs_open(&m->refs, m->stage->repo, m->err);
}

/* ---- one more pack */

static int stop(void *ctx, const struct oid *oid, const char *path)
{
	(void)ctx, (void)oid, (void)path;
	return 1;
}

/*
 * Returns 1 if the source may have objects that are not in its own packs, 0 if
 * not, or a negative error code.
 */
static int has_more(const struct making *m)
{
	return m->odb->dir_nr > 1
		       ? 1
		       : odb_each_loose(m->odb, true, stop, NULL, m->err);
}

/*
 * Opens the objects of the source. Returns 1 if the source may have objects
 * that are not in its own packs, 0 if not, or a negative error code.
 *
 * The search for loose objects needs open objects, so the packs are listed
 * before the search. If the search finds nothing, a repack may have packed the
 * loose objects in between. So this function then opens the objects again,
 * which lists the packs again.
 */
static int open_objects(struct making *m)
{
	int ret = odb_open_whole(&m->odb, m->source, m->err);

	if (!ret)
		ret = has_more(m);
	if (ret)
		return ret;
	odb_close(m->odb);
	m->odb = NULL;
	return odb_open_whole(&m->odb, m->source, m->err);
}

/*
 * Lists the packs of the source whose objects need no other copy in the stage.
 * A pack in which a delta chain is a cycle is not listed: a loose object may be
 * the only good copy.
 */
static int name_packs(struct making *m)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->odb->pack_nr && ret >= 0; i++) {
		const struct pack *pack = m->odb->packs[i].pack;

		ret = pack->is_local ? pack_chains_end(pack, m->err) : 0;
		if (ret > 0 && strlist_add(&m->packs, pack->name) < 0)
			ret = error_nomem(m->err);
	}
	return ret < 0 ? ret : 0;
}

static int run_job(struct making *m, struct pack_job *job)
{
	int ret = roots_add(&job->walk, &job->wants, m->refs, 0, m->err);

	if (!ret)
		ret = pack_job_enumerate(job, m->err);
	if (!ret && job->items.nr) {
		m->stage->packed_nr = job->items.nr;
		ret = pack_job_run(job, m->err);
	}
	return ret;
}

static int pack_more(struct making *m)
{
	struct newpack_options newpack;
	struct pack_job_options options = {
		.newpack = &newpack,
		.keep_packs = &m->packs,
		.missing = PACK_MISSING_ERROR,
	};
	struct pack_job job = {0};
	int ret = newpack_options_load(&newpack, m->source, m->err);

	if (!ret)
		ret = name_packs(m);
	if (ret)
		return ret;
	newpack.max_pack_size = 0;
	newpack.write_rev = true;
	newpack.make.progress = newpack.make.write_progress = m->progress;
	m->pack_dir = repo_object_path(m->stage->repo, "pack");
	m->pack_base = repo_object_path(m->stage->repo, "pack/pack");
	if (!m->pack_dir || !m->pack_base)
		return error_nomem(m->err);
	options.dir = m->pack_dir;
	options.base = m->pack_base;
	ret = pack_job_open(&job, m->odb, m->refs, &options, m->err);
	if (!ret)
		ret = run_job(m, &job);
	pack_job_close(&job);
	return ret;
}

/* ---- checking */

/*
 * Checks that the stage has the file of a pack with the extension `ext`.
 * Returns 0 or a negative error code.
 */
static int check_pack_file(const struct making *m, const struct pack *pack,
			   const char *ext)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	if (buf_printf(&path, "%s/objects/pack/%s.%s", m->stage->dir.path,
		       pack->name, ext) < 0)
		ret = error_nomem(m->err);
	else if (!sys_exists(path.data))
		ret = error_set(m->err, ERR_MISSING,
				"'%s' was repacked meanwhile; try again",
				m->source->git_dir);
	buf_release(&path);
	return ret;
}

/*
 * Checks that the stage has all packs of m->odb, and their indexes. The objects
 * of a pack without an index are not found. Returns 0 or a negative error code.
 */
static int check_packs(const struct making *m)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < m->odb->pack_nr; i++) {
		const struct pack *pack = m->odb->packs[i].pack;

		if (!pack->is_local)
			continue;
		ret = check_pack_file(m, pack, "pack");
		if (!ret)
			ret = check_pack_file(m, pack, "idx");
	}
	return ret;
}

struct tips {
	const struct odb *odb;
	struct error *err;
};

static int check_tip(void *ctx, const struct ref *ref)
{
	const struct tips *t = ctx;

	return odb_has(t->odb, &ref->oid)
		       ? 0
		       : error_set(t->err, ERR_MISSING,
				   "the object that ref '%s' points to is "
				   "missing",
				   ref->name);
}

static int check_tips(struct making *m)
{
	struct tips t = {NULL, m->err};
	struct odb *odb = NULL;
	int ret = odb_open_whole(&odb, m->stage->repo, m->err);

	t.odb = odb;
	if (!ret)
		ret = refs_each_strict(m->refs, NULL, check_tip, &t, m->err);
	odb_close(odb);
	return ret;
}

static int make(struct making *m)
{
	const char *dir = m->stage->dir.path;
	int ret = stored_layout_frame(dir, SYS_FSYNC_NONE, m->err);
	int more;

	if (!ret)
		ret = copy_refs(m);
	if (!ret)
		ret = write_config(m);
	if (!ret)
		ret = open_stage(m);
	if (ret)
		return ret;
	more = open_objects(m);
	ret = more < 0 ? more : stored_stage_take(dir, m->source, m->err);
	if (!ret)
		ret = check_packs(m);
	if (!ret && more)
		ret = pack_more(m);
	if (!ret)
		ret = stored_stage_drop_strays(m->stage->repo, m->err);
	return ret ? ret : check_tips(m);
}

int stored_stage_make(struct stored_stage *stage, const struct repo *source,
		      const char *tmp, const struct progress_out *progress,
		      struct error *err)
{
	struct making m = {
		.stage = stage,
		.source = source,
		.progress = progress,
		.packs = STRLIST_INIT,
		.err = err,
	};
	int ret;

	*stage = (struct stored_stage){.dir = SYS_TEMPDIR_INIT};
	ret = check_source(source, err);
	if (!ret)
		ret = sys_tempdir_create(&stage->dir, tmp, "gitreach-import-",
					 err);
	if (!ret)
		ret = make(&m);
	refs_close(m.refs);
	odb_close(m.odb);
	strlist_release(&m.packs);
	free(m.pack_dir);
	free(m.pack_base);
	return ret;
}

void stored_stage_release(struct stored_stage *stage)
{
	repo_close(stage->repo);
	sys_tempdir_release(&stage->dir);
	stage->repo = NULL;
}
