/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/relpath.c, which computes relative paths: known paths, and
 * random paths that must lead to their target.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/relpath.h"

static void test_known(void **state)
{
	static const struct {
		const char *from, *to, *way;
	} known[] = {
		{"/a/b", "/a/b", "."},
		{"/a/b", "/a/b/c", "c"},
		{"/a/b", "/a", ".."},
		{"/a/b", "/a/c", "../c"},
		{"/a/b", "/a/bc", "../bc"},
		{"/a/bc", "/a/b", "../b"},
		{"/a/b", "/c/d", "/c/d"},
		{"/a/b/c", "/a/d/e", "../../d/e"},
		{"/a/b/c/d", "/a/b", "../.."},
	};

	for (size_t i = 0; i < ARRAY_NR(known); i++) {
		struct buf out = BUF_INIT;

		assert_int_equal(buf_append_str(&out, "x"), 0);
		assert_int_equal(
			relpath_append(&out, known[i].from, known[i].to), 0);
		assert_string_equal(out.data + 1, known[i].way);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
