/* SPDX-License-Identifier: MIT */
/*
 * Computes murmur3 hashes of paths, and sets and tests bits of Bloom filters.
 */
#include "graph/bloom.h"

#define SEED_0 UINT32_C(0x293ae76f)
#define SEED_1 UINT32_C(0x7e646e2c)

/*
 * Widens a byte to 32 bits. Version 1 of the filters takes bytes as signed, so
 * bytes from 0x80 on become negative.
 */
static uint32_t widen(char c, uint32_t version)
{
	return version == 1 ? (uint32_t)(int32_t)(signed char)c
			    : (uint32_t)(uint8_t)c;
}

static uint32_t rotate(uint32_t v, unsigned by)
{
	return v << by | v >> (32 - by);
}

static uint32_t scramble(uint32_t k)
{
	return rotate(k * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
}

/* Loads a word of `nr` <= 4 bytes, little-endian. */
static uint32_t load(const char *p, size_t nr, uint32_t version)
{
	uint32_t k = 0;

	for (size_t i = 0; i < nr; i++) {
		uint32_t byte = widen(p[i], version) << 8 * i;

		/*
		 * Stock Git combines the 4 bytes of a whole word by OR, and the
		 * bytes of a shorter word by XOR. OR and XOR give different
		 * results only in version 1: there, widen() sets all higher
		 * bits of the word if the byte is 0x80 or more.
		 */
		k = nr == 4 ? k | byte : k ^ byte;
	}
	return k;
}

uint32_t bloom_murmur3(uint32_t seed, const char *bytes, size_t len,
		       uint32_t version)
{
	uint32_t h = seed;
	size_t at = 0;

	for (; len - at >= 4; at += 4)
		h = rotate(h ^ scramble(load(bytes + at, 4, version)), 13) * 5 +
		    UINT32_C(0xe6546b64);
	if (at < len)
		h ^= scramble(load(bytes + at, len - at, version));
	h ^= (uint32_t)len;
	h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
	h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
	return h ^ h >> 16;
}

struct bloom_key bloom_key(const char *path, size_t len, uint32_t version)
{
	return (struct bloom_key){
		bloom_murmur3(SEED_0, path, len, version),
		bloom_murmur3(SEED_1, path, len, version),
	};
}

size_t bloom_filter_len(size_t nr, const struct bloom_settings *settings)
{
	size_t len = (nr * settings->bits_per_entry + 7) / 8;

	return len ? len : 1;
}

/*
 * Computes which bit of a filter of `len` bytes belongs to the i-th hash of the
 * path `key`. Returns the index of the byte, and sets *bit to a byte in which
 * only this bit is set.
 */
static size_t place(uint8_t *bit, const struct bloom_key *key, uint32_t i,
		    size_t len)
{
	uint64_t at = (uint32_t)(key->h0 + i * key->h1) % ((uint64_t)len * 8);

	*bit = (uint8_t)(1u << (at & 7));
	return (size_t)(at >> 3);
}

void bloom_filter_add(uint8_t *filter, size_t len, const struct bloom_key *key,
		      const struct bloom_settings *settings)
{
	for (uint32_t i = 0; i < settings->hash_nr; i++) {
		uint8_t bit;
		size_t byte = place(&bit, key, i, len);

		filter[byte] |= bit;
	}
}

bool bloom_filter_has(const uint8_t *filter, size_t len,
		      const struct bloom_key *key,
		      const struct bloom_settings *settings)
{
	for (uint32_t i = 0; len && i < settings->hash_nr; i++) {
		uint8_t bit;
		size_t byte = place(&bit, key, i, len);

		if (!(filter[byte] & bit))
			return false;
	}
	return true;
}
