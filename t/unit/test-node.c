/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/node.h: the cache directory of a node (a server of
 * repositories in a store).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "store/probe.h"
#include "sys/tempdir.h"
#include "t/unit/copynode.h"

static void test_belongs_to_one_store(void **state)
{
	struct copynode c;
	struct stored_origin origin, other;
	struct stored_node *node;
	const char *dir;

	copynode_init(&c);
	origin = copynode_origin(&c);
	dir = c.node->dir;
	assert_int_equal(stored_node_make(&node, dir, &origin, &c.err), 0);
	stored_node_close(node);
	other = origin;
	other.region = (char *)"eu-west-1";
	assert_int_equal(stored_node_make(&node, dir, &other, &c.err), 0);
	stored_node_close(node);
	other.endpoint = (char *)"http://127.0.0.1:1";
	assert_int_equal(stored_node_make(&node, dir, &other, &c.err),
			 ERR_INVALID);
	assert_null(node);
	assert_non_null(strstr(c.err.msg, origin.url));
	assert_int_equal(stored_node_open(&node, dir, &c.err), 0);
	assert_string_equal(node->dir, dir);
	stored_node_close(node);
	assert_int_equal(
		stored_node_open(&node, netrepo_path(&c.s.n, "src"), &c.err),
		ERR_MISSING);
	assert_int_equal(sys_append(netrepo_path(&c.s.n, "cache/store"), "x", 1,
				    0, NULL),
			 0);
	assert_int_equal(stored_node_open(&node, dir, &c.err), ERR_CORRUPT);
	stored_node_close(NULL);
	copynode_release(&c);
}

/*
 * If the store is missing, for example because its file system is not mounted,
 * no cache directory is made. Nothing is written at the path of the store
 * either.
 */
static void test_store_is_not_there(void **state)
{
	struct copynode c;
	struct stored_origin origin;
	struct stored_node *node;
	char away[4096];

	copynode_init(&c);
	origin = copynode_origin(&c);
	snprintf(away, sizeof(away), "%s", netrepo_path(&c.s.n, "away"));
	assert_int_equal(sys_rename(netrepo_path(&c.s.n, "store"), away, NULL),
			 0);
	free(storedrepo_dir(&c.s, "store"));
	assert_int_equal(stored_node_open(&node, c.node->dir, &c.err), ERR_IO);
	assert_non_null(strstr(c.err.msg, "is not mounted"));
	assert_int_equal(stored_node_make(&node, netrepo_path(&c.s.n, "new"),
					  &origin, &c.err),
			 ERR_IO);
	assert_null(node);
	assert_false(sys_exists(netrepo_path(&c.s.n, "new")));
	assert_int_equal(storedrepo_entries(&c.s, "store"), 0);
	copynode_release(&c);
}

static void test_paths(void **state)
{
	static const struct {
		const char *name, *path;
	} rows[] = {
		{"a", "repo/a/_"},
		{"a/b.git", "repo/a/b.git/_"},
		{"a/_", "repo/a/_5f/_"},
		{"a/.hidden", "repo/a/_2ehidden/_"},
		{"repo/x y", "repo/repo/x_20y/_"},
	};
	struct copynode c;

	copynode_init(&c);
	for (size_t i = 0; i < ARRAY_NR(rows); i++) {
		struct buf path = BUF_INIT, dir = BUF_INIT, name = BUF_INIT;

		assert_int_equal(
			stored_node_copy(&path, c.node, rows[i].name, NULL), 0);
		assert_string_equal(path.data + strlen(c.node->dir) + 1,
				    rows[i].path);
		assert_int_equal(
			stored_node_split(&dir, &name, path.data, NULL), 0);
		assert_string_equal(dir.data, c.node->dir);
		assert_string_equal(name.data, rows[i].name);
		buf_release(&path);
		buf_release(&dir);
		buf_release(&name);
	}
	copynode_release(&c);
}

