/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/cache.h, the cache of files of repositories in a store. They
 * prove that a file is downloaded only once, and that repositories are made of
 * hard links to cached files.
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

#include "stored/cache.h"
#include "t/unit/storedrepo.h"

static struct stored_cache *open_cache(struct storedrepo *s)
{
	struct stored_cache *cache;

	assert_int_equal(stored_cache_open(&cache, netrepo_path(&s->n, "cache"),
					   &s->err),
			 0);
	return cache;
}

static void test_downloaded_once(void **state)
{
	struct storedrepo s;
	struct generation g;
	struct generation_file *file;
	struct stored_cache *cache;
	struct buf path = BUF_INIT, again = BUF_INIT;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	file = storedrepo_file(&g, "config");
	cache = open_cache(&s);
	assert_int_equal(
		stored_cache_file(cache, &path, &s.place, file, &s.err), 0);
	storedrepo_delete(&s, file);
	assert_int_equal(
		stored_cache_file(cache, &again, &s.place, file, &s.err), 0);
	assert_string_equal(path.data, again.data);
	/*
	 * A cached file of the wrong size is not used but downloaded again. The
	 * download fails here, because the store does not have the file any
	 * more.
	 */
	assert_int_equal(sys_truncate(path.data, 1, NULL), 0);
	assert_int_equal(
		stored_cache_file(cache, &again, &s.place, file, &s.err),
		ERR_MISSING);
	assert_string_equal(path.data, again.data);
	/*
	 * The cache stores an executable file apart from the same file without
	 * the executable bit. So the executable file must be downloaded. The
	 * download fails, because the store does not have the file any more.
	 */
	file->is_executable = true;
	assert_int_equal(
		stored_cache_file(cache, &again, &s.place, file, &s.err),
		ERR_MISSING);
	stored_cache_close(cache);
	stored_cache_close(NULL);
	buf_release(&path);
	buf_release(&again);
	generation_release(&g);
	storedrepo_release(&s);
}

static void test_lay_out(void **state)
{
	struct storedrepo s;
	struct generation g;
	struct stored_cache *cache;
	char hex[OID_MAX_HEX_LEN + 1];
	struct sys_stat one, two;
	char *dir;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	cache = open_cache(&s);
	for (int i = 1; i <= 2; i++) {
		char name[8];

		snprintf(name, sizeof(name), "out%d", i);
		dir = storedrepo_dir(&s, name);
		assert_int_equal(
			stored_cache_lay_out(cache, dir, &s.place, &g, &s.err),
			0);
		free(dir);
		storedrepo_assert_ref(&s, name, "refs/heads/main",
				      oid_to_hex(hex, &s.tip, HASH_SHA1));
		storedrepo_assert_ref(&s, name, "HEAD", "refs/heads/main");
	}
	assert_int_equal(
		sys_stat(&one, netrepo_path(&s.n, "out1/config"), NULL), 0);
	assert_int_equal(
		sys_stat(&two, netrepo_path(&s.n, "out2/config"), NULL), 0);
	assert_int_equal(one.ino, two.ino);
	stored_cache_close(cache);
	generation_release(&g);
	storedrepo_release(&s);
}

/*
 * Whether link() fails with EMLINK, as if the file already had too many links.
 */
static bool are_links_used_up;

int link(const char *path, const char *second)
{
	if (are_links_used_up) {
		errno = EMLINK;
		return -1;
	}
	return (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, second, 0);
}

static void test_too_many_links(void **state)
{
	struct storedrepo s;
	struct generation g;
	struct stored_cache *cache;
	char hex[OID_MAX_HEX_LEN + 1];
	char *dir;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	cache = open_cache(&s);
	dir = storedrepo_dir(&s, "out");
	are_links_used_up = true;
	assert_int_equal(stored_cache_lay_out(cache, dir, &s.place, &g, &s.err),
			 0);
	are_links_used_up = false;
	storedrepo_assert_ref(&s, "out", "refs/heads/main",
			      oid_to_hex(hex, &s.tip, HASH_SHA1));
	stored_cache_close(cache);
	generation_release(&g);
	free(dir);
	storedrepo_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_downloaded_once),
		cmocka_unit_test(test_lay_out),
		cmocka_unit_test(test_too_many_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
