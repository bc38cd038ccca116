/* SPDX-License-Identifier: MIT */
/* Makes a bitmap index over the packs of a multi-pack-index. */
#include <stdlib.h>

#include "midx/multi-pack-making.h"
#include "packs/snapshot.h"
#include "sys/clock.h"

#define FILE_MODE 0444

/*
 * A new bitmap index usually takes over the bitmaps of the older index. If the
 * older index has no pseudo-merges, a request for all tips may walk many
 * commits, although these commits have bits in the older index. If the request
 * would walk more than this number of commits, the new index takes over
 * nothing: it is made from scratch, with pseudo-merges.
 */
#define PSEUDO_MANY_WALKED (4 * PSEUDO_DEFAULT_MIN_SAVED)

static void making_release(struct making *m)
{
	free(m->is_tip);
	free(m->idx_pos);
	free(m->bit_pos);
	free(m->hash_cache);
	free(m->types);
	free(m->obj_pos);
	bitmap_update_release(&m->update);
	bitmap_previous_release(&m->previous);
	pack_bitmap_close(m->old);
	pseudo_tips_release(&m->pseudo);
	pseudo_config_release(&m->config);
	snapshot_release(&m->snapshot);
	walk_result_release(&m->found);
	walk_tips_release(&m->tips);
	walk_close(&m->walk);
}

static bool is_covered(struct making *m, uint32_t commit_nr)
{
	uint32_t obj_pos = m->walk.history.commits[commit_nr].obj_pos, bit;

	return bitmap_space_bit(m->space, &m->walk.space, obj_pos, &bit);
}

/*
 * Drop tips that are not commits, because only commits have bitmaps. Drop
 * commits that the packs do not cover.
 */
static void keep_covered(struct making *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->tips.commit_nr; i++)
		if (is_covered(m, m->tips.commits[i]))
			m->tips.commits[kept++] = m->tips.commits[i];
	m->tips.commit_nr = kept;
	m->tips.others.nr = 0;
}

struct adding {
	struct making *m;
	/* ids that were added: refs of forks often name the same objects */
	struct oidmap seen;
	struct error *err;
};

static int unable_to_parse(const struct adding *a, const char *name)
{
	return refs_leaves_out_broken(a->m->rq->refs)
		       ? 0
		       : error_set(a->err, ERR_CORRUPT,
				   "unable to parse object: %s", name);
}

static int add_ref(void *ctx, const struct ref *ref)
{
	struct adding *a = ctx;
	int ret = oidmap_add(&a->seen, &ref->oid, 0, NULL);

	if (ret <= 0)
		return ret < 0 ? error_nomem(a->err) : 0;
	ret = walk_add_tip(&a->m->walk, &a->m->tips, &ref->oid, false, a->err);
	return ret == ERR_MISSING ? unable_to_parse(a, ref->name) : ret;
}

/*
 * Leave out symbolic refs that cannot be followed to an object. If
 * GIT_REF_PARANOIA is false, also leave out refs to missing objects.
 */
static int refuse_broken(void *ctx, const char *name, enum refs_flaw flaw)
{
	return flaw == REFS_FLAW_SYMBOLIC || flaw == REFS_FLAW_MISSING
		       ? 0
		       : unable_to_parse(ctx, name);
}

/*
 * Adds HEAD and all refs to the tips (m->tips). A broken HEAD is left out. A
 * broken ref is an error, except for the cases in refuse_broken().
 */
static int add_refs(struct making *m, struct error *err)
{
	struct adding a = {.m = m, .seen = OIDMAP_INIT, .err = err};
	struct ref head;
	int ret = refs_lookup(m->rq->refs, "HEAD", &head, err);

	if (ret > 0)
		ret = walk_add_tip(&m->walk, &m->tips, &head.oid, true, err);
	if (!ret || ret == ERR_CORRUPT)
		ret = refs_each_from(m->rq->refs, "", NULL, add_ref,
				     refuse_broken, &a, err);
	oidmap_release(&a.seen);
	return ret;
}

static int load_tips(struct making *m, struct error *err)
{
	const char *path = m->rq->refs_snapshot;
	int ret = path ? snapshot_load(&m->snapshot, path, m->walk.odb->algo,
				       err)
		       : add_refs(m, err);

	if (!ret && path)
		ret = snapshot_add_tips(&m->snapshot, &m->walk, &m->tips, false,
					err);
	if (!ret)
		keep_covered(m);
	return ret;
}

