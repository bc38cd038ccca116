/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/fetch.h, which downloads a file of a repository in a store.
 * They prove that the file gets the right content and mode, and that a file of
 * other content is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stored/fetch.h"
#include "t/unit/storedrepo.h"

static int fetch(struct storedrepo *s, const struct generation_file *file,
		 const char *name)
{
	const char *path = netrepo_path(&s->n, name);

	return stored_fetch(&s->place, file, path, SYS_FSYNC_NONE, &s->err);
}

static void test_content_and_mode(void **state)
{
	struct storedrepo s;
	struct generation g;
	struct buf got = BUF_INIT;
	struct generation_file *file;
	struct sys_stat st;

	storedrepo_init(&s);
	tmprepo_write(&s.n.t, "src/description", "a description\n");
	storedrepo_generation(&s, &g);
	file = storedrepo_file(&g, "description");
	assert_int_equal(fetch(&s, file, "got"), 0);
	assert_int_equal(sys_read_any(&got, netrepo_path(&s.n, "got"), NULL),
			 0);
	assert_string_equal(got.data, "a description\n");
	assert_int_equal(sys_stat(&st, netrepo_path(&s.n, "got"), NULL), 0);
	assert_int_equal(st.mode & 0111, 0);
	/* A download replaces an existing file. */
	file->is_executable = true;
	assert_int_equal(fetch(&s, file, "got"), 0);
	assert_int_equal(sys_stat(&st, netrepo_path(&s.n, "got"), NULL), 0);
	assert_true(st.mode & 0100);
	file = storedrepo_file(&g, "objects/pack/");
	assert_int_equal(fetch(&s, file, "pack"), 0);
	assert_int_equal(sys_stat(&st, netrepo_path(&s.n, "pack"), NULL), 0);
	assert_int_equal(st.mode & 0333, 0);
	assert_int_equal(st.size, file->size);
	buf_release(&got);
	generation_release(&g);
	storedrepo_release(&s);
}

static void test_refused(void **state)
{
	struct storedrepo s;
	struct generation g;
	struct generation_file *file;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	file = storedrepo_file(&g, "config");
	storedrepo_damage(&s, file, 0);
	assert_int_equal(fetch(&s, file, "got"), ERR_CORRUPT);
	assert_non_null(strstr(s.err.msg, "'config' has another SHA-256"));
	storedrepo_damage(&s, file, 1);
	assert_int_equal(fetch(&s, file, "got"), ERR_CORRUPT);
	assert_non_null(strstr(s.err.msg, "longer"));
	storedrepo_damage(&s, file, -1);
	assert_int_equal(fetch(&s, file, "got"), ERR_CORRUPT);
	assert_non_null(strstr(s.err.msg, "shorter"));
	storedrepo_delete(&s, file);
	assert_int_equal(fetch(&s, file, "got"), ERR_MISSING);
	assert_false(sys_exists(netrepo_path(&s.n, "got")));
	/* The directory has only src and store: no temporary file is left. */
	assert_int_equal(storedrepo_entries(&s, "."), 2);
	generation_release(&g);
	storedrepo_release(&s);
}

static void test_results(void **state)
{
	struct error err = ERROR_INIT;

	assert_int_equal(stored_result(0, "x", &err), 0);
	assert_int_equal(stored_result(ERR_DENIED, "x", &err), ERR_DENIED);
	assert_int_equal(stored_result(STORE_ABSENT, "x", &err), ERR_MISSING);
	assert_string_equal(err.msg, "'x' is not in the store");
	error_set(&err, ERR_PEER, "no answer");
	assert_int_equal(stored_result(STORE_UNAVAILABLE, "x", &err), ERR_IO);
	assert_string_equal(err.msg, "no answer");
	assert_int_equal(stored_result(STORE_AMBIGUOUS, "x", &err), ERR_IO);
	assert_int_equal(stored_result(STORE_CONFLICT, "x", &err), ERR_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_content_and_mode),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
