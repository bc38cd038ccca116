/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/promisor-remotes.c, the capability promisor-remote: the server
 * advertises the configured remotes, and accepts only names of these remotes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "serve/serve-config.h"

struct fixture {
	struct config config;
	struct promisor_remotes remotes;
	struct error warning, err;
	struct buf value;
};

/*
 * Load the configuration `text`, with promisor.advertise set. Returns the
 * advertised value.
 */
static const char *load(struct fixture *f, const char *text)
{
	struct buf all = BUF_INIT;

	*f = (struct fixture){.config = CONFIG_INIT};
	buf_init(&f->value);
	buf_printf(&all, "[promisor]\nadvertise\n%s", text);
	assert_int_equal(config_parse(&f->config, all.data, all.len,
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	buf_release(&all);
	if (promisor_remotes_load(&f->remotes, &f->config, &f->warning,
				  &f->err) < 0)
		return NULL;
	assert_int_equal(promisor_remotes_print(&f->value, &f->remotes), 0);
	return f->value.data;
}

static void release(struct fixture *f)
{
	promisor_remotes_release(&f->remotes);
	config_release(&f->config);
	buf_release(&f->value);
}

static void check(const char *config, const char *expect, const char *warning)
{
	struct fixture f;

	assert_string_equal(load(&f, config), expect);
	assert_string_equal(f.warning.msg, warning);
	release(&f);
}

#define B "[remote \"b\"]\npromisor\nurl = https://b/x\n"
#define FIELDS "partialCloneFilter = blob:none\ntoken = t k\n"

/* The expected values were printed by stock Git 2.55. */
static void test_print(void **state)
{
	check("", "", "");
	check(B, "name=b,url=https://b/x", "");
	check(B "[remote \"a\"]\nurl = \"/p a,b;c=%/\xc3\xbc\"\npromisor = 1\n",
	      "name=b,url=https://b/x;"
	      "name=a,url=/p%20a%2cb%3bc=%25/%c3%bc",
	      "");
	check(B "[remote \"a\"]\npromisor\n", "name=b,url=https://b/x", "");
	check(B "[remote \"a\"]\npromisor\nurl =\n", "name=b,url=https://b/x",
	      "");
	check(B "[remote \"a\"]\nurl = x\npromisor = no\n",
	      "name=b,url=https://b/x", "");
	check("[remote \"a.b/c\"]\nurl = x\nurl = y\n" FIELDS,
	      "name=a.b/c,url=y", "");
	check("[promisor]\nadvertise = no\n" B, "", "");
	check("[remote]\npromisor\nurl = x\n", "", "");
}

static void test_fields(void **state)
{
	check(B FIELDS "[promisor]\nsendFields = partialCloneFilter,token\n",
	      "name=b,url=https://b/x,partialCloneFilter=blob:none,"
	      "token=t%20k",
	      "");
	check(B FIELDS "[promisor]\nsendFields = TOKEN\n",
	      "name=b,url=https://b/x,token=t%20k", "");
	check(B "[promisor]\nsendFields = token\n", "name=b,url=https://b/x",
	      "");
	check(B FIELDS "[promisor]\nsendFields = \"foo, token\"\n",
	      "name=b,url=https://b/x,token=t%20k",
	      "unsupported field 'foo' in 'promisor.sendFields' config");
}

static void test_bad_values(void **state)
{
	struct fixture f;

	assert_null(load(&f, "[promisor]\nadvertise = perhaps\n"));
	assert_int_equal(f.err.code, ERR_INVALID);
	release(&f);
	assert_null(load(&f, B "promisor = perhaps\n"));
	assert_string_equal(f.err.msg, "bad boolean config value 'perhaps' for "
				       "'remote.b.promisor'");
	release(&f);
}

static void test_accepted(void **state)
{
	static const struct {
		const char *names;
		int expect;
		const char *warning;
	} cases[] = {
		{"b", 1, ""},
		{"a,1;b", 1, "accepted promisor remote 'a,1' not found"},
		{"%62", 1, ""},
		{"", 0, "accepted promisor remote '' not found"},
		{";b;", 1, "accepted promisor remote '' not found"},
		{"B", 0, "accepted promisor remote 'B' not found"},
		{"b%00", 0, "accepted promisor remote 'b%00' not found"},
		{"%0ab", 0, "accepted promisor remote '?b' not found"},
	};
	struct fixture f;

	assert_non_null(load(&f, B));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error warning = ERROR_INIT;

		assert_int_equal(promisor_remotes_accepted(
					 &f.remotes, cases[i].names, &warning),
				 cases[i].expect);
		assert_string_equal(warning.msg, cases[i].warning);
	}
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
