/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/share.c (core.sharedRepository): files and directories get the
 * same modes as those of stock Git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "sys/io.h"
#include "sys/share.h"
#include "sys/tempfile.h"
#include "t/unit/tmprepo.h"

#define GROUP SYS_SHARE(0660)
#define EVERYBODY SYS_SHARE(0664)

static const struct {
	unsigned mode, share;
	bool is_dir;
	unsigned want;
} cases[] = {
	{0600, 0, false, 0600},
	{0644, GROUP, false, 0664},
	{0600, GROUP, false, 0660},
	{0444, GROUP, false, 0444},
	{0400, GROUP, false, 0440},
	{0700, GROUP, false, 0770},
	{0755, GROUP, true, 02775},
	{0700, GROUP, true, 02770},
	{0600, EVERYBODY, false, 0664},
	{0400, EVERYBODY, false, 0444},
	{0700, EVERYBODY, true, 02775},
	{0644, SYS_SHARE_EXACT(0640), false, 0640},
	{0444, SYS_SHARE_EXACT(0660), false, 0440},
	{0755, SYS_SHARE_EXACT(0640), false, 0750},
	{0777, SYS_SHARE_EXACT(0640), true, 02750},
	{0755, SYS_SHARE_EXACT(0600), true, 0700},
};

static void test_modes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(sys_share_mode(cases[i].mode,
						0444 | cases[i].share,
						cases[i].is_dir),
				 cases[i].want);
}

static unsigned mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/*
 * If sys_mkdir_shared() creates a directory, the directory gets the mode.
 * Existing directories keep their mode.
 */
static void test_made(void **state)
{
	struct buf path = BUF_INIT;
	struct sys_tempfile file;
	mode_t umask_before = umask(077);
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/a", t.dir);
	assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
	buf_append_str(&path, "/b/c");
	assert_int_equal(sys_mkdir_shared(path.data, GROUP, NULL), 0);
	assert_int_equal(mode_of(path.data), 02770);
	assert_int_equal(
		sys_tempfile_create(&file, path.data, "x", 0444 | GROUP, NULL),
		0);
	assert_int_equal(mode_of(file.path), 0440);
	sys_tempfile_abort(&file);
	buf_append_str(&path, "/log");
	assert_int_equal(
		sys_append(path.data, "line\n", 5, 0666 | EVERYBODY, NULL), 0);
	assert_int_equal(mode_of(path.data), 0664);
	buf_set_len(&path, path.len - 6);
	path.data[path.len] = '\0';
	assert_int_equal(mode_of(path.data), 02770);
	buf_set_len(&path, path.len - 2);
	path.data[path.len] = '\0';
	assert_int_equal(mode_of(path.data), 0700);
	umask(umask_before);
	buf_release(&path);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