static void test_paths_that_are_no_copies(void **state)
{
	static const char *const paths[] = {
		"", "/repo", "/repo/a", "/repo/a/b/_5", "/x/a/_", "/repo/_/_"};
	struct buf dir = BUF_INIT, name = BUF_INIT;
	struct copynode c;

	copynode_init(&c);
	for (size_t i = 0; i < ARRAY_NR(paths); i++) {
		struct buf path = BUF_INIT;

		assert_int_equal(
			buf_printf(&path, "%s%s", c.node->dir, paths[i]), 0);
		assert_int_equal(
			stored_node_split(&dir, &name, path.data, NULL), 1);
		buf_release(&path);
	}
	assert_int_equal(
		stored_node_split(&dir, &name, "/nonexistent/repo/a/_", NULL),
		1);
	assert_int_equal(dir.len, 0);
	assert_int_equal(stored_node_copy(&dir, c.node, "a//b", NULL),
			 ERR_INVALID);
	copynode_release(&c);
}

/*
 * stored_node_split() finds a cache directory by its marker file "store". Here,
 * directories above the cache directory also have a file or directory called
 * "store", which is no marker. stored_node_split() must not return one of these
 * directories.
 */
static void test_paths_with_another_store(void **state)
{
	static const char *const caches[] = {"repo/cache", "x/repo/repo/cache"};
	struct copynode c;

	copynode_init(&c);
	free(storedrepo_dir(&c.s, "x/store"));
	free(storedrepo_dir(&c.s, "x/repo"));
	assert_int_equal(sys_append(netrepo_path(&c.s.n, "x/repo/store"),
				    "text\n", 5, 0666, NULL),
			 0);
	for (size_t i = 0; i < ARRAY_NR(caches); i++) {
		struct buf path = BUF_INIT, dir = BUF_INIT, name = BUF_INIT;
		struct stored_origin origin = copynode_origin(&c);
		struct stored_node *node;

		assert_int_equal(
			stored_node_make(&node, netrepo_path(&c.s.n, caches[i]),
					 &origin, &c.err),
			0);
		assert_int_equal(stored_node_copy(&path, node, "a/b", NULL), 0);
		assert_int_equal(
			stored_node_split(&dir, &name, path.data, NULL), 0);
		assert_string_equal(dir.data, node->dir);
		assert_string_equal(name.data, "a/b");
		stored_node_close(node);
		buf_release(&path);
		buf_release(&dir);
		buf_release(&name);
	}
	copynode_release(&c);
}

static void test_locks(void **state)
{
	assert_int_equal(stored_node_use_lock("a") + 1,
			 stored_node_change_lock("a"));
	assert_true(stored_node_use_lock("a") > STORED_LOCK_STORE);
	assert_int_not_equal(stored_node_use_lock("a"),
			     stored_node_use_lock("b"));
	/*
	 * The number of a lock is an offset of fcntl(), which is signed. So the
	 * number must not be above INT32_MAX.
	 */
	assert_true(stored_node_change_lock("team/app.git") <= INT32_MAX);
}

/*
 * stored_node_probe() probes a store (store/probe.h) only once for each cache
 * directory. The file `probed` records the success.
 */
static void test_probe(void **state)
{
	struct copynode c;

	copynode_init(&c);
	assert_false(sys_exists(netrepo_path(&c.s.n, "cache/probed")));
	c.count.requests = 0;
	if (stored_node_probe(c.node, &c.err))
		fail_msg("%s", c.err.msg);
	assert_true(c.count.requests > STORE_PROBE_CREATORS);
	assert_true(sys_exists(netrepo_path(&c.s.n, "cache/probed")));
	c.count.requests = 0;
	assert_int_equal(stored_node_probe(c.node, &c.err), 0);
	assert_int_equal(c.count.requests, 0);
	copynode_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_belongs_to_one_store),
		cmocka_unit_test(test_store_is_not_there),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_paths_that_are_no_copies),
		cmocka_unit_test(test_paths_with_another_store),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
