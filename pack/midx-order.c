/* SPDX-License-Identifier: MIT */
/*
 * The order of the pseudo-pack of a multi-pack-index, read and checked.
 *
 * A .rev file of a multi-pack-index is that of a pack (pack/rev.h) with the
 * multi-pack-index's checksum in place of the pack's.
 */
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

/* Add one bit behind those that were checked. False when it cannot be. */
static bool add_bit(struct pack_midx_order *order, uint32_t bit_pos,
		    uint32_t *last_pack, uint64_t *last_off)
{
	const struct pack_midx *midx = order->midx;
	uint32_t midx_pos = pack_midx_order_pos(order, bit_pos);
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
