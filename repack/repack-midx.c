/* SPDX-License-Identifier: MIT */
/* Writes the multi-pack-index at the end of a repack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "midx/multi-pack-chain.h"
#include "midx/multi-pack.h"
#include "pack-bitmap.h"
#include "packs/layered.h"
#include "repack/repack-parts.h"
#include "sys/io.h"

struct midx_run {
	const struct repack_midx_request *rq;
	struct odb *odb;
	/*
	 * Owned: refs that are newer than rq->refs, but were read before `odb`
	 * was opened; NULL: not used.
	 */
	struct refs *late;
	/* borrowed: the refs that choose the commits that get bitmaps */
	struct refs *refs;
	struct strlist but;
	char preferred[OID_MAX_HEX_LEN + 16]; /* "pack-<hex>"; or "" */
};

static bool is_candidate(const struct midx_run *m, const struct pack *pack)
{
	return pack->is_local && !pack->is_cruft && pack->idx.nr &&
	       !pack_names_has(&m->but, pack->name);
}

static const char *choose_preferred(struct midx_run *m)
{
	const struct pack *largest = NULL;
	char hex[OID_MAX_HEX_LEN + 1];

	if (m->rq->preferred) {
		oid_to_hex(hex, m->rq->preferred, m->odb->algo);
		snprintf(m->preferred, sizeof(m->preferred), "pack-%s", hex);
	}
	for (uint32_t i = 0; i < m->odb->pack_nr; i++) {
		const struct pack *pack = m->odb->packs[i].pack;

		if (!is_candidate(m, pack))
			continue;
		if (!strcmp(pack->name, m->preferred))
			return pack->name;
		if (!largest || pack->idx.nr > largest->idx.nr)
			largest = pack;
	}
	return largest ? largest->name : NULL;
}

static int leave_out_cruft(struct midx_run *m)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->odb->pack_nr && !ret; i++) {
		const struct pack *pack = m->odb->packs[i].pack;

		if (pack->is_local && pack->is_cruft &&
		    !pack_names_has(&m->but, pack->name))
			ret = strlist_add(&m->but, pack->name);
	}
	return ret;
}

static bool has_packs(const struct midx_run *m)
{
	for (uint32_t i = 0; i < m->odb->pack_nr; i++)
		if (m->odb->packs[i].pack->is_local &&
		    !pack_names_has(&m->but, m->odb->packs[i].pack->name))
			return true;
	return false;
}

/*
 * Remove the file .bitmap of each pack that the multi-pack-index covers.
 * Returns 0 or a negative error code.
 */
static int remove_pack_bitmaps(const struct midx_run *m, struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->odb->pack_nr && !ret; i++) {
		const struct pack *pack = m->odb->packs[i].pack;
		char *path;

		if (!pack->is_local || pack_names_has(&m->but, pack->name))
			continue;
		path = pack_bitmap_path(pack->path);
		ret = path ? sys_unlink(path, err) : error_nomem(err);
		free(path);
	}
	return ret;
}

/*
 * Merge layers of the multi-pack-index chain once. Returns 0 (also if there
 * are no layers to merge; *written does not change then) or a negative error
 * code.
 */
static int merge_now(struct midx_run *m, struct multi_pack_result *written,
		     const struct multi_pack_options *o, struct error *err)
{
	struct multi_pack_layer_options layer = {.base = NULL};
	const struct multi_pack_options merging = {
		.progress = o->progress,
		.bitmap = o->bitmap,
		.refs = o->refs,
	};
	struct odb_midx *top, *lowest;
	int ret;

	odb_close(m->odb);
	ret = odb_open_named(&m->odb, m->rq->repo, NULL, err);
	if (ret < 0)
		return ret;
	top = m->odb->midxes[0];
	lowest = top ? layered_lowest(top, m->rq->split_factor) : NULL;
	if (lowest == top)
		return 0;
	layer.base = lowest->base;
	return multi_pack_compact(written, m->odb, &merging, lowest, top,
				  &layer, err);
}

/*
 * Merge layers of the multi-pack-index chain after a new layer was appended. If
 * another process changes the chain meanwhile, repeat only the merge, and do
 * not append the layer again. Returns 0 or a negative error code.
 */
