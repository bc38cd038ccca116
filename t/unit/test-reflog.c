/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/reflog.c: well-formed and malformed lines are parsed, and
 * reflogs are edited under locks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "refs/reflog.h"
#include "sys/io.h"
#include "sys/map.h"
#include "t/unit/nomem.h"
#include "t/unit/tmprepo.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"
#define Z "0000000000000000000000000000000000000000"
#define WHO " A U Thor <author@example.com> "

static int parse(struct reflog_line *line, const char *text)
{
	return reflog_line_parse(line, text, strlen(text), HASH_SHA1);
}

static void test_lines(void **state)
{
	static const char *const bad[] = {
		"",
		A,
		A " " B,
		A " " B " ",
		A " " B WHO "1700000000",
		A " " B WHO "x +0100",
		A " " B WHO "1700000000 0100\tx",
		A " " B WHO "1700000000 +01\tx",
		A " " B WHO "- +0100",
		A " " B WHO " +0100",
		A " " B WHO "x +0100",
		A "x" B WHO "1700000000 +0100",
		"x" A " " B WHO "1700000000 +0100",
	};
	struct reflog_line line;

	assert_int_equal(parse(&line, A " " B WHO "1700000000 +0100\tx: y"), 0);
	assert_int_equal(line.time, 1700000000);
	assert_int_equal(line.old_oid.bytes[0], 0xaa);
	assert_int_equal(line.new_oid.bytes[19], 0xbb);
	assert_int_equal(line.message_len, 4);
	assert_memory_equal(line.message, "x: y", 4);
	assert_int_equal(parse(&line, A " " B " 5 -0000"), 0);
	assert_int_equal(line.time, 5);
	assert_int_equal(line.message_len, 0);
	assert_int_equal(parse(&line, A " " B WHO "123456789012345678 +0100"),
			 0);
	assert_true(line.time == INT64_C(123456789012345678));
	/* numbers that do not fit, and negative numbers */
	assert_int_equal(parse(&line, A " " B WHO "99999999999999999999 +0100"),
			 0);
	assert_true(line.time == INT64_MAX);
	assert_int_equal(parse(&line, A " " B WHO "-1 +0100"), 0);
	assert_true(line.time == INT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(&line, bad[i]), ERR_CORRUPT);
}

/* A callback decide() for a broken ref, which has no value. Drops one line. */
static int drop_first(void *ctx, const char *name, const struct oid *tip,
		      struct reflog *log, struct error *err)
{
	log->lines[0].drop = true;
	assert_null(tip);
	return 0;
}

/* A callback decide() that drops line i if bit i of *ctx is set. */
static int drop(void *ctx, const char *name, const struct oid *tip,
		struct reflog *log, struct error *err)
{
	for (size_t i = 0; i < log->nr; i++)
		log->lines[i].drop = *(unsigned *)ctx >> i & 1;
	assert_non_null(tip);
	return 0;
}

static void file_is(const struct tmprepo *t, const char *name, const char *want)
{
	struct buf path = BUF_INIT, got = BUF_INIT;

	assert_int_equal(buf_printf(&path, "%s/%s", t->dir, name), 0);
	assert_int_equal(sys_read_file(&got, path.data, NULL), 0);
	assert_string_equal(got.len ? got.data : "", want);
	buf_release(&got);
	buf_release(&path);
}

