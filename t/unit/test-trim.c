/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/trim.h, which keeps the cache directory of a node below a
 * size limit by removing local copies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "copies/trim.h"
#include "stored/successor.h"
#include "sys/clock.h"
#include "sys/rangelock.h"
#include "t/unit/copynode.h"

struct cache {
	struct copynode c;
	struct stored_trim trim;
};

static bool has(struct cache *t, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "cache/%s", name);
	return sys_exists(netrepo_path(&t->c.s.n, path));
}

/*
 * Adds a commit to the source repository, imports this repository as `name`,
 * and makes a local copy. The copy was last used `age` seconds ago.
 */
static void add(struct cache *t, const char *name, int64_t age)
{
	struct stored_copy *copy;
	char path[512];

	t->c.s.place.repository = name;
	copynode_push(&t->c, name);
	copy = copynode_enter(&t->c);
	if (stored_copy_refresh(copy, &t->c.err))
		fail_msg("%s", t->c.err.msg);
	stored_copy_close(copy);
	snprintf(path, sizeof(path), "cache/repo/%s/_/" STORED_COPY_USED, name);
	assert_int_equal(sys_set_mtime(netrepo_path(&t->c.s.n, path),
				       sys_clock_seconds() - age, NULL),
			 0);
}

static void run(struct cache *t, uint64_t budget)
{
	if (stored_trim_run(&t->trim, t->c.node, budget, &t->c.err))
		fail_msg("%s", t->c.err.msg);
	assert_false(t->trim.is_busy);
	assert_int_equal(storedrepo_entries(&t->c.s, "cache/tmp"), 0);
}

static void test_oldest_first(void **state)
{
	struct cache t;
	uint64_t all;

	copynode_init(&t.c);
	add(&t, "a/new", 10);
	add(&t, "a/old", 1000);
	add(&t, "a", 500);
	run(&t, 0);
	all = t.trim.bytes;
	assert_int_equal(t.trim.evicted, 0);
	run(&t, all);
	assert_int_equal(t.trim.evicted, 0);
	run(&t, all - 1);
	assert_int_equal(t.trim.evicted, 1);
	assert_true(t.trim.bytes < all);
	assert_false(has(&t, "repo/a/old"));
	assert_true(has(&t, "repo/a/new/_/" REPO_COPY_MARKER));
	assert_true(has(&t, "repo/a/_/" REPO_COPY_MARKER));
	run(&t, 1);
	assert_int_equal(t.trim.evicted, 2);
	assert_int_equal(t.trim.bytes, 0);
	assert_false(has(&t, "repo/a"));
	/* Made again. */
	add(&t, "a/old", 0);
	copynode_release(&t.c);
}

static void test_in_use(void **state)
{
	struct stored_copy *copy;
	struct cache t;

	copynode_init(&t.c);
	add(&t, "used", 1000);
	copy = copynode_enter(&t.c);
	add(&t, "other", 10);
	run(&t, 1);
	assert_int_equal(t.trim.evicted, 1);
	assert_true(has(&t, "repo/used/_/" REPO_COPY_MARKER));
	assert_false(has(&t, "repo/other"));
	stored_copy_close(copy);
	run(&t, 1);
	assert_false(has(&t, "repo/used"));
	copynode_release(&t.c);
}

/*
 * Two copies share files of the cache. A file stays until the last copy that
 * has it is removed.
 */
static void test_shared_files(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct cache t;
	uint64_t all;

	copynode_init(&t.c);
	add(&t, "one", 1000);
	run(&t, 0);
	all = t.trim.bytes;
	t.c.s.place.repository = "two";
	assert_int_equal(storedrepo_import(&t.c.s, true), 0);
	add(&t, "two", 10);
	run(&t, 0);
	/*
	 * The files of the repository "one" are also in the repository "two",
	 * and are stored only once. So both repositories together are smaller
	 * than twice the size of "one".
	 */
	assert_true(t.trim.bytes < 2 * all);
	run(&t, t.trim.bytes - 1);
	assert_int_equal(t.trim.evicted, 1);
	storedrepo_assert_ref(&t.c.s, "cache/repo/two/_", "refs/heads/main",
			      oid_to_hex(hex, &t.c.s.tip, HASH_SHA1));
	copynode_release(&t.c);
}

/*
 * rename() calls this function once, when trimming renames a copy to remove it.
 * If the function returns a negative value, rename() fails.
 */
static int (*on_eviction)(void);
static struct cache *evicted_from;

