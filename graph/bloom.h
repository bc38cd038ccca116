/* SPDX-License-Identifier: MIT */
/*
 * Changed-path filters: which paths a commit has changed against its first
 * parent, as a Bloom filter (gitformat-commit-graph(5), BDAT).
 *
 * Entries are the changed paths and all directories above them, without a
 * slash at either end. Each sets `hash_nr` bits of the filter,
 *
 *	bit i:  (h0 + i * h1) mod 2^32 mod (8 * len)
 *
 * with h0 and h1 the 32-bit murmur3 of the path with seeds 0x293ae76f and
 * 0x7e646e2c (the document drops the last digit; found by trying which of the
 * seeds that begin like this gives stock Git's filters); bit b is bit (b mod 8)
 *of byte (b / 8). Version 1 reads bytes from 0x80 on as negative numbers;
 *version 2 as murmur3 has it.
 *
 * One path "g" in a filter of two bytes, h0 0x3e3945d4, h1 0x1b91d333: bits 4,
 * 7, 10, 13, 0, 3, 6, as stock Git writes it:
 *
 *	d9 24
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

/* What stock Git writes, and we. */
#define BLOOM_HASH_NR 7
#define BLOOM_BITS_PER_ENTRY 10

/* A commit with more entries has a filter that holds everything. */
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

/* Murmur3 of `len` bytes as the version has it. */
uint32_t bloom_murmur3(uint32_t seed, const char *bytes, size_t len,
		       uint32_t version);

/* A path, hashed. */
struct bloom_key {
	uint32_t h0, h1;
};

struct bloom_key bloom_key(const char *path, size_t len, uint32_t version);

/* Bytes of a filter for `nr` entries; at least 1. */
size_t bloom_filter_len(size_t nr, const struct bloom_settings *settings);

/* Add a path to a filter of `len` > 0 bytes. */
void bloom_filter_add(uint8_t *filter, size_t len, const struct bloom_key *key,
		      const struct bloom_settings *settings);

/*
 * Whether a path may be in the filter; true for a filter of no bytes, which
 * was not computed. `false` is certain.
 */
bool bloom_filter_has(const uint8_t *filter, size_t len,
		      const struct bloom_key *key,
		      const struct bloom_settings *settings);

#endif