static int load_pseudo(struct making *m, struct error *err)
{
	size_t kept = 0;
	int ret;

	if (!m->rq->options->pseudo_merges)
		return 0;
	ret = pseudo_tips_load(&m->pseudo, &m->walk, m->rq->refs, &m->config,
			       err);
	/*
	 * If the tips come from a file (--refs-snapshot) and no pseudo-merges
	 * are configured, broken refs are no error.
	 */
	if (ret == ERR_CORRUPT && m->rq->refs_snapshot && !m->config.nr) {
		m->pseudo.nr = 0;
		ret = 0;
	}
	for (size_t i = 0; !ret && i < m->pseudo.nr; i++)
		if (is_covered(m, m->pseudo.tips[i].commit_nr))
			m->pseudo.tips[kept++] = m->pseudo.tips[i];
	m->pseudo.nr = kept;
	return ret;
}

static int enumerate(struct making *m, struct error *err)
{
	struct walk_tips none = WALK_TIPS_INIT;
	struct walk_options options = {
		.objects = true,
		.keep_lists = true,
		.threads = m->rq->options->make.threads,
		.memory_limit = newpack_bitmap_memory(m->rq->options,
						      m->walk.odb),
		.progress = m->rq->options->make.progress,
	};

	return walk_enumerate(&m->found, &m->walk, &m->tips, &none, &options,
			      err);
}

static int number_objects(struct making *m, struct error *err)
{
	uint32_t nr = bitmap_space_nr(m->space);
	uint32_t end = objspace_end(&m->walk.space);
	char hex[OID_MAX_HEX_LEN + 1];

	for (uint32_t bit = 0; bit < nr; bit++) {
		const uint8_t *raw = bitmap_space_id(m->space, m->idx_pos[bit]);
		uint32_t *obj_pos = &m->obj_pos[bit];

		if (!objspace_find(&m->walk.space, raw, obj_pos) ||
		    *obj_pos >= end)
			return error_set(
				err, ERR_MISSING, "object %s cannot be found",
				oid_raw_to_hex(hex, raw, m->walk.odb->algo));
		m->bit_pos[*obj_pos] = bit;
	}
	return 0;
}

/*
 * Store the types of the objects that the walk found. Then read the types of
 * all other objects from the packs. Returns 0 or a negative error code.
 */
static int note_objects(struct making *m, struct error *err)
{
	const struct history *h = &m->walk.history;
	const struct walk_items *objects = &m->found.objects;
	int ret = 0;

	for (size_t i = 0; i < m->found.revs.nr; i++)
		making_note_object(m,
				   h->commits[m->found.revs.commits[i]].obj_pos,
				   OBJ_COMMIT, 0);
	for (size_t i = 0; i < objects->nr; i++)
		making_note_object(m, objects->items[i].obj_pos,
				   objects->items[i].type,
				   objects->items[i].name_hash);
	for (uint32_t bit = 0; bit < making_nr(m) && !ret; bit++) {
		enum object_type type;

		if (m->types[bit])
			continue;
		ret = objspace_info(&m->walk.space, m->walk.reader,
				    m->obj_pos[bit], &type, NULL, err);
		if (!ret)
			m->types[bit] = (uint8_t)type;
	}
	return ret;
}

/* ---- from an older index */

/*
 * Load the older bitmap index. Returns 0 if the older index can be updated, 1
 * if there is no such index, or a negative error code.
 */
static int load_previous(struct making *m, struct error *err)
{
	struct error why = ERROR_INIT;
	int ret;

	if (m->rq->afresh)
		return 1;
	ret = pack_bitmap_open(&m->old, m->walk.odb, &why);
	if (ret > 0)
		ret = pack_bitmap_prove(m->old, &why) < 0 ? 0 : 1;
	if (ret <= 0)
		return ret == ERR_NOMEM ? error_nomem(err) : 1;
	return bitmap_previous_load(&m->previous, &m->old->file, &m->old->space,
				    m->space, &m->walk, err);
}

/*
 * Set *walked to the number of commits that a request for all tips would walk
 * if it used the older bitmap index. Returns 0 or a negative error code.
 */
