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
 * Returns whether the peeled id in the line at `off`, which begins with '^', is
 * one of the wanted ids.
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

int packed_refs_may_peel(const struct packed_refs *refs, const char *prefix,
			 const struct oidmap *ids, struct error *err)
{
	uint8_t sieve[SIEVE_LEN];
	const char *nl;
	size_t off, end;
	int ret;

	if (!refs->fully_peeled &&
	    !(refs->peeled && !strncmp(prefix, "refs/tags/", 10)))
		return refs->len != 0;
	ret = packed_refs_seek(refs, prefix, strlen(prefix), &off, err);
	if (!ret)
		ret = seek_behind(refs, prefix, &end, err);
	if (ret < 0)
		return ret;
	fill_sieve(sieve, ids);
	while (off < end) {
		if (refs->table[off] == '^' && names_one(refs, off, sieve, ids))
			return 1;
		nl = memchr(refs->table + off, '\n', end - off);
		off = nl ? (size_t)(nl - refs->table) + 1 : end;
	}
	return 0;
}
