/* SPDX-License-Identifier: MIT */
/*
 * Writes a multi-pack-index: merges the packs' ids and chooses one copy of each
 * object. midx-layout.c writes the chunks.
 *
 * The ids are merged in 256 steps, one for each value of their first byte. The
 * fanouts of the indexes give the range of these ids, so each sort is small.
 */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "pack/midx-layout.h"
#include "pack/midx-write.h"

struct merge {
	const struct pack_midx_request *rq;
	/*
	 * owned array, indexed by pack: the rank of the pack, see rank_packs()
	 */
	uint32_t *ranks;
	uint32_t preferred;
	/*
	 * owned: the copies chosen so far, and behind them all copies of the
	 * objects whose ids have the current first byte
	 */
	struct pack_midx_copy *copies;
	size_t nr, alloc;
	struct error *err;
};

static int check_packs(const struct pack_midx_request *rq, struct error *err)
{
	if (rq->version != 1 && rq->version != 2)
		return error_set(err, ERR_INVALID,
				 "multi-pack-index version %u cannot be "
				 "written",
				 rq->version);
	for (uint32_t i = 1; i < rq->pack_nr; i++)
		if (strcmp(rq->packs[i - 1].name, rq->packs[i].name) >= 0)
			return error_set(err, ERR_INVALID,
					 "packs are not sorted by name");
	if (rq->preferred != PACK_MIDX_NO_PACK &&
	    !rq->packs[rq->preferred].idx->nr)
		return error_set(err, ERR_INVALID,
				 "cannot select preferred pack %s with no "
				 "objects",
				 rq->packs[rq->preferred].name);
	return 0;
}

/*
 * Returns the oldest pack that has objects. If several packs are equally old,
 * returns the first by name.
 */
static uint32_t oldest_pack(const struct pack_midx_request *rq)
{
	uint32_t oldest = PACK_MIDX_NO_PACK;

	for (uint32_t i = 0; i < rq->pack_nr; i++)
		if (rq->packs[i].idx->nr &&
		    (oldest == PACK_MIDX_NO_PACK ||
		     rq->packs[i].mtime_ns < rq->packs[oldest].mtime_ns))
			oldest = i;
	return oldest;
}

/*
 * Ranks the packs: if several packs have an object, the copy in the pack of
 * the lowest rank is chosen. The preferred pack has rank 0. The other packs
 * follow from newest to oldest, and by name if their times are equal. Returns
 * 0 or ERR_NOMEM.
 */
static int rank_packs(struct merge *m)
{
	uint32_t nr = m->rq->pack_nr;
	struct sort_item *items = mem_alloc(nr, sizeof(*items));
	int ret = ERR_NOMEM;

	m->ranks = mem_alloc(nr, sizeof(*m->ranks));
	if (!items || !m->ranks)
		goto out;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t age = UINT64_MAX / 2 -
			       (uint64_t)m->rq->packs[i].mtime_ns;

		items[i] = (struct sort_item){i == m->preferred ? 0 : age, i};
	}
	ret = sort_items(items, nr);
	for (uint32_t i = 0; i < nr && !ret; i++)
		m->ranks[items[i].value] = i;
out:
	free(items);
	return ret < 0 ? error_nomem(m->err) : 0;
}

static int add_copies(struct merge *m, uint32_t pack, uint8_t byte)
{
	const struct pack_idx *idx = m->rq->packs[pack].idx;
	uint32_t first, last;

	pack_ids_range(&idx->ids, byte, &first, &last);
	if (mem_grow(&m->copies, &m->alloc, m->nr + (last - first),
		     sizeof(*m->copies)) < 0)
		return error_nomem(m->err);
	for (uint32_t i = first; i < last; i++) {
		struct pack_midx_copy *c = &m->copies[m->nr++];

		*c = (struct pack_midx_copy){pack_idx_oid(idx, i),
					     pack_idx_offset(idx, i), pack,
					     m->ranks[pack]};
		if (c->offset == UINT64_MAX)
			return error_set(m->err, ERR_CORRUPT,
					 "%s: no 64-bit offset for object %u",
					 idx->name, i);
	}
	return 0;
}

/*
 * Compares copies of objects by id, then by rank of their pack, so that the
 * best copy of an object comes first. If a pack has two copies of an object,
 * the copy at the lower offset is the better one. Returns a negative number if
 * *va comes first, 0 if both are equal, or a positive number.
 */
