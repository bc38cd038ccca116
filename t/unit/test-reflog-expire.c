/* SPDX-License-Identifier: MIT */
/*
 * Tests of check/reflog-expire.c: entries expire by age, or because their
 * objects are missing. t/t1410-reflog.sh tests expiry with histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "check/reflog-expire.h"
#include "t/unit/tmprepo.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define LINE_1 A " " B " A <a@b> 100 +0000\tone\n"
#define LINE_2 B " " A " A <a@b> 200 +0000\ttwo\n"

static void tell(void *ctx, const struct reflog_line *line)
{
	buf_printf(ctx, "%s%.*s ", line->drop ? "-" : "",
		   (int)line->message_len, line->message);
}

/*
 * Expires a reflog of two lines with the given limits. `told`: the expected
 * calls of the callback, as text.
 */
static void check(int64_t total, int64_t unreachable, bool stale_fix,
		  const char *told)
{
	struct buf out = BUF_INIT;
	const struct reflog_expire_options options = {
		.limits = {total, unreachable},
		.stale_fix = stale_fix,
		.dry_run = true,
		.report = tell,
		.ctx = &out,
	};
	struct reflog_expire *x;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "logs/refs/heads/main", LINE_1 LINE_2);
	assert_int_equal(sys_mkdir_p(t.objects, NULL), 0);
	x = reflog_expire_new(&t.repo, &options);
	assert_non_null(x);
	assert_int_equal(reflog_expire_run(x, "refs/heads/main", NULL), 0);
	assert_string_equal(out.data, told);
	reflog_expire_free(x);
	buf_release(&out);
	tmprepo_release(&t);
}

static void test_limits(void **state)
{
	check(0, 0, false, "one two ");
	check(101, 0, false, "-one two ");
	check(200, 0, false, "-one two ");
	check(INT64_MAX, 0, false, "-one -two ");
}

/*
 * If the ref is missing, all commits count as unreachable. With stale_fix,
 * lines with missing objects are dropped.
 */
static void test_objects(void **state)
{
	check(0, 150, false, "-one two ");
	check(0, INT64_MAX, false, "-one -two ");
	check(0, 0, true, "-one -two ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
