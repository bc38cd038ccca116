/* SPDX-License-Identifier: MIT */
/* Searches a table of ids. */
#include <string.h>

#include "pack/ids.h"

int pack_fanout_check(uint32_t *nr, const uint8_t *fanout, const char *name,
		      uint64_t off, struct error *err)
{
	uint32_t last = 0;

	for (size_t i = 0; i < 256; i++) {
		uint32_t n = load_be32(fanout + 4 * i);

		if (n < last)
			return error_set_at(err, ERR_CORRUPT, name, off + 4 * i,
					    "fanout not ascending");
		last = n;
	}
	*nr = last;
	return 0;
}

/*
 * A search for one id. The id can only be at the positions [lo, hi). A probe
 * compares the wanted id with the id at one position, and narrows this range.
 */
struct search {
	const struct pack_ids *ids;
	const uint8_t *raw;
	uint64_t key; /* the first 8 bytes of raw */
	uint32_t lo, hi;
	/* position of the id that was compared last */
	uint32_t probed;
};

/*
 * Compares the id at `pos` with the wanted id, and narrows the range. Returns
 * a negative number if the id at `pos` is less than the wanted id, 0 if both
 * are equal, or a positive number.
 */
static inline int probe(struct search *s, uint32_t pos)
{
	const uint8_t *id = pack_ids_at(s->ids, pos);
	uint64_t at = load_be64(id);
	int cmp;

	if (at == s->key)
		cmp = memcmp(id + 8, s->raw + 8, hash_len(s->ids->algo) - 8);
	else
		cmp = at < s->key ? -1 : 1;
	s->probed = pos;
	if (cmp < 0)
		s->lo = pos + 1;
	else
		s->hi = pos;
	return cmp;
}

/*
 * Returns the estimated position of the wanted id, as if the ids in the range
 * were evenly spread.
 */
static inline uint32_t interpolate(const struct search *s)
{
	uint64_t nr = s->hi - s->lo;

	/*
	 * Only 24 bits after the first byte are used, so that the product fits
	 * into 64 bits.
	 */
	return s->lo + (uint32_t)((s->key >> 32 & 0xffffff) * nr >> 24);
}

/*
 * Probes at growing distances from the last probe, in the direction of the
 * wanted id, until a probe finds this id or is past it. The wanted id is
 * usually near the last probe, so few probes are needed. Returns 0 if a probe
 * finds the id; otherwise a nonzero number, and the id may still be in the
 * range [lo, hi).
 */
static inline int gallop(struct search *s)
{
	int cmp, side = s->probed < s->lo ? -1 : 1;
	uint32_t step = 2;

	do {
		if (s->hi - s->lo <= step)
			return side;
		cmp = probe(s, side < 0 ? s->lo + step : s->hi - step);
		step *= 2;
	} while (cmp && (cmp < 0) == (side < 0));
	return cmp;
}

bool pack_ids_find(const struct pack_ids *ids, const uint8_t *raw,
		   uint32_t *ids_pos)
{
	struct search s = {.ids = ids, .raw = raw, .key = load_be64(raw)};
	int cmp;

	pack_ids_range(ids, raw[0], &s.lo, &s.hi);
	if (s.lo == s.hi)
		return false;
	/*
	 * Among n ids, interpolation misses the id by about the square root of
	 * n positions. If an attacker chose the ids, the search may cost twice
	 * a binary search.
	 */
	cmp = probe(&s, interpolate(&s));
	if (cmp)
		cmp = gallop(&s);
	while (cmp && s.lo < s.hi)
		cmp = probe(&s, s.lo + (s.hi - s.lo) / 2);
	if (cmp)
		return false;
	*ids_pos = s.probed;
	return true;
}

/*
 * Returns the position of the first id in the table that is not less than
 * `raw`.
 */
static uint32_t lower_bound(const struct pack_ids *ids, const uint8_t *raw)
{
	uint32_t lo, hi;

	pack_ids_range(ids, raw[0], &lo, &hi);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (memcmp(pack_ids_at(ids, mid), raw, hash_len(ids->algo)) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void pack_ids_find_prefix(const struct pack_ids *ids, const struct oid *prefix,
			  size_t hex_len, uint32_t *first, uint32_t *last)
{
	size_t len = hash_len(ids->algo);
	uint8_t low[OID_MAX_LEN] = {0}, high[OID_MAX_LEN];

	if (hex_len > 2 * len)
		hex_len = 2 * len;
	memset(high, 0xff, sizeof(high));
	memcpy(low, prefix->bytes, hex_len / 2);
	memcpy(high, prefix->bytes, hex_len / 2);
	if (hex_len % 2) {
		low[hex_len / 2] = prefix->bytes[hex_len / 2] & 0xf0;
		high[hex_len / 2] = prefix->bytes[hex_len / 2] | 0x0f;
	}
	*first = lower_bound(ids, low);
	*last = lower_bound(ids, high);
	/*
	 * `high` is the highest possible id with this prefix. An id that equals
	 * `high` belongs to the range too.
	 */
	while (*last < ids->nr && !memcmp(pack_ids_at(ids, *last), high, len))
		++*last;
	if (*last < *first)
		*last = *first; /* ids out of order */
}

int pack_ids_check(const struct pack_ids *ids, uint32_t ids_pos,
		   const uint8_t *bytes, const char *name, struct error *err)
{
	const uint8_t *id = pack_ids_at(ids, ids_pos);
	uint64_t at = (uint64_t)(id - bytes);
	uint32_t lo, hi;

	pack_ids_range(ids, id[0], &lo, &hi);
	if (ids_pos < lo || ids_pos >= hi)
		return error_set_at(err, ERR_CORRUPT, name, at,
				    "id outside its fanout range");
	if (ids_pos && memcmp(id - ids->stride, id, hash_len(ids->algo)) > 0)
		return error_set_at(err, ERR_CORRUPT, name, at,
				    "ids out of order");
	return 0;
}