static int count_walked(struct making *m, uint32_t *walked, struct error *err)
{
	struct bitmap_fill fill;
	int ret = bitmap_fill_init(&fill, &m->old->file, m->old->space,
				   &m->walk, err);

	if (!ret)
		ret = bitmap_fill_commits(&fill, &m->tips, err);
	*walked = fill.commits_walked;
	bitmap_fill_release(&fill);
	return ret;
}

/*
 * Returns 1 if the older bitmap index has no pseudo-merges, but selecting tips
 * from scratch would make some. Returns 0 if not, or a negative error code.
 */
static int lacks_pseudo_merges(struct making *m, struct error *err)
{
	uint32_t walked;
	int ret;

	if (!m->rq->options->pseudo_merges || m->previous.group_nr)
		return 0;
	if (m->config.nr)
		return 1;
	ret = count_walked(m, &walked, err);
	return ret < 0 ? ret : walked > m->update.new_nr + PSEUDO_MANY_WALKED;
}

static int choose_update(struct making *m, struct error *err)
{
	const struct bitmap_update_input input = {
		.previous = &m->previous,
		.space = m->space,
		.walk = &m->walk,
		.tips = m->tips.commits,
		.tip_nr = m->tips.commit_nr,
		.is_tip = m->is_tip,
		.is_tip_nr = m->is_tip_nr,
		.pseudo_merges = m->rq->options->pseudo_merges,
		.budget_words = (size_t)(m->rq->options->bitmap_budget /
					 sizeof(uint64_t)),
		.grouped_max = m->config.nr ? SIZE_MAX
					    : bitmap_space_nr(m->space) /
						      PSEUDO_DEFAULT_OBJECTS,
		.threads = m->rq->options->make.threads,
		.memory_limit = newpack_bitmap_memory(m->rq->options,
						      m->walk.odb),
		.progress = m->rq->options->make.progress,
	};

	return bitmap_update_choose(&m->update, &input, err);
}

/*
 * Look up the types of new objects that the walk over new commits did not
 * visit. Returns 0 or a negative error code.
 */
static int note_rest(struct making *m, struct error *err)
{
	const struct bitset *is_old = &m->previous.map.is_old;
	int ret = 0;

	for (size_t bit = bitset_next_unset(is_old, 0);
	     bit < is_old->bits && !ret;
	     bit = bitset_next_unset(is_old, bit + 1))
		if (!m->types[bit])
			ret = making_look_up_type(m, (uint32_t)bit, err);
	return ret;
}

/*
 * Prepare an update of the older bitmap index. Returns 0 if the update is
 * ready, 1 if the index has to be made from all objects, or a negative error
 * code.
 */
static int prepare_update(struct making *m, struct error *err)
{
	int ret = load_previous(m, err);

	if (!ret)
		ret = making_mark_tips(m, false, err);
	if (!ret)
		ret = choose_update(m, err);
	if (!ret)
		ret = lacks_pseudo_merges(m, err);
	if (!ret)
		ret = making_alloc_tables(m, err);
	if (ret)
		return ret;
	if (bitmap_previous_note(&m->previous, m->types, m->hash_cache) < 0)
		return error_nomem(err);
	making_number_update(m);
	return note_rest(m, err);
}

/* ---- from all objects */

static int prepare_all(struct making *m, struct error *err)
{
	int ret = enumerate(m, err);

	if (!ret)
		ret = making_mark_tips(m, true, err);
	if (!ret)
		ret = load_pseudo(m, err);
	if (!ret)
		ret = making_alloc_tables(m, err);
	if (!ret)
		ret = number_objects(m, err);
	return ret < 0 ? ret : note_objects(m, err);
}

static int write_index(struct making *m, struct buf *out, bool is_update,
		       struct error *err)
{
	const struct pack_bitmap *below = m->rq->below;
	struct pack_bitmap_write request = {
		.walk = &m->walk,
		.space = below ? m->space : NULL,
		.below = below,
		.enumerated = &m->found,
		.idx_pos = m->idx_pos,
		.bit_pos = m->bit_pos,
		.hash_cache = m->hash_cache,
		.types = m->types,
		.object_nr = making_nr(m),
		.is_tip = m->is_tip,
		.pseudo = m->pseudo.nr ? &m->pseudo : NULL,
		.previous = is_update && !below ? &m->previous : NULL,
		.update = is_update ? &m->update : NULL,
		.lookup_table = m->rq->options->lookup_table,
		.memory_limit = newpack_bitmap_memory(m->rq->options,
						      m->walk.odb),
		.budget = m->rq->options->bitmap_budget,
		.progress = m->rq->options->make.progress,
	};
	struct pack_bitmap_written written;
	int ret;

