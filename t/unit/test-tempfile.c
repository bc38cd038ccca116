/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/tempfile.c: a file appears completely or not at all, and
 * failures leave no file behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempfile.h"

static char dir[] = "/tmp/gitreach-tempfile-XXXXXX";

/* State of the function that replaces fsync(2). */
static struct {
	unsigned files, dirs; /* numbers of syncs */
	/*
	 * Errno with which fsync() of a directory fails; 0: it succeeds. EINTR
	 * is returned only once.
	 */
	int dir_errno;
} synced;

int fsync(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode)) {
		synced.files++;
		return 0;
	}
	synced.dirs++;
	errno = synced.dir_errno;
	if (errno == EINTR)
		synced.dir_errno = 0;
	return errno ? -1 : 0;
}

static const char *in_dir(char *out, const char *name)
{
	snprintf(out, 256, "%s/%s", dir, name);
	return out;
}

static int count(void *ctx, const char *name)
{
	(*(int *)ctx)++;
	return 0;
}

static int files_nr(void)
{
	int nr = 0;

	assert_int_equal(sys_dir_each(dir, count, &nr, NULL), 0);
	return nr;
}

static void committed_with(enum sys_fsync_method method)
{
	struct sys_tempfile tf;
	struct buf b = BUF_INIT;
	char path[256];
	struct stat st;

	in_dir(path, "final");
	umask(022);
	assert_int_equal(sys_tempfile_create(&tf, dir, "tmp_", 0444, NULL), 0);
	assert_non_null(strstr(tf.path, "/tmp_"));
	assert_int_equal(sys_tempfile_write(&tf, "one ", 4, NULL), 0);
	assert_int_equal(sys_tempfile_write(&tf, "two", 3, NULL), 0);
	assert_false(sys_exists(path));
	assert_int_equal(sys_tempfile_commit(&tf, path, method, NULL), 0);
	assert_null(tf.path);
	assert_int_equal(sys_read_file(&b, path, NULL), 0);
	assert_string_equal(b.data, "one two");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0444);
	assert_int_equal(files_nr(), 1);
	unlink(path);
	buf_release(&b);
}

static void appears_whole(void **state)
{
	committed_with(SYS_FSYNC_NONE);
	committed_with(SYS_FSYNC_FSYNC);
	committed_with(SYS_FSYNC_WRITEOUT_ONLY);
}

static void replaces_what_was_there(void **state)
{
	struct sys_tempfile tf;
	struct buf b = BUF_INIT;
	char path[256];

	in_dir(path, "final");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sys_tempfile_create(&tf, dir, "t", 0666, NULL),
				 0);
		assert_int_equal(
			sys_tempfile_write(&tf, i ? "new" : "old", 3, NULL), 0);
		assert_int_equal(sys_tempfile_finish(&tf, SYS_FSYNC_NONE, NULL),
				 0);
		assert_int_equal(tf.fd, -1);
		assert_int_equal(
			sys_tempfile_commit(&tf, path, SYS_FSYNC_NONE, NULL),
			0);
	}
	assert_int_equal(sys_read_file(&b, path, NULL), 0);
	assert_string_equal(b.data, "new");
	unlink(path);
	buf_release(&b);
}

static void bytes_at_an_offset(void **state)
{
	struct sys_tempfile tf;
	struct buf b = BUF_INIT;

	assert_int_equal(sys_tempfile_create(&tf, dir, "t", 0444, NULL), 0);
	assert_int_equal(sys_tempfile_write(&tf, "one two", 7, NULL), 0);
	assert_int_equal(sys_tempfile_write_at(&tf, 1, "NE", 2, NULL), 0);
	assert_int_equal(sys_tempfile_write(&tf, "!", 1, NULL), 0);
	assert_int_equal(sys_read_file(&b, tf.path, NULL), 0);
	assert_string_equal(b.data, "oNE two!");
	sys_tempfile_abort(&tf);
	buf_release(&b);
}

/*
 * The umask limits the mode of the file, even while other threads create files.
 */
