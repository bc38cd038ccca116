/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/sha1-x86.c, which compresses SHA-1 blocks with SHA
 * instructions: its results equal those of sha1_block_compress() and
 * sha1_attack_sample().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "object/sha1-checked.h"
#include "t/unit/random.h"

static void fill(uint8_t *bytes, size_t len, uint64_t *seed)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)random_next(seed);
}

/*
 * Compares sha1_x86_compress() with sha1_block_compress(). A batch keeps the
 * states of up to SHA1_LANE_NR blocks, which are later checked for collision
 * attacks together. sha1_x86_compress() compresses random blocks, and adds them
 * to a batch that already has a random number of blocks. The hash value and the
 * batch must be the same as with sha1_block_compress().
 */
static void test_compress(void **state)
{
	uint64_t seed = random_seed();
	struct sha1_batch batch = {.nr = 0}, plain = {.nr = 0};
	uint8_t bytes[SHA1_LANE_NR * SHA1_BLOCK_LEN];
	uint32_t value[SHA1_STATE_NR], copy[SHA1_STATE_NR];

	sha1_x86_detect(&batch);
	if (!batch.has_sha) {
		/*
		 * Do not call skip() of cmocka. It prints "not ok", which
		 * prove(1) counts as a failure.
		 */
		puts("# skipped: the processor has no SHA instructions");
		return;
	}
	for (unsigned i = 0; i < 500; i++) {
		unsigned first = (unsigned)(random_next(&seed) % SHA1_LANE_NR);
		unsigned nr = (unsigned)(random_next(&seed) %
					 (SHA1_LANE_NR - first + 1));

		fill(bytes, sizeof(bytes), &seed);
		fill((uint8_t *)value, sizeof(value), &seed);
		memcpy(copy, value, sizeof(copy));
		batch.nr = first;
		sha1_x86_compress(&batch, value, bytes, nr);
		assert_int_equal(batch.nr, first + nr);
		for (unsigned j = 0; j < nr; j++) {
			sha1_block_compress(&plain.blocks[first + j], copy,
					    bytes + j * SHA1_BLOCK_LEN);
			sha1_attack_sample(&plain, first + j);
		}
		assert_memory_equal(value, copy, sizeof(copy));
		assert_memory_equal(batch.blocks, plain.blocks,
				    sizeof(batch.blocks));
		assert_memory_equal(batch.columns, plain.columns,
				    sizeof(batch.columns));
	}
}

static void test_sample(void **state)
{
	uint64_t seed = random_seed();
	struct sha1_batch batch = {.nr = 0}, plain;

	sha1_x86_detect(&batch);
	if (!batch.has_avx2) {
		puts("# skipped: the processor has no AVX2");
		return;
	}
	for (unsigned i = 0; i < 100; i++) {
		fill((uint8_t *)batch.blocks, sizeof(batch.blocks), &seed);
		plain = batch;
		for (unsigned lane = 0; lane < SHA1_LANE_NR; lane++) {
			sha1_x86_sample(&batch, lane);
			sha1_attack_sample(&plain, lane);
		}
		assert_memory_equal(batch.columns, plain.columns,
				    sizeof(batch.columns));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compress),
		cmocka_unit_test(test_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
