/* SPDX-License-Identifier: MIT */
/* Writes a single multi-pack-index and its bitmap index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "midx/multi-pack-bitmap.h"
#include "midx/multi-pack-parts.h"
#include "midx/multi-pack-sources.h"
#include "midx/multi-pack.h"
#include "object/hash.h"
#include "odb/odb-midx.h"
#include "pack-bitmap.h"
#include "pack/midx.h"
#include "pack/midx-write.h"
#include "packs/multi-pack-lock.h"
#include "packs/multi-pack-remove.h"
#include "packs/old-packs.h"
#include "repo/shallow.h"
#include "sys/dirlock.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempfile.h"

#define FILE_MODE 0666
#define BITMAP_MODE 0444

/* Returns whether the file at `path` already has these bytes. */
static bool is_same(const char *path, const struct buf *bytes)
{
	struct sys_map map;
	bool same;

	if (sys_map_open(&map, path, NULL) < 0)
		return false;
	same = map.len == bytes->len && !memcmp(map.data, bytes->data, map.len);
	sys_map_close(&map);
	return same;
}

struct writing {
	const struct odb *odb;
	/* a copy of the caller's options */
	struct multi_pack_options *o;
	struct multi_pack_result *result;
	/* format of the new multi-pack-index: 1 or 2 */
	unsigned version;
	struct multi_pack_sources sources;
	/* content of the new multi-pack-index */
	struct buf bytes;
	/* content of the new bitmap index; empty: none is written */
	struct buf bitmap;
	struct buf dir; /* "<objects>/pack" */
	/* owned: path of the multi-pack-index */
	char *path;
	/* owned: the new index, parsed from `bytes` */
	struct odb_midx *om;
	/*
	 * why no bitmap index is made although it was asked for, or why the
	 * multi-pack-index on disk is not kept
	 */
	struct error *warning;
	struct error *err;
};

static void writing_release(struct writing *w)
{
	odb_midx_close(w->om);
	multi_pack_sources_release(&w->sources);
	buf_release(&w->bytes);
	buf_release(&w->bitmap);
	buf_release(&w->dir);
	free(w->path);
}

/* Write bytes to a temporary file. Returns 0 or a negative error code. */
static int stage(struct sys_tempfile *file, const char *dir, const void *bytes,
		 size_t len, unsigned mode, enum sys_fsync_method method,
		 struct error *err)
{
	int ret = sys_tempfile_create(file, dir, "tmp_midx_", mode, err);

	if (!ret)
		ret = sys_tempfile_write(file, bytes, len, err);
	return ret ? ret : sys_tempfile_finish(file, method, err);
}

int multi_pack_put_file(const char *dir, const char *path, const void *bytes,
			size_t len, unsigned mode, enum sys_fsync_method method,
			struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	int ret = path ? stage(&file, dir, bytes, len, mode, method, err)
		       : error_nomem(err);

	if (!ret)
		ret = sys_tempfile_commit(&file, path, method, err);
	sys_tempfile_abort(&file);
	return ret;
}

int multi_pack_put_files(const struct multi_pack_files *files,
			 enum sys_fsync_method method, struct error *err)
{
	struct sys_tempfile midx = SYS_TEMPFILE_INIT;
	struct sys_tempfile bitmap = SYS_TEMPFILE_INIT;
	const struct buf *bytes = files->bytes;
	bool same = files->path && is_same(files->path, bytes);
	char *path, *dir;
	int ret;

	if (!files->path || !files->bitmap_path)
		return error_nomem(err);
	ret = sys_follow_links(&path, files->path, err);
	dir = path ? sys_parent(path) : NULL;
	if (!ret && !dir)
		ret = error_nomem(err);
	if (!ret && files->bitmap->len)
		ret = stage(&bitmap, files->dir, files->bitmap->data,
			    files->bitmap->len, files->bitmap_mode, method,
			    err);
	if (!ret && !same)
		ret = stage(&midx, dir, bytes->data, bytes->len, files->mode,
			    method, err);
	if (!ret && files->bitmap->len)
		ret = sys_tempfile_commit(&bitmap, files->bitmap_path, method,
					  err);
	if (!ret && !same)
		ret = sys_tempfile_commit(&midx, path, method, err);
	sys_tempfile_abort(&bitmap);
	sys_tempfile_abort(&midx);
	free(path);
	free(dir);
	return ret;
}

