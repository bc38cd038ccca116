/* SPDX-License-Identifier: MIT */
/* What a bitmap index over several packs is made from. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack-bitmap.h"
#include "repack/multi-pack-bitmap.h"
#include "repack/pseudo-tips.h"
#include "repack/roots.h"
#include "repack/snapshot.h"
#include "sys/clock.h"

#define FILE_MODE 0444

struct making {
	const struct multi_pack_bitmap_request *rq;
	const struct bitmap_space *space; /* borrowed: rq->space */
	struct multi_pack_bitmap_report *report;
	struct walk walk;
	struct walk_tips tips;
	struct walk_result found;
	struct snapshot snapshot;
	struct pseudo_config config;
	struct pseudo_tips pseudo;
	uint8_t *is_tip; /* owned: by commit_nr */
	/* What the writer wants to know, see pack-bitmap.h. All owned. */
	uint32_t *idx_pos, *bit_pos, *hash_cache;
	uint8_t *types;
	uint32_t *obj_pos; /* owned: by bit_pos */
};

static void making_release(struct making *m)
{
	free(m->is_tip);
	free(m->idx_pos);
	free(m->bit_pos);
	free(m->hash_cache);
	free(m->types);
	free(m->obj_pos);
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

/* Only commits have bitmaps; nothing else is looked for. */
static void keep_covered(struct making *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->tips.commit_nr; i++)
		if (is_covered(m, m->tips.commits[i]))
			m->tips.commits[kept++] = m->tips.commits[i];
	m->tips.commit_nr = kept;
	m->tips.others.nr = 0;
}

static int load_tips(struct making *m, struct error *err)
{
	const char *path = m->rq->refs_snapshot;
	int ret = path ? snapshot_load(&m->snapshot, path, m->walk.odb->algo,
				       err)
		       : roots_add(&m->walk, &m->tips, m->rq->refs, false, err);

	if (!ret && path)
		ret = snapshot_add_tips(&m->snapshot, &m->walk, &m->tips, false,
					err);
	if (!ret)
		keep_covered(m);
	return ret;
}

/* Which tips get bitmaps of their own. */
static int mark_tips(struct making *m, struct error *err)
{
	struct walk_tips preferred = WALK_TIPS_INIT;
	int ret;

	if (!m->rq->refs_snapshot)
		return roots_mark_tips(&m->is_tip, &m->walk, m->rq->refs, err);
	ret = snapshot_add_tips(&m->snapshot, &m->walk, &preferred, true, err);
	if (!ret) {
		m->is_tip = mem_calloc(m->walk.history.nr, 1);
		if (!m->is_tip)
			ret = error_nomem(err);
	}
	for (size_t i = 0; !ret && i < preferred.commit_nr; i++)
		m->is_tip[preferred.commits[i]] = 1;
	walk_tips_release(&preferred);
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
		.progress = m->rq->options->make.progress,
	};

	return walk_enumerate(&m->found, &m->walk, &m->tips, &none, &options,
			      err);
}

static int alloc_tables(struct making *m, struct error *err)
{
	uint32_t nr = bitmap_space_nr(m->space);
	uint32_t end = objspace_end(&m->walk.space);

	m->idx_pos = mem_alloc(nr, sizeof(*m->idx_pos));
	m->obj_pos = mem_alloc(nr, sizeof(*m->obj_pos));
	m->bit_pos = mem_alloc(end, sizeof(*m->bit_pos));
	m->types = mem_calloc(nr, 1);
	if (!m->idx_pos || !m->obj_pos || !m->bit_pos || !m->types)
		return error_nomem(err);
	if (m->rq->options->hash_cache) {
		m->hash_cache = mem_calloc(nr, sizeof(*m->hash_cache));
		if (!m->hash_cache)
			return error_nomem(err);
	}
	memset(m->bit_pos, 0xff, end * sizeof(*m->bit_pos));
	return 0;
}