int rename(const char *from, const char *to)
{
	int (*fn)(void) = on_eviction;

	if (fn && strstr(to, "/evict_")) {
		on_eviction = NULL;
		if (fn() < 0)
			return -1;
	}
	return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

static int fail_once(void)
{
	errno = EIO;
	return -1;
}

/*
 * If one local copy cannot be removed, all other local copies are removed
 * nevertheless.
 */
static void test_goes_on(void **state)
{
	struct cache t;

	copynode_init(&t.c);
	add(&t, "bad", 1000);
	add(&t, "good", 10);
	on_eviction = fail_once;
	assert_int_equal(stored_trim_run(&t.trim, t.c.node, 1, &t.c.err),
			 ERR_IO);
	assert_non_null(strstr(t.c.err.msg, "bad"));
	assert_int_equal(t.trim.evicted, 1);
	assert_true(has(&t, "repo/bad/_/" REPO_COPY_MARKER));
	assert_false(has(&t, "repo/good"));
	copynode_release(&t.c);
}

static int grow(void)
{
	struct copynode *c = &evicted_from->c;
	struct stored_copy *copy;

	/* The text does not compress well, so the new files are large. */
	copynode_push(c, "0123456789abcdefghijklmnopqrstuvwxyz");
	copy = copynode_enter(c);
	assert_int_equal(stored_copy_refresh(copy, NULL), 0);
	stored_copy_close(copy);
	return 0;
}

/*
 * The first copy gets new files after trimming has added up the sizes of all
 * copies. When the copy is removed, the size of the new files must not be
 * subtracted from the sum.
 */
static void test_growing(void **state)
{
	struct cache t;

	copynode_init(&t.c);
	add(&t, "first", 1000);
	add(&t, "second", 10);
	evicted_from = &t;
	on_eviction = grow;
	run(&t, 1);
	assert_int_equal(t.trim.evicted, 2);
	assert_int_equal(t.trim.bytes, 0);
	copynode_release(&t.c);
}

static void make_old(struct cache *t, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "cache/%s", name);
	if (!has(t, name))
		assert_int_equal(sys_append(netrepo_path(&t->c.s.n, path), "x",
					    1, 0666, NULL),
				 0);
	assert_int_equal(
		sys_set_mtime(netrepo_path(&t->c.s.n, path),
			      sys_clock_seconds() - STORED_CACHE_AGE - 10,
			      NULL),
		0);
}

static void test_leftovers(void **state)
{
	struct cache t;

	copynode_init(&t.c);
	add(&t, "one", 10);
	assert_int_equal(
		sys_mkdir_p(netrepo_path(&t.c.s.n, "cache/file/00"), NULL), 0);
	assert_int_equal(
		sys_mkdir_p(netrepo_path(&t.c.s.n, "cache/tmp/make_1/new"),
			    NULL),
		0);
	make_old(&t, "file/00/tmp_123456");
	make_old(&t, "tmp/make_1");
	assert_int_equal(
		sys_append(netrepo_path(&t.c.s.n, "cache/file/00/tmp_young"),
			   "x", 1, 0666, NULL),
		0);
	run(&t, 0);
	assert_false(has(&t, "file/00/tmp_123456"));
	assert_true(has(&t, "file/00/tmp_young"));
	assert_true(has(&t, "repo/one"));
	copynode_release(&t.c);
}

/*
 * Makes a quarantine directory in the copy "one". The directory has a file of
 * `len` bytes, and is `age` seconds old.
 */
static void make_quarantine(struct cache *t, const char *name, size_t len,
			    int64_t age)
{
	static const char *const parts[] = {"/pack/tmp_pack", "/pack", ""};
	char path[512], text[100] = {0};

	for (size_t i = 0; i < ARRAY_NR(parts); i++) {
		const char *full;

		snprintf(path, sizeof(path), "cache/repo/one/_/objects/%s%s",
			 name, i ? parts[i] : "/pack");
		full = netrepo_path(&t->c.s.n, path);
		if (!i) {
			assert_int_equal(sys_mkdir_p(full, NULL), 0);
			snprintf(path, sizeof(path),
				 "cache/repo/one/_/objects/%s%s", name,
				 parts[i]);
			full = netrepo_path(&t->c.s.n, path);
			assert_int_equal(
				sys_append(full, text, len, 0666, NULL), 0);
		}
		assert_int_equal(
			sys_set_mtime(full, sys_clock_seconds() - age, NULL),
			0);
	}
}

/*
 * A killed push has left a quarantine directory in the local copy. Only an old
 * quarantine directory is removed, and a younger one counts for the size of the
 * copy.
 */
static void test_quarantines(void **state)
{
	static const char young[] =
		"repo/one/_/objects/tmp_objdir-incoming-young";
	static const char old[] = "repo/one/_/objects/tmp_objdir-incoming-old";
	struct cache t;
	uint64_t before;

	copynode_init(&t.c);
	add(&t, "one", 10);
	run(&t, 0);
	before = t.trim.bytes;
	make_quarantine(&t, "tmp_objdir-incoming-young", 70,
			STORED_SESSION_MAX - 600);
	make_quarantine(&t, "tmp_objdir-incoming-old", 50,
			STORED_SESSION_MAX + 600);
	run(&t, 0);
	assert_false(has(&t, old));
	assert_true(has(&t, young));
	assert_int_equal(t.trim.bytes, before + 70);
	run(&t, before + 69);
	assert_int_equal(t.trim.evicted, 1);
	assert_int_equal(t.trim.bytes, 0);
	copynode_release(&t.c);
}

static void test_busy(void **state)
{
	struct cache t;
	int fd;

	copynode_init(&t.c);
	add(&t, "one", 10);
	fd = stored_node_locks(t.c.node, NULL);
	assert_int_equal(
		sys_rangelock_take(fd, STORED_LOCK_TRIM, false, false, NULL),
		0);
	assert_int_equal(stored_trim_run(&t.trim, t.c.node, 1, &t.c.err), 0);
	assert_true(t.trim.is_busy);
	assert_true(has(&t, "repo/one"));
	sys_close(fd);
	run(&t, 1);
	assert_false(has(&t, "repo/one"));
	copynode_release(&t.c);
}

/*
 * Directories that other programs have made in the cache directory are not
 * removed.
 */
static void test_foreign(void **state)
{
	struct cache t;

	copynode_init(&t.c);
	add(&t, "one", 10);
	assert_int_equal(
		sys_mkdir_p(netrepo_path(&t.c.s.n, "cache/repo/_5F/_"), NULL),
		0);
	run(&t, 1);
	assert_true(has(&t, "repo/_5F/_"));
	copynode_release(&t.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_first),
		cmocka_unit_test(test_in_use),
		cmocka_unit_test(test_shared_files),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_quarantines),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
