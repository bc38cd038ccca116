/* SPDX-License-Identifier: MIT */
/*
 * Reads and verifies the order of the pseudo-pack of a multi-pack-index.
 *
 * The .rev file of a multi-pack-index has the format of a pack's .rev file
 * (pack/rev.h). The checksum of the multi-pack-index is in the place of the
 * pack's checksum.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "pack/midx.h"
#include "pack/side-table.h"

static int take_rev(const struct pack_midx *midx, const uint8_t **table,
		    const void *rev, size_t rev_len, struct error *err)
{
	static const struct side_table_kind kind = {"RIDX", "reverse index"};
	const struct pack_idx as_pack = {
		.nr = midx->nr,
		.algo = midx->algo,
		.pack_checksum = midx->checksum,
	};

	return side_table_parse(table, &kind, &as_pack, rev, rev_len,
				midx->name, err);
}

/*
 * Verifies the place of one object in the pseudo-pack: the order in which
 * objects have bits in the bitmap index. In this order, the objects of each
 * pack are together, sorted by offset. Call this for one bit after the other,
 * from bit 0 on. *last_pack and *last_off belong to the object of the previous
 * bit.
 *
 * Returns false if the object of bit `bit_pos` is not in the multi-pack-index
 * or not in one of its packs. Also returns false if an object of another pack
 * is between the object and the previous object of its pack, or if the offsets
 * of these two do not ascend.
 */
static bool add_bit(struct pack_midx_order *order, uint32_t bit_pos,
		    uint32_t *last_pack, uint64_t *last_off)
{
	const struct pack_midx *midx = order->midx;
	uint32_t midx_pos = load_be32(order->table + 4 * (size_t)bit_pos) -
			    midx->base_nr;
	uint32_t pack;
	uint64_t off;

	if (midx_pos >= midx->nr)
		return false;
	pack = pack_midx_pack(midx, midx_pos);
	off = pack_midx_offset(midx, midx_pos);
	if (pack >= midx->pack_nr || off == UINT64_MAX)
		return false;
	if (bit_pos && pack == *last_pack) {
		if (off <= *last_off)
			return false;
	} else {
		if (order->spans[pack].nr)
			return false;
		order->spans[pack].first = bit_pos;
	}
	order->spans[pack].nr++;
	*last_pack = pack;
	*last_off = off;
	return true;
}

static bool add_bits(struct pack_midx_order *order)
{
	uint32_t last_pack = 0;
	uint64_t last_off = 0;

	for (uint32_t i = 0; i < order->midx->nr; i++)
		if (!add_bit(order, i, &last_pack, &last_off))
			return false;
	return true;
}

int pack_midx_order_init(struct pack_midx_order *order,
			 const struct pack_midx *midx, const void *rev,
			 size_t rev_len, struct error *err)
{
	int ret = 0;

	*order = (struct pack_midx_order){.midx = midx, .table = midx->order};
	if (!order->table && rev)
		ret = take_rev(midx, &order->table, rev, rev_len, err);
	else if (!order->table)
		ret = error_set(err, ERR_MISSING, "%s: no reverse index",
				midx->name);
	if (!ret) {
		order->spans = mem_calloc(midx->pack_nr, sizeof(*order->spans));
		if (!order->spans)
			ret = error_nomem(err);
	}
	if (!ret && !add_bits(order))
		ret = error_set(err, ERR_CORRUPT,
				"%s: objects are not in the order of the packs",
				midx->name);
	if (ret < 0)
		pack_midx_order_release(order);
	else if (midx->nr)
		order->preferred = pack_midx_pack(
			midx, pack_midx_order_pos(order, 0));
	return ret;
}

static int cmp_spans(const void *a, const void *b)
{
	const struct pack_midx_span *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Verifies that every bit in [0, nr) belongs to exactly one pack. Returns 0,
 * ERR_CORRUPT or ERR_NOMEM.
 */
static int check_spans(const struct pack_midx_order *order, struct error *err)
{
	uint32_t nr = order->midx->pack_nr, used = 0;
	struct pack_midx_span *sorted = mem_alloc(nr, sizeof(*sorted));
	uint64_t end = 0;

	if (!sorted)
		return error_nomem(err);
	for (uint32_t i = 0; i < nr; i++)
		if (order->spans[i].nr)
			sorted[used++] = order->spans[i];
	if (used)
		qsort(sorted, used, sizeof(*sorted), cmp_spans);
	for (uint32_t i = 0; i < used && end != UINT64_MAX; i++)
		end = sorted[i].first == end ? end + sorted[i].nr : UINT64_MAX;
	free(sorted);
	return end == order->midx->nr
		       ? 0
		       : error_set(err, ERR_CORRUPT,
				   "%s: bitmapped packs overlap or leave gaps",
				   order->midx->name);
}

int pack_midx_order_init_unproven(struct pack_midx_order *order,
				  const struct pack_midx *midx,
				  struct error *err)
{
	int ret;

	*order = (struct pack_midx_order){0};
	if (!midx->order || !midx->spans)
		return 1;
	order->midx = midx;
	order->table = midx->order;
	order->spans = mem_calloc(midx->pack_nr, sizeof(*order->spans));
	if (!order->spans)
		return error_nomem(err);
	for (uint32_t i = 0; i < midx->pack_nr; i++) {
		struct pack_midx_span *span = &order->spans[i];

		span->first = load_be32(midx->spans + 8 * (size_t)i) -
			      midx->base_nr;
		span->nr = load_be32(midx->spans + 8 * (size_t)i + 4);
		if (span->nr && !span->first)
			order->preferred = i;
	}
	ret = check_spans(order, err);
	if (ret < 0)
		pack_midx_order_release(order);
	return ret;
}

int pack_midx_order_prove(const struct pack_midx_order *order,
			  struct error *err)
{
	const struct pack_midx *midx = order->midx;
	struct pack_midx_order proven;
	int ret = pack_midx_order_init(&proven, midx, NULL, 0, err);

	for (uint32_t i = 0; i < midx->pack_nr && !ret; i++)
		if (proven.spans[i].nr != order->spans[i].nr ||
		    (proven.spans[i].nr &&
		     proven.spans[i].first != order->spans[i].first))
			ret = error_set(err, ERR_CORRUPT,
					"%s: bitmapped packs are not those of "
					"the objects",
					midx->name);
	pack_midx_order_release(&proven);
	return ret;
}

void pack_midx_order_release(struct pack_midx_order *order)
{
	free(order->spans);
	*order = (struct pack_midx_order){0};
}

bool pack_midx_order_find(const struct pack_midx_order *order,
			  uint32_t midx_pos, uint32_t *bit_pos)
{
	const struct pack_midx *midx = order->midx;
	uint32_t pack = pack_midx_pack(midx, midx_pos), low, high;
	uint64_t off = pack_midx_offset(midx, midx_pos);

	if (pack >= midx->pack_nr)
		return false;
	low = order->spans[pack].first;
	high = low + order->spans[pack].nr;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (pack_midx_offset(midx, pack_midx_order_pos(order, mid)) <
		    off)
			low = mid + 1;
		else
			high = mid;
	}
	*bit_pos = low;
	return low < order->spans[pack].first + order->spans[pack].nr &&
	       pack_midx_order_pos(order, low) == midx_pos;
}
