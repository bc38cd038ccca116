/* SPDX-License-Identifier: MIT */
/*
 * Internal to the directory ewah/: counts the set bits of arrays of words. Uses
 * the processor's POPCNT instruction if there is one.
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

/* Returns the number of bits set in `nr` words. */
size_t ewah_popcount(const uint64_t *words, size_t nr);

/* Returns the number of bits set in both of two arrays of `nr` words. */
size_t ewah_popcount_and(const uint64_t *a, const uint64_t *b, size_t nr);

/*
 * Work like ewah_popcount() and ewah_popcount_and() for `nr` words at p, which
 * need not be aligned. `big_endian` is the byte order of these words. The
 * result of ewah_popcount_bytes() does not depend on the byte order.
 */
size_t ewah_popcount_bytes(const uint8_t *p, size_t nr);
size_t ewah_popcount_bytes_and(const uint8_t *p, bool big_endian,
			       const uint64_t *words, size_t nr);

#endif
