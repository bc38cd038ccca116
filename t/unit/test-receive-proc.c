/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-proc.c: commands for the hook proc-receive are
 * selected, and the hook's report is read. Hooks that answer nothing, or wrong
 * lines, or only for some refs, make the push fail with a message.
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
#include "t/unit/pushed.h"

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

/*
 * Passes a line of the hook to receive_proc_take(), and returns the result. If
 * `tells`, the line must give a message for the client, otherwise none.
 */
static int take(struct receive *r, struct receive_proc_report *report,
		const char *text, bool tells)
{
	char *line = mem_strdup(text);
	int ret;

	buf_reset(&report->messages);
	ret = receive_proc_take(report, r, line);
	assert_int_equal(report->messages.len > 0, tells);
	if (tells)
		assert_int_equal(
			report->messages.data[report->messages.len - 1], '\n');
	free(line);
	return ret;
}

static int good(struct receive *r, struct receive_proc_report *report,
		const char *text)
{
	return take(r, report, text, false);
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
	struct receive_proc_report report = RECEIVE_PROC_REPORT_INIT;
	struct receive_command *cmd;
	struct receive r;
	char option[80] = "option new-oid ";

	(void)state;
	setup(&r);
	cmd = &r.request.commands[0];
	assert_int_equal(good(&r, &report, "ok refs/for/a"), 0);
	assert_true(cmd->is_told);
	assert_int_equal(cmd->rewrite_nr, 0);
	assert_int_equal(good(&r, &report, "option refname refs/heads/x"), 0);
	assert_int_equal(good(&r, &report, "option refname refs/heads/y"), 0);
	assert_int_equal(good(&r, &report, "option old-oid 1234"), 0);
	memset(option + strlen(option), '2', 40);
	assert_int_equal(good(&r, &report, option), 0);
	assert_int_equal(good(&r, &report, "ok refs/for/a"), 0);
	assert_int_equal(good(&r, &report, "option forced-update"), 0);
	assert_int_equal(cmd->rewrite_nr, 2);
	assert_string_equal(cmd->rewrites[0].ref, "refs/heads/y");
	assert_false(cmd->rewrites[0].has_old);
	assert_true(cmd->rewrites[0].has_new);
	assert_true(cmd->rewrites[1].is_forced);
	assert_int_equal(good(&r, &report, "ok refs/for"), 0);
	assert_int_equal(good(&r, &report, "option fall-through"), 0);
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
	struct receive_proc_report report = RECEIVE_PROC_REPORT_INIT;
	struct receive r;

	(void)state;
	setup(&r);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(take(&r, &report, lines[i], true), 1);
	assert_int_equal(good(&r, &report, "option forced-update"), 1);
	assert_int_equal(good(&r, &report, "ng refs/for/a not today"), 1);
	assert_int_equal(good(&r, &report, "option refname x"), 1);
	assert_string_equal(r.request.commands[0].error, "not today");
	assert_int_equal(good(&r, &report, "ng refs/for"), 1);
	assert_string_equal(r.request.commands[1].error, "failed");
	buf_release(&report.messages);
	receive_request_release(&r.request);
}

static void test_after_refusal(void **state)
{
	struct receive_proc_report report = RECEIVE_PROC_REPORT_INIT;
	struct receive r;

	(void)state;
	setup(&r);
	assert_int_equal(good(&r, &report, "ng refs/for/a not today"), 1);
	assert_int_equal(take(&r, &report, "option refname x", true), 1);
	assert_int_equal(
		strncmp(report.messages.data, "error: ", strlen("error: ")), 0);
	assert_int_equal(take(&r, &report, "huh refs/for/a", true), 1);
	assert_int_equal(strncmp(report.messages.data, "proc-receive ",
				 strlen("proc-receive ")),
			 0);
	assert_int_equal(good(&r, &report, "ok refs/for/a"), 0);
	assert_int_equal(good(&r, &report, "option refname x"), 0);
	assert_int_equal(good(&r, &report, "option refname"), 0);
	assert_null(r.request.commands[0].rewrites[0].ref);
	assert_string_equal(r.request.commands[0].error, "not today");
	buf_release(&report.messages);
	receive_request_release(&r.request);
}

/* ---- hooks */

