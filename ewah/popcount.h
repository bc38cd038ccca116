/* SPDX-License-Identifier: MIT */
/*
 * Inside of the ewah room: counting the bits of arrays of words, with the
 * processor's instruction for it where there is one.
 */
#ifndef EWAH_POPCOUNT_H
#define EWAH_POPCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t ewah_popcount_word(uint64_t word)
{
	return (size_t)__builtin_popcountll(word);
}

/* Bits set in `nr` words. */
size_t ewah_popcount(const uint64_t *words, size_t nr);

/* Bits set in both of two arrays of `nr` words. */
size_t ewah_popcount_and(const uint64_t *a, const uint64_t *b, size_t nr);

/*
 * As above for `nr` words at unaligned p. Their byte order plays no role for
 * a count; for the common bits, `big_endian` tells it.
 */
size_t ewah_popcount_bytes(const uint8_t *p, size_t nr);
size_t ewah_popcount_bytes_and(const uint8_t *p, bool big_endian,
			       const uint64_t *words, size_t nr);

#endif