static int cmp_copies(const void *va, const void *vb, size_t id_len)
{
	const struct pack_midx_copy *a = va, *b = vb;
	int cmp = memcmp(a->id, b->id, id_len);

	if (cmp)
		return cmp;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int cmp_copies_sha1(const void *a, const void *b)
{
	return cmp_copies(a, b, 20);
}

static int cmp_copies_sha256(const void *a, const void *b)
{
	return cmp_copies(a, b, 32);
}

/* Returns whether one of the lower layers of the chain contains the object. */
static bool is_below(const struct merge *m, const uint8_t *id)
{
	uint32_t pos;

	for (size_t i = 0; i < m->rq->below_nr; i++)
		if (pack_midx_find(m->rq->below[i], id, &pos))
			return true;
	return false;
}

/*
 * Sorts the copies of objects from index `start` on. Keeps the best copy of
 * each object, and drops objects of lower layers.
 */
static void choose(struct merge *m, size_t start)
{
	size_t id_len = hash_len(m->rq->algo), kept = start;

	if (m->nr == start)
		return;
	qsort(m->copies + start, m->nr - start, sizeof(*m->copies),
	      m->rq->algo == HASH_SHA256 ? cmp_copies_sha256 : cmp_copies_sha1);
	for (size_t i = start; i < m->nr; i++)
		if (i == start || memcmp(m->copies[kept - 1].id,
					 m->copies[i].id, id_len) != 0)
			m->copies[kept++] = m->copies[i];
	if (m->rq->below_nr) {
		size_t chosen = kept;

		kept = start;
		for (size_t i = start; i < chosen; i++)
			if (!is_below(m, m->copies[i].id))
				m->copies[kept++] = m->copies[i];
	}
	m->nr = kept;
}

static int merge_packs(struct merge *m)
{
	struct progress meter;
	int ret = 0;

	progress_start(&meter, m->rq->progress,
		       "Adding packfiles to multi-pack-index", 0);
	progress_set(&meter, m->rq->pack_nr);
	progress_stop(&meter);
	for (unsigned byte = 0; byte < 256 && !ret; byte++) {
		size_t start = m->nr;

		for (uint32_t i = 0; i < m->rq->pack_nr && !ret; i++)
			ret = add_copies(m, i, (uint8_t)byte);
		choose(m, start);
	}
	if (!ret && m->nr >= UINT32_MAX)
		ret = error_set(m->err, ERR_UNSUPPORTED,
				"too many objects for a multi-pack-index");
	return ret;
}

static int lay_out(const struct merge *m, struct buf *out,
		   struct pack_midx_written *written)
{
	const struct pack_midx_request *rq = m->rq;
	const char **names = mem_alloc(rq->pack_nr, sizeof(*names));
	struct pack_midx_layout l = {
		.copies = m->copies,
		.nr = m->nr,
		.names = names,
		.pack_nr = rq->pack_nr,
		.preferred = m->preferred,
		.with_order = rq->with_order,
		.version = rq->version,
		.algo = rq->algo,
	};
	int ret = names ? 0 : ERR_NOMEM;

	for (uint32_t i = 0; i < rq->pack_nr && !ret; i++)
		names[i] = rq->packs[i].name;
	for (size_t i = 0; i < rq->below_nr; i++)
		l.base_nr += rq->below[i]->nr;
	if (!ret)
		ret = pack_midx_lay_out(out, &l, written);
	free(names);
	return ret < 0 ? error_nomem(m->err) : 0;
}

int pack_midx_write(struct buf *out, const struct pack_midx_request *request,
		    struct pack_midx_written *written, struct error *err)
{
	struct merge m = {
		.rq = request,
		.preferred = request->preferred,
		.err = err,
	};
	int ret = check_packs(request, err);

	if (ret < 0)
		return ret;
	/* Only the lowest layer of a chain may have a preferred pack. */
	if (request->below_nr)
		m.preferred = PACK_MIDX_NO_PACK;
	else if (m.preferred == PACK_MIDX_NO_PACK && request->with_order)
		m.preferred = oldest_pack(request);
	ret = rank_packs(&m);
	if (!ret)
		ret = merge_packs(&m);
	if (!ret)
		ret = lay_out(&m, out, written);
	free(m.ranks);
	free(m.copies);
	return ret;
}
