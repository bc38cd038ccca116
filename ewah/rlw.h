/* SPDX-License-Identifier: MIT */
/*
 * Only for the files of ewah/: the fields of a running-length word (RLW), and
 * loads of words in either byte order. See ewah/ewah.h for the layout.
 */
#ifndef EWAH_RLW_H
#define EWAH_RLW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ewah/ewah.h"

#define EWAH_INLINE static inline __attribute__((always_inline))

#define EWAH_RLW_LITERAL_ONE (UINT64_C(1) << 33)
#define EWAH_RLW_MAX_RUN UINT32_MAX
#define EWAH_RLW_MAX_LITERALS (UINT32_MAX >> 1)

/*
 * The longest bitmap has fewer words than either count of an RLW can hold. So
 * code that never exceeds EWAH_MAX_BITS can add to both counts without an
 * overflow check.
 */
_Static_assert(EWAH_MAX_BITS / 64 + 1 <= EWAH_RLW_MAX_RUN, "run overflows");
_Static_assert(EWAH_MAX_BITS / 64 + 1 <= EWAH_RLW_MAX_LITERALS,
	       "literal count overflows");

static inline bool ewah_rlw_bit(uint64_t rlw)
{
	return rlw & 1;
}

/* Returns the length of the run of an RLW, in words. */
static inline size_t ewah_rlw_run(uint64_t rlw)
{
	return rlw >> 1 & EWAH_RLW_MAX_RUN;
}

/* Returns the number of literal words that follow an RLW. */
static inline size_t ewah_rlw_literals(uint64_t rlw)
{
	return rlw >> 33;
}

/* Returns the number of words that hold `bits` bits. */
static inline size_t ewah_words_of(size_t bits)
{
	return bits / 64 + (bits % 64 != 0);
}

/* Returns a mask of the bits below `bit` (< 64) of a word. */
static inline uint64_t ewah_mask_below(size_t bit)
{
	return (UINT64_C(1) << bit) - 1;
}

/* Returns whether a word is all zeros or all ones. */
static inline bool ewah_is_run_word(uint64_t word)
{
	return word + 1 <= 1;
}

/* Returns the word at (unaligned) p in host byte order. */
static inline uint64_t ewah_load(const uint8_t *p, bool big_endian)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return big_endian ? __builtin_bswap64(word) : word;
}

#endif
