/* SPDX-License-Identifier: MIT */
/*
 * Combines layers of a chain of multi-pack-indexes. No object is in two layers,
 * so no copy has to be chosen. The ids are merged, and the packs get new
 * numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "pack/midx-layout.h"

struct compact {
	const struct pack_midx_compaction *rq;
	struct pack_midx_copy *copies; /* owned */
	size_t nr;
	const char **names; /* owned array */
	uint32_t pack_nr;
	/*
	 * owned array, indexed by midx_pack of the current layer: the pack's
	 * new number
	 */
	uint32_t *places;
	struct error *err;
};

static int alloc_all(struct compact *c)
{
	size_t nr = 0, pack_nr = 0, most = 0;

	for (size_t i = 0; i < c->rq->nr; i++) {
		const struct pack_midx *m = c->rq->layers[i];

		nr += m->nr;
		pack_nr += m->pack_nr;
		most = m->pack_nr > most ? m->pack_nr : most;
	}
	if (nr >= UINT32_MAX || pack_nr >= UINT32_MAX)
		return error_set(c->err, ERR_UNSUPPORTED,
				 "too many objects for a multi-pack-index");
	c->copies = mem_alloc(nr, sizeof(*c->copies));
	c->names = mem_alloc(pack_nr, sizeof(*c->names));
	c->places = mem_alloc(most, sizeof(*c->places));
	return c->copies && c->names && c->places ? 0 : error_nomem(c->err);
}

/*
 * Numbers the packs of a layer in the combined file. The numbers follow those
 * of the layers combined before.
 *
 * If the layer has a bitmap order (the order in which bitmaps number its
 * objects), the packs are sorted by it: the pack whose first object comes
 * first in the bitmap order gets the smallest number. Packs without an object
 * in the bitmap order come last. If the layer has no bitmap order, the packs
 * keep the order that they have in the layer. Returns 0 or ERR_NOMEM.
 */
static int place_packs(struct compact *c, size_t layer)
{
	const struct pack_midx *m = c->rq->layers[layer];
	const struct pack_midx_order *order = c->rq->orders
						      ? c->rq->orders[layer]
						      : NULL;
	struct sort_item *items = mem_alloc(m->pack_nr, sizeof(*items));
	int ret = items ? 0 : ERR_NOMEM;

	for (uint32_t i = 0; i < m->pack_nr && !ret; i++) {
		uint64_t first = 0;

		if (order)
			first = order->spans[i].nr ? order->spans[i].first
						   : UINT32_MAX;
		items[i] = (struct sort_item){first, i};
	}
	if (!ret)
		ret = sort_items(items, m->pack_nr);
	for (uint32_t i = 0; i < m->pack_nr && !ret; i++) {
		c->places[items[i].value] = c->pack_nr;
		c->names[c->pack_nr++] = m->names[items[i].value];
	}
	free(items);
	return ret < 0 ? error_nomem(c->err) : 0;
}

static int take_layer(struct compact *c, size_t layer)
{
	const struct pack_midx *m = c->rq->layers[layer];
	int ret = place_packs(c, layer);

	for (uint32_t i = 0; i < m->nr && !ret; i++) {
		uint32_t pack = pack_midx_pack(m, i);
		uint64_t offset = pack_midx_offset(m, i);

		if (pack >= m->pack_nr || offset == UINT64_MAX)
			return error_set(c->err, ERR_CORRUPT,
					 "%s: bad pack or offset of object %u",
					 m->name, i);
		c->copies[c->nr++] = (struct pack_midx_copy){
			pack_midx_oid(m, i), offset, c->places[pack], 0};
	}
	return ret;
}

static int cmp_sha1(const void *a, const void *b)
{
	const struct pack_midx_copy *x = a, *y = b;

	return memcmp(x->id, y->id, 20);
}

static int cmp_sha256(const void *a, const void *b)
{
	const struct pack_midx_copy *x = a, *y = b;

	return memcmp(x->id, y->id, 32);
}

static int lay_out(struct compact *c, struct buf *out,
		   struct pack_midx_written *written)
{
	const struct pack_midx_layout l = {
		.copies = c->copies,
		.nr = c->nr,
		.names = c->names,
		.pack_nr = c->pack_nr,
		.preferred = PACK_MIDX_NO_PACK,
		.base_nr = c->rq->base_nr,
		.with_order = c->rq->with_order,
		.version = 2,
		.algo = c->rq->layers[0]->algo,
	};

	if (c->nr)
		qsort(c->copies, c->nr, sizeof(*c->copies),
		      l.algo == HASH_SHA256 ? cmp_sha256 : cmp_sha1);
	return pack_midx_lay_out(out, &l, written) < 0 ? error_nomem(c->err)
						       : 0;
}

int pack_midx_compact(struct buf *out,
		      const struct pack_midx_compaction *compaction,
		      struct pack_midx_written *written, struct error *err)
{
	struct compact c = {.rq = compaction, .err = err};
	int ret = alloc_all(&c);

	for (size_t i = 0; i < compaction->nr && !ret; i++)
		ret = take_layer(&c, i);
	if (!ret)
		ret = lay_out(&c, out, written);
	free(c.copies);
	free(c.names);
	free(c.places);
	return ret;
}
