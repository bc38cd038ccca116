/* SPDX-License-Identifier: MIT */
/*
 * Looks for signs of collision attacks in SHA-1 blocks. Eight blocks are
 * checked together. Each block gives eleven columns. A column is a number of 32
 * bits: one bit from each of 32 words of the block (object/sha1-checked.h).
 *
 * The comparisons are compiled twice: for any processor, and for AVX2. A
 * register of AVX2 holds eight columns: the same column of all eight blocks.
 */
#include <string.h>

#include "object/sha1-checked.h"
#include "object/sha1-vectors.h"

typedef uint32_t lanes
	__attribute__((vector_size(4 * SHA1_LANE_NR), aligned(4)));

/*
 * Transposes an 8 x 8 matrix of bits: bit i of byte c comes from bit c of byte
 * i. Blocks of one, two and four bits are swapped (Warren, "Hacker's Delight",
 * section 7-3).
 */
static uint64_t transpose(uint64_t x)
{
	uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);

	x ^= t ^ t << 7;
	t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
	x ^= t ^ t << 14;
	t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
	return x ^ t ^ t << 28;
}

void sha1_attack_sample(struct sha1_batch *batch, unsigned lane)
{
	const uint32_t *words = batch->blocks[lane].words + SHA1_COLUMN_FIRST;
	uint32_t sums[SHA1_COLUMN_NR] = {0};

	for (unsigned i = 0; i < 32; i += 8) {
		uint64_t low = 0, high = 0;

		for (unsigned j = 8; j--;) {
			low = low << 8 | (words[i + j] & 0xff);
			high = high << 8 | words[i + j] >> SHA1_HIGH_FIRST;
		}
		low = transpose(low);
		high = transpose(high);
		for (unsigned c = 0; c < SHA1_LOW_NR; c++)
			sums[c] |= (uint32_t)(low >> 8 * c & 0xff) << i;
		for (unsigned c = SHA1_LOW_NR; c < SHA1_COLUMN_NR; c++)
			sums[c] |=
				(uint32_t)(high >> 8 * (c - SHA1_LOW_NR) & 0xff)
				<< i;
	}
	for (unsigned c = 0; c < SHA1_COLUMN_NR; c++)
		batch->columns[c][lane] = sums[c];
}

#define COLUMN(bit)                                                            \
	columns[(bit) < SHA1_LOW_NR ? (bit)                                    \
				    : (bit)-SHA1_HIGH_FIRST + SHA1_LOW_NR]
/*
 * A column is a number of 32 bits. Its bit j is one bit (for example bit 4) of
 * message word SHA1_COLUMN_FIRST + j.
 *
 * A block that was made by an attack with a disturbance vector meets all
 * conditions of this vector (object/sha1-vectors.h). K is the position of the
 * vector, and is SHA1_K_FIRST or more. Each condition says that two bits of the
 * block's message words are equal, or that they differ. A condition names the
 * words relative to K: `at` is such a relative number, and stands for word
 * K+at.
 *
 * COMPARE() checks one condition for all K at the same time. For this, bit i of
 * both columns must belong to the same K, which is SHA1_K_FIRST + i. So MOVED()
 * shifts a column to the right by DISTANCE(at) bits, or to the left if this
 * number is negative. After the shift, bit i of the column is the bit of word
 * K+at for this K.
 */
#define DISTANCE(at) (SHA1_K_FIRST + (at)-SHA1_COLUMN_FIRST)
#define MOVED(at, bit)                                                         \
	(DISTANCE(at) >= 0 ? COLUMN(bit) >> (DISTANCE(at) & 31)                \
			   : COLUMN(bit) << (-DISTANCE(at) & 31))
#define COMPARE(family, at1, bit1, at2, bit2, differ, set)                     \
	fails[family] |= (MOVED(at1, bit1) ^ MOVED(at2, bit2) ^ -(differ)) &   \
			 (set);

static inline __attribute__((always_inline)) void compare(
	struct sha1_suspects *out, const struct sha1_batch *batch)
{
	const lanes *columns = (const lanes *)batch->columns;
	lanes fails[SHA1_FAMILY_NR] = {{0}, {0}, {0}, {0}};
	lanes *ks = (lanes *)out->ks;

	SHA1_CONDITIONS(COMPARE)
	ks[0] = ~fails[0] & SHA1_FAMILY_KS_0;
	ks[1] = ~fails[1] & SHA1_FAMILY_KS_1;
	ks[2] = ~fails[2] & SHA1_FAMILY_KS_2;
	ks[3] = ~fails[3] & SHA1_FAMILY_KS_3;
	*(lanes *)out->any = ks[0] | ks[1] | ks[2] | ks[3];
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) void compare_avx2(
	struct sha1_suspects *out, const struct sha1_batch *batch)
{
	compare(out, batch);
}
#else
#define compare_avx2 compare
#endif

