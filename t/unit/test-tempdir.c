/* SPDX-License-Identifier: MIT */
/* sys/tempdir.c: directories are made, filled and removed, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
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
	/* The directory does not exist any more: nothing to do. */
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
		cmocka_unit_test(test_rename),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
