/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/prune-files.c, which lists files of an object directory: the
 * right files are listed, and temporary files are recognized.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "repack/prune-parts.h"
#include "t/unit/nomem.h"
#include "t/unit/tmppack.h"

static void tell(void *ctx, const char *path)
{
	assert_true(sys_exists(path));
	++*(unsigned *)ctx;
}

static void tell_stale(void *ctx, const char *path, bool is_dir)
{
	tell(ctx, path);
}

static void listed(void **state)
{
	unsigned strange = 0, nr = 0;
	struct prune_options o = {
		.expiry = INT64_MAX,
		.hooks = {.strange = tell, .ctx = &strange},
	};
	struct prune_files files;
	struct tmprepo t;
	struct oid oid;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(prune_files_list(&files, &t.repo, NULL), 0);
	assert_int_equal(files.nr, 0);
	prune_files_release(&files);
	tmppack_loose(&t, "objects", &oid, OBJ_BLOB, "one\n", 4);
	tmprepo_write(&t, "objects/ab/tmp_obj_x", "");
	tmprepo_write(&t, "objects/ab/strange", "");
	tmprepo_write(&t, "objects/xy/strange", "");
	tmprepo_write(&t, "objects/00/strange", "");
	tmprepo_write(&t, "objects/ff/strange", "");
	assert_int_equal(prune_files_list(&files, &t.repo, NULL), 0);
	assert_int_equal(files.nr, 5);
	assert_int_equal(files.object_nr, 1);
	for (size_t i = 0; i < files.nr; i++)
		if (files.files[i].path)
			assert_int_equal(
				prune_file_other(&files.files[i], &o, NULL), 0);
		else
			nr += oid_equal(&files.files[i].oid, &oid);
	assert_int_equal(nr, 1);
	assert_int_equal(strange, 3);
	prune_files_release(&files);
	assert_int_equal(prune_files_list(&files, &t.repo, NULL), 0);
	assert_int_equal(files.nr, 4);
	prune_files_release(&files);
	tmprepo_release(&t);
}

static void stale(void **state)
{
	unsigned told = 0;
	struct prune_options o = {
		.expiry = INT64_MAX,
		.hooks = {.stale = tell_stale, .ctx = &told},
	};
	struct prune_options younger = {.expiry = 1};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "objects/tmp_x", "");
	tmprepo_write(&t, "objects/pack/tmp_dir/x/y", "");
	tmprepo_write(&t, "objects/pack/other", "");
	assert_int_equal(prune_stale(&t.repo, &o, NULL), 0);
	assert_int_equal(told, 2);
	assert_int_equal(prune_stale(&t.repo, &o, NULL), 0);
	assert_int_equal(told, 2);
	/* It is no error if another process has already removed the file. */
	assert_int_equal(prune_file_stale(t.objects, &younger, NULL), 0);
	assert_int_equal(prune_file_stale("/no/such/file", &o, NULL), 0);
	assert_int_equal(told, 2);
	tmprepo_remove(&t, "objects/pack/other");
	tmprepo_remove(&t, "objects/pack");
	tmprepo_release(&t);
}

static void write_temporary(void *ctx)
{
	tmprepo_write(ctx, "objects/pack/tmp_x", "");
}

static int remove_temporary(void *ctx, struct error *err)
{
	const struct prune_options o = {.expiry = INT64_MAX};
	const struct tmprepo *t = ctx;

	return prune_stale(&t->repo, &o, err);
}

static void is_removed(void *ctx)
{
	const struct tmprepo *t = ctx;
	char path[4200];

	snprintf(path, sizeof(path), "%s/pack/tmp_x", t->objects);
	assert_false(sys_exists(path));
}

static int list(void *ctx, struct error *err)
{
	const struct tmprepo *t = ctx;
	struct prune_files files;
	int ret = prune_files_list(&files, &t->repo, err);

	if (!ret)
		assert_true(files.nr == 2 && files.object_nr == 1);
	prune_files_release(&files);
	return ret;
}

static void no_memory(void **state)
{
	struct tmprepo t;
	struct oid oid;

	tmprepo_init(&t, HASH_SHA1);
	nomem_each(write_temporary, remove_temporary, is_removed, &t);
	tmppack_loose(&t, "objects", &oid, OBJ_BLOB, "one\n", 4);
	tmprepo_write(&t, "objects/ff/tmp_obj_x", "");
	nomem_each(NULL, list, NULL, &t);
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(listed),
		cmocka_unit_test(stale),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