void sha1_attack_suspects(struct sha1_suspects *out,
			  const struct sha1_batch *batch)
{
	if (batch->has_avx2)
		compare_avx2(out, batch);
	else
		compare(out, batch);
}

/* Loads the working state (a to e) of SHA-1 before step `step` of a block. */
static void start_at(uint32_t *s, const struct sha1_block *block, unsigned step)
{
	unsigned nr = (step - SHA1_KEPT_FIRST) / 4;

	memcpy(s, block->kept[nr], sizeof(block->kept[nr]));
	s[4] = sha1_rotate(block->kept[nr - 1][0], 30);
}

/*
 * Computes the working state before step `to` from the state before step
 * `from`, where `to` is not after `from`. All these steps are in the same
 * round of SHA-1.
 */
static inline __attribute__((always_inline)) void undo(uint32_t *s,
						       const uint32_t *words,
						       unsigned round,
						       unsigned from,
						       unsigned to)
{
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];

	while (from-- > to) {
		uint32_t next = a;

		a = b;
		b = sha1_rotate(c, 2);
		c = d;
		d = e;
		e = next - sha1_rotate(a, 5) - words[from] -
		    sha1_step_term(round, b, c, d);
	}
	s[0] = a;
	s[1] = b;
	s[2] = c;
	s[3] = d;
	s[4] = e;
}

static void run_back(uint32_t *s, const uint32_t *words, unsigned step)
{
	if (step > 60)
		undo(s, words, 3, step, 60);
	undo(s, words, 2, step < 60 ? step : 60, 40);
	undo(s, words, 1, 40, 20);
	undo(s, words, 0, 20, 0);
}

static void run_forth(uint32_t *s, const uint32_t *words, unsigned step)
{
	if (step < 60)
		sha1_step_run(s, words, 2, step, 60);
	sha1_step_run(s, words, 3, step < 60 ? 60 : step, SHA1_STEP_NR);
}

bool sha1_attack_collides(const struct sha1_block *block,
			  const uint32_t *difference, unsigned step)
{
	uint32_t words[SHA1_STEP_NR], back[SHA1_STATE_NR], forth[SHA1_STATE_NR];
	uint32_t other = 0;

	for (unsigned i = 0; i < SHA1_STEP_NR; i++)
		words[i] = block->words[i] ^ difference[i];
	start_at(back, block, step);
	memcpy(forth, back, sizeof(forth));
	run_back(back, words, step);
	run_forth(forth, words, step);
	for (unsigned i = 0; i < SHA1_STATE_NR; i++)
		other |= (back[i] + forth[i]) ^ block->after[i];
	return !other;
}

bool sha1_attack_uses(const struct sha1_block *block, unsigned family,
		      unsigned k)
{
	/*
	 * Choose a step before which both blocks of an attack have the same
	 * working state.
	 *
	 * The attack's disturbance vector (object/sha1-vectors.h) has one word
	 * for each step of SHA-1. If the word of a step is zero, the step adds
	 * no new difference between the two blocks. The attack corrects each
	 * difference in the five steps that follow. So the states are equal
	 * before a step if the vector's words of the five steps before it are
	 * zero.
	 *
	 * K is the number of a word in the vector: object/sha1-vectors.h gives
	 * each vector by its words K to K+15. The words K+4 to K+14 are zero in
	 * all vectors. (In vectors of type I, the words K to K+3 are zero,
	 * too.) So the states are equal before each of the steps K+9 to K+15.
	 * For example, the five words before step K+9 are K+4 to K+8, and the
	 * five words before step K+15 are K+10 to K+14.
	 */
	unsigned step = (k + 12) / 4 * 4;
	uint32_t difference[SHA1_STEP_NR];

	if (step == SHA1_KEPT_FIRST)
		step += 4;
	sha1_vectors_difference(difference, family, k);
	return sha1_attack_collides(block, difference, step);
}

static bool check_lane(const struct sha1_batch *batch,
		       const struct sha1_suspects *suspects, unsigned lane)
{
	bool found = false;

	for (unsigned f = 0; f < SHA1_FAMILY_NR; f++) {
		uint32_t ks = suspects->ks[f][lane];

		for (; ks; ks &= ks - 1)
			found |= sha1_attack_uses(
				&batch->blocks[lane], f,
				SHA1_K_FIRST + (unsigned)__builtin_ctz(ks));
	}
	return found;
}

bool sha1_attack_check(struct sha1_batch *batch)
{
	struct sha1_suspects suspects;
	bool found = false;

	sha1_attack_suspects(&suspects, batch);
	for (unsigned lane = 0; lane < batch->nr; lane++)
		if (suspects.any[lane])
			found |= check_lane(batch, &suspects, lane);
	batch->nr = 0;
	return found;
}
