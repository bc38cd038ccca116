/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/reflog-write.c: which refs have reflogs, and the form of reflog
 * entries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "base/mem.h"
#include "refs/reflog-write.h"
#include "t/unit/tmprepo.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_0 "0000000000000000000000000000000000000000"

static void test_policy(void **state)
{
	static const struct {
		const char *value;
		bool is_bare;
		enum reflog_policy policy;
	} cases[] = {
		{"x=1", true, REFLOG_EXISTING},
		{"x=1", false, REFLOG_USUAL},
		{"logallrefupdates", true, REFLOG_USUAL},
		{"logallrefupdates=false", false, REFLOG_EXISTING},
		{"logallrefupdates=always", true, REFLOG_ALWAYS},
	};
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct buf text = BUF_INIT;
		enum reflog_policy policy;

		buf_printf(&text, "[core]\n%s\n", cases[i].value);
		t.repo.is_bare = cases[i].is_bare;
		assert_int_equal(config_parse(&t.repo.config, text.data,
					      text.len, CONFIG_LOCAL, NULL,
					      NULL, NULL),
				 0);
		assert_int_equal(reflog_policy(&t.repo, &policy, NULL), 0);
		assert_int_equal(policy, cases[i].policy);
		config_release(&t.repo.config);
		buf_release(&text);
	}
	assert_true(reflog_is_made(REFLOG_USUAL, "HEAD"));
	assert_true(reflog_is_made(REFLOG_USUAL, "refs/notes/x"));
	assert_false(reflog_is_made(REFLOG_USUAL, "refs/tags/x"));
	assert_true(reflog_is_made(REFLOG_ALWAYS, "refs/tags/x"));
	assert_false(reflog_is_made(REFLOG_EXISTING, "HEAD"));
	tmprepo_release(&t);
}

static void test_message(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{" \n\t", ""},
		{"one", "one"},
		{"\n one \t\r\n two\n", "one two"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct buf out = BUF_INIT;

		assert_int_equal(reflog_clean_message(&out, cases[i][0]), 0);
		assert_string_equal(out.data, cases[i][1]);
		buf_release(&out);
	}
}

static void assert_log(const struct tmprepo *t, const char *text)
{
	struct buf path = BUF_INIT, found = BUF_INIT;

	buf_printf(&path, "%s/logs/refs/heads/a/b", t->dir);
	assert_int_equal(sys_read_any(&found, path.data, NULL),
			 text ? 0 : ERR_MISSING);
	if (text)
		assert_string_equal(found.data, text);
	buf_release(&path);
	buf_release(&found);
}

static void test_append(void **state)
{
	struct reflog_entry entry = {
		.name = "refs/heads/a/b",
		.committer = "U <u@x> 1 +0000",
		.message = "why",
	};
	struct reflog_before before;
	struct buf path = BUF_INIT;
	struct tmprepo t;

	(void)state;
	memset(entry.new_oid.bytes, 0xaa, 20);
	tmprepo_init(&t, HASH_SHA1);
	memset(&before, 0xff, sizeof(before));
	assert_int_equal(reflog_append(&t.repo, &entry, false, &before, NULL),
			 0);
	assert_false(before.is_appended || before.existed);
	assert_log(&t, NULL);
	assert_int_equal(reflog_append(&t.repo, &entry, true, &before, NULL),
			 0);
	entry.message = "";
	assert_int_equal(reflog_append(&t.repo, &entry, false, &before, NULL),
			 0);
	assert_log(&t, HEX_0 " " HEX_A " U <u@x> 1 +0000\twhy\n" HEX_0 " " HEX_A
			     " U <u@x> 1 +0000\n");
	entry.committer = NULL;
	assert_int_equal(reflog_append(&t.repo, &entry, false, &before, NULL),
			 ERR_INVALID);
	assert_int_equal(reflog_remove(&t.repo, entry.name, NULL), 0);
	buf_printf(&path, "%s/logs/refs/heads", t.dir);
	assert_true(sys_exists(path.data));
	buf_append_str(&path, "/a");
	assert_false(sys_exists(path.data));
	assert_int_equal(reflog_remove(&t.repo, entry.name, NULL), 0);
	buf_release(&path);
	tmprepo_release(&t);
}

/* Ids of SHA-256, which are longer, are written too. */
static void test_sha256(void **state)
{
	struct reflog_entry entry = {
		.name = "refs/heads/a/b",
		.committer = "U <u@x> 1 +0000",
	};
	struct reflog_before before;
	struct tmprepo t;

	(void)state;
	memset(entry.new_oid.bytes, 0xaa, 32);
	tmprepo_init(&t, HASH_SHA256);
	assert_int_equal(reflog_append(&t.repo, &entry, true, &before, NULL),
			 0);
	assert_log(&t, HEX_0 "000000000000000000000000 " HEX_A
			     "aaaaaaaaaaaaaaaaaaaaaaaa U <u@x> 1 +0000\n");
	tmprepo_release(&t);
}