static void umask_counts(void **state)
{
	struct sys_tempfile tf;
	struct stat st;

	umask(077);
	assert_int_equal(sys_tempfile_create(&tf, dir, "t", 0666, NULL), 0);
	umask(022);
	assert_int_equal(stat(tf.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	sys_tempfile_abort(&tf);
}

static void aborted_leaves_nothing(void **state)
{
	struct sys_tempfile tf;

	assert_int_equal(sys_tempfile_create(&tf, dir, "t", 0666, NULL), 0);
	assert_int_equal(files_nr(), 1);
	sys_tempfile_abort(&tf);
	assert_int_equal(files_nr(), 0);
	sys_tempfile_abort(&tf);
}

static void failed_rename_leaves_nothing(void **state)
{
	struct sys_tempfile tf;
	struct error err = ERROR_INIT;
	char path[256];

	assert_int_equal(sys_tempfile_create(&tf, dir, "t", 0666, NULL), 0);
	assert_int_equal(sys_tempfile_commit(&tf, in_dir(path, "no/dir"),
					     SYS_FSYNC_FSYNC, &err),
			 ERR_IO);
	assert_non_null(strstr(err.msg, "no/dir"));
	assert_null(tf.path);
	assert_int_equal(files_nr(), 0);
}

/*
 * If the rename fails, sys_tempfile_place() keeps the file, and can be called
 * again.
 */
static void a_failed_rename_can_be_repeated(void **state)
{
	struct error err = ERROR_INIT;
	struct sys_tempfile tf;
	struct buf b = BUF_INIT;
	char path[256];

	in_dir(path, "final");
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(sys_tempfile_create(&tf, dir, "t", 0666, NULL), 0);
	assert_int_equal(sys_tempfile_write(&tf, "text", 4, NULL), 0);
	assert_int_equal(sys_tempfile_finish(&tf, SYS_FSYNC_NONE, NULL), 0);
	assert_int_equal(sys_tempfile_place(&tf, path, SYS_FSYNC_NONE, &err),
			 ERR_IO);
	assert_int_equal(err.sys_errno, EISDIR);
	assert_non_null(tf.path);
	assert_true(sys_exists(tf.path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(sys_tempfile_place(&tf, path, SYS_FSYNC_FSYNC, NULL),
			 0);
	assert_null(tf.path);
	assert_int_equal(sys_read_file(&b, path, NULL), 0);
	assert_string_equal(b.data, "text");
	assert_int_equal(files_nr(), 1);
	unlink(path);
	buf_release(&b);
}

/* sys_tempfile_move() gives a file another temporary name, if it is free. */
static void a_file_moves_to_a_free_name(void **state)
{
	struct error err = ERROR_INIT;
	struct sys_tempfile first, second;
	char one[256], two[256], three[256];

	in_dir(one, "one");
	in_dir(two, "two");
	in_dir(three, "three");
	assert_int_equal(sys_tempfile_create_exact(&first, one, 0666, NULL), 0);
	assert_int_equal(sys_tempfile_finish(&first, SYS_FSYNC_NONE, NULL), 0);
	assert_int_equal(sys_tempfile_create_exact(&second, two, 0666, NULL),
			 0);
	assert_int_equal(sys_tempfile_move(&first, two, &err), ERR_IO);
	assert_int_equal(err.sys_errno, EEXIST);
	assert_string_equal(first.path, one);
	assert_true(sys_exists(one));
	assert_int_equal(sys_tempfile_move(&first, three, NULL), 0);
	assert_string_equal(first.path, three);
	assert_false(sys_exists(one));
	assert_int_equal(files_nr(), 2);
	sys_tempfile_abort(&first);
	assert_false(sys_exists(three));
	sys_tempfile_abort(&second);
	assert_int_equal(files_nr(), 0);
}

/*
 * Creates a file by sys_tempfile_commit(), and returns the result of this
 * function. `dir_errno`: errno with which fsync() of the directory fails; 0:
 * success. Sets the counters of `synced` to the number of fsync() calls for
 * files and directories.
 */
static int commit_synced(enum sys_fsync_method method, int dir_errno,
			 struct error *err)
{
	struct sys_tempfile tf;
	char path[256];
	int ret;

	memset(&synced, 0, sizeof(synced));
	synced.dir_errno = dir_errno;
	assert_int_equal(sys_tempfile_create(&tf, dir, "t", 0666, NULL), 0);
	ret = sys_tempfile_commit(&tf, in_dir(path, "final"), method, err);
	synced.dir_errno = 0;
	assert_null(tf.path);
	assert_int_equal(files_nr(), 1);
	unlink(path);
	return ret;
}

static void the_name_is_made_durable(void **state)
{
	struct error err = ERROR_INIT;

	assert_int_equal(commit_synced(SYS_FSYNC_FSYNC, 0, NULL), 0);
	assert_int_equal(synced.files, 1);
	assert_int_equal(synced.dirs, 1);
	assert_int_equal(commit_synced(SYS_FSYNC_WRITEOUT_ONLY, 0, NULL), 0);
	assert_int_equal(synced.files, 0);
	assert_int_equal(synced.dirs, 1);
	assert_int_equal(commit_synced(SYS_FSYNC_NONE, 0, NULL), 0);
	assert_int_equal(synced.files + synced.dirs, 0);
	/* Some file systems cannot sync directories. This is no error. */
	assert_int_equal(commit_synced(SYS_FSYNC_FSYNC, EINVAL, NULL), 0);
	/* A signal has interrupted fsync(), so it is repeated. */
	assert_int_equal(commit_synced(SYS_FSYNC_FSYNC, EINTR, NULL), 0);
	assert_int_equal(synced.dirs, 2);
	assert_int_equal(commit_synced(SYS_FSYNC_FSYNC, EIO, &err), ERR_IO);
	assert_non_null(strstr(err.msg, "cannot sync directory"));
	assert_non_null(strstr(err.msg, dir));
}

static void a_directory_that_cannot_be_opened(void **state)
{
	struct error err = ERROR_INIT;
	struct rlimit old, none;

	assert_int_equal(sys_sync_dir("/tmp/no/such/dir", &err), ERR_IO);
	assert_non_null(strstr(err.msg, "/tmp/no/such/dir"));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = (struct error)ERROR_INIT;
	assert_int_equal(sys_sync_dir(dir, &err), ERR_IO);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_non_null(strstr(err.msg, strerror(EMFILE)));
	assert_int_equal(sys_sync_dir(dir, NULL), 0);
}

static void a_lock_is_held_once(void **state)
{
	struct sys_tempfile a, b;
	struct error err = ERROR_INIT;
	char path[256];

	in_dir(path, "x.lock");
	assert_int_equal(sys_tempfile_create_exact(&a, path, 0666, NULL), 0);
	assert_int_equal(sys_tempfile_create_exact(&b, path, 0666, &err),
			 ERR_IO);
	assert_null(b.path);
	sys_tempfile_abort(&b);
	assert_true(sys_exists(path));
	sys_tempfile_abort(&a);
	assert_false(sys_exists(path));
}

static void no_directory(void **state)
{
	struct sys_tempfile tf;
	struct error err = ERROR_INIT;

	assert_int_equal(
		sys_tempfile_create(&tf, "/tmp/no/such/dir", "t", 0666, &err),
		ERR_IO);
	assert_null(tf.path);
	assert_non_null(strstr(err.msg, "/tmp/no/such/dir"));
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appears_whole),
		cmocka_unit_test(replaces_what_was_there),
		cmocka_unit_test(bytes_at_an_offset),
		cmocka_unit_test(umask_counts),
		cmocka_unit_test(aborted_leaves_nothing),
		cmocka_unit_test(failed_rename_leaves_nothing),
		cmocka_unit_test(a_failed_rename_can_be_repeated),
		cmocka_unit_test(a_file_moves_to_a_free_name),
		cmocka_unit_test(the_name_is_made_durable),
		cmocka_unit_test(a_directory_that_cannot_be_opened),
		cmocka_unit_test(a_lock_is_held_once),
		cmocka_unit_test(no_directory),
	};

	return cmocka_run_group_tests_name("tempfile", tests, make_dir,
					   remove_dir);
}
