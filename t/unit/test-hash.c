/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/hash.c, which computes hashes. They prove that hashes equal
 * published vectors and known object ids.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "object/hash.h"
#include "t/unit/random.h"
#include "t/unit/collisions.h"
#include "t/unit/hexdump.h"

static void check(struct hash_ctx *h, const char *want)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	hash_final(h, &oid);
	assert_string_equal(oid_to_hex(hex, &oid, h->algo), want);
	if (h->algo == HASH_SHA1)
		for (size_t i = 20; i < OID_MAX_LEN; i++)
			assert_int_equal(oid.bytes[i], 0);
}

/*
 * The test vectors of FIPS 180-2. Each message is hashed in pieces. One context
 * is used for several messages, so hash_reset() must reset it correctly.
 */
static void test_vectors(void **state)
{
	struct hash_ctx h;

	assert_int_equal(hash_init(&h, HASH_SHA1), 0);
	hash_update(&h, "abc", 3);
	check(&h, "a9993e364706816aba3e25717850c26c9cd0d89d");
	hash_reset(&h);
	check(&h, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	hash_reset(&h);
	hash_update(&h, "ab", 2);
	hash_update(&h, "", 0);
	hash_update(&h, "c", 1);
	check(&h, "a9993e364706816aba3e25717850c26c9cd0d89d");
	hash_release(&h);

	assert_int_equal(hash_init(&h, HASH_SHA256), 0);
	hash_update(&h, "abc", 3);
	check(&h, "ba7816bf8f01cfea414140de5dae2223"
		  "b00361a396177a9cb410ff61f20015ad");
	hash_release(&h);
}

/* Checks the known ids of the empty blob and the empty tree. */
static void test_objects(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct hash_ctx h;
	struct oid oid;

	assert_int_equal(hash_init(&h, HASH_SHA1), 0);
	hash_update(&h, "left over", 9);
	hash_object(&h, &oid, OBJ_BLOB, NULL, 0);
	assert_string_equal(oid_to_hex(hex, &oid, HASH_SHA1),
			    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
	hash_object(&h, &oid, OBJ_TREE, "", 0);
	assert_string_equal(oid_to_hex(hex, &oid, HASH_SHA1),
			    "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
	hash_object(&h, &oid, OBJ_BLOB, "hello\n", 6);
	assert_string_equal(oid_to_hex(hex, &oid, HASH_SHA1),
			    "ce013625030ba8dba906f756967f9e9ca394464a");
	hash_release(&h);

	assert_int_equal(hash_init(&h, HASH_SHA256), 0);
	hash_object(&h, &oid, OBJ_BLOB, "", 0);
	assert_string_equal(oid_to_hex(hex, &oid, HASH_SHA256),
			    "473a0f4c3be8a93681a267e3b1e9a7dc"
			    "da1185436fe141f7749120a303721813");
	hash_release(&h);
}

static void test_trailer(void **state)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (size_t a = 0; a < 2; a++) {
		uint8_t bytes[3 + OID_MAX_LEN] = "abc";
		size_t len = 3 + hash_len(algos[a]);
		struct error err = ERROR_INIT;
		struct hash_ctx h;
		struct oid sum;

		assert_int_equal(hash_init(&h, algos[a]), 0);
		hash_update(&h, bytes, 3);
		hash_final(&h, &sum);
		hash_release(&h);
		memcpy(bytes + 3, sum.bytes, hash_len(algos[a]));
		assert_int_equal(
			hash_check_trailer(bytes, len, algos[a], "f", NULL), 0);
		for (size_t i = 0; i < len; i++) {
			assert_int_equal(hash_check_trailer(bytes, i, algos[a],
							    "f", NULL),
					 ERR_CORRUPT);
			bytes[i] ^= 1;
			assert_int_equal(hash_check_trailer(bytes, len,
							    algos[a], "f",
							    &err),
					 ERR_CORRUPT);
			bytes[i] ^= 1;
		}
		assert_string_equal(err.msg,
				    "f: checksum mismatch at offset 3");
	}
}

/* Makes a file of `len` bytes followed by its trailer. */
static void make_file(uint8_t *out, size_t len, enum hash_algo algo,
		      uint64_t *seed)
{
	struct hash_ctx h;
	struct oid sum;

	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(random_next(seed) >> 24);
	assert_int_equal(hash_init(&h, algo), 0);
	hash_update(&h, out, len);
	hash_final(&h, &sum);
	hash_release(&h);
	memcpy(out + len, sum.bytes, hash_len(algo));
}

/*
 * hash_check_two() verifies the checksums at the end of two files at once. It
 * must succeed for two random files, and fail after a bit of one file was
 * changed.
 */
static void test_check_two(void **state)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};
	uint8_t files[2][1000 + OID_MAX_LEN];
	uint64_t seed = random_seed();

	(void)state;
	for (int i = 0; i < 2000; i++) {
		enum hash_algo algo = algos[i % 2];
		size_t len[2], bad = random_next(&seed) % 2, at;

		for (int f = 0; f < 2; f++) {
			len[f] = random_next(&seed) % 1000;
			make_file(files[f], len[f], algo, &seed);
			len[f] += hash_len(algo);
		}
		assert_int_equal(hash_check_two(files[0], len[0], files[1],
						len[1], algo),
				 1);
		at = random_next(&seed) % len[bad];
		files[bad][at] ^= (uint8_t)(1 << random_next(&seed) % 8);
		assert_int_equal(hash_check_two(files[0], len[0], files[1],
						len[1], algo),
				 0);
	}
	assert_int_equal(hash_check_two(files[0], 3, files[1], 0, HASH_SHA1),
			 0);
}

