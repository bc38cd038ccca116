/* SPDX-License-Identifier: MIT */
/* repo/ident.h: whose name is taken, and how dates are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "repo/ident.h"

static void set_env(const char *name, const char *mail, const char *date)
{
	setenv("GIT_COMMITTER_DATE", date, 1);
	unsetenv("GIT_COMMITTER_NAME");
	unsetenv("GIT_COMMITTER_EMAIL");
	if (name)
		setenv("GIT_COMMITTER_NAME", name, 1);
	if (mail)
		setenv("GIT_COMMITTER_EMAIL", mail, 1);
}

static void assert_ident(const char *config_text, int code,
			 const char *expected)
{
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	assert_int_equal(config_parse(&config, config_text, strlen(config_text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(ident_committer(&out, &config, &err), code);
	assert_string_equal(code ? err.msg : out.data, expected);
	config_release(&config);
	buf_release(&out);
}

static void test_committer(void **state)
{
	(void)state;
	set_env("C <O> Mitter, ", "c@x", "1112911993 -0700");
	assert_ident("", 0, "C O Mitter <c@x> 1112911993 -0700");
	set_env(NULL, NULL, "1112911993 +0530");
	assert_ident("[user]\nname = U\nemail = u@x\n", 0,
		     "U <u@x> 1112911993 +0530");
	assert_ident("[user]\nname = U\nemail = u@x\n[committer]\nname = C\n",
		     0, "C <u@x> 1112911993 +0530");
	set_env("", "c@x", "1112911993 +0000");
	assert_ident("", ERR_INVALID,
		     "empty ident name (for <c@x>) not allowed");
	set_env("C", "c@x", "yesterday");
	assert_ident("", ERR_INVALID, "invalid date format: yesterday");
	set_env("C", NULL, "1112911993 +0000");
	unsetenv("EMAIL");
	assert_ident("[user]\nuseConfigOnly\n", ERR_INVALID,
		     "no email was given and auto-detection is disabled");
	setenv("EMAIL", "e@x", 1);
	assert_ident("", 0, "C <e@x> 1112911993 +0000");
}

static void test_dates(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds; /* -1: no date */
		int zone;
	} cases[] = {
		{"1112911993 -0700", 1112911993, -420},
		{"@0 +0000", 0, 0},
		{"2005-04-07T22:13:13", 1112911993 - 7200, 120},
		{"2005-04-07 22:13:13 +0000", 1112911993 + 0, 0},
		{"2005.04.07T22:13:13Z", 1112911993, 0},
		{"2005-04-07T15:13:13-07:00", 1112911993, -420},
		{"2000-02-29T00:00:00Z", 951782400, 0},
		{"2100-03-01T00:00:00Z", 4107542400, 0},
		{"12345 +0000", -1, 0},
		{"2005-13-07T22:13:13", -1, 0},
		{"2005-04-07", -1, 0},
		{"", -1, 0},
		{"99999999999999999999 +0000", -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		int64_t seconds;
		int zone;
		bool ok = ident_parse_date(&seconds, &zone, cases[i].text, 120);

		assert_int_equal(ok, cases[i].seconds >= 0);
		if (!ok)
			continue;
		assert_int_equal(seconds, cases[i].seconds);
		assert_int_equal(zone, cases[i].zone);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_committer),
		cmocka_unit_test(test_dates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
