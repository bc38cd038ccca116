/* SPDX-License-Identifier: MIT */
/* object/oid-lines.c: ids line by line, and lines that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "object/oid-lines.h"

#define A "2f4045abf1af51f49ecff8034da3bca195a47c77"
#define B "6949608296cf6f325502708aa42097b5c5144209"

/* Ids read until the end or an error, whose code is returned. */
static int read_all(struct oid *oids, size_t *nr, const char *text,
		    enum hash_algo algo, struct error *err)
{
	struct cursor c = cursor_make(text, strlen(text));
	int ret;

	*nr = 0;
	while ((ret = oid_lines_next(&oids[*nr], &c, algo, "test", err)) > 0)
		++*nr;
	return ret;
}

static void test_lines(void **state)
{
	static const char *const texts[] = {A "\n" B "\n", A "\n" B};
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oids[4];
	size_t nr;

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(read_all(oids, &nr, texts[i], HASH_SHA1, NULL),
				 0);
		assert_int_equal(nr, 2);
		assert_string_equal(oid_to_hex(hex, &oids[0], HASH_SHA1), A);
		assert_string_equal(oid_to_hex(hex, &oids[1], HASH_SHA1), B);
	}
	assert_int_equal(read_all(oids, &nr, "", HASH_SHA1, NULL), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(read_all(oids, &nr, A "012345678901234567890123\n",
				  HASH_SHA256, NULL),
			 0);
	assert_int_equal(nr, 1);
}

static void test_no_hash(void **state)
{
	static const char *const texts[] = {A "\n\n",       A "\nx",
					    A "\n" B "0\n", A "\n" B " \n",
					    A "\n\r",       A "\n\n" B "\n"};
	struct error err = ERROR_INIT;
	struct oid oids[4];
	size_t nr;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(read_all(oids, &nr, texts[i], HASH_SHA1, &err),
				 ERR_CORRUPT);
		assert_int_equal(nr, 1);
	}
	assert_int_equal(read_all(oids, &nr, "nonsense\n", HASH_SHA1, &err),
			 ERR_CORRUPT);
	assert_string_equal(err.msg,
			    "invalid test: line 'nonsense' not a hash");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_no_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