static int number_objects(struct making *m, struct error *err)
{
	uint32_t nr = bitmap_space_nr(m->space);
	uint32_t end = objspace_end(&m->walk.space);
	char hex[OID_MAX_HEX_LEN + 1];

	for (uint32_t bit = 0; bit < nr; bit++) {
		uint32_t idx_pos = bitmap_space_idx_pos(m->space, bit);
		const uint8_t *raw = bitmap_space_id(m->space, idx_pos);
		uint32_t *obj_pos = &m->obj_pos[bit];

		if (!objspace_find(&m->walk.space, raw, obj_pos) ||
		    *obj_pos >= end)
			return error_set(
				err, ERR_MISSING, "object %s cannot be found",
				oid_raw_to_hex(hex, raw, m->walk.odb->algo));
		m->idx_pos[bit] = idx_pos;
		m->bit_pos[*obj_pos] = bit;
	}
	return 0;
}

static void note_object(struct making *m, uint32_t obj_pos,
			enum object_type type, uint32_t name_hash)
{
	uint32_t bit = m->bit_pos[obj_pos];

	if (bit == UINT32_MAX)
		return;
	m->types[bit] = (uint8_t)type;
	if (m->hash_cache)
		m->hash_cache[m->idx_pos[bit]] = name_hash;
}

/* What was enumerated; the types of all others are looked up. */
static int note_objects(struct making *m, struct error *err)
{
	const struct history *h = &m->walk.history;
	const struct walk_items *objects = &m->found.objects;
	int ret = 0;

	for (size_t i = 0; i < m->found.revs.nr; i++)
		note_object(m, h->commits[m->found.revs.commits[i]].obj_pos,
			    OBJ_COMMIT, 0);
	for (size_t i = 0; i < objects->nr; i++)
		note_object(m, objects->items[i].obj_pos,
			    objects->items[i].type,
			    objects->items[i].name_hash);
	for (uint32_t bit = 0; bit < bitmap_space_nr(m->space) && !ret; bit++) {
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

static int write_index(struct making *m, struct buf *out, struct error *err)
{
	struct pack_bitmap_write request = {
		.walk = &m->walk,
		.enumerated = &m->found,
		.idx_pos = m->idx_pos,
		.bit_pos = m->bit_pos,
		.hash_cache = m->hash_cache,
		.types = m->types,
		.object_nr = bitmap_space_nr(m->space),
		.is_tip = m->is_tip,
		.pseudo = m->pseudo.nr ? &m->pseudo : NULL,
		.lookup_table = m->rq->options->lookup_table,
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

static int make(struct making *m, struct buf *out, struct error *err)
{
	int ret;

	history_check_graph(&m->walk.history);
	/* What a commit reaches is for ever; the edge of a history is not. */
	if (m->walk.shallow.nr)
		return error_set(err, ERR_INVALID, "the repository is shallow");
	ret = pseudo_config_load(&m->config, &m->walk.odb->repo->config,
				 sys_clock_seconds(), &m->report->warning, err);
	if (!ret)
		ret = load_tips(m, err);
	if (!ret)
		ret = enumerate(m, err);
	if (!ret)
		ret = mark_tips(m, err);
	if (!ret)
		ret = load_pseudo(m, err);
	if (!ret)
		ret = alloc_tables(m, err);
	if (!ret)
		ret = number_objects(m, err);
	if (!ret)
		ret = note_objects(m, err);
	return ret < 0 ? ret : write_index(m, out, err);
}

int multi_pack_bitmap_make(struct buf *out,
			   struct multi_pack_bitmap_report *report,
			   const struct multi_pack_bitmap_request *request,
			   struct error *err)
{
	struct making m = {
		.rq = request,
		.space = request->space,
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
	int ret = path && dir ? sys_tempfile_create(&file, dir, "tmp_bitmap_",
						    FILE_MODE, err)
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
	};
	struct buf bytes = BUF_INIT;
	int ret = rev ? multi_pack_bitmap_make(&bytes, report, &request, err)
		      : ERR_NOMEM;

	if (!ret)
		ret = install(odb, pack, &bytes, options, err);
	buf_release(&bytes);
	return ret;
}
