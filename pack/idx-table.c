/* SPDX-License-Identifier: MIT */
/*
 * A finer fanout over a table of ids (struct pack_idx_table), for code that
 * looks up many ids.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "pack/ids.h"

enum {
	/* the average range has at most about this number of ids */
	IDS_PER_RANGE = 4,
	BITS_MIN = 8,
};

/*
 * Fills the table with the position of each range's first id. Returns false if
 * the ids do not strictly ascend. Equal ids are not allowed, because the table
 * and pack_ids_find() could return different positions for them.
 */
static bool fill(struct pack_idx_table *table, size_t range_nr)
{
	const struct pack_ids *ids = table->ids;
	size_t range = 0;

	for (uint32_t i = 0; i < ids->nr; i++) {
		const uint8_t *id = pack_ids_at(ids, i);

		if (i && memcmp(id - ids->stride, id, hash_len(ids->algo)) >= 0)
			return false;
		while (range <= load_be64(id) >> table->shift)
			table->first[range++] = i;
	}
	while (range <= range_nr)
		table->first[range++] = ids->nr;
	return true;
}

void pack_idx_table_init(struct pack_idx_table *table,
			 const struct pack_ids *ids)
{
	unsigned bits = BITS_MIN;

	while (ids->nr / IDS_PER_RANGE >> bits)
		bits++;
	*table = (struct pack_idx_table){.ids = ids, .shift = 64 - bits};
	table->first = mem_alloc(((size_t)1 << bits) + 1,
				 sizeof(*table->first));
	if (table->first && !fill(table, (size_t)1 << bits))
		pack_idx_table_release(table);
}

void pack_idx_table_release(struct pack_idx_table *table)
{
	free(table->first);
	table->first = NULL;
}

void pack_idx_table_prefetch(const struct pack_idx_table *table,
			     const uint8_t *const *raws, size_t nr)
{
	if (!table->first)
		return;
	for (size_t i = 0; i < nr; i++)
		__builtin_prefetch(
			&table->first[load_be64(raws[i]) >> table->shift]);
	for (size_t i = 0; i < nr; i++) {
		uint64_t range = load_be64(raws[i]) >> table->shift;

		if (table->first[range] < table->ids->nr)
			__builtin_prefetch(
				pack_ids_at(table->ids, table->first[range]));
	}
}

bool pack_idx_table_find(const struct pack_idx_table *table, const uint8_t *raw,
			 uint32_t *ids_pos)
{
	const struct pack_ids *ids = table->ids;
	uint64_t key = load_be64(raw);
	const uint32_t *range;
	uint32_t lo, hi;

	if (!table->first)
		return pack_ids_find(ids, raw, ids_pos);
	range = &table->first[key >> table->shift];
	lo = range[0];
	hi = range[1];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const uint8_t *id = pack_ids_at(ids, mid);
		uint64_t at = load_be64(id);
		int cmp = at != key ? (at < key ? -1 : 1)
				    : memcmp(id + 8, raw + 8,
					     hash_len(ids->algo) - 8);

		if (!cmp) {
			*ids_pos = mid;
			return true;
		}
		if (cmp < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}