static int put_files(struct writing *w, enum sys_fsync_method method)
{
	char *bitmap_path = odb_midx_part_path(w->om, "bitmap");
	const unsigned share = w->odb->repo->share;
	const struct multi_pack_files files = {
		.dir = w->dir.data,
		.path = w->path,
		.bitmap_path = bitmap_path,
		.bytes = &w->bytes,
		.bitmap = &w->bitmap,
		.mode = FILE_MODE | share,
		.bitmap_mode = BITMAP_MODE | share,
	};
	int ret = multi_pack_put_files(&files, method, w->err);

	free(bitmap_path);
	return ret;
}

/*
 * Remove the files that the single multi-pack-index on disk has replaced: old
 * bitmap indexes, and the chain of multi-pack-indexes. Readers ignore the chain
 * if there is a single multi-pack-index. `keep_bitmap`: the bitmap index of the
 * single multi-pack-index stays. Returns 0 or a negative error code.
 */
static int remove_replaced(struct writing *w, bool keep_bitmap)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = multi_pack_remove_parts(
		w->dir.data,
		oid_to_hex(hex, &w->result->checksum, w->odb->algo),
		keep_bitmap, w->err);

	return ret < 0 ? ret : multi_pack_remove_chain(w->dir.data, w->err);
}

/*
 * Remove the packs that the new multi-pack-index leaves out (options->but),
 * unless another process needs them by now. Readers no longer look for objects
 * in these packs. Returns 0 or a negative error code.
 */
static int remove_left_out(struct writing *w)
{
	int ret = 0;

	for (uint32_t i = 0; i < w->odb->pack_nr && !ret; i++) {
		const struct pack *pack = w->odb->packs[i].pack;

		if (multi_pack_is_in(w->odb, w->o->dir_nr, pack) &&
		    pack_names_has(w->o->but, pack->name) &&
		    !old_packs_is_in_use(pack))
			ret = old_pack_remove(pack->path, w->err);
	}
	return ret;
}

/*
 * Check that the files on disk are still those of the snapshot. Returns 0 if
 * so, otherwise a negative error code. If the files have changed,
 * result->outdated is also set.
 */
static int check(struct writing *w)
{
	bool *outdated = &w->result->outdated;
	int ret = multi_pack_check_packs(outdated, &w->om->midx, w->dir.data,
					 w->err);

	return ret || !w->o->removes_but
		       ? ret
		       : multi_pack_check_current(outdated, w->odb,
						  w->o->dir_nr, w->err);
}

/* ---- locks */

struct locks {
	struct sys_tempfile midx;
	int packs; /* a result of sys_dirlock_take() */
};

#define LOCKS_INIT                                                             \
	{                                                                      \
		SYS_TEMPFILE_INIT, SYS_DIRLOCK_NONE                            \
	}

static int locks_take(struct locks *locks, const struct writing *w)
{
	const char *dir = w->dir.data;
	int ret = multi_pack_lock(&locks->midx, dir, w->odb->repo->share,
				  w->err);

	if (ret < 0)
		return ret;
	locks->packs = sys_dirlock_take(dir, SYS_DIRLOCK_PACKS_MS, w->err);
	return locks->packs < 0 ? locks->packs : 0;
}

static void locks_drop(struct locks *locks)
{
	sys_dirlock_drop(locks->packs);
	sys_tempfile_abort(&locks->midx);
}

/* ---- installing */

static int install(struct writing *w)
{
	struct locks locks = LOCKS_INIT;
	enum sys_fsync_method method;
	int ret = repo_fsync_method(w->odb->repo, REPO_FSYNC_PACK_METADATA,
				    &method, w->err);

	if (!ret)
		ret = locks_take(&locks, w);
	if (!ret)
		ret = check(w);
	if (!ret)
		ret = put_files(w, method);
	if (!ret)
		ret = remove_replaced(w, w->bitmap.len != 0);
	if (!ret && w->o->removes_but)
		ret = remove_left_out(w);
	locks_drop(&locks);
	return ret;
}

/* Make no bitmap index if the packs have no objects. */
static void check_objects(struct writing *w)
{
	bool has_objects = false;

	for (uint32_t i = 0; i < w->sources.nr; i++)
		has_objects |= w->sources.packs[i].idx->nr != 0;
	if (!w->o->bitmap || has_objects)
		return;
	w->o->bitmap = NULL;
	error_set(w->warning, ERR_INVALID,
		  "refusing to write multi-pack .bitmap without any objects");
}

