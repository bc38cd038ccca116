/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/sha1-block.c, which compresses one SHA-1 block: the example
 * of FIPS 180 gives the right hash, and the recorded states are right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "object/sha1-block.h"
#include "t/unit/random.h"

/*
 * Compresses "abc" with its padding. The words and the hash are those of FIPS
 * 180-2, appendix A.1.
 */
static void test_example(void **state)
{
	uint32_t value[SHA1_STATE_NR] = {0x67452301, 0xefcdab89, 0x98badcfe,
					 0x10325476, 0xc3d2e1f0};
	static const uint32_t hash[SHA1_STATE_NR] = {
		0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d};
	uint8_t bytes[SHA1_BLOCK_LEN] = "abc\x80";
	struct sha1_block block;

	bytes[63] = 24;
	sha1_block_compress(&block, value, bytes);
	assert_memory_equal(value, hash, sizeof(hash));
	assert_memory_equal(block.after, hash, sizeof(hash));
	assert_int_equal(block.before[4], 0xc3d2e1f0);
	assert_int_equal(block.words[0], 0x61626380);
	assert_int_equal(block.words[15], 0x18);
}

/*
 * Checks what sha1_block_compress() records. The expanded words must be those
 * of the standard. Each recorded state must be four steps after the one before.
 */
static void test_record(void **state)
{
	uint64_t seed = random_seed();

	for (unsigned i = 0; i < 200; i++) {
		uint32_t value[SHA1_STATE_NR], s[SHA1_STATE_NR];
		uint8_t bytes[SHA1_BLOCK_LEN];
		struct sha1_block b;

		for (unsigned j = 0; j < SHA1_STATE_NR; j++)
			value[j] = (uint32_t)random_next(&seed);
		for (unsigned j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)random_next(&seed);
		sha1_block_compress(&b, value, bytes);
		for (unsigned t = 0; t < 16; t++)
			assert_int_equal(b.words[t], load_be32(bytes + 4 * t));
		for (unsigned t = 16; t < SHA1_STEP_NR; t++)
			assert_int_equal(b.words[t],
					 sha1_rotate(b.words[t - 3] ^
							     b.words[t - 8] ^
							     b.words[t - 14] ^
							     b.words[t - 16],
						     1));
		for (unsigned k = 1; k + 1 < SHA1_KEPT_NR; k++) {
			unsigned t = SHA1_KEPT_FIRST + 4 * k;

			memcpy(s, b.kept[k], sizeof(b.kept[k]));
			s[4] = sha1_rotate(b.kept[k - 1][0], 30);
			sha1_step_run(s, b.words, t / 20, t, t + 4);
			assert_memory_equal(s, b.kept[k + 1],
					    sizeof(b.kept[0]));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
