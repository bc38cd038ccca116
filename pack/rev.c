/* SPDX-License-Identifier: MIT */
/*
 * The reverse index, from a .rev file or by sorting.
 *
 * A .rev file is verified with the help of the index. The order is right if
 * the table has one position per object, and the offsets at these positions
 * ascend. This check also finds a wrong table whose checksum is right. Callers
 * that look up a few objects of a large pack skip the verification.
 */
#include "base/bytes.h"
#include "base/mem.h"
#include "base/sort.h"
#include "pack/rev.h"
#include "pack/side-table.h"

static const struct side_table_kind rev_kind = {"RIDX", "reverse index"};

static uint64_t trailer_offset(const struct pack_idx *idx, uint64_t pack_len)
{
	size_t id_len = hash_len(idx->algo);

	return pack_len > id_len ? pack_len - id_len : 0;
}

/*
 * Returns whether the offsets of the objects ascend in the order of the table.
 */
static bool is_ascending(const struct pack_rev *rev)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < rev->idx->nr; i++) {
		uint32_t idx_pos = load_be32(rev->table + 4 * (size_t)i);
		uint64_t off;

		if (idx_pos >= rev->idx->nr)
			return false;
		off = pack_idx_offset(rev->idx, idx_pos);
		if (off <= last)
			return false;
		last = off;
	}
	return true;
}

/*
 * Returns the same as is_ascending(), for an index without 64-bit offsets. The
 * loop has no branches, so that it is fast.
 */
static bool is_ascending_off32(const struct pack_rev *rev)
{
	uint32_t nr = rev->idx->nr, last = 0, wrong = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t idx_pos = load_be32(rev->table + 4 * (size_t)i);
		uint32_t off;

		wrong |= idx_pos >= nr;
		idx_pos = idx_pos < nr ? idx_pos : 0;
		off = load_be32(rev->idx->off32 + 4 * (size_t)idx_pos);
		wrong |= off <= last;
		last = off;
	}
	return !wrong;
}

int pack_rev_parse(struct pack_rev *rev, const struct pack_idx *idx,
		   uint64_t pack_len, const void *bytes, size_t len,
		   const char *name, struct error *err)
{
	const uint8_t *table;
	int ret = side_table_parse(&table, &rev_kind, idx, bytes, len, name,
				   err);

	*rev = (struct pack_rev){0};
	if (ret < 0)
		return ret;
	rev->idx = idx;
	rev->table = table;
	rev->end = trailer_offset(idx, pack_len);
	return 0;
}

int pack_rev_verify(const struct pack_rev *rev, const char *name,
		    struct error *err)
{
	const struct pack_idx *idx = rev->idx;

	if (rev->owned ||
	    (idx->off32 && !idx->off64_nr ? is_ascending_off32(rev)
					  : is_ascending(rev)))
		return 0;
	return error_set(err, ERR_CORRUPT,
			 "%s: objects are not in the order of the pack", name);
}

int pack_rev_compute(struct pack_rev *rev, const struct pack_idx *idx,
		     uint64_t pack_len)
{
	struct sort_item *items = mem_alloc(idx->nr, sizeof(*items));
	uint32_t *owned = mem_alloc(idx->nr, sizeof(*owned));
	int ret = ERR_NOMEM;

	*rev = (struct pack_rev){0};
	if (!items || !owned)
		goto out;
	for (uint32_t i = 0; i < idx->nr; i++)
		items[i] = (struct sort_item){pack_idx_offset(idx, i), i};
	ret = sort_items(items, idx->nr);
	if (ret < 0)
		goto out;
	for (uint32_t i = 0; i < idx->nr; i++)
		owned[i] = items[i].value;
	rev->idx = idx;
	rev->owned = owned;
	rev->end = trailer_offset(idx, pack_len);
	owned = NULL;
out:
	free(items);
	free(owned);
	return ret;
}

void pack_rev_release(struct pack_rev *rev)
{
	free(rev->owned);
	*rev = (struct pack_rev){0};
}

uint32_t pack_rev_idx_pos(const struct pack_rev *rev, uint32_t pack_pos)
{
	uint32_t idx_pos;

	if (rev->owned)
		return rev->owned[pack_pos];
	idx_pos = load_be32(rev->table + 4 * (size_t)pack_pos);
	return idx_pos < rev->idx->nr ? idx_pos : 0;
}

void pack_rev_prefetch(const struct pack_rev *rev, uint32_t pack_pos)
{
	pack_idx_prefetch(rev->idx, pack_rev_idx_pos(rev, pack_pos));
}

uint64_t pack_rev_offset(const struct pack_rev *rev, uint32_t pack_pos)
{
	if (pack_pos == rev->idx->nr)
		return rev->end;
	return pack_idx_offset(rev->idx, pack_rev_idx_pos(rev, pack_pos));
}

/*
 * Finds the entry at `offset` among the entries [lo, hi), by binary search.
 * Returns false if there is none.
 */
static bool find_between(const struct pack_rev *rev, uint32_t lo, uint32_t hi,
			 uint64_t offset, uint32_t *pack_pos)
{
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		uint64_t at = pack_rev_offset(rev, mid);

		if (at == offset) {
			*pack_pos = mid;
			return true;
		}
		if (at < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

bool pack_rev_find(const struct pack_rev *rev, uint64_t offset,
		   uint32_t *pack_pos)
{
	return find_between(rev, 0, rev->idx->nr, offset, pack_pos);
}

bool pack_rev_find_entry(const struct pack_rev *rev, uint64_t offset,
			 uint32_t *pack_pos)
{
	uint32_t lo = 0, hi = rev->idx->nr;

	if (!hi || offset < pack_rev_offset(rev, 0) || offset >= rev->end)
		return false;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (pack_rev_offset(rev, mid) <= offset)
			lo = mid;
		else
			hi = mid;
	}
	*pack_pos = lo;
	return true;
}

bool pack_rev_find_before(const struct pack_rev *rev, uint32_t before,
			  uint64_t offset, uint32_t *pack_pos)
{
	uint32_t step = 1, hi = before;

	while (hi) {
		uint32_t lo = hi > step ? hi - step : 0;

		if (!lo || pack_rev_offset(rev, lo) <= offset)
			return find_between(rev, lo, hi, offset, pack_pos);
		hi = lo;
		step *= 2;
	}
	return false;
}

bool pack_rev_find_near(const struct pack_rev *rev, uint32_t near,
			uint64_t offset, uint32_t *pack_pos)
{
	uint32_t step = 1, lo = near, nr = rev->idx->nr;

	if (near == nr || pack_rev_offset(rev, near) > offset)
		return pack_rev_find_before(rev, near, offset, pack_pos);
	while (nr - lo > step && pack_rev_offset(rev, lo + step) <= offset) {
		lo += step;
		step *= 2;
	}
	return find_between(rev, lo, nr - lo > step ? lo + step : nr, offset,
			    pack_pos);
}

uint32_t *pack_rev_invert(const struct pack_rev *rev)
{
	uint32_t *pack_pos = mem_calloc(rev->idx->nr, sizeof(*pack_pos));

	if (!pack_pos)
		return NULL;
	for (uint32_t i = 0; i < rev->idx->nr; i++)
		pack_pos[pack_rev_idx_pos(rev, i)] = i;
	return pack_pos;
}

int pack_rev_write(struct buf *out, const uint32_t *idx_pos, uint32_t nr,
		   const struct oid *pack_checksum, enum hash_algo algo,
		   struct error *err)
{
	return side_table_write(out, &rev_kind, idx_pos, nr, pack_checksum,
				algo, err);
}
