/* SPDX-License-Identifier: MIT */
/*
 * Changed-path filters: the paths that a commit has changed against its first
 * parent, as a Bloom filter (gitformat-commit-graph(5), BDAT).
 *
 * Entries are the changed paths and all directories above them, without a slash
 * at either end. Each entry sets `hash_nr` bits of the filter:
 *
 * 	bit i:  (h0 + i * h1) mod 2^32 mod (8 * len)
 *
 * h0 and h1 are the 32-bit murmur3 hashes of the path with seeds 0x293ae76f and
 * 0x7e646e2c. The manual page lacks the last digit of one seed. The full value
 * was found by comparison with stock Git's filters. Bit b is bit (b mod 8) of
 * byte (b / 8). Version 1 reads bytes from 0x80 on as negative numbers; version
 * 2 is standard murmur3.
 *
 * Example: the one path "g" in a filter of two bytes. h0 is 0x3e3945d4 and h1
 * is 0x1b91d333. This gives bits 4, 7, 10, 13, 0, 3, 6. Stock Git writes
 *
 * 	d9 24
 */
#ifndef GRAPH_BLOOM_H
#define GRAPH_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bloom_settings {
	uint32_t version; /* 1 or 2 */
	uint32_t hash_nr;
	uint32_t bits_per_entry;
};

/* The settings of the filters that stock Git and this project write. */
#define BLOOM_HASH_NR 7
#define BLOOM_BITS_PER_ENTRY 10

/*
 * Maximum number of entries in a filter. If a commit changes more paths, its
 * filter matches every path.
 */
#define BLOOM_ENTRIES_MAX 512

static inline struct bloom_settings bloom_settings(uint32_t version)
{
	return (struct bloom_settings){version, BLOOM_HASH_NR,
				       BLOOM_BITS_PER_ENTRY};
}

static inline bool bloom_settings_equal(const struct bloom_settings *a,
					const struct bloom_settings *b)
{
	return a->version == b->version && a->hash_nr == b->hash_nr &&
	       a->bits_per_entry == b->bits_per_entry;
}

/*
 * Returns the murmur3 hash of `len` bytes, computed as filters of this version
 * need.
 */
uint32_t bloom_murmur3(uint32_t seed, const char *bytes, size_t len,
		       uint32_t version);

/*
 * The two murmur3 hashes of a path. All bits that the path sets in a filter are
 * computed from the two hashes.
 */
struct bloom_key {
	uint32_t h0, h1;
};

struct bloom_key bloom_key(const char *path, size_t len, uint32_t version);

/* Returns the length in bytes of a filter for `nr` entries; at least 1. */
size_t bloom_filter_len(size_t nr, const struct bloom_settings *settings);

/* Adds a path to a filter of `len` > 0 bytes. */
void bloom_filter_add(uint8_t *filter, size_t len, const struct bloom_key *key,
		      const struct bloom_settings *settings);

/*
 * Returns false if the path is certainly not in the filter, otherwise true.
 * Returns true if `len` is 0, which means that the filter was not computed.
 */
bool bloom_filter_has(const uint8_t *filter, size_t len,
		      const struct bloom_key *key,
		      const struct bloom_settings *settings);

#endif
