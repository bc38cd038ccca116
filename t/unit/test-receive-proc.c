/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-proc.c: which commands are for the hook
 * proc-receive, and how its report is parsed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "receive/receive-parts.h"

static struct receive_proc_ref proc_ref = {(char *)"refs/for", true, true, true,
					   false};
static struct repo repo = {.algo = HASH_SHA1};
static const struct receive_options no_options;

static void add(struct receive *r, const char *ref, char digit)
{
	char line[512];
	char old_hex[41], new_hex[41];

	memset(old_hex, '0', 40);
	memset(new_hex, digit, 40);
	old_hex[40] = new_hex[40] = '\0';
	snprintf(line, sizeof(line), "%s %s %s", old_hex, new_hex, ref);
	assert_int_equal(
		receive_request_take(&r->request, line, strlen(line), NULL), 0);
}

static void setup(struct receive *r)
{
	memset(r, 0, sizeof(*r));
	r->repo = &repo;
	r->options = &no_options;
	r->config.proc_refs = &proc_ref;
	r->config.proc_ref_nr = 1;
	receive_request_init(&r->request, HASH_SHA1);
	add(r, "refs/for/a", '1');
	add(r, "refs/for", '1');
	add(r, "refs/form", '1');
	add(r, "refs/heads/for", '1');
	receive_proc_choose(r);
}

static int take(struct receive *r, struct receive_command **at,
		const char *text)
{
	struct buf messages = BUF_INIT;
	char *line = mem_strdup(text);
	int ret = receive_proc_take(&messages, r, at, line);

	/*
	 * A malformed line gives a message. The line "ng" refuses its command
	 * and gives no message.
	 */
	assert_int_equal(messages.len > 0,
			 ret > 0 && strncmp(text, "ng ", 3) != 0);
	if (messages.len)
		assert_int_equal(messages.data[messages.len - 1], '\n');
	buf_release(&messages);
	free(line);
	return ret;
}

static void test_choose(void **state)
{
	struct receive r;

	(void)state;
	setup(&r);
	assert_true(r.request.commands[0].by_hook);
	assert_true(r.request.commands[1].by_hook);
	assert_false(r.request.commands[2].by_hook);
	assert_false(r.request.commands[3].by_hook);
	receive_request_release(&r.request);
}

static void test_rewrites(void **state)
{
	struct receive_command *at = NULL, *cmd;
	struct receive r;
	char option[80] = "option new-oid ";

	(void)state;
	setup(&r);
	cmd = &r.request.commands[0];
	assert_int_equal(take(&r, &at, "ok refs/for/a"), 0);
	assert_true(cmd->is_told);
	assert_int_equal(cmd->rewrite_nr, 0);
	assert_int_equal(take(&r, &at, "option refname refs/heads/x"), 0);
	assert_int_equal(take(&r, &at, "option refname refs/heads/y"), 0);
	assert_int_equal(take(&r, &at, "option old-oid 1234"), 0);
	memset(option + strlen(option), '2', 40);
	assert_int_equal(take(&r, &at, option), 0);
	assert_int_equal(take(&r, &at, "ok refs/for/a"), 0);
	assert_int_equal(take(&r, &at, "option forced-update"), 0);
	assert_int_equal(cmd->rewrite_nr, 2);
	assert_string_equal(cmd->rewrites[0].ref, "refs/heads/y");
	assert_false(cmd->rewrites[0].has_old);
	assert_true(cmd->rewrites[0].has_new);
	assert_true(cmd->rewrites[1].is_forced);
	assert_int_equal(take(&r, &at, "ok refs/for"), 0);
	assert_int_equal(take(&r, &at, "option fall-through"), 0);
	assert_false(r.request.commands[1].by_hook);
	receive_request_release(&r.request);
}

static void test_wrong(void **state)
{
	static const char *const lines[] = {
		"",
		"ok",
		"option",
		"option refname x",
		"huh refs/for/a",
		"ok refs/none",
		"ok refs/heads/for",
	};
	struct receive_command *at = NULL;
	struct receive r;

	(void)state;
	setup(&r);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(take(&r, &at, lines[i]), 1);
	assert_int_equal(take(&r, &at, "ng refs/for/a not today"), 1);
	assert_string_equal(r.request.commands[0].error, "not today");
	assert_int_equal(take(&r, &at, "ng refs/for"), 1);
	assert_string_equal(r.request.commands[1].error, "failed");
	receive_request_release(&r.request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_rewrites),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
