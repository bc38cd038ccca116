/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/mailmap.c: each form of a line, and which of several matching
 * lines is used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <stdio.h>
#include <cmocka.h>

#include "base/mailmap.h"

static struct mailmap_span span(const char *text)
{
	return (struct mailmap_span){*text ? text : NULL, strlen(text)};
}

static void assert_span(struct mailmap_span actual, const char *expect)
{
	assert_int_equal(actual.len, strlen(expect));
	assert_memory_equal(actual.p ? actual.p : "", expect, actual.len);
}

/*
 * Asserts that the mailmap `text` turns "name <email>" into "new_name
 * <new_email>".
 */
static void maps(const char *text, const char *name, const char *email,
		 const char *new_name, const char *new_email)
{
	struct mailmap_span n = span(name), e = span(email);
	struct mailmap m = MAILMAP_INIT;
	bool differs = strcmp(name, new_name) || strcmp(email, new_email);

	if (!e.p)
		e.p = email;
	assert_int_equal(mailmap_add(&m, text, strlen(text)), 0);
	mailmap_sort(&m);
	assert_int_equal(mailmap_map(&m, &n, &e), differs);
	assert_span(n, new_name);
	assert_span(e, new_email);
	mailmap_release(&m);
}

static void forms_of_lines(void **state)
{
	maps("", "n", "a@b", "n", "a@b");
	maps("New <a@b>\n", "n", "a@b", "New", "a@b");
	maps("New <a@b>", "n", "A@B", "New", "A@B");
	maps("<c@d> <a@b>\n", "n", "a@b", "n", "c@d");
	maps("New <c@d> <a@b>\n", "n", "a@b", "New", "c@d");
	maps("New <c@d> <a@b>\n", "n", "c@d", "n", "c@d");
	maps("New <c@d> Old <a@b>\n", "oLD", "A@b", "New", "c@d");
	maps("New <c@d> Old <a@b>\n", "Olden", "a@b", "Olden", "a@b");
	maps("New <c@d> Old <a@b>\n", "", "a@b", "", "a@b");
	maps(" New  N\t< c@d> <a@b> x <y@z>\r\n", "n", "a@b", "New  N", " c@d");
	maps("New <c@d> <>\n", "n", "", "New", "c@d");
}

static void lines_that_are_ignored(void **state)
{
	maps("#New <a@b>\n", "n", "a@b", "n", "a@b");
	maps(" # <a@b>\n", "n", "a@b", "#", "a@b");
	maps("New\nx <a@b\na@b>\n\n", "n", "a@b", "n", "a@b");
	maps("New <> <a@b>\n", "n", "a@b", "n", "a@b");
	maps("<a@b>\n", "n", "a@b", "n", "a@b");
	maps("New <c@d> <a@b\n", "n", "a@b", "n", "a@b");
	maps("New <c@d> <a@b\n", "n", "c@d", "New", "c@d");
}

static void a_nul_ends_the_line(void **state)
{
	static const char text[] = "New\0 <a@b>\nNext <c@d>\n";
	struct mailmap_span name = span("n"), email = span("a@b");
	struct mailmap m = MAILMAP_INIT;

	assert_int_equal(mailmap_add(&m, text, sizeof(text) - 1), 0);
	mailmap_sort(&m);
	assert_false(mailmap_map(&m, &name, &email));
	email = span("c@d");
	assert_true(mailmap_map(&m, &name, &email));
	assert_span(name, "Next");
	mailmap_release(&m);
}

static void later_lines_win(void **state)
{
	maps("A <p@x> <a@b>\nB <a@b>\n", "n", "a@b", "B", "p@x");
	maps("B <a@b>\n<p@x> <a@b>\n", "n", "a@b", "B", "p@x");
	maps("A <p@x> n <a@b>\n<q@x> N <a@b>\n", "n", "a@b", "n", "q@x");
	maps("B <a@b>\n<p@x> n <a@b>\n", "n", "a@b", "n", "p@x");
	maps("<p@x> n <a@b>\nB <a@b>\n", "m", "a@b", "B", "a@b");
}

static void several_texts(void **state)
{
	struct mailmap_span name = span("n"), email = span("a@b");
	struct mailmap m = MAILMAP_INIT;

	assert_int_equal(mailmap_add(&m, "A <a@b>", 7), 0);
	assert_int_equal(mailmap_add(&m, "", 0), 0);
	assert_int_equal(mailmap_add(&m, "B <a@b>", 7), 0);
	mailmap_sort(&m);
	assert_true(mailmap_map(&m, &name, &email));
	assert_span(name, "B");
	mailmap_release(&m);
	assert_int_equal(m.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_of_lines),
		cmocka_unit_test(lines_that_are_ignored),
		cmocka_unit_test(a_nul_ends_the_line),
		cmocka_unit_test(later_lines_win),
		cmocka_unit_test(several_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
