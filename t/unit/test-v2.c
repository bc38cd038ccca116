/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/v2.c, the state machine of protocol v2 that reads commands and
 * capabilities: valid requests are dispatched, and others end with an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

#include "serve/v2-command.h"

static void check(struct dialog *d, const char *script, const char *want,
		  int ret)
{
	assert_string_equal(dialog_answer(d, script), want);
	assert_int_equal(d->ret, ret);
}

static void test_ends(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	check(&d, "F", "", 0);
	check(&d, "", "", 0);
	check(&d, "F|garbage", "", 0);
	dialog_release(&d);
}

static void test_errors(void **state)
{
	static const char *const cases[][2] = {
		{"command=foo|F", "ERR invalid command 'foo'"},
		{"command=|F", "ERR invalid command ''"},
		{"command=ls-refs=x|F", "ERR invalid command 'ls-refs=x'"},
		{"commands=ls-refs|F",
		 "ERR unknown capability 'commands=ls-refs'"},
		{"command ls-refs|F",
		 "ERR unknown capability 'command ls-refs'"},
		{"command=object-info|F", "ERR invalid command 'object-info'"},
		{"command=ls-refs|bogus|D|F", "ERR unknown capability 'bogus'"},
		{"command=ls-refs|session-id=x|D|F",
		 "ERR unknown capability 'session-id=x'"},
		{"command=ls-refs|command=fetch|D|F",
		 "ERR command 'fetch' requested after already requesting "
		 "command 'ls-refs'"},
		{"agent=foo|F", "ERR no command requested"},
		{"D|F", "ERR no command requested"},
		{"E", "ERR unexpected response end packet"},
		{"command=ls-refs|E", "ERR unexpected response end packet"},
		{"command=ls-refs|object-format=x|F",
		 "ERR unknown object format 'x'"},
		{"command=ls-refs|object-format=sha256|F",
		 "ERR mismatched object format: server sha1; client sha256"},
		{"=zzzz", "ERR protocol error: bad line length character: "
			  "zzzz"},
	};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(&d, cases[i][0], cases[i][1], ERR_PEER);
	dialog_release(&d);
}

static void test_hang_ups(void **state)
{
	static const char *const scripts[] = {
		"command=ls-refs",         "command=ls-refs|D",
		"command=ls-refs|D|peel",  "=00",
		"command=fetch|D|want c4", "command=ls-refs|D|=0010ab",
	};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		check(&d, scripts[i], "", ERR_PEER);
		assert_string_equal(d.err.msg,
				    "the remote end hung up unexpectedly");
	}
	dialog_release(&d);
}

static void test_keys(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	check(&d,
	      "agent=a|server-option=x|server-option=y|command=ls-refs|"
	      "object-format=sha1|D|ref-prefix HEAD|F",
	      "c4 HEAD|F", 0);
	/*
	 * The first command has no delim and no arguments, so it ends with its
	 * flush.
	 */
	check(&d, "command=ls-refs|F|command=ls-refs|D|ref-prefix HEAD|F",
	      "c4 HEAD|c4 refs/heads/main|s0 refs/heads/side|h0 refs/hidden/h|"
	      "v1 refs/tags/v1|F|c4 HEAD|F",
	      0);
	d.options.session_id = "mine";
	dialog_config(&d, CONFIG_LOCAL, "[transfer]\nadvertiseSID\n");
	check(&d, "session-id=yours|command=ls-refs|D|ref-prefix HEAD|F",
	      "c4 HEAD|F", 0);
	dialog_release(&d);
}

/*
 * The capability promisor-remote is accepted only if promisor remotes are
 * advertised.
 */
static void test_promisors(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	check(&d, "promisor-remote=b|command=ls-refs|D|ref-prefix HEAD|F",
	      "ERR unknown capability 'promisor-remote=b'", ERR_PEER);
	dialog_config(&d, CONFIG_LOCAL,
		      "[promisor]\nadvertise\n"
		      "[remote \"b\"]\npromisor\nurl = https://b/x\n");
	check(&d, "promisor-remote=b|command=ls-refs|D|ref-prefix HEAD|F",
	      "c4 HEAD|F", 0);
	assert_int_equal(d.warnings.len, 0);
	check(&d, "promisor-remote=c|command=ls-refs|D|ref-prefix HEAD|F",
	      "c4 HEAD|F", 0);
	assert_true(d.warnings.len > 0);
	check(&d, "object-format|command=ls-refs|F",
	      "ERR object-format capability requires an argument", ERR_PEER);
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),      cmocka_unit_test(test_errors),
		cmocka_unit_test(test_hang_ups),  cmocka_unit_test(test_keys),
		cmocka_unit_test(test_promisors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
