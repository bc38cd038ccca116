/* SPDX-License-Identifier: MIT */
/*
 * Tests of names/attrs.c, which finds an attribute of a path. They prove that
 * patterns and macros work as in gitattributes(5), and that the right line has
 * precedence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "names/attrs.h"

static struct attrs *load(const char *text, const char *dir, unsigned flags)
{
	struct attrs *a = attrs_new("delta");

	assert_non_null(a);
	assert_int_equal(attrs_add(a, text, strlen(text), dir, flags), 0);
	assert_int_equal(attrs_settle(a, NULL), 0);
	return a;
}

struct attr_case {
	const char *text, *path;
	enum attr_state state;
};

static void check(const struct attr_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct attrs *a = load(cases[i].text, "", ATTRS_MACROS);

		if (attrs_of(a, cases[i].path) != cases[i].state)
			fail_msg("%s: %s", cases[i].text, cases[i].path);
		attrs_free(a);
	}
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof(*(cases)))

static void patterns(void **state)
{
	static const struct attr_case cases[] = {
		{"", "a", ATTR_UNSPECIFIED},
		{"a delta", "a", ATTR_SET},
		{"a -delta", "a", ATTR_UNSET},
		{"a delta=0", "a", ATTR_VALUE},
		{"a delta=", "a", ATTR_VALUE},
		{"a !delta", "a", ATTR_UNSPECIFIED},
		{"*.b -delta", "x/y.b", ATTR_UNSET},
		{"/*.b -delta", "x/y.b", ATTR_UNSPECIFIED},
		{"x/*.b -delta", "x/y.b", ATTR_UNSET},
		{"x/*.b -delta", "x/z/y.b", ATTR_UNSPECIFIED},
		{"x/** -delta", "x/z/y.b", ATTR_UNSET},
		{"**/z/* -delta", "x/z/y.b", ATTR_UNSET},
		{"x -delta", "x/z", ATTR_UNSPECIFIED},
		{"z/ -delta", "x/z", ATTR_UNSPECIFIED},
		{"!a -delta", "a", ATTR_UNSPECIFIED},
		{"\\!a -delta", "!a", ATTR_UNSET},
		{"# -delta", "#", ATTR_UNSPECIFIED},
		{"\\# -delta", "#", ATTR_UNSET},
		{"\"a b\" -delta", "a b", ATTR_UNSET},
		{"\"a -delta", "\"a", ATTR_UNSET},
		{" \t a \t -delta \r", "a", ATTR_UNSET},
		{"\xef\xbb\xbf"
		 "a -delta",
		 "a", ATTR_UNSET},
		{"a", "a", ATTR_UNSPECIFIED},
	};

	CHECK(cases);
}

static void which_counts(void **state)
{
	static const struct attr_case cases[] = {
		{"a -delta\na delta", "a", ATTR_SET},
		{"a -delta delta", "a", ATTR_SET},
		{"a -delta\na text", "a", ATTR_UNSET},
		{"a -delta\n* !delta", "a", ATTR_UNSPECIFIED},
		{"a delta b@d", "a", ATTR_UNSPECIFIED},
		{"a delta --x", "a", ATTR_UNSPECIFIED},
		{"a delta =", "a", ATTR_UNSPECIFIED},
		{"[attr]m -delta\na m", "a", ATTR_UNSET},
		{"[attr] m -delta\na m", "a", ATTR_UNSET},
		{"a m\n[attr]m -delta", "a", ATTR_UNSET},
		{"[attr]m n\n[attr]n -delta\na m", "a", ATTR_UNSET},
		{"[attr]m m -delta\na m", "a", ATTR_UNSET},
		{"[attr]m n\n[attr]n m -delta\na n", "a", ATTR_UNSET},
		{"[attr]m -delta\na m\na -m", "a", ATTR_UNSPECIFIED},
		{"[attr]m -delta\na m=1", "a", ATTR_UNSPECIFIED},
		{"[attr]m -delta\n[attr]m delta\na m", "a", ATTR_SET},
		{"[attr]m -delta\n[attr]m text\na m", "a", ATTR_UNSPECIFIED},
		{"[attr]m -delta\na delta m", "a", ATTR_UNSET},
		{"[attr]m -delta\na m delta", "a", ATTR_SET},
		{"[attr]-m -delta\na m", "a", ATTR_UNSPECIFIED},
	};

	CHECK(cases);
}

/*
 * Attributes files in subdirectories, where macros are not allowed. With
 * ATTRS_ICASE, patterns match paths in capitals.
 */
