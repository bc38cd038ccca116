/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-cert.c: which variables hooks get in a signed push.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive-cert.h"
#include "sys/clock.h"
#include "t/unit/pushed.h"

#define CONFIG                                                                 \
	"[receive]\ncertNonceSeed = seed\ncertNonceSlop = 60\n"                \
	"advertisePushOptions\n"

/*
 * A shell command that prints the variables GIT_PUSH_CERT*, sorted, without
 * this prefix.
 */
#define TELL "env | sed -n 's/^GIT_PUSH_CERT//p' | sort"

struct signed_push {
	struct pushed p;
	struct push_nonce_maker maker;
};

static void init(struct signed_push *s)
{
	pushed_init(&s->p);
	dialog_config(&s->p.d, CONFIG_LOCAL, CONFIG);
	s->maker = (struct push_nonce_maker){HASH_SHA1, "seed",
					     s->p.options.path};
}

/*
 * Push a deletion with a push certificate. `headers`: further headers of the
 * certificate, up to a NULL. Returns the response.
 */
static const char *run(struct signed_push *s, const char *const *headers,
		       const char *caps)
{
	struct pushed *p = &s->p;

	pushed_command(p, "push-cert", caps);
	pushed_command(p, "certificate version 0.1", NULL);
	for (; *headers; headers++)
		pushed_command(p, *headers, NULL);
	pushed_command(p, "", NULL);
	pushed_command(p, "s0 zero refs/heads/side", NULL);
	pushed_command(p, "-----BEGIN SSH SIGNATURE-----", NULL);
	pushed_command(p, "push-cert-end", NULL);
	return pushed_run(p, false);
}

static void read_told(struct buf *out, struct signed_push *s, const char *name)
{
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", s->p.d.t.dir, name);
	buf_reset(out);
	assert_int_equal(sys_read_any(out, path.data, NULL), 0);
	buf_release(&path);
}

/*
 * Install a hook that writes the variables GIT_PUSH_CERT* to the file
 * told.<name>, and then runs `after`. The hook first changes to the git
 * directory, because the test runs elsewhere.
 */
static void hook(struct signed_push *s, const char *name, const char *after)
{
	struct buf script = BUF_INIT;

	buf_printf(&script, "cd '%s'\n" TELL " >told.%s\n%s", s->p.d.t.dir,
		   name, after);
	pushed_hook(&s->p, name, script.data);
	buf_release(&script);
}

static void test_told(void **state)
{
	struct buf nonce = BUF_INIT, told = BUF_INIT, again = BUF_INIT;
	struct signed_push s;

	init(&s);
	hook(&s, "pre-receive", "ls -d \"$GIT_QUARANTINE_PATH\"/*/* >blob");
	hook(&s, "post-receive", "");
	hook(&s, "update", "");
	buf_append_str(&nonce, "nonce ");
	assert_int_equal(
		push_nonce_make(&nonce, &s.maker, sys_clock_seconds() - 5), 0);
	assert_string_equal(
		run(&s, (const char *[]){nonce.data, NULL}, "report-status"),
		"unpack ok|ok refs/heads/side|F");
	assert_true(pushed_ref_is(&s.p, "refs/heads/side", "zero"));
	assert_int_equal(pushed_leftovers(&s.p), 0);
	read_told(&told, &s, "told.pre-receive");
	assert_int_equal(strspn(told.data + 1, "0123456789abcdef"), 40);
	/*
	 * The nonce is 5 seconds old, which the allowed slop permits. The key
	 * is unknown.
	 */
	assert_non_null(strstr(told.data, "_NONCE_STATUS=OK\n"));
	nonce.data[5] = '=';
	assert_non_null(strstr(told.data, nonce.data + 5));
	assert_null(strstr(told.data, "SLOP"));
	assert_non_null(strstr(told.data, "_KEY=\n"));
	assert_non_null(strstr(told.data, "_STATUS=N\n"));
	assert_non_null(strstr(s.p.told.data, "allowedSignersFile"));
	read_told(&again, &s, "told.post-receive");
	assert_string_equal(told.data, again.data);
	read_told(&again, &s, "told.update");
	assert_string_equal(again.data, "");
	read_told(&again, &s, "blob");
	assert_non_null(strstr(again.data, "tmp_objdir"));
	buf_release(&nonce);
	buf_release(&told);
	buf_release(&again);
	pushed_release(&s.p);
}

static void test_nonces(void **state)
{
	struct buf nonce = BUF_INIT, told = BUF_INIT;
	struct signed_push s;

	init(&s);
	hook(&s, "pre-receive", "exit 1");
	assert_string_equal(run(&s, (const char *[]){NULL}, "report-status"),
			    "unpack ok|ng refs/heads/side pre-receive hook "
			    "declined|F");
	read_told(&told, &s, "told.pre-receive");
	assert_non_null(strstr(told.data, "_NONCE_STATUS=MISSING\n"));
	buf_reset(&s.p.d.in);
	run(&s, (const char *[]){"nonce 1-2", NULL}, "report-status");
	read_told(&told, &s, "told.pre-receive");
	assert_non_null(strstr(told.data, "_NONCE_STATUS=BAD\n"));
	buf_append_str(&nonce, "nonce ");
	assert_int_equal(
		push_nonce_make(&nonce, &s.maker, sys_clock_seconds() - 100),
		0);
	buf_reset(&s.p.d.in);
	run(&s, (const char *[]){nonce.data, NULL}, "report-status");
	read_told(&told, &s, "told.pre-receive");
	assert_non_null(strstr(told.data, "_NONCE_STATUS=SLOP\n"));
	assert_non_null(strstr(told.data, "_NONCE_SLOP=10"));
	assert_null(strstr(told.data, nonce.data + 6));
	assert_true(pushed_ref_is(&s.p, "refs/heads/side", "s0"));
	assert_int_equal(pushed_leftovers(&s.p), 0);
	buf_release(&nonce);
	buf_release(&told);
	pushed_release(&s.p);
}

/*
 * If the push options differ from those in the certificate, the push is
 * refused.
 */
static void test_options(void **state)
{
	static const char *const headers[] = {"push-option a", "pushee x",
					      "push-option b", NULL};
	struct signed_push s;

	init(&s);
	hook(&s, "pre-receive", "");
	assert_string_equal(run(&s, headers, "report-status"),
			    "unpack ok|ng refs/heads/side inconsistent push "
			    "options|F");
	assert_true(pushed_ref_is(&s.p, "refs/heads/side", "s0"));
	buf_reset(&s.p.d.in);
	pushed_command(&s.p, "push-cert", "report-status push-options");
	pushed_command(&s.p, "certificate version 0.1", NULL);
	pushed_command(&s.p, "push-option a", NULL);
	pushed_command(&s.p, "", NULL);
	pushed_command(&s.p, "s0 zero refs/heads/side", NULL);
	pushed_command(&s.p, "push-cert-end", NULL);
	buf_append_str(&s.p.d.in, "0000");
	pushed_command(&s.p, "a", NULL);
	assert_string_equal(pushed_run(&s.p, false),
			    "unpack ok|ok refs/heads/side|F");
	pushed_release(&s.p);
}

/* If there is no hook, the signature is not verified. */
static void test_no_hook(void **state)
{
	struct signed_push s;

	init(&s);
	assert_string_equal(run(&s, (const char *[]){NULL}, "report-status"),
			    "unpack ok|ok refs/heads/side|F");
	assert_int_equal(s.p.told.len, 0);
	pushed_release(&s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_nonces),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_no_hook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