/* Packets that the test hook prints with printf(1). */
#define VERSION "000eversion=1\\n0000"
#define OK_A "0011ok refs/for/a"
#define OK_B "0011ok refs/for/b"
/* A hook that prints `packets`, closes its output, and reads all its input. */
#define HOOK(packets) "printf '" packets "'\nexec cat >/dev/null"

#define NOT_RUN(ref) "ng refs/for/" ref " fail to run proc-receive hook|"
#define NOT_TOLD(ref)                                                          \
	"ng refs/for/" ref " proc-receive failed to report status|"
#define FAILED "unpack ok|" NOT_RUN("a") NOT_RUN("b")
#define MAIN_OK "ok refs/heads/new|F"

/*
 * Pushes to two refs that the hook proc-receive handles, and to one other ref.
 * Compares the report with `expected`, and the messages for the client with
 * `told`.
 */
static void push(const char *hook, const char *caps, const char *expected,
		 const char *told)
{
	struct buf line = BUF_INIT;
	struct pushed p;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL,
		      "[receive]\nprocReceiveRefs = refs/for\n");
	if (hook)
		pushed_hook(&p, "proc-receive", hook);
	buf_printf(&line, "report-status %s", caps);
	pushed_command(&p, "zero c4 refs/for/a", line.data);
	pushed_command(&p, "zero c4 refs/for/b", NULL);
	pushed_command(&p, "zero c4 refs/heads/new", NULL);
	assert_string_equal(pushed_run(&p, true), expected);
	assert_string_equal(p.told.len ? p.told.data : "", told);
	assert_true(pushed_ref_is(&p, "refs/for/a", "zero"));
	assert_true(pushed_ref_is(&p, "refs/heads/new",
				  strstr(expected, MAIN_OK) ? "c4" : "zero"));
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
	buf_release(&line);
}

static void test_hook_without_version(void **state)
{
	push(NULL, "", FAILED MAIN_OK,
	     "error: cannot find hook 'proc-receive'\n");
	push("exec cat >/dev/null", "", FAILED MAIN_OK,
	     "error: fail to negotiate version with proc-receive hook\n");
	push(HOOK("000eversion=2\\n0000"), "", FAILED MAIN_OK,
	     "error: proc-receive version '2' is not supported\n");
	push(HOOK("00zz"), "", FAILED MAIN_OK,
	     "error: protocol error: bad line length character: 00zz\n");
}

static void test_hook_report(void **state)
{
	/* a hook that sends no version uses version 1 of the protocol */
	push(HOOK("0000" OK_A OK_B "0000"), "",
	     "unpack ok|ok refs/for/a|ok refs/for/b|" MAIN_OK, "");
	push(HOOK(VERSION OK_A "0000"), "",
	     "unpack ok|ok refs/for/a|" NOT_TOLD("b") MAIN_OK, "");
	/* the report may end without a flush packet */
	push(HOOK(VERSION OK_A "0011huh refs/fo/b"), "",
	     "unpack ok|ok refs/for/a|" NOT_TOLD("b") MAIN_OK,
	     "error: proc-receive reported bad status 'huh' on ref "
	     "'refs/fo/b'\n");
	push(HOOK(VERSION OK_A "00zz"), "",
	     "unpack ok|ok refs/for/a|" NOT_TOLD("b") MAIN_OK,
	     "error: protocol error: bad line length character: 00zz\n");
	push(HOOK(VERSION OK_A OK_B "0012ok refs/none/x0000"), "",
	     "unpack ok|ok refs/for/a|ok refs/for/b|" MAIN_OK,
	     "error: proc-receive reported status on unknown ref: "
	     "refs/none/x\n");
	push("printf '" VERSION OK_A OK_B "0000'\ncat >/dev/null\nexit 1", "",
	     "unpack ok|ok refs/for/a|ok refs/for/b|" MAIN_OK, "");
}

static void test_hook_of_atomic_push(void **state)
{
	push(HOOK(VERSION OK_A OK_B "0000"), "atomic",
	     "unpack ok|ok refs/for/a|ok refs/for/b|" MAIN_OK, "");
	push(HOOK(VERSION OK_A "0000"), "atomic",
	     "unpack ok|ok refs/for/a|" NOT_TOLD(
		     "b") "ng refs/heads/new fail to run proc-receive hook|F",
	     "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_rewrites),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_after_refusal),
		cmocka_unit_test(test_hook_without_version),
		cmocka_unit_test(test_hook_report),
		cmocka_unit_test(test_hook_of_atomic_push),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
