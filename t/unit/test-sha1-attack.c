/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/sha1-attack.c, which detects SHA-1 collision attacks.
 * sha1_attack_suspects(), which checks all conditions of eight blocks at once,
 * must give the same result as a check of each single condition.
 * sha1_attack_collides() is tested with blocks whose result is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "object/sha1-checked.h"
#include "t/unit/random.h"
#include "t/unit/sha1vectors.h"

/* ---- suspects */

static unsigned bit_of(const uint32_t *words, unsigned k, int at, int bit)
{
	return words[(int)k + at] >> bit & 1;
}

static bool meets(const uint32_t *words, const struct condition *c, unsigned k)
{
	return (bit_of(words, k, c->at1, c->bit1) ^
		bit_of(words, k, c->at2, c->bit2)) == c->differ;
}

static uint32_t slow_suspects(const uint32_t *words, unsigned family)
{
	uint32_t ks = family_ks[family];

	for (unsigned i = 0; i < CONDITION_NR; i++)
		for (unsigned k = SHA1_K_FIRST; k <= SHA1_K_LAST; k++)
			if (conditions[i].family == family &&
			    has_k(conditions[i].ks, k) &&
			    !meets(words, &conditions[i], k))
				ks &= ~SHA1_KS(k, k);
	return ks;
}

struct bench {
	struct sha1_batch batch;
	uint64_t seed;
	bool has_avx2;
};

static void fill(struct bench *b)
{
	for (unsigned lane = 0; lane < SHA1_LANE_NR; lane++)
		for (unsigned i = 0; i < SHA1_STEP_NR; i++)
			b->batch.blocks[lane].words[i] = (uint32_t)random_next(
				&b->seed);
}

/*
 * Finds the suspected disturbance vectors of a block with and without AVX2
 * instructions. The results must equal those of the slow way.
 */
static void check_suspects(struct bench *b)
{
	for (unsigned fast = 0; fast <= b->has_avx2; fast++) {
		struct sha1_suspects got;

		memset(b->batch.columns, 0xaa, sizeof(b->batch.columns));
		b->batch.has_avx2 = fast;
		for (unsigned lane = 0; lane < SHA1_LANE_NR; lane++)
			if (fast)
				sha1_x86_sample(&b->batch, lane);
			else
				sha1_attack_sample(&b->batch, lane);
		sha1_attack_suspects(&got, &b->batch);
		for (unsigned lane = 0; lane < SHA1_LANE_NR; lane++) {
			const uint32_t *w = b->batch.blocks[lane].words;
			uint32_t any = 0;

			for (unsigned f = 0; f < SHA1_FAMILY_NR; f++) {
				assert_int_equal(got.ks[f][lane],
						 slow_suspects(w, f));
				any |= got.ks[f][lane];
			}
			assert_int_equal(got.any[lane], any);
		}
	}
}

/*
 * Changes message words until they meet all conditions of a disturbance vector.
 * For each condition that fails, flips one of its two bits. The bit is chosen
 * at random, because two conditions may share a bit.
 */
static void make_suspect(uint32_t *words, unsigned family, unsigned k,
			 uint64_t *seed)
{
	unsigned tries = 0;

	while (!has_k(slow_suspects(words, family), k)) {
		assert_true(tries++ < 10000);
		for (unsigned i = 0; i < CONDITION_NR; i++) {
			const struct condition *c = &conditions[i];

			if (c->family != family || !has_k(c->ks, k) ||
			    meets(words, c, k))
				continue;
			if (random_next(seed) & 1)
				words[(int)k + c->at1] ^= 1U << c->bit1;
			else
				words[(int)k + c->at2] ^= 1U << c->bit2;
		}
	}
}

/*
 * A disturbance vector is a pattern of bits that a collision attack on SHA-1
 * changes. `family` and `k` name the vector. A block that such an attack has
 * made meets all conditions of the vector. So a block that meets all of them is
 * suspected: it must be examined further. Up to seven other blocks fail one
 * condition each, so they are not suspected of this vector.
 */
static void check_vector(unsigned family, unsigned k, void *ctx)
{
	struct bench *b = ctx;
	unsigned lane = 0;

	fill(b);
	make_suspect(b->batch.blocks[0].words, family, k, &b->seed);
	for (unsigned i = 0; i < CONDITION_NR && lane < 7; i++) {
		const struct condition *c = &conditions[i];

		if (c->family != family || !has_k(c->ks, k))
			continue;
		b->batch.blocks[++lane] = b->batch.blocks[0];
		b->batch.blocks[lane].words[(int)k + c->at1] ^= 1U << c->bit1;
	}
	check_suspects(b);
}

static void test_suspects(void **state)
{
	struct bench b = {.seed = random_seed()};

	sha1_x86_detect(&b.batch);
	b.has_avx2 = b.batch.has_avx2;
	for (unsigned i = 0; i < 200; i++) {
		fill(&b);
		check_suspects(&b);
	}
	for (unsigned i = 0; i < 5; i++)
		each_vector(check_vector, &b);
}

/* ---- recomputing */

/*
 * sha1_attack_collides() computes a second block from a block and a difference
 * of the message words. If the difference is zero, the second block equals the
 * first one, so they have the same hash: this must count as a collision. If one
 * bit differs, there must be no collision. This is tried from each step at
 * which the computation can start.
 */
static void check_block(struct sha1_block *block, uint64_t *seed)
{
	uint32_t none[SHA1_STEP_NR] = {0}, some[SHA1_STEP_NR] = {0};

	some[random_next(seed) % SHA1_STEP_NR] = 1;
	for (unsigned step = SHA1_KEPT_FIRST + 4; step <= 68; step += 4) {
		assert_true(sha1_attack_collides(block, none, step));
		assert_false(sha1_attack_collides(block, some, step));
	}
	for (unsigned f = 0; f < SHA1_FAMILY_NR; f++)
		for (unsigned k = SHA1_K_FIRST; k <= SHA1_K_LAST; k++)
			if (has_k(family_ks[f], k))
				assert_false(sha1_attack_uses(block, f, k));
}

static void test_recompute(void **state)
{
	uint64_t seed = random_seed();

	for (unsigned i = 0; i < 500; i++) {
		uint32_t start[SHA1_STATE_NR];
		uint8_t bytes[SHA1_BLOCK_LEN];
		struct sha1_block block;

		for (unsigned j = 0; j < SHA1_STATE_NR; j++)
			start[j] = (uint32_t)random_next(&seed);
		for (unsigned j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)random_next(&seed);
		sha1_block_compress(&block, start, bytes);
		check_block(&block, &seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suspects),
		cmocka_unit_test(test_recompute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