/* Choose the packs and the format. Returns 0 or a negative error code. */
static int choose(struct writing *w)
{
	int ret = multi_pack_version(&w->version, w->odb->repo, w->err);

	if (!ret)
		ret = multi_pack_sources_init(&w->sources, w->odb, w->o, NULL,
					      w->err);
	/* Without packs (ERR_MISSING), there is no preferred pack either. */
	w->result->no_such_preferred = w->o->preferred && ret == ERR_MISSING;
	if (!ret)
		check_objects(w);
	return ret;
}

/* ---- keeping the multi-pack-index on disk */

static bool covers_sources(const struct pack_midx *midx,
			   const struct multi_pack_sources *sources)
{
	bool covers = midx->pack_nr == sources->nr;

	for (uint32_t i = 0; i < midx->pack_nr && covers; i++)
		covers = multi_pack_sources_find(sources, midx->names[i]) !=
			 PACK_MIDX_NO_PACK;
	return covers;
}

/*
 * Returns 1 if the multi-pack-index on disk has an undamaged bitmap index, 0 if
 * not, or ERR_NOMEM.
 */
static int has_bitmap(struct writing *w)
{
	struct pack_bitmap *pb;
	int ret = pack_bitmap_open_midx(&pb, w->odb, w->o->dir_nr, NULL);
	bool found = ret > 0;

	if (found) {
		w->result->bitmap_nr = pb->file.row_nr;
		w->result->bitmap_len = pb->map.len;
		ret = pack_bitmap_prove(pb, NULL);
		pack_bitmap_close(pb);
	}
	if (ret == ERR_NOMEM)
		return error_nomem(w->err);
	return found && !ret;
}

/*
 * Returns 1 if the multi-pack-index on disk can be kept (see
 * options->keep_current), 0 if not, or ERR_NOMEM.
 */
static int is_current(struct writing *w)
{
	const struct odb_midx *om = w->odb->midxes[w->o->dir_nr];
	int ret;

	if (!w->o->keep_current || !om || om->in_chain)
		return 0;
	ret = hash_check_trailer(om->map.data, om->map.len, w->odb->algo,
				 om->path, w->err);
	if (ret == ERR_CORRUPT) {
		error_set(w->warning, ERR_CORRUPT,
			  "ignoring existing multi-pack-index; "
			  "checksum mismatch");
		return 0;
	}
	if (ret < 0 || om->midx.version != w->version ||
	    !covers_sources(&om->midx, &w->sources))
		return ret;
	return w->o->bitmap ? has_bitmap(w) : 1;
}

static void fill_result(struct writing *w, const struct pack_midx *midx)
{
	w->result->object_nr = midx->nr;
	w->result->pack_nr = midx->pack_nr;
	oid_from_raw(&w->result->checksum, midx->checksum, midx->algo);
}

/*
 * Keep the multi-pack-index that is on disk. Remove two kinds of files:
 * - Older files that this multi-pack-index has replaced. The process that wrote
 *   the multi-pack-index may have left them behind.
 * - The bitmap index of this multi-pack-index, if the caller wants none.
 *
 * Returns 0 or a negative error code.
 */
static int keep(struct writing *w)
{
	const bool keep_bitmap = w->o->bitmap != NULL;
	char hex[OID_MAX_HEX_LEN + 1];
	struct locks locks = LOCKS_INIT;
	int ret;

	fill_result(w, &w->odb->midxes[w->o->dir_nr]->midx);
	oid_to_hex(hex, &w->result->checksum, w->odb->algo);
	ret = multi_pack_has_replaced(w->dir.data, hex, keep_bitmap, w->err);
	if (ret <= 0)
		return ret;
	ret = locks_take(&locks, w);
	if (!ret)
		ret = multi_pack_check_current(&w->result->outdated, w->odb,
					       w->o->dir_nr, w->err);
	if (!ret)
		ret = remove_replaced(w, keep_bitmap);
	locks_drop(&locks);
	return ret;
}

/* ---- making a new one */

static int make_midx(struct writing *w)
{
	struct multi_pack_options *o = w->o;
	struct pack_midx_request rq = {
		.algo = w->odb->algo,
		.version = w->version,
		.packs = w->sources.packs,
		.pack_nr = w->sources.nr,
		.preferred = multi_pack_sources_find(&w->sources, o->preferred),
		.with_order = o->bitmap != NULL,
		.progress = o->progress,
	};
	struct pack_midx_written written;
	int ret;

	w->result->no_such_preferred = o->preferred &&
				       rq.preferred == PACK_MIDX_NO_PACK;
	ret = pack_midx_write(&w->bytes, &rq, &written, w->err);
	if (!ret)
		ret = odb_midx_parse(&w->om, w->bytes.data, w->bytes.len,
				     w->path, w->odb->algo, w->err);
	if (!ret)
		fill_result(w, &w->om->midx);
	return ret;
}

