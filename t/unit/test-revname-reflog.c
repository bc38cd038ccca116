/* SPDX-License-Identifier: MIT */
/*
 * Tests of names/revname-reflog.c, names such as "main@{1}" and
 * "main@{yesterday}": numbers, dates, gaps, and empty reflogs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "names/revname.h"
#include "t/unit/tmprepo.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"
#define Z "0000000000000000000000000000000000000000"
#define WHO " A U Thor <author@example.com> "
#define NOW 1700009999

static int parse(struct revname_selector *s, const char *text)
{
	return revname_selector_parse(s, text, strlen(text), NOW);
}

static void test_parse(void **state)
{
	static const char *const elsewhere[] = {"u",    "U",  "upstream",
						"Push", "-1", "-0"};
	static const char *const wrong[] = {"", "some", "}", "-", "-x"};
	struct revname_selector s;

	assert_int_equal(parse(&s, "012"), 1);
	assert_false(s.by_time);
	assert_int_equal(s.nth, 12);
	assert_int_equal(parse(&s, "99999999"), 1);
	assert_false(s.by_time);
	assert_int_equal(parse(&s, "1700000001"), 1);
	assert_true(s.by_time);
	assert_int_equal(s.time, 1700000001);
	assert_int_equal(parse(&s, "now"), 1);
	assert_int_equal(s.time, NOW);
	for (size_t i = 0; i < ARRAY_NR(elsewhere); i++)
		assert_int_equal(parse(&s, elsewhere[i]), ERR_UNSUPPORTED);
	for (size_t i = 0; i < ARRAY_NR(wrong); i++)
		assert_int_equal(parse(&s, wrong[i]), 0);
}

struct fixture {
	struct tmprepo t;
	struct refs *refs;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	tmprepo_init(&f->t, HASH_SHA1);
	tmprepo_write(&f->t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(&f->t, "refs/heads/main", C);
	tmprepo_write(&f->t, "refs/tags/main", A);
	tmprepo_write(&f->t, "refs/heads/gap", C);
	tmprepo_write(&f->t, "refs/heads/moved", C);
	tmprepo_write(&f->t, "refs/heads/empty", C);
	tmprepo_write(&f->t, "refs/heads/none", C);
	tmprepo_write(&f->t, "refs/heads/link", "ref: refs/heads/main\n");
	tmprepo_write(&f->t, "logs/refs/heads/main",
		      Z " " A WHO "1700000001 +0200\tone\n" A " " B WHO
			"1700000002 +0200\ttwo\n" B " " C WHO
			"1700000003 +0200\tthree\n");
	tmprepo_write(&f->t, "logs/refs/heads/gap",
		      B " " A WHO "1700000001 -0130\tone\n" B " " C WHO
			"1700000003 +0200\n");
	tmprepo_write(&f->t, "logs/refs/heads/moved",
		      A " " B WHO "1700000001 +0000\tone\n");
	tmprepo_write(&f->t, "logs/refs/heads/empty", "");
	assert_int_equal(refs_open(&f->refs, &f->t.repo, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	refs_close(f->refs);
	tmprepo_release(&f->t);
	free(f);
	return 0;
}

static void test_find(void **state)
{
	static const struct {
		const char *ref, *selector;
		int ret;
		/* This byte, repeated, is the expected id. */
		uint8_t byte;
		const char *notes;
	} cases[] = {
		{"main", "0", 1, 0xcc, ""},
		{"main", "2", 1, 0xaa, ""},
		{"", "1", 1, 0xbb, ""},
		{"@", "1", 1, 0xbb, ""},
		{"link", "1", 1, 0xbb, ""},
		{"heads/main", "1700000002", 1, 0xbb, ""},
		{"main", "now", 1, 0xcc, ""},
		{"main", "1700000000", 1, 0xaa,
		 "warning: log for 'main' only goes back to Wed, 15 Nov 2023 "
		 "00:13:21 +0200\n"},
		{"gap", "2", 1, 0xbb, ""},
		{"gap", "1", 1, 0xaa,
		 "warning: log for ref refs/heads/gap has gap after Tue, 14 "
		 "Nov 2023 20:43:21 -0130\n"},
		{"gap", "1700000000", 1, 0xbb,
		 "warning: log for 'gap' only goes back to Tue, 14 Nov 2023 "
		 "20:43:21 -0130\n"},
		{"moved", "0", 1, 0xcc,
		 "warning: log for ref refs/heads/moved unexpectedly ended on "
		 "Tue, 14 Nov 2023 22:13:21 +0000\n"},
		{"empty", "0", 1, 0xcc, ""},
		{"none", "0", 0, 0, ""},
		{"nothing", "0", 0, 0, ""},
		{"main", "3", ERR_UNSUPPORTED, 0,
		 "log for 'main' only has 3 entries"},
		{"", "4", ERR_UNSUPPORTED, 0,
		 "log for 'main' only has 3 entries"},
		{"gap", "3", ERR_UNSUPPORTED, 0,
		 "log for 'gap' only has 2 entries"},
		{"empty", "1", ERR_UNSUPPORTED, 0,
		 "log for refs/heads/empty is empty"},
		{"empty", "now", ERR_UNSUPPORTED, 0,
		 "log for refs/heads/empty is empty"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct error err = ERROR_INIT;
		struct buf notes = BUF_INIT;
		struct revname_selector s;
		struct oid oid;

		assert_int_equal(parse(&s, cases[i].selector), 1);
		assert_int_equal(revname_selector_find(&oid, &s, cases[i].ref,
						       strlen(cases[i].ref),
						       f->refs, &f->t.repo,
						       &notes, &err),
				 cases[i].ret);
		if (cases[i].ret > 0)
			assert_int_equal(oid.bytes[7], cases[i].byte);
		assert_string_equal(cases[i].ret < 0 ? err.msg
				    : notes.len      ? notes.data
						     : "",
				    cases[i].notes);
		assert_int_equal(revname_error_is_log(&err), cases[i].ret < 0);
		buf_release(&notes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test_setup_teardown(test_find, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
