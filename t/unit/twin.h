/* SPDX-License-Identifier: MIT */
/*
 * For the unit tests of ewah/: seeded random numbers, and struct twin, a slow
 * bitmap with one byte for each bit. Tests compare the bitmaps of ewah/ with
 * struct twin.
 */
#ifndef T_UNIT_TWIN_H
#define T_UNIT_TWIN_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/splitmix.h"
#include "ewah/bitset.h"

#define TWIN_MAX 2048

struct twin {
	uint8_t bit[TWIN_MAX];
	size_t bits;
};

struct rng {
	uint64_t state;
};

/*
 * Returns a generator seeded by GITREACH_TEST_SEED, or by a fixed seed. The
 * seed is printed.
 */
static inline struct rng rng_new(void)
{
	const char *seed = getenv("GITREACH_TEST_SEED");
	struct rng r = {seed ? strtoull(seed, NULL, 0) : 20261};

	print_message("GITREACH_TEST_SEED=%llu\n", (unsigned long long)r.state);
	return r;
}

static inline uint64_t rng_next(struct rng *r)
{
	return splitmix_next(&r->state);
}

/* Returns a random number in [0, n), n > 0. */
static inline size_t rng_below(struct rng *r, size_t n)
{
	return (size_t)(rng_next(r) % n);
}

/* Returns a random size. Most sizes are near a multiple of the word size. */
static inline size_t rng_size(struct rng *r)
{
	size_t words = rng_below(r, TWIN_MAX / 64 - 1);

	switch (rng_below(r, 5)) {
	case 0:
		return words * 64;
	case 1:
		return words * 64 + 1;
	case 2:
		return words * 64 + 63;
	case 3:
		return rng_below(r, 130);
	}
	return rng_below(r, TWIN_MAX);
}

/* Set random bits. Each bit is set with a probability of 1 in `one_in`. */
static inline void twin_scatter(struct twin *t, struct rng *r, size_t one_in)
{
	size_t i;

	for (i = 0; i < t->bits; i++)
		t->bit[i] = !rng_below(r, one_in);
}

/*
 * Fill the slow bitmap with runs of zeros and ones. Each run has 1 to 8 times
 * `unit` bits.
 */
static inline void twin_runs(struct twin *t, struct rng *r, size_t unit)
{
	size_t i = 0, len;
	bool bit;

	while (i < t->bits) {
		len = unit * (1 + rng_below(r, 8));
		bit = rng_below(r, 2);
		for (; len && i < t->bits; len--)
			t->bit[i++] = bit;
	}
}

/* Fill the slow bitmap with words of zeros, of ones, and of random bits. */
static inline void twin_words(struct twin *t, struct rng *r)
{
	size_t i;
	uint64_t word = 0;

	for (i = 0; i < t->bits; i++) {
		if (i % 64 == 0)
			word = rng_next(r);
		if (i % 64 == 0 && word % 3)
			word = word % 3 == 1 ? 0 : UINT64_MAX;
		t->bit[i] = word >> (i % 64) & 1;
	}
}

/* Fill the slow bitmap with bits of a random structure and density. */
static inline void twin_random(struct twin *t, struct rng *r, size_t bits)
{
	memset(t, 0, sizeof(*t));
	t->bits = bits;
	switch (rng_below(r, 8)) {
	case 0:
		break;
	case 1:
		twin_scatter(t, r, 1);
		break;
	case 2:
		twin_scatter(t, r, 2);
		break;
	case 3:
		twin_scatter(t, r, 200);
		break;
	case 4:
		twin_runs(t, r, 5);
		break;
	case 5:
		twin_runs(t, r, 64);
		break;
	default:
		twin_words(t, r);
	}
}

static inline size_t twin_count(const struct twin *t)
{
	size_t i, count = 0;

	for (i = 0; i < t->bits; i++)
		count += t->bit[i];
	return count;
}

/* Initialize a set with the bits of the slow bitmap `t`. */
static inline void twin_to_bitset(struct bitset *set, const struct twin *t)
{
	size_t i;

	assert_int_equal(bitset_init(set, t->bits), 0);
	for (i = 0; i < t->bits; i++)
		if (t->bit[i])
			bitset_set(set, i);
}

/*
 * Check that the set has the size and the bits of the slow bitmap, and that the
 * unused bits of its last word are zero.
 */
static inline void twin_check_bitset(const struct twin *t,
				     const struct bitset *set)
{
	size_t i;

	assert_int_equal(set->bits, t->bits);
	assert_int_equal(set->word_nr, (t->bits + 63) / 64);
	for (i = 0; i < t->bits; i++)
		assert_int_equal(bitset_test(set, i), t->bit[i]);
	for (; i < set->word_nr * 64; i++)
		assert_false(set->words[i / 64] >> (i % 64) & 1);
}

enum twin_op { TWIN_OR, TWIN_AND, TWIN_ANDNOT, TWIN_XOR };

/*
 * Compute out = a op b. The result has `bits` bits. Bits beyond the end of `a`
 * or `b` count as zero.
 */
static inline void twin_apply(struct twin *out, const struct twin *a,
			      const struct twin *b, enum twin_op op,
			      size_t bits)
{
	struct twin result = {{0}, bits};
	size_t i;
	bool x, y;

	for (i = 0; i < bits; i++) {
		x = i < a->bits && a->bit[i];
		y = i < b->bits && b->bit[i];
		result.bit[i] = op == TWIN_OR       ? x || y
				: op == TWIN_AND    ? x && y
				: op == TWIN_ANDNOT ? x && !y
						    : x != y;
	}
	*out = result;
}

#endif