int multi_pack_make_bitmap(struct buf *out, struct multi_pack_result *result,
			   const struct odb *odb, struct odb_midx *om,
			   const struct multi_pack_options *options,
			   const struct multi_pack_below *below,
			   struct error *err)
{
	struct multi_pack_bitmap_report report;
	struct pack_midx_order order;
	struct bitmap_space space;
	struct multi_pack_bitmap_request rq = {
		.space = &space,
		.refs = options->refs,
		.refs_snapshot = options->refs_snapshot,
		.options = options->bitmap,
		.below = below ? below->old : NULL,
		.compacts = below && below->compacts,
	};
	int ret = pack_midx_order_init(&order, &om->midx, NULL, 0, err);

	if (ret < 0)
		return ret;
	space = bitmap_space_of_midx(odb, om, &order);
	space.base = below && below->base ? &below->base->space : NULL;
	ret = multi_pack_bitmap_make(out, &report, &rq, err);
	pack_midx_order_release(&order);
	result->not_closed = ret == ERR_MISSING;
	result->bitmap_nr = report.bitmap_nr;
	result->bitmap_len = out->len;
	if (report.warning.code)
		result->warning = report.warning;
	return ret;
}

static int found_shallow(void *ctx, const struct oid *oid)
{
	return 1;
}

int multi_pack_check_bitmap(struct multi_pack_options *options,
			    struct error *warning, const struct odb *odb,
			    struct error *err)
{
	const char *why = NULL;
	int ret;

	if (!options->bitmap)
		return 0;
	ret = repo_shallow_each(odb->repo, found_shallow, NULL, err);
	if (ret < 0)
		return ret;
	for (uint32_t i = 0; i < odb->pack_nr && !why; i++)
		if (odb->packs[i].pack->is_promisor)
			why = "objects are missing that a remote promised";
	if (ret)
		why = "the repository is shallow";
	if (why) {
		options->bitmap = NULL;
		error_set(warning, ERR_INVALID,
			  "disabling bitmap writing, as %s", why);
	}
	return 0;
}

static int make_bitmap(struct writing *w)
{
	int ret = odb_midx_link(w->om, w->odb, w->odb->dirs[w->o->dir_nr],
				w->err);

	return ret < 0 ? ret
		       : multi_pack_make_bitmap(&w->bitmap, w->result, w->odb,
						w->om, w->o, NULL, w->err);
}

static int make_and_install(struct writing *w)
{
	int ret = make_midx(w);

	if (!ret && w->o->bitmap)
		ret = make_bitmap(w);
	return ret < 0 ? ret : install(w);
}

int multi_pack_write(struct multi_pack_result *result, const struct odb *odb,
		     const struct multi_pack_options *options,
		     struct error *err)
{
	struct multi_pack_options o = *options;
	struct error warning = ERROR_INIT;
	struct writing w = {
		.odb = odb,
		.o = &o,
		.result = result,
		.bytes = BUF_INIT,
		.bitmap = BUF_INIT,
		.dir = BUF_INIT,
		.warning = &warning,
		.err = err,
	};
	int ret = 0;

	*result = (struct multi_pack_result){.warning = ERROR_INIT};
	if (!buf_printf(&w.dir, "%s/pack", odb->dirs[options->dir_nr]))
		w.path = odb_midx_path(w.dir.data);
	if (!w.path)
		ret = error_nomem(err);
	if (!ret)
		ret = multi_pack_check_bitmap(&o, &warning, odb, err);
	if (!ret)
		ret = choose(&w);
	if (!ret)
		ret = is_current(&w);
	if (ret >= 0)
		ret = ret ? keep(&w) : make_and_install(&w);
	if (warning.code)
		result->warning = warning;
	writing_release(&w);
	return ret;
}

/*
 * Returns the .idx of each pack that the multi-pack-index names. The entry of a
 * missing pack is NULL. Returns NULL if there is no memory.
 */
static const struct pack_idx **find_packs(const struct odb *odb, size_t dir_nr,
					  const struct pack_midx *midx)
{
	const struct pack_idx **packs = mem_calloc(
		midx->pack_nr, sizeof(const struct pack_idx *));

	for (uint32_t i = 0; i < midx->pack_nr && packs; i++)
		for (uint32_t p = 0; p < odb->pack_nr && !packs[i]; p++) {
			const struct pack *pack = odb->packs[p].pack;
			size_t len = strlen(pack->name);

			if (multi_pack_is_in(odb, dir_nr, pack) &&
			    !strncmp(midx->names[i], pack->name, len) &&
			    !strcmp(midx->names[i] + len, ".idx"))
				packs[i] = &pack->idx;
		}
	return packs;
}

