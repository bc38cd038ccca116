/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/sha1-checked.c: its hashes equal those of OpenSSL, the
 * published collisions are detected, and other blocks are not. All tests run
 * with and without the processor's SHA instructions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "object/hash.h"
#include "object/sha1-checked.h"
#include "t/unit/collisions.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

enum { WAY_NR = 3 };

/*
 * Makes a hash context. way 0: all instructions of the processor may be used;
 * 1: all but the SHA instructions; 2: no special instructions.
 */
static struct sha1_checked *make_way(unsigned way)
{
	struct sha1_checked *h = mem_alloc(1, sizeof(*h));

	assert_non_null(h);
	sha1_checked_init(h);
	h->batch.has_sha &= way < 1;
	h->batch.has_avx2 &= way < 2;
	return h;
}

/*
 * Hashes a message in pieces of up to `piece` bytes, and writes the hash to
 * `out`. Returns whether a collision attack is detected.
 */
static bool digest(struct sha1_checked *h, uint8_t *out, const void *bytes,
		   size_t len, size_t piece)
{
	const uint8_t *p = bytes;

	sha1_checked_reset(h);
	while (len) {
		size_t now = len < piece ? len : piece;

		sha1_checked_update(h, p, now);
		p += now;
		len -= now;
	}
	sha1_checked_update(h, p, 0);
	return sha1_checked_final(h, out);
}

static void fill(uint8_t *bytes, size_t len, uint64_t *seed)
{
	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t word = random_next(seed);

		memcpy(bytes + i, &word, sizeof(word));
	}
}

/* ---- hashes */

static void test_hashes(void **state)
{
	uint64_t seed = random_seed();
	uint8_t bytes[2048], got[20];
	struct hash_ctx plain;

	assert_int_equal(hash_init(&plain, HASH_SHA1), 0);
	fill(bytes, sizeof(bytes), &seed);
	for (unsigned way = 0; way < WAY_NR; way++) {
		struct sha1_checked *h = make_way(way);

		for (size_t len = 0; len < 700; len++) {
			struct oid want;

			hash_reset(&plain);
			hash_update(&plain, bytes + len, len);
			hash_final(&plain, &want);
			assert_false(digest(h, got, bytes + len, len, 4096));
			assert_memory_equal(got, want.bytes, 20);
			assert_false(digest(h, got, bytes + len, len,
					    1 + random_next(&seed) % 200));
			assert_memory_equal(got, want.bytes, 20);
		}
		free(h);
	}
	hash_release(&plain);
}

/* ---- collisions */

/*
 * Asserts that the attack in a message is detected. The message is hashed in
 * pieces of each size from 1 to 199 bytes.
 */
static void check_attack(const char *part1, const char *part2, const char *hash)
{
	struct buf message = BUF_INIT, want = BUF_INIT;
	uint8_t got[20];

	hexdump_parse(&message, part1);
	hexdump_parse(&message, part2);
	hexdump_parse(&want, hash);
	for (unsigned way = 0; way < WAY_NR; way++) {
		struct sha1_checked *h = make_way(way);

		for (size_t piece = 1; piece < 200; piece++) {
			assert_true(digest(h, got, message.data, message.len,
					   piece));
			assert_memory_equal(got, want.data, 20);
		}
		/*
		 * If one bit is changed, or if the first block is missing, the
		 * message is no attack.
		 */
		for (size_t bit = 0; bit < 8 * message.len; bit += 7) {
			message.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_false(digest(h, got, message.data, message.len,
					    4096));
			message.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_false(digest(h, got, message.data + SHA1_BLOCK_LEN,
				    message.len - SHA1_BLOCK_LEN, 4096));
		/* Without its last block, the message is no attack. */
		assert_false(digest(h, got, message.data,
				    message.len - SHA1_BLOCK_LEN, 4096));
		free(h);
	}
	buf_release(&message);
	buf_release(&want);
}

static void test_shattered(void **state)
{
	check_attack(shattered_prefix, shattered_1, SHATTERED_HASH);
	check_attack(shattered_prefix, shattered_2, SHATTERED_HASH);
}

static void test_shambles(void **state)
{
	check_attack(shambles_1, "", SHAMBLES_HASH);
	check_attack(shambles_2, "", SHAMBLES_HASH);
}

/* An attack is also detected if other bytes follow its blocks. */
static void test_tail(void **state)
{
	struct buf message = BUF_INIT;
	uint64_t seed = random_seed();
	size_t start;
	uint8_t got[20];

	hexdump_parse(&message, shattered_prefix);
	hexdump_parse(&message, shattered_2);
	start = message.len;
	assert_int_equal(buf_reserve(&message, start + 10000), 0);
	fill((uint8_t *)message.data + start, 10000, &seed);
	for (unsigned way = 0; way < WAY_NR; way++) {
		struct sha1_checked *h = make_way(way);

		assert_true(digest(h, got, message.data, start + 10000, 4096));
		assert_false(digest(h, got, message.data, start / 2, 4096));
		free(h);
	}
	buf_release(&message);
}

/*
 * Hashes random blocks. None of them may be taken for an attack. There are a
 * million blocks, or fewer without SHA instructions.
 */
static void test_random(void **state)
{
	enum { LEN = 1 << 20 };
	uint64_t seed = random_seed();
	uint8_t *bytes = mem_alloc(LEN, 1), got[20];
	struct sha1_checked *h;

	assert_non_null(bytes);
	h = make_way(0);
	for (unsigned i = 0; i < 62; i++) {
		fill(bytes, LEN, &seed);
		assert_false(digest(h, got, bytes, LEN, LEN));
	}
	free(h);
	h = make_way(2);
	for (unsigned i = 0; i < 6; i++) {
		fill(bytes, LEN, &seed);
		assert_false(digest(h, got, bytes, LEN, LEN));
	}
	free(h);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_shattered),
		cmocka_unit_test(test_shambles),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