static void several_files(void **state)
{
	static const char top[] = "*.a -delta\n[attr]m -delta\n",
			  sub[] = "/x.a delta\ny.a !delta\n"
				  "[attr]m delta\n*.b m\n";
	struct attrs *a = attrs_new("delta");

	assert_int_equal(attrs_add(a, top, strlen(top), "", ATTRS_MACROS), 0);
	assert_int_equal(attrs_add(a, sub, strlen(sub), "d/", 0), 0);
	assert_int_equal(attrs_settle(a, NULL), 0);
	assert_true(attrs_any(a));
	assert_int_equal(attrs_of(a, "x.a"), ATTR_UNSET);
	assert_int_equal(attrs_of(a, "d/x.a"), ATTR_SET);
	assert_int_equal(attrs_of(a, "d/e/x.a"), ATTR_UNSET);
	assert_int_equal(attrs_of(a, "d/e/y.a"), ATTR_UNSPECIFIED);
	assert_int_equal(attrs_of(a, "d.a"), ATTR_UNSET);
	assert_int_equal(attrs_of(a, "d/x.b"), ATTR_UNSET);
	assert_int_equal(attrs_of(a, "x.b"), ATTR_UNSPECIFIED);
	attrs_free(a);
	a = load("*.A -delta", "", ATTRS_ICASE);
	assert_int_equal(attrs_of(a, "x.a"), ATTR_UNSET);
	attrs_free(a);
}

static void what_matters(void **state)
{
	struct attrs *a = load("* text -diff\n[attr]m -delta\n[attr]n text\n"
			       "x n",
			       "", ATTRS_MACROS);

	assert_false(attrs_any(a));
	attrs_free(a);
	a = load("* text -diff\nx m\n[attr]m -delta", "", ATTRS_MACROS);
	assert_true(attrs_any(a));
	attrs_free(a);
}

static void limits(void **state)
{
	struct buf text = BUF_INIT;
	struct error err = ERROR_INIT;
	struct attrs *a = attrs_new("delta");

	assert_int_equal(
		buf_printf(&text, "a %2039s -delta\nb %2038s -delta", "", ""),
		0);
	assert_int_equal(attrs_add(a, text.data, text.len, "", 0), 0);
	assert_int_equal(attrs_settle(a, NULL), 0);
	assert_int_equal(attrs_of(a, "a"), ATTR_UNSPECIFIED);
	assert_int_equal(attrs_of(a, "b"), ATTR_UNSET);
	attrs_free(a);
	/*
	 * A chain of 255 macros has the greatest length that is allowed. A
	 * chain of 256 macros is too long.
	 */
	for (int last = 255; last <= 256; last++) {
		a = attrs_new("delta");
		buf_reset(&text);
		for (int i = 0; i < last; i++)
			assert_int_equal(
				buf_printf(&text, "[attr]m%d m%d\n", i, i + 1),
				0);
		assert_int_equal(
			buf_printf(&text, "[attr]m%d -delta\na m1\n", last - 1),
			0);
		assert_int_equal(
			attrs_add(a, text.data, text.len, "", ATTRS_MACROS), 0);
		assert_int_equal(attrs_settle(a, &err),
				 last == 255 ? 0 : ERR_UNSUPPORTED);
		if (last == 255)
			assert_int_equal(attrs_of(a, "a"), ATTR_UNSET);
		attrs_free(a);
	}
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),      cmocka_unit_test(which_counts),
		cmocka_unit_test(several_files), cmocka_unit_test(what_matters),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
