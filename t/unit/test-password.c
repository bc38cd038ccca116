/* SPDX-License-Identifier: MIT */
/*
 * Tests of access/password.c, which checks passwords. The hashes were made by
 * htpasswd(1) and crypt(3) for the password "right".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

#include "access/htpasswd.h"

static void test_forms(void **state)
{
	static const char *const forms[] = {
		"$2y$05$abcdefghijklmnopqrstuu8xaCxxL82bnl.UY74PMksDxIJShppPC",
		"$2b$04$abcdefghijklmnopqrstuuFmEfrkTQnczNzw475xE2VhDrK1uwJiC",
		"$2a$04$abcdefghijklmnopqrstuuFmEfrkTQnczNzw475xE2VhDrK1uwJiC",
		"$y$j75$abcdefgh$6pN.nhTFpsxYP2o9CigtXCpngd/Tp5zoKzyj/L0r3U1",
		"$gy$j75$abcdefgh$vy2kxvKcYpvBTztxaSzcN4twwDEHIDq5zG05321Db56",
		"$7$BU..../....abcdefgh$ki7Id/"
		"WaG9OBzzPKPfGPjZiDb2mqT3lNplkGR55dOX8",
		"$6$abcdefgh$vR/"
		"yd6VXABFTBRyOupJyJyD09twBc54Fjx1W8tzKdqxOfohxeZRb508btnHrxVQLY"
		"86b/u4pA/7OgxagBH8130",
		"$5$abcdefgh$C7VyRZs0npbCFai/XpQEnaVXYbZWFch0rqUEsU32AU/",
		"$1$abcdefgh$vdBSIIpG7R8DPkuUogsqU0",
		"$apr1$abcdefgh$tPMe7lknrFZeX55XJF00t0",
		"{SHA}0nofEXcSAJSXFLGvmfBIpBb11vQ=",
	};
	struct password_crypt c;

	assert_int_equal(password_crypt_open(&c, NULL), 0);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		assert_true(password_is_hash(forms[i]));
		assert_int_equal(password_matches(&c, forms[i], "right"), 1);
		assert_int_equal(password_matches(&c, forms[i], "righ"), 0);
		assert_int_equal(password_matches(&c, forms[i], ""), 0);
	}
	password_crypt_release(&c);
}

/* A truncated hash is refused, and so is a hash with wrong characters. */
static void test_damaged(void **state)
{
	static const char *const damaged[] = {
		"$2y$05$short",
		"$apr1$",
		"$apr1$salt",
		"$apr1$salt$",
		"$apr1$saltsalts$x",
		"{SHA}",
		"{SHA}AAAA",
		"{SHA}!",
		"$6$",
		"$y$j75$",
		"$7$",
	};
	struct password_crypt c;

	assert_int_equal(password_crypt_open(&c, NULL), 0);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
		assert_int_equal(password_matches(&c, damaged[i], "right"), 0);
	password_crypt_release(&c);
}

static void test_unknown(void **state)
{
	char longest[PASSWORD_HASH_MAX + 1];

	assert_false(password_is_hash("right"));
	assert_false(password_is_hash(""));
	assert_false(password_is_hash("*"));
	assert_false(password_is_hash("abJnggxhB/yWI"));
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "$6$", 3);
	longest[PASSWORD_HASH_MAX - 1] = '\0';
	assert_true(password_is_hash(longest));
	longest[PASSWORD_HASH_MAX - 1] = 'x';
	longest[PASSWORD_HASH_MAX] = '\0';
	assert_false(password_is_hash(longest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
