/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/tempdir.c: temporary directories are made, filled and removed,
 * even if a step fails or no descriptor is free.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/io.h"
#include "sys/tempdir.h"
#include "t/unit/tmprepo.h"

static void test_life(void **state)
{
	struct tmprepo t;
	struct buf file = BUF_INIT;
	struct sys_tempdir a, b, none;
	char *outside;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "stays", "x");
	assert_int_equal(sys_tempdir_create(&a, t.dir, "tmp_x-", NULL), 0);
	assert_int_equal(sys_tempdir_create(&b, t.dir, "tmp_x-", NULL), 0);
	assert_string_not_equal(a.path, b.path);
	buf_printf(&file, "%s/deep/er", a.path);
	assert_int_equal(sys_mkdir_p(file.data, NULL), 0);
	buf_printf(&file, "/link");
	assert_int_equal(sys_symlink(t.dir, file.data, NULL), 0);
	assert_int_equal(sys_tempdir_remove(a.path, NULL), 0);
	assert_false(sys_exists(a.path));
	assert_true(sys_exists(b.path));
	outside = repo_common_path(&t.repo, "stays");
	assert_true(sys_exists(outside));
	/* Removing a directory that does not exist succeeds. */
	assert_int_equal(sys_tempdir_remove(a.path, NULL), 0);
	assert_int_equal(sys_tempdir_create(&none, a.path, "x", NULL), ERR_IO);
	assert_null(none.path);
	sys_tempdir_release(&a);
	sys_tempdir_release(&b);
	assert_null(b.path);
	sys_tempdir_release(&b);
	free(outside);
	buf_release(&file);
	tmprepo_release(&t);
}

/* Opens descriptors until no more can be opened. Returns their number. */
static size_t take_descriptors(int *taken, size_t max)
{
	size_t nr = 0;

	while (nr < max && (taken[nr] = dup(0)) >= 0)
		nr++;
	assert_true(nr < max);
	assert_int_equal(errno, EMFILE);
	return nr;
}

/* A directory can be removed even if the process has no free descriptor. */
static void test_no_descriptor(void **state)
{
	static const char *const subs[] = {"/a", "/b", "/pack", NULL};
	struct tmprepo t;
	struct rlimit before, limit;
	struct sys_tempdir td, none;
	struct buf path = BUF_INIT;
	int taken[128];
	size_t nr;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){64, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(sys_tempdir_create(&td, t.dir, "tmp_x-", NULL), 0);
	for (size_t i = 0; subs[i]; i++) {
		buf_reset(&path);
		buf_printf(&path, "%s%s", td.path, subs[i]);
		assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
		buf_append_str(&path, "/link");
		assert_int_equal(sys_symlink(t.dir, path.data, NULL), 0);
	}
	nr = take_descriptors(taken, 128);
	assert_int_equal(sys_tempdir_create(&none, t.dir, "tmp_y-", NULL),
			 ERR_IO);
	assert_null(none.path);
	assert_int_equal(sys_tempdir_drop(&td, NULL), 0);
	assert_false(sys_exists(td.path));
	/* The directory was already removed, so this call does nothing. */
	assert_int_equal(sys_tempdir_drop(&td, NULL), 0);
	sys_tempdir_release(&td);
	for (size_t i = 0; i < nr; i++)
		close(taken[i]);
	setrlimit(RLIMIT_NOFILE, &before);
	/*
	 * The call without a free descriptor has left no directory: after one
	 * more call, there is exactly one.
	 */
	assert_int_equal(sys_tempdir_create(&td, t.dir, "tmp_y-", NULL), 0);
	buf_reset(&path);
	buf_printf(&path, "ls -d %s/tmp_y-* | wc -l | grep -qx 1", t.dir);
	assert_int_equal(system(path.data), 0);
	sys_tempdir_release(&td);
	buf_release(&path);
	tmprepo_release(&t);
}

static void test_rename(void **state)
{
	char *from, *to, *nowhere;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	from = repo_common_path(&t.repo, "from");
	to = repo_common_path(&t.repo, "to");
	nowhere = repo_common_path(&t.repo, "no/where");
	tmprepo_write(&t, "from", "x");
	tmprepo_write(&t, "to", "y");
	assert_int_equal(sys_rename(from, to, NULL), 0);
	assert_false(sys_exists(from));
	assert_int_equal(sys_rename(to, nowhere, NULL), ERR_IO);
	free(from);
	free(to);
	free(nowhere);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_no_descriptor),
		cmocka_unit_test(test_rename),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
