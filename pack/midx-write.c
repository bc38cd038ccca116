/* SPDX-License-Identifier: MIT */
/*
 * Writing a multi-pack-index: merge the packs' ids, choose one copy of each,
 * lay out the chunks.
 *
 * Ids are merged one first byte after another: the indexes' fanouts say where
 * its ids are in each, so that what has to be sorted at a time is small.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/chunk-format.h"
#include "base/mem.h"
#include "base/sort.h"
#include "object/hash.h"
#include "pack/midx-write.h"

/* A copy of an object. */
struct copy {
	const uint8_t *id; /* raw; points into its index */
	uint64_t offset;
	uint32_t pack;
	uint32_t rank; /* of its pack: the lowest wins */
};

struct merge {
	const struct pack_midx_request *rq;
	uint32_t *ranks; /* owned: by pack */
	uint32_t preferred;
	struct copy *copies; /* owned: those chosen, and behind them those of
				the first byte at hand */
	size_t nr, alloc;
	uint32_t fanout[256];
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

/* The oldest pack with objects; the first by name of equally old ones. */
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

/* Rank packs: the preferred one first, then the newest first, then by name. */
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
		struct copy *c = &m->copies[m->nr++];

		*c = (struct copy){pack_idx_oid(idx, i),
				   pack_idx_offset(idx, i), pack,
				   m->ranks[pack]};
		if (c->offset == UINT64_MAX)
			return error_set(m->err, ERR_CORRUPT,
					 "%s: no 64-bit offset for object %u",
					 idx->name, i);
	}
	return 0;
}

/* By id, best copy first; of a pack that has it twice, the first. */
static int cmp_copies(const void *va, const void *vb, size_t id_len)
{
	const struct copy *a = va, *b = vb;
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

/* Sort the copies from `start` on and keep the best of each object. */
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
	m->nr = kept;
}

static int merge_packs(struct merge *m)
{
	struct progress meter;
	int ret = 0;

	progress_start(&meter, m->rq->progress,
		       "Adding packfiles to multi-pack-index", m->rq->pack_nr);
	progress_set(&meter, m->rq->pack_nr);
	progress_stop(&meter);
	for (unsigned byte = 0; byte < 256 && !ret; byte++) {
		size_t start = m->nr;

		for (uint32_t i = 0; i < m->rq->pack_nr && !ret; i++)
			ret = add_copies(m, i, (uint8_t)byte);
		choose(m, start);
		m->fanout[byte] = (uint32_t)m->nr;
	}
	if (!ret && m->nr >= UINT32_MAX)
		ret = error_set(m->err, ERR_UNSUPPORTED,
				"too many objects for a multi-pack-index");
	return ret;
}

/* What is appended to; the room is reserved beforehand. */
struct layout {
	const struct merge *m;
	struct buf *out;
	uint64_t names_len;
	uint32_t off64_nr;
	bool is_large; /* some offset needs more than 32 bits */
};

static void measure(struct layout *l)
{
	const struct merge *m = l->m;

	for (uint32_t i = 0; i < m->rq->pack_nr; i++)
		l->names_len += strlen(m->rq->packs[i].name) + 1;
	l->names_len = (l->names_len + 3) & ~UINT64_C(3);
	for (size_t i = 0; i < m->nr; i++) {
		l->is_large |= m->copies[i].offset > UINT32_MAX;
		l->off64_nr += m->copies[i].offset >> 31 != 0;
	}
	if (!l->is_large)
		l->off64_nr = 0;
}

static void put_header(const struct layout *l, size_t chunk_nr)
{
	const struct pack_midx_request *rq = l->m->rq;

	buf_append(l->out, "MIDX", 4);
	buf_append_char(l->out, (char)rq->version);
	buf_append_char(l->out, (char)rq->algo);
	buf_append_char(l->out, (char)chunk_nr);
	buf_append_char(l->out, 0);
	buf_append_be32(l->out, rq->pack_nr);
}

static void put_names(const struct layout *l)
{
	const struct pack_midx_request *rq = l->m->rq;
	uint64_t left = l->names_len;

	for (uint32_t i = 0; i < rq->pack_nr; i++) {
		size_t len = strlen(rq->packs[i].name) + 1;

		buf_append(l->out, rq->packs[i].name, len);
		left -= len;
	}
	buf_append(l->out, "\0\0", (size_t)left);
}

static void put_objects(const struct layout *l)
{
	uint32_t off64_nr = 0;

	for (size_t i = 0; i < l->m->nr; i++) {
		const struct copy *c = &l->m->copies[i];

		buf_append_be32(l->out, c->pack);
		if (l->is_large && c->offset >> 31)
			buf_append_be32(l->out, 0x80000000 | off64_nr++);
		else
			buf_append_be32(l->out, (uint32_t)c->offset);
	}
	for (size_t i = 0; i < l->m->nr && l->is_large; i++)
		if (l->m->copies[i].offset >> 31)
			buf_append_be64(l->out, l->m->copies[i].offset);
}