static int merge_layers(struct midx_run *m, struct multi_pack_result *written,
			const struct multi_pack_options *o, struct error *err)
{
	struct multi_pack_result merged = *written;
	int ret = merge_now(m, &merged, o, err);

	for (int i = 1; i < MULTI_PACK_MAX_TRIES && merged.outdated; i++) {
		merged = *written;
		ret = merge_now(m, &merged, o, err);
	}
	if (!ret)
		*written = merged;
	return ret;
}

/*
 * Leave packs with .keep out of the new layer of the multi-pack-index. Kept
 * packs that an older layer already contains stay in that layer. Returns 0 or
 * ERR_NOMEM.
 */
static int leave_out_kept(struct midx_run *m, const struct odb_midx *base)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->odb->pack_nr && !ret; i++) {
		const struct pack *pack = m->odb->packs[i].pack;

		if (pack->is_local &&
		    (pack->is_kept ||
		     pack_names_has(m->rq->keep_packs, pack->name)) &&
		    !pack_names_has(&m->but, pack->name) &&
		    !layered_covers(m->odb, base, pack))
			ret = strlist_add(&m->but, pack->name);
	}
	return ret;
}

/*
 * Append a layer to the multi-pack-index chain. If the request has a split
 * factor, merge layers afterwards. Returns 0 or a negative error code.
 */
static int append(struct midx_run *m, struct multi_pack_result *written,
		  const struct multi_pack_options *o, struct error *err)
{
	const struct multi_pack_layer_options layer = {
		.base = layered_base(m->odb, &m->but),
	};
	int ret = 0;

	if (m->rq->leave_kept && !o->bitmap &&
	    leave_out_kept(m, layer.base) < 0)
		return error_nomem(err);
	if (has_packs(m))
		ret = multi_pack_append(written, m->odb, o, &layer, err);
	if (ret)
		return ret < 0 ? ret : 0;
	return m->rq->split_factor ? merge_layers(m, written, o, err) : 0;
}

static int write_once(struct midx_run *m, struct multi_pack_result *written,
		      bool bitmap, struct error *err)
{
	struct multi_pack_options o = {
		.but = &m->but,
		.keep_current = true,
		.preferred = choose_preferred(m),
		.progress = m->rq->newpack->make.progress,
		.bitmap = bitmap ? m->rq->newpack : NULL,
		.refs = m->refs,
	};

	*written = (struct multi_pack_result){.warning = ERROR_INIT};
	if (!has_packs(m))
		return 0;
	return m->rq->layers ? append(m, written, &o, err)
			     : multi_pack_write(written, m->odb, &o, err);
}

static int add_leaving(struct midx_run *m)
{
	return m->rq->leaving ? old_packs_names(&m->but, m->rq->leaving) : 0;
}

/*
 * List the packs that the multi-pack-index leaves out. Returns 0 or ERR_NOMEM.
 */
static int list_left_out(struct midx_run *m, struct error *err)
{
	strlist_release(&m->but);
	return add_leaving(m) < 0 || (!m->rq->must_contain_cruft &&
				      leave_out_cruft(m) < 0)
		       ? error_nomem(err)
		       : 0;
}

/*
 * Write the multi-pack-index with a bitmap index. If the bitmap index needs
 * objects of cruft packs, write both indexes a second time, now covering the
 * cruft packs. Returns 0 or a negative error code.
 */
static int write_closed(struct midx_run *m, struct multi_pack_result *written,
			struct error *err)
{
	int ret = list_left_out(m, err);

	if (!ret)
		ret = write_once(m, written, true, err);
	if (ret == ERR_MISSING && written->not_closed &&
	    !m->rq->must_contain_cruft) {
		strlist_release(&m->but);
		if (add_leaving(m) < 0)
			return error_nomem(err);
		ret = write_once(m, written, true, err);
	}
	return ret;
}

/*
 * Write both indexes, with the commits of m->late. This fails if m->late names
 * a commit in a pack of a push, and the commit needs an object that a push has
 * made loose after the repack listed the loose objects. Then use the refs of
 * the request: the repack listed the loose objects after these. Returns 0 or a
 * negative error code.
 */
static int write_late(struct midx_run *m, struct multi_pack_result *written,
		      struct error *err)
{
	int ret;

	m->refs = m->late ? m->late : m->rq->refs;
	ret = write_closed(m, written, err);
	if (ret >= 0 || ret == ERR_NOMEM || written->outdated || !m->late)
		return ret;
	m->refs = m->rq->refs;
	if (err)
		*err = (struct error)ERROR_INIT;
	return write_closed(m, written, err);
}

