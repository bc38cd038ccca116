/* SPDX-License-Identifier: MIT */
/*
 * A plain bit set: an array of 64-bit words, bit i in word i / 64 at
 * position i % 64. Bits at and past `bits` are always zero, and so are the
 * unused bits of the last word.
 *
 * One owner; several threads may read one that nobody changes, or share one as
 * bitset_claim() says.
 */
#ifndef EWAH_BITSET_H
#define EWAH_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitset {
	uint64_t *words; /* owned */
	size_t bits;     /* capacity in bits: bit numbers are [0, bits) */
	size_t word_nr;  /* words allocated: (bits + 63) / 64 */
};

#define BITSET_INIT                                                            \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/* An all-zero set of `bits` bits. 0, or ERR_NOMEM with *set zeroed. */
int bitset_init(struct bitset *set, size_t bits);
void bitset_release(struct bitset *set);

/*
 * Make the capacity `bits` if it is less; new bits are zero. 0, or ERR_NOMEM
 * with the set untouched.
 */
int bitset_grow(struct bitset *set, size_t bits);

/*
 * Make *dst (initialised) equal to *src, with src's capacity. 0, or ERR_NOMEM
 * with *dst untouched.
 */
int bitset_copy(struct bitset *dst, const struct bitset *src);

/* Set all bits to zero, keep the capacity. */
void bitset_clear(struct bitset *set);

/* Set the bits of the half-open range [from, to), to <= set->bits. */
void bitset_set_range(struct bitset *set, size_t from, size_t to);

/* i < set->bits is the caller's duty in these three. */
static inline void bitset_set(struct bitset *set, size_t i)
{
	set->words[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void bitset_unset(struct bitset *set, size_t i)
{
	set->words[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline bool bitset_test(const struct bitset *set, size_t i)
{
	return set->words[i / 64] >> (i % 64) & 1;
}

/*
 * As bitset_test(), and bitset_set() telling whether the bit was clear, for
 * threads that share a set which they change with these only.
 */
static inline bool bitset_test_shared(const struct bitset *set, size_t i)
{
	return __atomic_load_n(&set->words[i / 64], __ATOMIC_RELAXED) >>
		       (i % 64) &
	       1;
}

static inline bool bitset_claim(struct bitset *set, size_t i)
{
	uint64_t bit = UINT64_C(1) << (i % 64);

	return !bitset_test_shared(set, i) &&
	       !(__atomic_fetch_or(&set->words[i / 64], bit, __ATOMIC_RELAXED) &
		 bit);
}

/* As bitset_test(), false for any i past the end. */
static inline bool bitset_get(const struct bitset *set, size_t i)
{
	return i < set->bits && bitset_test(set, i);
}

/*
 * dst op= src. The two may differ in capacity: bits that a set does not have
 * count as zero, and bits of src past dst->bits are dropped.
 */
void bitset_or(struct bitset *dst, const struct bitset *src);
void bitset_and(struct bitset *dst, const struct bitset *src);
void bitset_andnot(struct bitset *dst, const struct bitset *src);
void bitset_xor(struct bitset *dst, const struct bitset *src);

/* Number of bits set, in all of the set and in [from, to), to <= set->bits. */
size_t bitset_count(const struct bitset *set);
size_t bitset_count_range(const struct bitset *set, size_t from, size_t to);

/* Number of bits set in both. */
size_t bitset_count_and(const struct bitset *a, const struct bitset *b);

bool bitset_is_empty(const struct bitset *set);

/* Whether both have the same bits set; their capacities may differ. */
bool bitset_equal(const struct bitset *a, const struct bitset *b);

/* Whether every bit of `sub` is set in `set`. */
bool bitset_contains(const struct bitset *set, const struct bitset *sub);

/*
 * The first bit set at or after `from`; set->bits when there is none. And the
 * first bit that is not set. A walk over all set bits:
 *	for (i = bitset_next(s, 0); i < s->bits; i = bitset_next(s, i + 1))
 */
size_t bitset_next(const struct bitset *set, size_t from);
size_t bitset_next_unset(const struct bitset *set, size_t from);

#endif
