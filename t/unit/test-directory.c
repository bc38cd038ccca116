/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/directory.c, the store in a directory. They prove that it
 * passes the checks for all stores, and that its files have the right names on
 * the disk and are durable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/oid.h"
#include "store/open.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempdir.h"
#include "t/unit/store-suite.h"

struct fixture {
	struct sys_tempdir dir;
	struct filestore *store;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(sys_tempdir_create(&f->dir, "/tmp", "store-", NULL),
			 0);
	assert_int_equal(store_directory_make(&f->store, f->dir.path, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	filestore_close(f->store);
	sys_tempdir_release(&f->dir);
	free(f);
	return 0;
}

static void path_of(struct buf *out, const struct fixture *f, const char *name)
{
	buf_reset(out);
	assert_int_equal(buf_printf(out, "%s/%s", f->dir.path, name), 0);
}

static void test_suite(void **state)
{
	struct fixture *f = *state;
	struct error err = ERROR_INIT;
	int ret = store_suite(f->store, &err);

	assert_string_equal(ret ? err.msg : "", "");
	assert_int_equal(ret, 0);
}

static int count(void *ctx, const char *name)
{
	++*(int *)ctx;
	return 0;
}

/*
 * The store writes the file "a/b/c" at this path below its root directory. The
 * directory .tmp has no temporary files left.
 */
static void test_files(void **state)
{
	struct fixture *f = *state;
	struct buf path = BUF_INIT, content = BUF_INIT;
	char etag[STORE_ETAG_MAX + 1];
	struct oid hash;
	int nr = 0;

	assert_int_equal(filestore_put(f->store, etag, "a/b/c", "abc", 3,
				       &suite_create, NULL),
			 0);
	assert_string_equal(etag,
			    "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9c"
			    "b410ff61f20015ad\"");
	path_of(&path, f, "a/b/c");
	assert_int_equal(sys_read_file(&content, path.data, NULL), 0);
	assert_string_equal(content.data, "abc");
	assert_int_equal(filestore_put(f->store, etag, "a/b/c", "abd", 3,
				       &suite_create, NULL),
			 STORE_CONFLICT);
	assert_string_equal(etag, "");
	path_of(&path, f, ".tmp");
	assert_int_equal(sys_dir_each(path.data, count, &nr, NULL), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(filestore_put_file(f->store, NULL, "copy", path.data,
					    NULL, &suite_create, NULL),
			 ERR_IO);
	path_of(&path, f, "a/b/c");
	assert_true(oid_from_hex(&hash,
				 "ba7816bf8f01cfea414140de5dae2223"
				 "b00361a396177a9cb410ff61f20015ad",
				 64, HASH_SHA256));
	hash.bytes[31] ^= 1;
	assert_int_equal(filestore_put_file(f->store, NULL, "copy", path.data,
					    hash.bytes, &suite_create, NULL),
			 ERR_IO);
	assert_false(suite_has(f->store, "copy", "abc", NULL));
	hash.bytes[31] ^= 1;
	assert_int_equal(filestore_put_file(f->store, NULL, "copy", path.data,
					    hash.bytes, &suite_create, NULL),
			 0);
	assert_true(suite_has(f->store, "copy", "abc", NULL));
	/*
	 * The store has the file "copy". So "copy" cannot be a directory, and
	 * no file can have the name "copy/x".
	 */
	assert_int_equal(filestore_put(f->store, NULL, "copy/x", "", 0,
				       &suite_create, NULL),
			 ERR_IO);
	buf_release(&path);
	buf_release(&content);
}

/* A listing contains only files whose names are valid. */
static void test_foreign_files(void **state)
{
	struct fixture *f = *state;
	struct buf path = BUF_INIT, all = BUF_INIT;

	path_of(&path, f, "x");
	assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
	path_of(&path, f, "x/a b");
	assert_int_equal(sys_append(path.data, "1", 1, 0644, NULL), 0);
	path_of(&path, f, "x/.hidden");
	assert_int_equal(sys_append(path.data, "1", 1, 0644, NULL), 0);
	path_of(&path, f, "x/pipe");
	assert_int_equal(mkfifo(path.data, 0600), 0);
	path_of(&path, f, "x/good");
	assert_int_equal(sys_append(path.data, "1", 1, 0644, NULL), 0);
	assert_int_equal(
		filestore_list_each(f->store, "x/", suite_note, &all, NULL), 0);
	assert_string_equal(all.data, "x/good 1 1\n");
	buf_release(&path);
	buf_release(&all);
}

static void test_cleaning(void **state)
{
	struct fixture *f = *state;
	struct buf path = BUF_INIT;
	struct filestore *again;

	path_of(&path, f, ".tmp/file-new");
	assert_int_equal(sys_append(path.data, "1", 1, 0644, NULL), 0);
	path_of(&path, f, ".tmp/file-old");
	assert_int_equal(sys_append(path.data, "1", 1, 0644, NULL), 0);
	assert_int_equal(sys_set_mtime(path.data, 1000000000, NULL), 0);
	assert_int_equal(store_directory_open(&again, f->dir.path, NULL), 0);
	filestore_close(again);
	assert_false(sys_exists(path.data));
	path_of(&path, f, ".tmp/file-new");
	assert_true(sys_exists(path.data));
	/*
	 * Opening a store fails if its root is a file. store_directory_make()
	 * makes a missing root directory.
	 */
	assert_int_equal(store_directory_open(&again, path.data, NULL),
			 ERR_INVALID);
	assert_null(again);
	path_of(&path, f, "deep/er");
	assert_int_equal(store_directory_make(&again, path.data, NULL), 0);
	filestore_close(again);
	buf_release(&path);
}

/*
 * A missing or empty directory may be the mount point of a file system that is
 * not mounted. So opening it as a store fails. store_directory_make() makes a
 * store in it.
 */
static void test_not_made(void **state)
{
	struct fixture *f = *state;
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT, tmp = BUF_INIT;
	struct filestore *again;

	for (int i = 0; i < 2; i++) {
		path_of(&path, f, "mount");
		assert_int_equal(store_directory_open(&again, path.data, &err),
				 ERR_IO);
		assert_null(again);
		assert_non_null(strstr(err.msg, "is not mounted"));
		path_of(&tmp, f, "mount/.tmp");
		assert_false(sys_exists(tmp.data));
		assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
	}
	assert_int_equal(store_directory_make(&again, path.data, NULL), 0);
	filestore_close(again);
	assert_int_equal(store_directory_open(&again, path.data, NULL), 0);
	filestore_close(again);
	buf_release(&path);
	buf_release(&tmp);
}

/* true: fsync() of a directory fails. */
static bool is_disk_broken;

int fsync(int fd)
{
	struct stat st;

	if (is_disk_broken && !fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

/*
 * A put reports STORE_CONFLICT only if the existing file is durable. Here, the
 * first put has written the file, but fsync() of its directory failed.
 */
static void test_taken_is_durable(void **state)
{
	struct fixture *f = *state;

	is_disk_broken = true;
	assert_int_equal(filestore_put(f->store, NULL, "name", "x", 1,
				       &suite_create, NULL),
			 STORE_AMBIGUOUS);
	assert_int_equal(filestore_put(f->store, NULL, "name", "x", 1,
				       &suite_create, NULL),
			 STORE_AMBIGUOUS);
	is_disk_broken = false;
	assert_int_equal(filestore_put(f->store, NULL, "name", "x", 1,
				       &suite_create, NULL),
			 STORE_CONFLICT);
}

/*
 * If the directory of the store is missing, a read must fail. The result
 * STORE_ABSENT would say that the file was deleted.
 */
static void test_vanished(void **state)
{
	struct fixture *f = *state;
	struct buf away = BUF_INIT, bytes = BUF_INIT;
	struct filestore_page page = {0};
	struct filestore_info info;

	assert_int_equal(filestore_get(f->store, &bytes, NULL, "a", 10, NULL),
			 STORE_ABSENT);
	assert_int_equal(buf_printf(&away, "%s.away", f->dir.path), 0);
	assert_int_equal(sys_rename(f->dir.path, away.data, NULL), 0);
	for (int is_empty = 0; is_empty < 2; is_empty++) {
		assert_int_equal(
			filestore_get(f->store, &bytes, NULL, "a", 10, NULL),
			STORE_UNAVAILABLE);
		assert_int_equal(filestore_head(f->store, &info, "a", NULL),
				 STORE_UNAVAILABLE);
		assert_int_equal(filestore_put(f->store, NULL, "a/b", "x", 1,
					       &suite_create, NULL),
				 STORE_UNAVAILABLE);
		assert_int_equal(filestore_delete(f->store, "a", NULL),
				 STORE_UNAVAILABLE);
		assert_int_equal(filestore_list(f->store, &page, "", 10, NULL),
				 STORE_UNAVAILABLE);
		/*
		 * Makes an empty directory, like the mount point of a file
		 * system that is not mounted.
		 */
		assert_int_equal(sys_mkdir_p(f->dir.path, NULL), 0);
	}
	assert_int_equal(sys_rmdir(f->dir.path, NULL), 1);
	assert_int_equal(sys_rename(away.data, f->dir.path, NULL), 0);
	assert_int_equal(filestore_get(f->store, &bytes, NULL, "a", 10, NULL),
			 STORE_ABSENT);
	buf_release(&away);
	buf_release(&bytes);
}

static void count_list(void *ctx, const struct filestore_event *event)
{
	if (event->operation == STORE_LIST)
		++*(int *)ctx;
}

static int count_entry(void *ctx, const struct filestore_entry *entry,
		       struct error *err)
{
	++*(int *)ctx;
	return 0;
}

/*
 * The listing of one page reads the whole directory. So the listing of all
 * files must use few pages with many files each.
 */
static void test_long_list(void **state)
{
	struct fixture *f = *state;
	struct buf path = BUF_INIT, name = BUF_INIT;
	int pages = 0, files = 0;

	path_of(&path, f, "many");
	assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
	for (int i = 0; i < 3000; i++) {
		buf_reset(&name);
		assert_int_equal(buf_printf(&name, "many/%d", i), 0);
		path_of(&path, f, name.data);
		assert_int_equal(close(creat(path.data, 0666)), 0);
	}
	filestore_watch(f->store,
			&(struct filestore_watch){count_list, &pages});
	assert_int_equal(filestore_list_each(f->store, "many/", count_entry,
					     &files, NULL),
			 0);
	assert_int_equal(files, 3000);
	assert_int_equal(pages, 1);
	buf_release(&path);
	buf_release(&name);
}

struct reader {
	char *path; /* of the file that is read */
	size_t len; /* bytes that were read */
	unsigned sum;
};

/*
 * Receives bytes of a file. At the first call, truncates the file, as another
 * node may do in a directory that several nodes share.
 */
static int truncate_and_sum(void *ctx, const void *bytes, size_t len,
			    struct error *err)
{
	struct reader *r = ctx;
	const uint8_t *p = bytes;

	if (!r->len)
		assert_int_equal(truncate(r->path, 0), 0);
	for (size_t i = 0; i < len; i++)
		r->sum += p[i];
	r->len += len;
	return 0;
}

/*
 * A file is truncated while it is read. The read fails, and the process is not
 * killed by a signal.
 */
static void test_truncated(void **state)
{
	const struct filestore_condition create = {STORE_CREATE, NULL};
	struct fixture *f = *state;
	const size_t len = (size_t)4 << 20;
	char *bytes = calloc(1, len);
	struct filestore_info info;
	struct buf path = BUF_INIT;
	struct reader r;
	const struct filestore_sink sink = {truncate_and_sum, &r};

	assert_non_null(bytes);
	memset(bytes, 1, len);
	path_of(&path, f, "long");
	for (int whole = 0; whole < 2; whole++) {
		r = (struct reader){.path = path.data};
		assert_int_equal(filestore_put(f->store, NULL, "long", bytes,
					       len, &create, NULL),
				 0);
		assert_int_equal(filestore_read(f->store, whole ? &info : NULL,
						&sink, "long", 0, STORE_TO_END,
						NULL),
				 ERR_IO);
		assert_true(r.len > 0 && r.len < len);
		assert_int_equal(r.sum, r.len);
		assert_int_equal(filestore_delete(f->store, "long", NULL), 0);
	}
	buf_release(&path);
	free(bytes);
}

static void test_no_url(void **state)
{
	struct fixture *f = *state;
	struct buf url = BUF_INIT;

	assert_int_equal(filestore_presign(f->store, &url, "a", 60, NULL),
			 ERR_UNSUPPORTED);
	assert_int_equal(url.len, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_suite),         TEST(test_files),
		TEST(test_foreign_files), TEST(test_cleaning),
		TEST(test_not_made),      TEST(test_taken_is_durable),
		TEST(test_vanished),      TEST(test_long_list),
		TEST(test_truncated),     TEST(test_no_url),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
