/* SPDX-License-Identifier: MIT */
/*
 * Tests of repo/grafts.c, which reads the file info/grafts. They prove that
 * commit ids and their parents are found, and that malformed lines are ignored.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "repo/grafts.h"
#include "t/unit/tmprepo.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"

/*
 * Callback that appends the first hexadecimal digit of an id. Returns an error
 * after an id that starts with 5.
 */
static int note(void *ctx, const struct oid *oid)
{
	struct buf *seen = ctx;

	buf_printf(seen, "%x", oid->bytes[0] >> 4);
	return oid->bytes[0] >> 4 == 5 ? 5 : 0;
}

static void check(const char *text, const char *want, int result)
{
	struct buf seen = BUF_INIT;

	buf_append_str(&seen, "");
	assert_int_equal(
		grafts_each(text, strlen(text), HASH_SHA1, note, &seen),
		result);
	assert_string_equal(seen.data ? seen.data : "", want);
	buf_release(&seen);
}

static void test_lines(void **state)
{
	check("", "", 0);
	check(A "\n", "a", 0);
	check(A " " B, "ab", 0);
	check("#" A "\n# " A "\n" B "\n", "b", 0);
	check("\n \n" A "\t" B "  " A "\r\n" B " \n", "abab", 0);
	/*
	 * Words that are no ids are skipped: words that are too short, too
	 * long, or have other characters.
	 */
	check("aaaa " B "b " A "\nx " B "\n", "ab", 0);
	check(A " 5555555555555555555555555555555555555555 " B, "a5", 5);
}

/*
 * Looks up parent number `n` of commit A. The result must be `ret`. If `ret` is
 * 0, the id of the parent must start with the digit `want`.
 */
static void parent_is(const char *text, size_t n, int ret, char want)
{
	struct oid commit, parent;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_from_hex(&commit, A, 40, HASH_SHA1);
	assert_int_equal(grafts_parent(&parent, text, strlen(text), HASH_SHA1,
				       &commit, n),
			 ret);
	if (ret == 1)
		assert_int_equal(oid_to_hex(hex, &parent, HASH_SHA1)[0], want);
}

static void test_parents(void **state)
{
	parent_is(A " " B " " C "\n", 1, 1, 'b');
	parent_is(A " " B " " C, 2, 1, 'c');
	parent_is(A " " B " " C, 3, 0, 0);
	parent_is(A "\n", 1, 0, 0);
	parent_is("# x\n" B " " A "\n" A " " C "\n", 1, 1, 'c');
	parent_is(A " " B "\n" A " " C "\n", 1, 1, 'b');
	parent_is("", 1, ERR_MISSING, 0);
	parent_is(B " " A "\n", 1, ERR_MISSING, 0);
	/*
	 * A line without a valid commit id, or with extra blanks, has no
	 * effect.
	 */
	parent_is(A "  " B "\n", 1, ERR_MISSING, 0);
	parent_is(A " " B "b\n", 1, ERR_MISSING, 0);
	parent_is(A " x\n" A " " B " \r\n", 1, 1, 'b');
}

static void test_file(void **state)
{
	struct buf seen = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(grafts_each_oid(&t.repo, note, &seen, NULL), 0);
	assert_int_equal(grafts_exist(&t.repo, NULL), 0);
	assert_int_equal(seen.len, 0);
	tmprepo_write(&t, "info/grafts", A "\n");
	assert_int_equal(grafts_exist(&t.repo, NULL), 1);
	assert_int_equal(grafts_each_oid(&t.repo, note, &seen, NULL), 0);
	setenv("GIT_GRAFT_FILE", "/dev/null", 1);
	assert_true(grafts_each_oid(&t.repo, note, &seen, NULL) <= 0);
	unsetenv("GIT_GRAFT_FILE");
	assert_string_equal(seen.data, "a");
	buf_release(&seen);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_parents),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
