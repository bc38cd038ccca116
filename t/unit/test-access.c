/* SPDX-License-Identifier: MIT */
/*
 * Tests of access/access.c, which asks the access helper: a program that
 * decides which requests the server allows. They prove that questions are
 * formatted correctly, that answers are parsed, and that wrong answers are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

#include "access/access.h"

static int parse(struct access_answer *out, const char *line)
{
	return access_parse(out, line, strlen(line), NULL);
}

static void test_parse(void **state)
{
	struct access_answer a;

	assert_int_equal(parse(&a, "deny"), 0);
	assert_false(a.is_allowed);
	assert_int_equal(parse(&a, "allow"), 0);
	assert_true(a.is_allowed);
	assert_int_equal(a.hidden_nr, 0);
	assert_int_equal(parse(&a, "allow hide=refs/a/ hide=refs/%62%27"), 0);
	assert_true(a.is_allowed);
	assert_int_equal(a.hidden_nr, 2);
	assert_memory_equal(a.hidden.data, "refs/a/\0refs/b'", 16);
	access_answer_release(&a);
}

static void test_wrong(void **state)
{
	static const char *const wrong[] = {
		"",
		"yes",
		"allowed",
		"allow ",
		"allow  hide=refs/a",
		"allow hide=",
		"allow hide=!refs/a",
		"allow hide=^refs/a",
		"allow hide=heads/a",
		"allow hide=refs/a ",
		"allow hide=refs/a%",
		"allow hide=refs/a%0",
		"allow hide=refs/a%0a",
		"allow hide=refs/a%00",
		"allow hide=refs/a%zz",
		"allow show=refs/a",
		"deny hide=refs/a",
		"allow\r",
	};
	struct access_answer a;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse(&a, wrong[i]), ERR_PEER);
		assert_false(a.is_allowed);
		assert_int_equal(a.hidden_nr, 0);
	}
}

static const struct access_question question = {
	.user = "a b=\n%\xc3\xa9",
	.service = "upload-pack",
	.repository = "/x\ry.git",
	.protocol = "http",
	.address = "::1",
};

static void test_format(void **state)
{
	struct buf line = BUF_INIT;

	assert_int_equal(access_format(&line, &question), 0);
	assert_string_equal(line.data,
			    "user=a%20b%3D%0A%25%C3%A9 service=upload-pack "
			    "repository=/x%0Dy.git protocol=http "
			    "address=::1\n");
	buf_release(&line);
}

static void test_format_denial(void **state)
{
	struct access_question push = question;
	struct buf line = BUF_INIT;

	assert_int_equal(access_format_denial(&line, &question), 0);
	assert_string_equal(line.data, "right=read protocol=http client=::1 "
				       "user=a%20b%3D%0A%25%C3%A9 "
				       "repository=/x%0Dy.git");
	buf_reset(&line);
	push.service = "receive-pack";
	push.user = push.address = "";
	assert_int_equal(access_format_denial(&line, &push), 0);
	assert_string_equal(line.data, "right=write protocol=http client=- "
				       "user=- repository=/x%0Dy.git");
	buf_release(&line);
}

static void test_hide(void **state)
{
	static const char text_of_base[] = "[transfer]\nhideRefs = !refs/a\n";
	struct config_sources sources = {.protected_only = true};
	struct config base = CONFIG_INIT, all = CONFIG_INIT;
	struct access_answer a;
	struct buf text = BUF_INIT;

	assert_int_equal(config_parse(&base, text_of_base, strlen(text_of_base),
				      CONFIG_LOCAL, NULL, &sources, NULL),
			 0);
	assert_int_equal(parse(&a, "allow hide=refs/a hide=refs/b%27c"), 0);
	assert_int_equal(access_configure(&all, &base, &a), 0);
	assert_string_equal(all.entries[0].value, "!refs/a");
	assert_string_equal(config_string(&all, "transfer.hiderefs"),
			    "refs/b'c");
	assert_string_equal(config_string(&all, "gitreach.reachableonly"),
			    "true");
	free(all.entries);
	config_release(&base);

	unsetenv("GIT_CONFIG_PARAMETERS");
	assert_int_equal(access_environment(&text, &a), 0);
	assert_memory_equal(text.data,
			    "GIT_CONFIG_PARAMETERS='transfer.hiderefs=", 41);
	buf_reset(&text);
	setenv("GIT_CONFIG_PARAMETERS", "'a.b=c'", 1);
	assert_int_equal(access_environment(&text, &a), 0);
	assert_memory_equal(text.data,
			    "GIT_CONFIG_PARAMETERS='a.b=c' "
			    "'transfer.hiderefs=refs/a' "
			    "'transfer.hiderefs=refs/b'\\''c' ",
			    88);
	assert_int_equal(
		setenv("GIT_CONFIG_PARAMETERS", strchr(text.data, '=') + 1, 1),
		0);
	buf_release(&text);
	access_answer_release(&a);
	all = (struct config)CONFIG_INIT;
	assert_int_equal(config_load(&all, &sources, NULL), 0);
	assert_string_equal(config_string(&all, "transfer.hiderefs"),
			    "refs/b'c");
	config_release(&all);
	unsetenv("GIT_CONFIG_PARAMETERS");
}

static int ask(struct access_helper *helper)
{
	struct access_answer a;
	int ret = access_ask(&a, helper, &question, NULL);
	bool is_allowed = a.is_allowed;

	access_answer_release(&a);
	return ret ? ret : is_allowed;
}

static void test_ask(void **state)
{
	struct access_helper *h = access_helper_new(
		"while read -r line; do echo allow; done", 5000);

	for (int i = 0; i < 10; i++)
		assert_int_equal(ask(h), 1);
	access_helper_free(h);
	h = access_helper_new("read -r line; echo deny", 5000);
	assert_int_equal(ask(h), 0);
	assert_int_equal(ask(h), ERR_PEER);
	sleep(1);
	assert_int_equal(ask(h), 0);
	access_helper_free(h);
	h = access_helper_new("read l; echo allow; sleep .1; echo allow; cat",
			      5000);
	assert_int_equal(ask(h), 1);
	sleep(1);
	assert_int_equal(ask(h), 1);
	access_helper_free(h);
	h = access_helper_new("exec cat", 5000);
	assert_int_equal(ask(h), ERR_PEER);
	access_helper_free(h);
	h = access_helper_new("exec sleep 10", 100);
	assert_int_equal(ask(h), ERR_PEER);
	access_helper_free(h);
	access_helper_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_format_denial),
		cmocka_unit_test(test_hide),
		cmocka_unit_test(test_ask),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
