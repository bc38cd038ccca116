/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/sha1-pair.c, which hashes two messages at the same time. The
 * results must be those of hashing each message alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "object/sha1-block.h"
#include "t/unit/random.h"

enum { BLOCKS_MAX = 20 };

static void random_bytes(uint8_t *out, size_t len, uint64_t *seed)
{
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(random_next(seed) >> 24);
}

static void pairs(void **state)
{
	uint8_t messages[2][BLOCKS_MAX * SHA1_BLOCK_LEN];
	const uint8_t *bytes[2] = {messages[0], messages[1]};
	uint64_t seed = random_seed();

	(void)state;
	if (!sha1_pair_is_here()) {
		/*
		 * Do not call skip() of cmocka. It prints "not ok", which
		 * prove(1) counts as a failure.
		 */
		puts("# skipped: the processor has no SHA instructions");
		return;
	}
	for (size_t nr = 0; nr <= BLOCKS_MAX; nr++) {
		uint32_t states[2][SHA1_STATE_NR], expected[2][SHA1_STATE_NR];

		random_bytes(messages[0], sizeof(messages[0]), &seed);
		random_bytes(messages[1], sizeof(messages[1]), &seed);
		random_bytes((uint8_t *)states, sizeof(states), &seed);
		memcpy(expected, states, sizeof(states));
		for (size_t i = 0; i < 2 * nr; i++) {
			struct sha1_block block;

			sha1_block_compress(&block, expected[i % 2],
					    bytes[i % 2] +
						    i / 2 * SHA1_BLOCK_LEN);
		}
		sha1_pair_compress(states, bytes, nr);
		assert_memory_equal(states, expected, sizeof(states));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