/*
 * Report objects that more than one layer covers. Each object must be in one
 * layer only, because it has one bit.
 */
static void check_once(const struct odb_midx *om,
		       const struct pack_midx_check *check, int *bad)
{
	char line[2 * OID_MAX_HEX_LEN], hex[OID_MAX_HEX_LEN + 1];
	uint32_t pos;

	for (uint32_t i = 0; i < om->midx.nr; i++) {
		const uint8_t *raw = pack_midx_oid(&om->midx, i);
		const struct odb_midx *base = om->base;

		while (base && !pack_midx_find(&base->midx, raw, &pos))
			base = base->base;
		if (!base)
			continue;
		snprintf(line, sizeof(line),
			 "oid %s is in a lower layer of the chain too",
			 oid_raw_to_hex(hex, raw, om->midx.algo));
		check->report(check->ctx, line);
		*bad = 1;
	}
}

static int verify_layer(const struct odb *odb, size_t dir_nr,
			const struct odb_midx *om,
			struct pack_midx_check *check, int *bad,
			struct error *err)
{
	const struct pack_idx **packs = find_packs(odb, dir_nr, &om->midx);
	int ret;

	check->packs = packs;
	ret = packs ? pack_midx_verify(&om->midx, check, err)
		    : error_nomem(err);
	free(packs);
	if (ret > 0)
		*bad = 1;
	if (ret >= 0)
		check_once(om, check, bad);
	return ret < 0 ? ret : 0;
}

/*
 * Store a line of a check's report. The lines are dropped if the check is
 * repeated.
 */
static void keep_line(void *ctx, const char *line)
{
	struct buf *lines = ctx;

	/*
	 * If memory runs out, this line of the report is lost, but the return
	 * value of the check still says that there is a problem.
	 */
	buf_append(lines, line, strlen(line) + 1);
}

static int verify_layers(const struct odb *odb, size_t dir_nr,
			 struct pack_midx_check *check, struct error *err)
{
	struct error why = ERROR_INIT;
	struct odb_midx *top;
	int bad = 0, ret;

	ret = odb_midx_open(&top, odb->dirs[dir_nr], odb->algo, &why);
	if (ret == ERR_MISSING)
		return 0;
	/*
	 * `why` describes a layer that could not be opened. `why` is set even
	 * if other layers were opened.
	 */
	if (why.code)
		ret = error_set(err, why.code, "%s", why.msg);
	for (const struct odb_midx *om = top; om && !ret; om = om->base)
		ret = verify_layer(odb, dir_nr, om, check, &bad, err);
	odb_midx_close(top);
	return ret < 0 ? ret : bad;
}

/* Returns whether both snapshots have the same directory at index dir_nr. */
static bool has_dir(const struct odb *newer, const struct odb *odb,
		    size_t dir_nr)
{
	return dir_nr < newer->dir_nr &&
	       !strcmp(newer->dirs[dir_nr], odb->dirs[dir_nr]);
}

int multi_pack_verify(const struct odb *odb, size_t dir_nr,
		      void (*report)(void *ctx, const char *line), void *ctx,
		      const struct progress_out *progress, struct error *err)
{
	struct buf lines = BUF_INIT;
	struct pack_midx_check check = {
		.report = keep_line,
		.ctx = &lines,
		.progress = progress,
	};
	const struct odb *now = odb;
	struct odb *newer = NULL;
	int ret = verify_layers(now, dir_nr, &check, err);

	for (int i = 0; i < MULTI_PACK_MAX_TRIES && ret && odb_has_changed(now);
	     i++) {
		odb_close(newer);
		ret = odb_open_packs(&newer, odb->repo, NULL, err);
		if (!ret && !has_dir(newer, odb, dir_nr))
			ret = error_set(err, ERR_MISSING,
					"'%s' is not an alternate any more",
					odb->dirs[dir_nr]);
		if (ret < 0)
			break;
		now = newer;
		buf_reset(&lines);
		ret = verify_layers(now, dir_nr, &check, err);
	}
	for (size_t at = 0; at < lines.len; at += strlen(lines.data + at) + 1)
		report(ctx, lines.data + at);
	odb_close(newer);
	buf_release(&lines);
	return ret;
}
