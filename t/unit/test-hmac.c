/* SPDX-License-Identifier: MIT */
/* object/hmac.c: the test vectors of RFC 4231. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "object/hmac.h"

static void check(const void *key, size_t key_len, const char *text,
		  const uint8_t expected[HMAC_SHA256_LEN])
{
	uint8_t got[HMAC_SHA256_LEN];

	assert_int_equal(hmac_sha256(got, key, key_len, text, strlen(text)), 0);
	assert_memory_equal(got, expected, HMAC_SHA256_LEN);
}

static void test_vectors(void **state)
{
	static const uint8_t short_key[] = {
		0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e,
		0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
		0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83,
		0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
	static const uint8_t long_key[] = {
		0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f,
		0x0d, 0x8a, 0x26, 0xaa, 0xcb, 0xf5, 0xb7, 0x7f,
		0x8e, 0x0b, 0xc6, 0x21, 0x37, 0x28, 0xc5, 0x14,
		0x05, 0x46, 0x04, 0x0f, 0x0e, 0xe3, 0x7f, 0x54};
	uint8_t key[131];

	memset(key, 0xaa, sizeof(key));
	check("Jefe", 4, "what do ya want for nothing?", short_key);
	check(key, sizeof(key),
	      "Test Using Larger Than Block-Size Key - Hash Key First",
	      long_key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
