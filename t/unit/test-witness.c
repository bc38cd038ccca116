/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/witness.c, which tells whether files have changed since they
 * were read: each kind of change to files and directories is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/clock.h"
#include "sys/witness.h"

/*
 * Time in nanoseconds after which a changed file can be trusted: a further
 * change also changes its times. The second value is for file systems whose
 * times are whole seconds.
 */
#define SETTLE_NS UINT64_C(150000000)
#define SETTLE_COARSE_NS UINT64_C(3200000000)

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/*
 * Wait until the changes made so far are so old that a further change also
 * changes the times of a file.
 */
static void settle(void)
{
	struct stat s;

	sys_sleep_ns(stat("file", &s) || s.st_ctim.tv_nsec ? SETTLE_NS
							   : SETTLE_COARSE_NS);
}

static int enter(void **state)
{
	char dir[] = "/tmp/test-witness-XXXXXX";

	*state = strdup(mkdtemp(dir));
	assert_int_equal(chdir(*state), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	put("file", "one");
	put("dir/in", "1");
	assert_int_equal(symlink("file", "link"), 0);
	settle();
	return 0;
}

static int leave(void **state)
{
	static const char *const names[] = {"file", "other", "link", "dir/in",
					    "dir/new"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	rmdir("dir");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(*state), 0);
	free(*state);
	return 0;
}

/*
 * Adds `path` to a witness (a check for changes of files), and makes a change.
 * If `holds` is true, the witness must report that nothing has changed,
 * otherwise that something has changed. `kind`: which changes the witness
 * notices.
 */
static void check(const char *path, enum sys_witness_kind kind,
		  void (*change)(void), bool holds)
{
	struct sys_witness w;

	sys_witness_init(&w);
	sys_witness_add(&w, path, kind);
	assert_true(sys_witness_holds(&w));
	change();
	assert_int_equal(sys_witness_holds(&w), holds);
	sys_witness_release(&w);
}

static void change_nothing(void)
{
	int fd = open("file", O_RDONLY);

	close(fd);
}

/*
 * Changes the content, but not the size and the modification time. Only
 * st_ctime reveals the change.
 */
static void change_secretly(void)
{
	struct timespec times[2];
	struct stat s;

	stat("file", &s);
	times[0] = s.st_atim;
	times[1] = s.st_mtim;
	put("file", "two");
	utimensat(AT_FDCWD, "file", times, 0);
}

static void replace(void)
{
	put("other", "one");
	rename("other", "file");
}

static void remove_file(void)
{
	unlink("file");
}

static void create_other(void)
{
	put("other", "x");
}

static void add_to_dir(void)
{
	put("dir/new", "x");
}

static void change_in_dir(void)
{
	put("dir/in", "2");
}

static void retarget(void)
{
	unlink("link");
	assert_int_equal(symlink("dir/in", "link"), 0);
}

static void recreate_dir(void)
{
	rename("dir", "away");
	mkdir("dir", 0700);
	rename("away/in", "dir/in");
	rmdir("away");
}

static void give_away(void)
{
	chmod("file", 0600);
}

static void test_unchanged(void **state)
{
	check("file", SYS_WITNESS_CONTENT, change_nothing, true);
	check("dir", SYS_WITNESS_CONTENT, change_nothing, true);
	check("link", SYS_WITNESS_CONTENT, change_nothing, true);
	check("none", SYS_WITNESS_CONTENT, change_nothing, true);
	check("file/none", SYS_WITNESS_CONTENT, change_nothing, true);
	/*
	 * A directory counts as changed only if a name was added or removed.
	 * Changes inside of its files do not count.
	 */
	check("dir", SYS_WITNESS_CONTENT, change_in_dir, true);
	check("dir", SYS_WITNESS_IDENTITY, add_to_dir, true);
}

static void test_content(void **state)
{
	check("file", SYS_WITNESS_CONTENT, change_secretly, false);
}

static void test_link(void **state)
{
	check("link", SYS_WITNESS_CONTENT, change_secretly, false);
}

static void test_retarget(void **state)
{
	check("link", SYS_WITNESS_IDENTITY, retarget, false);
}

static void test_replace(void **state)
{
	check("file", SYS_WITNESS_IDENTITY, replace, false);
}

static void test_remove(void **state)
{
	check("file", SYS_WITNESS_CONTENT, remove_file, false);
}

static void test_create(void **state)
{
	check("other", SYS_WITNESS_CONTENT, create_other, false);
}

static void test_add(void **state)
{
	check("dir", SYS_WITNESS_CONTENT, add_to_dir, false);
}

static void test_recreate(void **state)
{
	check("dir", SYS_WITNESS_IDENTITY, recreate_dir, false);
}

static void test_permission(void **state)
{
	check("file", SYS_WITNESS_IDENTITY, give_away, false);
}

/*
 * A witness records files, and later tells whether they are unchanged. If a
 * file changed just before it was recorded, a further change could be missed.
 * So the witness reports a change, now and later.
 */
static void test_recent(void **state)
{
	struct sys_witness w;

	put("file", "new");
	sys_witness_init(&w);
	sys_witness_add(&w, "file", SYS_WITNESS_CONTENT);
	assert_false(sys_witness_holds(&w));
	settle();
	assert_false(sys_witness_holds(&w));
	sys_witness_release(&w);
	/*
	 * A change between sys_witness_init() and sys_witness_add() must be
	 * noticed.
	 */
	sys_witness_init(&w);
	put("file", "newer");
	sys_witness_add(&w, "file", SYS_WITNESS_CONTENT);
	assert_false(sys_witness_holds(&w));
	sys_witness_release(&w);
}

static void replace_in_dir(void)
{
	put("other", "2");
	rename("other", "dir/in");
}

static void rewrite_in_dir(void)
{
	put("dir/in", "longer");
}

/*
 * Adds "dir", which has just changed, to a witness (a check for changes of
 * files), and calls `change`. The result must be `holds`, both at once and
 * after the time in which changes count as recent.
 */
static void check_listing(void (*change)(void), bool holds)
{
	struct sys_witness w;

	put("dir/new", "x");
	unlink("dir/new");
	sys_witness_init(&w);
	sys_witness_add(&w, "dir", SYS_WITNESS_LISTING);
	assert_true(sys_witness_holds(&w));
	change();
	assert_int_equal(sys_witness_holds(&w), holds);
	settle();
	for (int i = 0; i < 2; i++)
		assert_int_equal(sys_witness_holds(&w), holds);
	if (holds) {
		put("dir/new", "x");
		assert_false(sys_witness_holds(&w));
	}
	sys_witness_release(&w);
}

/*
 * A directory is added to a witness (a check for changes), so that changes of
 * its list of names are noticed. Normally, the witness compares the directory's
 * time of status change. If this time is too recent when the directory is
 * added, the witness cannot rely on it. Then the witness compares the names,
 * inodes and attributes of the files in the directory. So it also notices a
 * file that was replaced or changed.
 */
static void test_listing(void **state)
{
	check_listing(change_nothing, true);
	check_listing(add_to_dir, false);
	check_listing(replace_in_dir, false);
	check_listing(rewrite_in_dir, false);
}

/*
 * For a directory that has not changed for some time, changes of its files are
 * not noticed, only changes of its list of names.
 */
static void test_old_listing(void **state)
{
	check("dir", SYS_WITNESS_LISTING, change_in_dir, true);
	check("dir", SYS_WITNESS_LISTING, add_to_dir, false);
	check("none", SYS_WITNESS_LISTING, change_nothing, true);
}

/*
 * A directory is added with SYS_WITNESS_LISTING, which also checks its list of
 * names. SYS_WITNESS_CONTENT checks nothing more. So adding the directory again
 * with SYS_WITNESS_CONTENT must store nothing.
 */
static void test_listing_twice(void **state)
{
	struct sys_witness w;

	put("dir/new", "x");
	sys_witness_init(&w);
	sys_witness_add(&w, "dir", SYS_WITNESS_LISTING);
	sys_witness_add(&w, "dir", SYS_WITNESS_CONTENT);
	assert_int_equal(w.nr, 1);
	assert_true(sys_witness_holds(&w));
	sys_witness_add(&w, "dir", SYS_WITNESS_IDENTITY);
	assert_int_equal(w.nr, 2);
	sys_witness_release(&w);
}

static void test_unreadable(void **state)
{
	char path[5000];
	struct sys_witness w;

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	sys_witness_init(&w);
	sys_witness_add(&w, path, SYS_WITNESS_CONTENT);
	assert_false(sys_witness_holds(&w));
	sys_witness_release(&w);
}

/*
 * If a path is added twice for the same kind of change, its attributes are
 * stored and compared once.
 */
static void test_twice(void **state)
{
	struct sys_witness w;

	sys_witness_init(&w);
	sys_witness_add(&w, "file", SYS_WITNESS_CONTENT);
	sys_witness_add(&w, "file", SYS_WITNESS_CONTENT);
	assert_int_equal(w.nr, 1);
	sys_witness_add(&w, "file", SYS_WITNESS_IDENTITY);
	sys_witness_add(&w, "none", SYS_WITNESS_CONTENT);
	assert_int_equal(w.nr, 3);
	assert_true(sys_witness_holds(&w));
	sys_witness_release(&w);
}

static void test_trust(void **state)
{
	assert_true(sys_witness_can_trust("dir"));
	assert_false(sys_witness_can_trust("none"));
	/*
	 * Files in /proc are not trusted, because the kernel makes them when
	 * they are read.
	 */
	assert_false(sys_witness_can_trust("/proc"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unchanged),     TEST(test_content),
		TEST(test_link),          TEST(test_retarget),
		TEST(test_replace),       TEST(test_remove),
		TEST(test_create),        TEST(test_add),
		TEST(test_recreate),      TEST(test_permission),
		TEST(test_recent),        TEST(test_unreadable),
		TEST(test_trust),         TEST(test_twice),
		TEST(test_listing),       TEST(test_old_listing),
		TEST(test_listing_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
