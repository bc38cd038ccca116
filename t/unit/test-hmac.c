/* SPDX-License-Identifier: MIT */
/* object/hmac.c: the test vectors of RFC 2202 and RFC 4231. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "object/hmac.h"

static void check(enum hash_algo algo, const char *expected, const void *key,
		  size_t key_len, const char *text)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid got;

	assert_int_equal(
		hmac_make(&got, algo, key, key_len, text, strlen(text)), 0);
	assert_string_equal(oid_to_hex(hex, &got, algo), expected);
}

static void test_short_key(void **state)
{
	static const char text[] = "what do ya want for nothing?";

	check(HASH_SHA1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79", "Jefe", 4,
	      text);
	check(HASH_SHA256,
	      "5bdcc146bf60754e6a042426089575c7"
	      "5a003f089d2739839dec58b964ec3843",
	      "Jefe", 4, text);
}

/* Longer than a block. */
static void test_long_key(void **state)
{
	static const char text[] =
		"Test Using Larger Than Block-Size Key - Hash Key First";
	uint8_t key[131];

	memset(key, 0xaa, sizeof(key));
	check(HASH_SHA1, "aa4ae5e15272d00e95705637ce8a3b55ed402112", key, 80,
	      text);
	check(HASH_SHA256,
	      "60e431591ee0b67f0d8a26aacbf5b77f"
	      "8e0bc6213728c5140546040f0ee37f54",
	      key, sizeof(key), text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_key),
		cmocka_unit_test(test_long_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