static void setup(struct tmprepo *t)
{
	tmprepo_init(t, HASH_SHA1);
	tmprepo_write(t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(t, "refs/heads/main", C "\n");
	tmprepo_write(t, "logs/refs/heads/main",
		      Z " " A WHO "1 +0000\tone\n"
			"rubbish\n" A " " B WHO "2 +0000\n" B " " C WHO
			"3 +0000\tthree\n");
}

static int run(struct tmprepo *t, unsigned bits, bool rewrite, bool update)
{
	const struct reflog_edit edit = {.decide = drop,
					 .ctx = &bits,
					 .rewrite = rewrite,
					 .update_ref = update};

	return reflog_edit(&t->repo, "refs/heads/main", &edit, NULL);
}

static void test_edit(void **state)
{
	struct tmprepo t;

	setup(&t);
	assert_int_equal(run(&t, 1, false, true), 0);
	file_is(&t, "logs/refs/heads/main",
		A " " B WHO "2 +0000\t\n" B " " C WHO "3 +0000\tthree\n");
	file_is(&t, "refs/heads/main", C "\n");
	assert_int_equal(run(&t, 2, true, true), 0);
	file_is(&t, "logs/refs/heads/main", Z " " B WHO "2 +0000\t\n");
	file_is(&t, "refs/heads/main", B "\n");
	/* All lines of the reflog are dropped. The ref keeps its value. */
	assert_int_equal(run(&t, 1, true, true), 0);
	file_is(&t, "logs/refs/heads/main", "");
	file_is(&t, "refs/heads/main", B "\n");
	tmprepo_release(&t);
}

/*
 * In the quarantine of a push, an edit changes neither the ref nor its reflog.
 */
static void test_quarantine(void **state)
{
	struct error err = ERROR_INIT;
	unsigned bits = 4;
	const struct reflog_edit edit = {
		.decide = drop, .ctx = &bits, .update_ref = true};
	struct reflog log = REFLOG_INIT;
	struct tmprepo t;

	setup(&t);
	t.repo.in_quarantine = true;
	assert_int_equal(reflog_edit(&t.repo, "refs/heads/main", &edit, &err),
			 ERR_DENIED);
	assert_non_null(strstr(err.msg, "quarantine"));
	file_is(&t, "refs/heads/main", C "\n");
	assert_true(reflog_read(&log, &t.repo, "refs/heads/main", NULL) > 0);
	assert_int_equal(log.nr, 3);
	reflog_release(&log);
	tmprepo_release(&t);
}

/*
 * To lock a packed ref, the edit creates a directory. It removes the directory
 * afterwards.
 */
static void test_packed(void **state)
{
	unsigned bits = 1;
	const struct reflog_edit edit = {.decide = drop, .ctx = &bits};
	struct buf path = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(&t, "refs/heads/main", C "\n");
	tmprepo_write(&t, "packed-refs", B " refs/heads/d/e\n");
	tmprepo_write(&t, "logs/refs/heads/d/e",
		      Z " " A WHO "1 +0000\tone\n" A " " B WHO
			"2 +0000\ttwo\n");
	assert_int_equal(reflog_edit(&t.repo, "refs/heads/d/e", &edit, NULL),
			 0);
	file_is(&t, "logs/refs/heads/d/e", A " " B WHO "2 +0000\ttwo\n");
	buf_printf(&path, "%s/refs/heads/d", t.dir);
	assert_false(sys_exists(path.data));
	buf_release(&path);
	tmprepo_release(&t);
}

static void test_locked(void **state)
{
	struct tmprepo t;

	setup(&t);
	tmprepo_write(&t, "refs/heads/main.lock", "");
	assert_int_equal(run(&t, 7, false, false), ERR_DENIED);
	tmprepo_remove(&t, "refs/heads/main.lock");
	tmprepo_write(&t, "logs/refs/heads/main.lock", "");
	assert_int_equal(run(&t, 7, false, true), ERR_DENIED);
	tmprepo_remove(&t, "logs/refs/heads/main.lock");
	file_is(&t, "refs/heads/main", C "\n");
	assert_int_equal(run(&t, 7, false, false), 0);
	file_is(&t, "logs/refs/heads/main", "");
	tmprepo_release(&t);
}

/* As in Git, the reflog of a broken ref can be edited. The ref stays. */
static void test_broken(void **state)
{
	const struct reflog_edit edit = {.decide = drop_first,
					 .update_ref = true};
	struct tmprepo t;

	setup(&t);
	tmprepo_write(&t, "refs/heads/main", "rubbish\n");
	assert_int_equal(reflog_edit(&t.repo, "refs/heads/main", &edit, NULL),
			 0);
	file_is(&t, "logs/refs/heads/main",
		A " " B WHO "2 +0000\t\n" B " " C WHO "3 +0000\tthree\n");
	file_is(&t, "refs/heads/main", "rubbish\n");
	tmprepo_release(&t);
}

static void write_again(void *ctx)
{
	struct tmprepo *t = ctx;

	tmprepo_write(t, "refs/heads/main", C "\n");
	tmprepo_write(t, "logs/refs/heads/main",
		      Z " " A WHO "1 +0000\tone\n" A " " B WHO
			"2 +0000\ttwo\n");
}

/* Drops the first line. */
static int edit_again(void *ctx, struct error *err)
{
	struct tmprepo *t = ctx;
	unsigned bits = 1;
	const struct reflog_edit edit = {.decide = drop,
					 .ctx = &bits,
					 .rewrite = true,
					 .update_ref = true};

	return reflog_edit(&t->repo, "refs/heads/main", &edit, err);
}

static void check_edit(void *ctx)
{
	struct tmprepo *t = ctx;

	file_is(t, "logs/refs/heads/main", Z " " B WHO "2 +0000\ttwo\n");
	file_is(t, "refs/heads/main", B "\n");
}

static void test_no_memory(void **state)
{
	struct tmprepo t;

	setup(&t);
	nomem_each(write_again, edit_again, check_edit, &t);
	tmprepo_release(&t);
}

static int add_name(void *ctx, const char *name)
{
	return buf_printf(ctx, "%s\n", name);
}

static void names_are(const struct tmprepo *t, bool all, const char *want)
{
	struct buf got = BUF_INIT;

	assert_int_equal(reflog_each(&t->repo, all, add_name, &got, NULL), 0);
	assert_string_equal(got.len ? got.data : "", want);
	buf_release(&got);
}

static void test_names(void **state)
{
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	names_are(&t, true, "");
	tmprepo_write(&t, "logs/refs/heads/b", "");
	tmprepo_write(&t, "logs/refs/heads/a/x", "");
	tmprepo_write(&t, "logs/refs/heads/a/x.lock", "");
	tmprepo_write(&t, "logs/HEAD", "");
	tmprepo_write(&t, "worktrees/w/logs/HEAD", "");
	names_are(&t, false, "HEAD\nrefs/heads/a/x\nrefs/heads/b\n");
	names_are(&t, true,
		  "HEAD\nrefs/heads/a/x\nrefs/heads/b\nworktrees/w/HEAD\n");
	assert_true(reflog_exists(&t.repo, "worktrees/w/HEAD"));
	assert_false(reflog_exists(&t.repo, "refs/heads/a"));
	tmprepo_release(&t);
}

/*
 * Lists the reflogs from a linked work tree. Each work tree has private refs.
 */
static void test_linked_names(void **state)
{
	struct buf git_dir = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "logs/HEAD", "");
	tmprepo_write(&t, "logs/refs/bisect/bad", "");
	tmprepo_write(&t, "logs/refs/heads/a", "");
	tmprepo_write(&t, "worktrees/v/logs/HEAD", "");
	tmprepo_write(&t, "worktrees/v/logs/refs/heads/hidden", "");
	tmprepo_write(&t, "worktrees/w/logs/HEAD", "");
	tmprepo_write(&t, "worktrees/w/logs/refs/bisect/good", "");
	tmprepo_write(&t, "worktrees/w/logs/refs/heads/hidden", "");
	buf_printf(&git_dir, "%s/worktrees/w", t.dir);
	t.repo.git_dir = git_dir.data;
	names_are(&t, false, "HEAD\nrefs/bisect/good\nrefs/heads/a\n");
	names_are(&t, true,
		  "HEAD\nmain-worktree/HEAD\nmain-worktree/refs/bisect/bad\n"
		  "refs/bisect/good\nrefs/heads/a\nworktrees/v/HEAD\n");
	buf_release(&git_dir);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_quarantine),
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_linked_names),
		cmocka_unit_test(test_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
