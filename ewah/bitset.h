/* SPDX-License-Identifier: MIT */
/*
 * A plain bit set: an array of 64-bit words. Bit i is in word i / 64, at
 * position i % 64. The unused bits of the last word are always zero.
 *
 * A set has one owner. Several threads may read a set that no thread changes.
 * Threads may also share a set through bitset_test_shared() and bitset_claim().
 */
#ifndef EWAH_BITSET_H
#define EWAH_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitset {
	uint64_t *words; /* owned */
	/* capacity in bits: valid bit numbers are 0 to bits - 1 */
	size_t bits;
	/* number of words in the array: (bits + 63) / 64 */
	size_t word_nr;
};

#define BITSET_INIT                                                            \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * Makes a set of `bits` zero bits. Returns 0 or ERR_NOMEM. After an error, *set
 * is zeroed.
 */
int bitset_init(struct bitset *set, size_t bits);
void bitset_release(struct bitset *set);

/*
 * Raises the capacity to `bits` if it is smaller. New bits are zero. Returns 0,
 * or ERR_NOMEM with the set unchanged.
 */
int bitset_grow(struct bitset *set, size_t bits);

/*
 * Makes *dst equal to *src, including the capacity. *dst must be initialised.
 * Returns 0 or ERR_NOMEM. After an error, *dst is unchanged.
 */
int bitset_copy(struct bitset *dst, const struct bitset *src);

/* Sets all bits to zero and keeps the capacity. */
void bitset_clear(struct bitset *set);

/*
 * Sets the bits of the half-open range [from, to). `to` is at most set->bits.
 */
void bitset_set_range(struct bitset *set, size_t from, size_t to);

/* bitset_set(), bitset_unset() and bitset_test() require i < set->bits. */
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
 * Variants for threads that share a set. While threads share a set in this way,
 * they may use no other functions on the set. bitset_test_shared() works like
 * bitset_test(). bitset_claim() sets a bit and returns whether the bit was
 * clear before; of several threads only one gets true.
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

/*
 * Works like bitset_test(), but accepts any i: returns false for i >=
 * set->bits.
 */
static inline bool bitset_get(const struct bitset *set, size_t i)
{
	return i < set->bits && bitset_test(set, i);
}

/*
 * Computes dst = dst op src. The capacities may differ: bits past the end of a
 * set count as zero, and bits of src past dst->bits are ignored.
 */
void bitset_or(struct bitset *dst, const struct bitset *src);
void bitset_and(struct bitset *dst, const struct bitset *src);
void bitset_andnot(struct bitset *dst, const struct bitset *src);
void bitset_xor(struct bitset *dst, const struct bitset *src);

/*
 * Return numbers of set bits. bitset_count() counts in the whole set.
 * bitset_count_range() counts in [from, to) with to <= set->bits.
 */
size_t bitset_count(const struct bitset *set);
size_t bitset_count_range(const struct bitset *set, size_t from, size_t to);

/* Returns the number of bits that are set in both sets. */
size_t bitset_count_and(const struct bitset *a, const struct bitset *b);

bool bitset_is_empty(const struct bitset *set);

/*
 * Returns whether both sets have the same bits set. Their capacities may
 * differ.
 */
bool bitset_equal(const struct bitset *a, const struct bitset *b);

/* Returns whether every bit of `sub` is set in `set`. */
bool bitset_contains(const struct bitset *set, const struct bitset *sub);

/*
 * bitset_next() returns the first bit at or after `from` that is set, and
 * bitset_next_unset() the first bit that is not set. Both return set->bits if
 * there is none. A loop over all set bits:
 *
 *   for (i = bitset_next(s, 0); i < s->bits; i = bitset_next(s, i + 1))
 */
size_t bitset_next(const struct bitset *set, size_t from);
size_t bitset_next_unset(const struct bitset *set, size_t from);

#endif
