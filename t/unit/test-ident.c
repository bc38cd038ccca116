/* SPDX-License-Identifier: MIT */
/*
 * Tests of config/ident.h, which makes the identity of a committer. They prove
 * where the name and the address come from, and which forms of dates are
 * accepted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "config/ident.h"
#include "sys/process.h"

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

static int find_ident(struct buf *out, const char *config_text,
		      struct error *err)
{
	struct config config = CONFIG_INIT;
	int ret;

	assert_int_equal(config_parse(&config, config_text, strlen(config_text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	ret = ident_committer(out, &config, err);
	config_release(&config);
	return ret;
}

static void assert_ident(const char *config_text, int code,
			 const char *expected)
{
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	assert_int_equal(find_ident(&out, config_text, &err), code);
	assert_string_equal(code ? err.msg : out.data, expected);
	buf_release(&out);
}

static void assert_ident_begins(const char *config_text, const char *expected)
{
	struct buf out = BUF_INIT;

	assert_int_equal(find_ident(&out, config_text, NULL), 0);
	assert_memory_equal(out.data, expected, strlen(expected));
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
	set_env(" ,.C. O.", "'c@x.'", "1112911993 +0000");
	assert_ident("", 0, ".C. O. <c@x.> 1112911993 +0000");
	set_env(",", "", "1112911993 +0000");
	assert_ident("", 0, " <> 1112911993 +0000");
	set_env("C", "c@x", "Thu, 07 Apr 2005 15:13:13 -0700");
	assert_ident("", 0, "C <c@x> 1112911993 -0700");
	set_env("C", "c@x", "yesterday");
	assert_ident("", ERR_INVALID, "invalid date format: yesterday");
	set_env("C", NULL, "1112911993 +0000");
	setenv("EMAIL", "e@x", 1);
	assert_ident("", 0, "C <e@x> 1112911993 +0000");
}

/*
 * If the configured name is empty or missing, the login name is used, even with
 * user.useConfigOnly.
 */
static void test_login(void **state)
{
	struct buf login = BUF_INIT, expected = BUF_INIT;

	(void)state;
	if (sys_user_name(&login, false, NULL) < 0)
		assert_int_equal(buf_append_str(&login, "unknown"), 0);
	assert_int_equal(
		buf_printf(&expected, "%s <c@x> 1112911993 +0000", login.data),
		0);
	set_env("", "c@x", "1112911993 +0000");
	assert_ident("", 0, expected.data);
	assert_ident("[user]\nname = U\n", 0, expected.data);
	set_env(NULL, "c@x", "1112911993 +0000");
	assert_ident("[user]\nname =\nuseConfigOnly\n", 0, expected.data);
	buf_set_len(&expected, 0);
	assert_int_equal(buf_printf(&expected, "C <%s@", login.data), 0);
	set_env("C", NULL, "1112911993 +0000");
	unsetenv("EMAIL");
	assert_ident_begins("[user]\nuseConfigOnly\n", expected.data);
	buf_release(&login);
	buf_release(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_committer),
		cmocka_unit_test(test_login),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
