/* SPDX-License-Identifier: MIT */
/*
 * Tells whether packed-refs may have a tag that peels to an object of a given
 * set. One pass over the bytes excludes most records without parsing them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs/packed-refs.h"

/*
 * Sets *off to the offset of the first record whose name sorts after all names
 * that start with `prefix`. Returns 0 or a negative error code.
 */
static int seek_behind(const struct packed_refs *refs, const char *prefix,
		       size_t *off, struct error *err)
{
	size_t len = strlen(prefix);
	char *next = mem_strdup(prefix);
	int ret;

	if (!next)
		return error_nomem(err);
	next[len - 1]++;
	ret = packed_refs_seek(refs, next, len, off, err);
	free(next);
	return ret;
}

/*
 * Length in bytes of a sieve: a bitmap of the first 16 bits of all wanted ids.
 * Most other ids do not pass the sieve, and need not be parsed.
 */
#define SIEVE_LEN (1 << 13)

static void fill_sieve(uint8_t sieve[SIEVE_LEN], const struct oidmap *ids)
{
	memset(sieve, 0, SIEVE_LEN);
	for (size_t i = 0; i < ids->slot_nr; i++) {
		const uint8_t *id = ids->slots[i].oid.bytes;

		if (ids->slots[i].used)
			sieve[id[0] << 5 | id[1] >> 3] |=
				(uint8_t)(1 << (id[1] & 7));
	}
}

/* Returns the value of a hexadecimal digit, or any value for another byte. */
static unsigned digit(char c)
{
	return (unsigned)((c & 15) + (c >> 6 & 1) * 9) & 15;
}

static bool passes(const uint8_t sieve[SIEVE_LEN], const char *hex)
{
	unsigned second = digit(hex[2]) << 4 | digit(hex[3]);

	return sieve[digit(hex[0]) << 9 | digit(hex[1]) << 5 | second >> 3] &
	       1 << (second & 7);
}

/*
 * Returns whether the peeled id in the line at `off` is one of the wanted ids.
 * The line begins with '^'.
 */
static bool names_one(const struct packed_refs *refs, size_t off,
		      const uint8_t sieve[SIEVE_LEN], const struct oidmap *ids)
{
	size_t hex_len = hash_hex_len(refs->algo);
	const char *hex = refs->table + off + 1;
	struct oid oid;
	uint32_t value;

	return refs->len - off > hex_len && passes(sieve, hex) &&
	       oid_from_hex(&oid, hex, hex_len, refs->algo) &&
	       oidmap_get(ids, &oid, &value);
}

/*
 * A search for records of tags that peel to some wanted ids. `sieve` has the
 * first 16 bits of each wanted id, to skip most records without parsing their
 * ids.
 */
struct scan {
	const struct packed_refs *refs;
	const struct refs_peel_search *search;
	uint8_t sieve[SIEVE_LEN];
	struct error *err;
};

/*
 * Finds out whether the record at [off, nl) of packed-refs may name a tag
 * object. The record has no "^" line (no peeled id). In some files, the missing
 * "^" line alone proves that the ref is no annotated tag
 * (packed_refs_proves()). Otherwise the callback scan->search->may_be_tag
 * decides; without a callback, the object counts as a possible tag. Returns 1
 * if the record may name a tag object, 0 if it certainly does not, or a
 * negative error code.
 */
static int ask(const struct scan *scan, size_t off, size_t nl)
{
	const struct packed_refs *refs = scan->refs;
	size_t hex_len = hash_hex_len(refs->algo), name = off + hex_len + 1;
	struct oid oid;

	if (name >= nl ||
	    packed_refs_proves(refs, refs->table + name, nl - name))
		return 0;
	if (!scan->search->may_be_tag ||
	    !oid_from_hex(&oid, refs->table + off, hex_len, refs->algo))
		return 1;
	return scan->search->may_be_tag(scan->search->ctx, &oid, scan->err);
}

/*
 * Tells whether the line at [off, nl) may belong to a tag that peels to one of
 * the wanted ids. Returns 1 if there may be such a tag, 0 if there is none, or
 * a negative error code.
 */
static int allows(const struct scan *scan, size_t off, size_t nl)
{
	const struct packed_refs *refs = scan->refs;

	if (refs->table[off] == '^')
		return names_one(refs, off, scan->sieve, scan->search->ids);
	if (nl + 1 < refs->len && refs->table[nl + 1] == '^')
		return 0;
	return ask(scan, off, nl);
}

int packed_refs_may_peel(const struct packed_refs *refs, const char *prefix,
			 const struct refs_peel_search *search,
			 struct error *err)
{
	struct scan scan = {.refs = refs, .search = search, .err = err};
	size_t off, end;
	int ret;

	if (!refs->fully_peeled && !refs->is_proved)
		return refs->len != 0;
	ret = packed_refs_seek(refs, prefix, strlen(prefix), &off, err);
	if (!ret)
		ret = seek_behind(refs, prefix, &end, err);
	if (ret < 0)
		return ret;
	fill_sieve(scan.sieve, search->ids);
	while (!ret && off < end) {
		const char *p = memchr(refs->table + off, '\n', end - off);
		size_t nl = p ? (size_t)(p - refs->table) : end;

		ret = allows(&scan, off, nl);
		off = nl + 1;
	}
	return ret;
}
