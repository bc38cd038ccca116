/* SPDX-License-Identifier: MIT */
/*
 * Reading pack indexes. Parsing checks all that lookups depend on for memory
 * safety; ids out of order make lookups miss, never stray.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "object/hash.h"
#include "pack/idx.h"

static const uint8_t idx_magic[4] = {0xff, 't', 'O', 'c'};

enum {
	IDX_V2_HEADER_LEN = 8,
	IDX_FANOUT_LEN = 256 * 4,
};

static int check_fanout(struct pack_idx *idx, struct error *err)
{
	uint32_t last = 0;

	for (size_t i = 0; i < 256; i++) {
		uint32_t n = load_be32(idx->fanout + 4 * i);

		if (n < last)
			return error_set_at(
				err, ERR_CORRUPT, idx->name,
				(uint64_t)(idx->fanout - idx->bytes) + 4 * i,
				"fanout not ascending");
		last = n;
	}
	idx->nr = last;
	return 0;
}

/* The tables of version 1: offset and id of each object together. */
static bool lay_out_v1(struct pack_idx *idx)
{
	size_t id_len = hash_len(idx->algo);
	size_t tables = (size_t)idx->nr * (4 + id_len);

	if (idx->len != IDX_FANOUT_LEN + tables + 2 * id_len)
		return false;
	idx->ids = idx->fanout + IDX_FANOUT_LEN + 4;
	idx->id_stride = 4 + id_len;
	return true;
}

static bool lay_out_v2(struct pack_idx *idx)
{
	size_t id_len = hash_len(idx->algo);
	size_t fixed = IDX_V2_HEADER_LEN + IDX_FANOUT_LEN +
		       (size_t)idx->nr * (id_len + 8) + 2 * id_len;
	size_t off64_len;

	if (idx->len < fixed)
		return false;
	off64_len = idx->len - fixed;
	if (off64_len % 8 || off64_len / 8 > idx->nr)
		return false;
	idx->ids = idx->fanout + IDX_FANOUT_LEN;
	idx->id_stride = id_len;
	idx->crcs = idx->ids + (size_t)idx->nr * id_len;
	idx->off32 = idx->crcs + (size_t)idx->nr * 4;
	idx->off64 = idx->off32 + (size_t)idx->nr * 4;
	idx->off64_nr = (uint32_t)(off64_len / 8);
	return true;
}

/* Find out the version and where the fanout begins. */
static int read_header(struct pack_idx *idx, struct error *err)
{
	size_t header = 0;

	idx->version = 1;
	if (idx->len >= IDX_V2_HEADER_LEN &&
	    !memcmp(idx->bytes, idx_magic, 4)) {
		idx->version = load_be32(idx->bytes + 4);
		header = IDX_V2_HEADER_LEN;
		if (idx->version != 2)
			return error_set(err, ERR_UNSUPPORTED,
					 "%s: index version %u is not known",
					 idx->name, idx->version);
	}
	if (idx->len < header + IDX_FANOUT_LEN)
		return error_set(err, ERR_CORRUPT, "%s: index file too small",
				 idx->name);
	idx->fanout = idx->bytes + header;
	return 0;
}

int pack_idx_parse(struct pack_idx *idx, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err)
{
	struct pack_idx t = {.bytes = bytes, .len = len, .algo = algo};
	int ret;

	*idx = (struct pack_idx){0};
	t.name = mem_strdup(name);
	if (!t.name)
		return error_nomem(err);
	ret = read_header(&t, err);
	if (!ret)
		ret = check_fanout(&t, err);
	if (!ret && !(t.version == 1 ? lay_out_v1(&t) : lay_out_v2(&t)))
		ret = error_set(err, ERR_CORRUPT,
				"%s: wrong size for an index of %u objects",
				name, t.nr);
	if (ret < 0) {
		pack_idx_release(&t);
		return ret;
	}
	t.pack_checksum = t.bytes + t.len - 2 * hash_len(algo);
	*idx = t;
	return 0;
}

void pack_idx_release(struct pack_idx *idx)
{
	free(idx->name);
	*idx = (struct pack_idx){0};
}

uint64_t pack_idx_offset(const struct pack_idx *idx, uint32_t idx_pos)
{
	uint32_t off;

	if (!idx->off32)
		return load_be32(pack_idx_oid(idx, idx_pos) - 4);
	off = load_be32(idx->off32 + 4 * (size_t)idx_pos);
	if (!(off & 0x80000000))
		return off;
	off &= 0x7fffffff;
	if (off >= idx->off64_nr)
		return UINT64_MAX;
	return load_be64(idx->off64 + 8 * (size_t)off);
}

uint32_t pack_idx_crc(const struct pack_idx *idx, uint32_t idx_pos)
{
	return idx->crcs ? load_be32(idx->crcs + 4 * (size_t)idx_pos) : 0;
}