/*
 * Write the multi-pack-index with a bitmap index. Write no bitmap index if
 * needed objects may be in alternates. Also write none if making the bitmap
 * index fails and no option asks for one. Returns 0 or a negative error code.
 */
static int write_with_bitmap(struct midx_run *m,
			     struct multi_pack_result *written,
			     struct error *err)
{
	int ret = write_late(m, written, err);

	if (ret == ERR_MISSING && written->not_closed && m->odb->dir_nr > 1) {
		ret = write_once(m, written, false, err);
		if (!m->rq->bitmap_is_default)
			error_set(&written->warning, ERR_INVALID,
				  "disabling bitmap writing, as some objects "
				  "are not being packed");
	} else if (ret < 0 && ret != ERR_NOMEM && !written->outdated &&
		   m->rq->bitmap_is_default) {
		ret = write_once(m, written, false, err);
	}
	if (m->rq->bitmap_is_default && !written->bitmap_nr)
		written->warning = (struct error)ERROR_INIT;
	return ret;
}

/*
 * Read the refs once more. Pushes may have changed refs while the repack made
 * its packs, and the packs of these pushes are in the multi-pack-index. If the
 * refs cannot be read now, m->late is NULL. Returns 0 or ERR_NOMEM.
 */
static int read_late(struct midx_run *m, struct error *err)
{
	int ret;

	refs_close(m->late);
	m->late = NULL;
	if (!m->rq->bitmap)
		return 0;
	ret = refs_open(&m->late, m->rq->repo, NULL);
	if (!ret && refs_leaves_out_broken(m->rq->refs))
		refs_leave_out_broken(m->late);
	if (!ret)
		ret = refs_list_now(m->late, NULL);
	if (ret < 0) {
		refs_close(m->late);
		m->late = NULL;
	}
	return ret == ERR_NOMEM ? error_nomem(err) : 0;
}

/*
 * With alternates, the packs often lack objects that refs reach. Then no bitmap
 * index can be made, whatever the refs are, so do not try it twice.
 */
static void drop_late(struct midx_run *m)
{
	if (m->odb->dir_nr == 1)
		return;
	refs_close(m->late);
	m->late = NULL;
}

/*
 * Write a multi-pack-index of the packs that exist now. Returns 0 or a
 * negative error code.
 */
static int write_now(struct midx_run *m, struct multi_pack_result *written,
		     struct error *err)
{
	struct error warning = ERROR_INIT;
	int ret;

	odb_close(m->odb);
	m->odb = NULL;
	*written = (struct multi_pack_result){.warning = ERROR_INIT};
	ret = read_late(m, err);
	if (!ret)
		ret = odb_open_named(&m->odb, m->rq->repo, &warning, err);
	if (ret < 0)
		return ret;
	drop_late(m);
	if (m->rq->bitmap)
		return write_with_bitmap(m, written, err);
	ret = list_left_out(m, err);
	return ret < 0 ? ret : write_once(m, written, false, err);
}

static int write_all(struct midx_run *m, struct repack_result *result,
		     struct error *err)
{
	struct multi_pack_result written;
	int ret = write_now(m, &written, err);

	for (int i = 1; i < MULTI_PACK_MAX_TRIES && written.outdated; i++)
		ret = write_now(m, &written, err);
	/*
	 * midx_not_closed says that the packs of the multi-pack-index lack an
	 * object which may be elsewhere in the repository. So it stays false if
	 * the object is certainly nowhere: if the message is "Failed to
	 * traverse parents...", a parent of a commit is missing in the whole
	 * repository.
	 */
	result->midx_not_closed = ret == ERR_MISSING && written.not_closed &&
				  err &&
				  !starts_with(err->msg,
					       "Failed to traverse parents");
	if (ret < 0)
		return ret;
	result->midx_pack_nr = written.pack_nr;
	if (written.bitmap_nr) {
		result->bitmap_nr = written.bitmap_nr;
		result->bitmap_len = written.bitmap_len;
		ret = remove_pack_bitmaps(m, err);
	}
	if (written.warning.code)
		result->warning = written.warning;
	return ret;
}

int repack_midx_write(struct repack_result *result,
		      const struct repack_midx_request *request,
		      struct error *err)
{
	struct midx_run m = {
		.rq = request,
		.refs = request->refs,
		.but = STRLIST_INIT,
	};
	int ret = write_all(&m, result, err);

	odb_close(m.odb);
	refs_close(m.late);
	strlist_release(&m.but);
	return ret;
}