/*
 * A reflog cannot be written if its path is a directory, or if a file has the
 * path of one of its directories.
 */
static void test_path_conflict(void **state)
{
	struct reflog_entry entry = {
		.name = "refs/heads/a/b",
		.committer = "U <u@x> 1 +0000",
	};
	struct error err = ERROR_INIT;
	struct reflog_before before;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "logs/refs/heads/a", "");
	assert_int_equal(reflog_append(&t.repo, &entry, true, &before, NULL),
			 ERR_IO);
	tmprepo_remove(&t, "logs/refs/heads/a");
	tmprepo_write(&t, "logs/refs/heads/a/b/c/d", "");
	assert_int_equal(reflog_append(&t.repo, &entry, true, &before, &err),
			 ERR_IO);
	/*
	 * The error is that of the append (the path is a directory), and not
	 * that of trying to remove the directory.
	 */
	assert_int_equal(err.sys_errno, EISDIR);
	assert_non_null(strstr(err.msg, "Is a directory"));
	/* Removing a reflog that does not exist succeeds. */
	assert_int_equal(reflog_remove(&t.repo, entry.name, NULL), 0);
	assert_int_equal(reflog_remove(&t.repo, "refs/heads/a/b/c/d/e", NULL),
			 0);
	tmprepo_remove(&t, "logs/refs/heads/a/b/c/d");
	assert_int_equal(reflog_append(&t.repo, &entry, true, &before, NULL),
			 0);
	tmprepo_release(&t);
}

/*
 * reflog_prune_dirs() removes the empty directories of a removed reflog. It
 * keeps the directories of the first two components of the ref's name, such as
 * logs/refs/heads.
 */
static void test_prune_dirs(void **state)
{
	struct buf dir = BUF_INIT, path = BUF_INIT;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&dir, "%s/logs/refs/heads", t.dir);
	assert_int_equal(sys_mkdir_p(dir.data, NULL), 0);
	buf_printf(&path, "%s/x", dir.data);
	reflog_prune_dirs(path.data, "refs/heads/x");
	assert_true(sys_exists(dir.data));
	/*
	 * The path does not end with the name of the ref, so no directory is
	 * removed.
	 */
	reflog_prune_dirs(dir.data, "refs/heads/x/y");
	assert_true(sys_exists(dir.data));
	/*
	 * For the ref refs/x, the only directory of the name is refs. This
	 * directory must not be removed.
	 */
	buf_reset(&dir);
	buf_printf(&dir, "%s/more/refs", t.dir);
	assert_int_equal(sys_mkdir_p(dir.data, NULL), 0);
	buf_reset(&path);
	buf_printf(&path, "%s/x", dir.data);
	reflog_prune_dirs(path.data, "refs/x");
	assert_true(sys_exists(dir.data));
	buf_release(&dir);
	buf_release(&path);
	tmprepo_release(&t);
}

static void test_take_back(void **state)
{
	struct reflog_entry entry = {
		.name = "refs/heads/a/b",
		.committer = "U <u@x> 1 +0000",
	};
	struct reflog_before none, made, second;
	struct buf path = BUF_INIT;
	struct tmprepo t;

	(void)state;
	memset(entry.new_oid.bytes, 0xaa, 20);
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(reflog_append(&t.repo, &entry, false, &none, NULL), 0);
	assert_int_equal(reflog_append(&t.repo, &entry, true, &made, NULL), 0);
	assert_int_equal(reflog_append(&t.repo, &entry, true, &second, NULL),
			 0);
	reflog_take_back(&t.repo, entry.name, &second);
	reflog_take_back(&t.repo, entry.name, &none);
	assert_log(&t, HEX_0 " " HEX_A " U <u@x> 1 +0000\n");
	reflog_take_back(&t.repo, entry.name, &made);
	buf_printf(&path, "%s/logs/refs/heads/a", t.dir);
	assert_false(sys_exists(path.data));
	buf_release(&path);
	tmprepo_release(&t);
}

/* The link logs/refs/heads leads to itself. So no reflog can be removed. */
static void test_remove_fails(void **state)
{
	struct error err = ERROR_INIT;
	struct buf dir = BUF_INIT;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&dir, "%s/logs/refs", t.dir);
	assert_int_equal(sys_mkdir_p(dir.data, NULL), 0);
	tmprepo_link(&t, "logs/refs/heads", "heads");
	assert_int_equal(reflog_remove(&t.repo, "refs/heads/x", &err), ERR_IO);
	assert_non_null(strstr(err.msg, "/logs/refs/heads/x"));
	buf_release(&dir);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_path_conflict),
		cmocka_unit_test(test_prune_dirs),
		cmocka_unit_test(test_take_back),
		cmocka_unit_test(test_remove_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