/* The half-open range of ids whose first byte is `byte`. */
static void fanout_range(const struct pack_idx *idx, uint8_t byte, uint32_t *lo,
			 uint32_t *hi)
{
	*lo = byte ? load_be32(idx->fanout + 4 * (byte - 1)) : 0;
	*hi = load_be32(idx->fanout + 4 * byte);
}

/*
 * A search for one id, which is at a position in [lo, hi) if anywhere. A
 * probe looks at one position and narrows the range.
 */
struct search {
	const struct pack_idx *idx;
	const uint8_t *raw;
	uint64_t key; /* the first 8 bytes of raw */
	uint32_t lo, hi;
	uint32_t probed; /* the last position looked at */
};

/* How the id at idx_pos compares with the one that is searched. */
static inline int probe(struct search *s, uint32_t idx_pos)
{
	const uint8_t *id = pack_idx_oid(s->idx, idx_pos);
	uint64_t at = load_be64(id);
	int cmp;

	if (at == s->key)
		cmp = memcmp(id + 8, s->raw + 8, hash_len(s->idx->algo) - 8);
	else
		cmp = at < s->key ? -1 : 1;
	s->probed = idx_pos;
	if (cmp < 0)
		s->lo = idx_pos + 1;
	else
		s->hi = idx_pos;
	return cmp;
}

/* Where the id should be if those in the range are spread evenly. */
static inline uint32_t interpolate(const struct search *s)
{
	uint64_t nr = s->hi - s->lo;

	/* 24 bits behind the first byte: the product fits. */
	return s->lo + (uint32_t)((s->key >> 32 & 0xffffff) * nr >> 24);
}

/*
 * Probe at growing distances from the last probe, towards the id, until it is
 * passed: it is near, but the range may still be wide on that side.
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

bool pack_idx_find(const struct pack_idx *idx, const uint8_t *raw,
		   uint32_t *idx_pos)
{
	struct search s = {.idx = idx, .raw = raw, .key = load_be64(raw)};
	int cmp;

	fanout_range(idx, raw[0], &s.lo, &s.hi);
	if (s.lo == s.hi)
		return false;
	/*
	 * A guess over n ids is off by the root of n. Ids chosen to mislead
	 * us cost twice a binary search.
	 */
	cmp = probe(&s, interpolate(&s));
	if (cmp)
		cmp = gallop(&s);
	while (cmp && s.lo < s.hi)
		cmp = probe(&s, s.lo + (s.hi - s.lo) / 2);
	if (cmp)
		return false;
	*idx_pos = s.probed;
	return true;
}

/* The first position whose id is not less than `raw`. */
static uint32_t lower_bound(const struct pack_idx *idx, const uint8_t *raw)
{
	uint32_t lo, hi;

	fanout_range(idx, raw[0], &lo, &hi);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (memcmp(pack_idx_oid(idx, mid), raw, hash_len(idx->algo)) <
		    0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void pack_idx_find_prefix(const struct pack_idx *idx, const struct oid *prefix,
			  size_t hex_len, uint32_t *first, uint32_t *last)
{
	size_t len = hash_len(idx->algo);
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
	*first = lower_bound(idx, low);
	*last = lower_bound(idx, high);
	/* The highest id with this prefix is within. */
	while (*last < idx->nr && !memcmp(pack_idx_oid(idx, *last), high, len))
		++*last;
	if (*last < *first)
		*last = *first; /* ids out of order */
}

static int verify_object(const struct pack_idx *idx, uint32_t idx_pos,
			 struct error *err)
{
	const uint8_t *id = pack_idx_oid(idx, idx_pos);
	uint64_t at = (uint64_t)(id - idx->bytes);
	uint32_t lo, hi;

	fanout_range(idx, id[0], &lo, &hi);
	if (idx_pos < lo || idx_pos >= hi)
		return error_set_at(err, ERR_CORRUPT, idx->name, at,
				    "id outside its fanout range");
	/* Equal ids: a pack may hold an object twice. */
	if (idx_pos &&
	    memcmp(pack_idx_oid(idx, idx_pos - 1), id, hash_len(idx->algo)) > 0)
		return error_set_at(err, ERR_CORRUPT, idx->name, at,
				    "ids out of order");
	if (pack_idx_offset(idx, idx_pos) == UINT64_MAX)
		return error_set_at(err, ERR_CORRUPT, idx->name, at,
				    "no 64-bit offset for the id");
	return 0;
}

int pack_idx_verify(const struct pack_idx *idx, struct error *err)
{
	size_t id_len = hash_len(idx->algo);
	size_t body_len = idx->len - id_len;
	struct hash_ctx hash;
	struct oid sum;

	for (uint32_t i = 0; i < idx->nr; i++) {
		int ret = verify_object(idx, i, err);

		if (ret < 0)
			return ret;
	}
	if (hash_init(&hash, idx->algo) < 0)
		return error_nomem(err);
	hash_update(&hash, idx->bytes, body_len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	if (memcmp(sum.bytes, idx->bytes + body_len, id_len) != 0)
		return error_set_at(err, ERR_CORRUPT, idx->name, body_len,
				    "checksum mismatch");
	return 0;
}