	if (m->space->midx)
		oid_from_raw(&request.checksum, m->space->midx->midx.checksum,
			     m->walk.odb->algo);
	else
		request.checksum = m->space->pack->pack->checksum;
	ret = pack_bitmap_write(out, &request, &written, err);
	if (!ret) {
		m->report->bitmap_nr = written.bitmap_nr;
		m->report->pseudo_merge_nr = written.pseudo_merge_nr;
	}
	return ret;
}

/*
 * Prepares everything that the new bitmap index is made from. Returns 0 if
 * existing bitmaps are used (m->update), 1 if the index will be made from all
 * objects, or a negative error code.
 */
static int prepare(struct making *m, struct error *err)
{
	int ret;

	if (m->rq->compacts)
		return making_prepare_compaction(m, err);
	ret = load_tips(m, err);
	if (ret < 0)
		return ret;
	if (m->rq->below)
		return making_prepare_layer(m, err);
	ret = prepare_update(m, err);
	if (ret <= 0)
		return ret;
	ret = prepare_all(m, err);
	return ret < 0 ? ret : 1;
}

static int make(struct making *m, struct buf *out, struct error *err)
{
	int ret;

	history_check_graph(&m->walk.history);
	ret = pseudo_config_load(&m->config, &m->walk.odb->repo->config,
				 sys_clock_seconds(), &m->report->warning, err);
	if (!ret)
		ret = prepare(m, err);
	return ret < 0 ? ret : write_index(m, out, !ret, err);
}

int multi_pack_bitmap_make(struct buf *out,
			   struct multi_pack_bitmap_report *report,
			   const struct multi_pack_bitmap_request *request,
			   struct error *err)
{
	struct making m = {
		.rq = request,
		.space = request->space,
		.base_nr = bitmap_space_base_nr(request->space),
		.report = report,
		.tips = WALK_TIPS_INIT,
		.found = WALK_RESULT_INIT,
		.pseudo = PSEUDO_TIPS_INIT,
	};
	int ret;

	*report = (struct multi_pack_bitmap_report){.warning = ERROR_INIT};
	ret = walk_open(&m.walk, request->space->odb, NULL, 0, err);
	if (ret < 0)
		return ret;
	ret = make(&m, out, err);
	making_release(&m);
	return ret;
}

static int install(const struct odb *odb, const struct odb_pack *pack,
		   const struct buf *bytes,
		   const struct newpack_options *options, struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	char *path = pack_bitmap_path(pack->pack->path);
	char *dir = repo_object_path(odb->repo, "pack");
	int ret = path && dir
			  ? sys_tempfile_create(&file, dir, "tmp_bitmap_",
						FILE_MODE | odb->repo->share,
						err)
			  : error_nomem(err);

	if (!ret)
		ret = sys_tempfile_write(&file, bytes->data, bytes->len, err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path, options->fsync_metadata,
					  err);
	sys_tempfile_abort(&file);
	free(dir);
	free(path);
	return ret;
}

int multi_pack_bitmap_write_pack(struct multi_pack_bitmap_report *report,
				 const struct odb *odb,
				 const struct odb_pack *pack, struct refs *refs,
				 const struct newpack_options *options,
				 struct error *err)
{
	const struct pack_rev *rev = pack_get_rev(pack->pack, err);
	struct bitmap_space space = bitmap_space_of_pack(odb, pack, rev);
	struct multi_pack_bitmap_request request = {
		.space = &space,
		.refs = refs,
		.options = options,
		.afresh = true,
	};
	struct buf bytes = BUF_INIT;
	int ret = rev ? multi_pack_bitmap_make(&bytes, report, &request, err)
		      : ERR_NOMEM;

	if (!ret)
		ret = install(odb, pack, &bytes, options, err);
	buf_release(&bytes);
	return ret;
}