/*
 * The hash with collision detection gives the same ids as the plain hash, and
 * refuses the published collision.
 */
static void test_checked(void **state)
{
	struct buf message = BUF_INIT;
	struct error err = ERROR_INIT;
	struct oid oid, plain_oid;
	struct hash_ctx h, plain;

	for (unsigned algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		assert_int_equal(hash_init(&plain, algo), 0);
		assert_int_equal(hash_init_checked(&h, algo), 0);
		hash_object(&plain, &plain_oid, OBJ_BLOB, "abc", 3);
		hash_object(&h, &oid, OBJ_BLOB, "abc", 3);
		assert_memory_equal(&oid, &plain_oid, sizeof(oid));
		assert_int_equal(hash_refuse_attack(&h, &oid, &err), 0);
		hash_release(&plain);
		hash_release(&h);
	}
	hexdump_parse(&message, shattered_prefix);
	hexdump_parse(&message, shattered_1);
	assert_int_equal(hash_init(&plain, HASH_SHA1), 0);
	assert_int_equal(hash_init_checked(&h, HASH_SHA1), 0);
	hash_update(&plain, message.data, message.len);
	hash_update(&h, message.data, message.len);
	hash_final(&plain, &plain_oid);
	hash_final(&h, &oid);
	assert_memory_equal(&oid, &plain_oid, sizeof(oid));
	assert_int_equal(hash_refuse_attack(&plain, &oid, &err), 0);
	assert_int_equal(hash_refuse_attack(&h, &oid, &err), ERR_CORRUPT);
	assert_string_equal(err.msg, "SHA-1 appears to be part of a "
				     "collision attack: " SHATTERED_HASH);
	/*
	 * After the refused message, the same context accepts an ordinary
	 * message.
	 */
	hash_object(&h, &oid, OBJ_BLOB, message.data, message.len);
	assert_int_equal(hash_refuse_attack(&h, &oid, &err), 0);
	hash_release(&plain);
	hash_release(&h);
	buf_release(&message);
}

/* Compares an HMAC with the test vectors of RFC 2202 and RFC 4231. */
static void check_hmac(enum hash_algo algo, const char *expected,
		       const void *key, size_t key_len, const char *text)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid got;

	assert_int_equal(
		hash_hmac(&got, algo, key, key_len, text, strlen(text)), 0);
	assert_string_equal(oid_to_hex(hex, &got, algo), expected);
}

static void test_hmac_short_key(void **state)
{
	static const char text[] = "what do ya want for nothing?";

	check_hmac(HASH_SHA1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
		   "Jefe", 4, text);
	check_hmac(HASH_SHA256,
		   "5bdcc146bf60754e6a042426089575c7"
		   "5a003f089d2739839dec58b964ec3843",
		   "Jefe", 4, text);
}

/*
 * The key is longer than a block of the hash function, so it is hashed first.
 */
static void test_hmac_long_key(void **state)
{
	static const char text[] =
		"Test Using Larger Than Block-Size Key - Hash Key First";
	uint8_t key[131];

	memset(key, 0xaa, sizeof(key));
	check_hmac(HASH_SHA1, "aa4ae5e15272d00e95705637ce8a3b55ed402112", key,
		   80, text);
	check_hmac(HASH_SHA256,
		   "60e431591ee0b67f0d8a26aacbf5b77f"
		   "8e0bc6213728c5140546040f0ee37f54",
		   key, sizeof(key), text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_trailer),
		cmocka_unit_test(test_check_two),
		cmocka_unit_test(test_checked),
		cmocka_unit_test(test_hmac_short_key),
		cmocka_unit_test(test_hmac_long_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