static void put_ids(const struct layout *l)
{
	size_t id_len = hash_len(l->m->rq->algo);

	for (unsigned byte = 0; byte < 256; byte++)
		buf_append_be32(l->out, l->m->fanout[byte]);
	for (size_t i = 0; i < l->m->nr; i++)
		buf_append(l->out, l->m->copies[i].id, id_len);
}

/* The place of a pack in the pseudo-pack: the preferred one first. */
static uint32_t pack_place(const struct merge *m, uint32_t pack)
{
	if (pack == m->preferred)
		return 0;
	return m->preferred == PACK_MIDX_NO_PACK || pack > m->preferred
		       ? pack
		       : pack + 1;
}

/* RIDX and BTMP: sorted by offset, then stably by pack. */
static int put_order(const struct layout *l)
{
	const struct merge *m = l->m;
	struct sort_item *items = mem_alloc(m->nr, sizeof(*items));
	uint32_t *spans = mem_calloc(m->rq->pack_nr, 2 * sizeof(*spans));
	int ret = items && spans ? 0 : ERR_NOMEM;

	for (uint32_t i = 0; i < m->nr && !ret; i++)
		items[i] = (struct sort_item){m->copies[i].offset, i};
	if (!ret)
		ret = sort_items(items, m->nr);
	for (size_t i = 0; i < m->nr && !ret; i++)
		items[i].key = pack_place(m, m->copies[items[i].value].pack);
	if (!ret)
		ret = sort_items(items, m->nr);
	for (size_t i = 0; i < m->nr && !ret; i++) {
		uint32_t *span =
			&spans[(size_t)2 * m->copies[items[i].value].pack];

		buf_append_be32(l->out, items[i].value);
		if (!span[1]++)
			span[0] = (uint32_t)i;
	}
	for (size_t i = 0; i < (size_t)2 * m->rq->pack_nr && !ret; i++)
		buf_append_be32(l->out, spans[i]);
	free(items);
	free(spans);
	return ret;
}

static int put_chunks(const struct layout *l, size_t file_start)
{
	const struct merge *m = l->m;
	const struct chunk all[] = {
		{.id = CHUNK_ID('P', 'N', 'A', 'M'), .len = l->names_len},
		{.id = CHUNK_ID('O', 'I', 'D', 'F'), .len = PACK_FANOUT_LEN},
		{.id = CHUNK_ID('O', 'I', 'D', 'L'),
		 .len = m->nr * hash_len(m->rq->algo)},
		{.id = CHUNK_ID('O', 'O', 'F', 'F'),
		 .len = (uint64_t)8 * m->nr},
		{.id = CHUNK_ID('L', 'O', 'F', 'F'),
		 .len = (uint64_t)8 * l->off64_nr},
		{.id = CHUNK_ID('R', 'I', 'D', 'X'),
		 .len = (uint64_t)4 * m->nr},
		{.id = CHUNK_ID('B', 'T', 'M', 'P'),
		 .len = (uint64_t)8 * m->rq->pack_nr},
	};
	struct chunk chunks[ARRAY_NR(all)];
	size_t nr = 0, room = CHUNK_ROW_LEN * ARRAY_NR(all) + 64 + OID_MAX_LEN;
	int ret;

	for (size_t i = 0; i < ARRAY_NR(all); i++) {
		if ((i == 4 && !l->is_large) || (i > 4 && !m->rq->with_order))
			continue;
		chunks[nr++] = all[i];
		if (!mem_add(&room, room, (size_t)all[i].len))
			return ERR_NOMEM;
	}
	ret = buf_reserve(l->out, room);
	if (ret < 0)
		return ret;
	put_header(l, nr);
	chunk_contents_append(l->out, file_start, chunks, nr);
	put_names(l);
	put_ids(l);
	put_objects(l);
	return m->rq->with_order ? put_order(l) : 0;
}

static int put_file(const struct merge *m, struct buf *out,
		    struct pack_midx_written *written)
{
	struct layout l = {.m = m, .out = out};
	size_t start = out->len;
	struct hash_ctx hash;
	int ret;

	measure(&l);
	ret = put_chunks(&l, start);
	if (!ret)
		ret = hash_init(&hash, m->rq->algo);
	if (ret < 0) {
		buf_set_len(out, start);
		return ret;
	}
	hash_update(&hash, out->data + start, out->len - start);
	hash_final(&hash, &written->checksum);
	hash_release(&hash);
	buf_append(out, written->checksum.bytes, hash_len(m->rq->algo));
	written->nr = (uint32_t)m->nr;
	return 0;
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
	if (m.preferred == PACK_MIDX_NO_PACK && request->with_order)
		m.preferred = oldest_pack(request);
	ret = rank_packs(&m);
	if (!ret)
		ret = merge_packs(&m);
	if (!ret && put_file(&m, out, written) < 0)
		ret = error_nomem(err);
	free(m.ranks);
	free(m.copies);
	return ret;
}
