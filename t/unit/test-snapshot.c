/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/snapshot.c, which parses a list of tips of refs, one id per
 * line. A "+" before the id says that the tip should get a bitmap. Lines with
 * and without "+" are parsed, and invalid lines are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packs/snapshot.h"
#include "t/unit/tmprepo.h"

#define ID "0123456789abcdef0123456789abcdef01234567"

static void lines(void **state)
{
	static const char text[] = ID "\n+" ID "\n+" ID;
	struct snapshot s;

	assert_int_equal(
		snapshot_parse(&s, text, sizeof(text) - 1, HASH_SHA1, NULL), 0);
	assert_int_equal(s.nr, 3);
	assert_false(s.tips[0].is_preferred);
	assert_true(s.tips[1].is_preferred);
	assert_true(oid_equal(&s.tips[0].oid, &s.tips[1].oid));
	assert_true(s.tips[2].is_preferred);
	snapshot_release(&s);
	assert_int_equal(
		snapshot_parse(&s, text, sizeof(text) - 1, HASH_SHA256, NULL),
		ERR_INVALID);
	assert_int_equal(s.nr, 0);
	assert_int_equal(snapshot_parse(&s, NULL, 0, HASH_SHA1, NULL), 0);
	assert_int_equal(s.nr, 0);
	snapshot_release(&s);
}

static void is_refused(const char *text, const char *message)
{
	struct error err = ERROR_INIT;
	struct snapshot s;

	assert_int_equal(
		snapshot_parse(&s, text, strlen(text), HASH_SHA1, &err),
		ERR_INVALID);
	assert_string_equal(err.msg, message);
	snapshot_release(&s);
}

static void wrong_lines(void **state)
{
	is_refused("wrong\n", "could not parse line: wrong");
	is_refused(ID "\n\n", "could not parse line: ");
	is_refused("+", "could not parse line: +");
	is_refused(ID "0", "malformed line: " ID "0");
	is_refused(ID " x\n", "malformed line: " ID " x");
}

static void files(void **state)
{
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT;
	struct snapshot s;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/tips", t.dir);
	assert_int_equal(snapshot_load(&s, path.data, HASH_SHA1, &err), ERR_IO);
	assert_non_null(strstr(err.msg, "for reading: No such file"));
	tmprepo_write(&t, "tips", "+" ID "\n");
	assert_int_equal(snapshot_load(&s, path.data, HASH_SHA1, &err), 0);
	assert_int_equal(s.nr, 1);
	snapshot_release(&s);
	buf_release(&path);
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(wrong_lines),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
