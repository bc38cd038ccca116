/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/refs-files-kept.c, which finds objects to keep: those in
 * reflogs, and in refs of other work trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "refs/refs.h"
#include "t/unit/nomem.h"
#include "t/unit/tmprepo.h"

/* Returns an id of 40 equal digits. */
static const char *hex(char digit)
{
	static const char *const all[] = {
		"0000000000000000000000000000000000000000",
		"1111111111111111111111111111111111111111",
		"2222222222222222222222222222222222222222",
		"3333333333333333333333333333333333333333",
		"4444444444444444444444444444444444444444",
		"5555555555555555555555555555555555555555",
		"6666666666666666666666666666666666666666",
		"7777777777777777777777777777777777777777",
		"8888888888888888888888888888888888888888",
		"9999999999999999999999999999999999999999",
	};

	return all[digit - '0'];
}

static void write_log(const struct tmprepo *t, const char *name, char from,
		      char to, const char *tail)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "%s %s A <a@b> 1 +0000\tmsg\n%s", hex(from), hex(to),
		   tail);
	tmprepo_write(t, name, text.data);
	buf_release(&text);
}

static int note(void *ctx, const struct oid *oid)
{
	((int *)ctx)[oid->bytes[0] & 15]++;
	return 0;
}

static int stop(void *ctx, const struct oid *oid)
{
	return 5;
}

static void test_all(void **state)
{
	int seen[16] = {0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "HEAD", hex('1'));
	tmprepo_write(&t, "refs/heads/main", hex('7'));
	tmprepo_write(&t, "worktrees/w/HEAD", hex('2'));
	tmprepo_write(&t, "worktrees/w/refs/bisect/bad", hex('3'));
	tmprepo_write(&t, "refs/bisect/bad", hex('8'));
	tmprepo_write(&t, "refs/worktree/a/b", hex('9'));
	write_log(&t, "logs/refs/heads/a/b", '0', '4', "rubbish\n\n");
	write_log(&t, "worktrees/w/logs/HEAD", '5', '6', "unterminated");
	assert_int_equal(refs_each_reflog_oid(&t.repo, note, seen, NULL), 0);
	assert_int_equal(seen[0], 0);
	for (int i = 1; i <= 6; i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(seen[7], 0);
	assert_int_equal(seen[8], 1);
	assert_int_equal(seen[9], 1);
	assert_int_equal(refs_each_reflog_oid(&t.repo, stop, NULL, NULL), 5);
	tmprepo_release(&t);
}

struct kept {
	const struct repo *repo;
	int seen[16];
};

static int list(void *ctx, struct error *err)
{
	struct kept *kept = ctx;

	memset(kept->seen, 0, sizeof(kept->seen));
	return refs_each_reflog_oid(kept->repo, note, kept->seen, err);
}

static void check_list(void *ctx)
{
	struct kept *kept = ctx;

	for (int i = 1; i <= 4; i++)
		assert_int_equal(kept->seen[i], 1);
}

static void test_no_memory(void **state)
{
	struct kept kept = {.repo = NULL};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "HEAD", hex('1'));
	tmprepo_write(&t, "worktrees/w/refs/bisect/bad", hex('2'));
	write_log(&t, "logs/refs/heads/a/b", '0', '3', "");
	write_log(&t, "worktrees/w/logs/HEAD", '0', '4', "");
	kept.repo = &t.repo;
	nomem_each(NULL, list, check_list, &kept);
	tmprepo_release(&t);
}

static void test_none(void **state)
{
	int seen[16] = {0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "HEAD", "ref: refs/heads/main\n");
	assert_int_equal(refs_each_reflog_oid(&t.repo, note, seen, NULL), 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(seen[i], 0);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
