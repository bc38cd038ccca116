/* SPDX-License-Identifier: MIT */
/*
 * Tests of names/attr-files.c, which loads the attributes files of a
 * repository. They prove that the right file overrides the others, with and
 * without a work tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "names/attrs.h"
#include "t/unit/indexfile.h"
#include "t/unit/tmppack.h"

struct fixture {
	struct tmprepo t;
	struct odb *odb;
	char work[512];
};

static void setup(struct fixture *f)
{
	tmprepo_init(&f->t, HASH_SHA1);
	tmprepo_write(&f->t, "objects/info/x", "");
	tmprepo_write(&f->t, "home/x", "");
	snprintf(f->work, sizeof(f->work), "%s/home", f->t.dir);
	setenv("HOME", f->work, 1);
	unsetenv("XDG_CONFIG_HOME");
	setenv("GIT_ATTR_NOSYSTEM", "1", 1);
	assert_int_equal(odb_open(&f->odb, &f->t.repo, NULL, NULL), 0);
}

static void teardown(struct fixture *f)
{
	odb_close(f->odb);
	tmprepo_release(&f->t);
}

static void with_work_tree(struct fixture *f)
{
	snprintf(f->work, sizeof(f->work), "%s/work", f->t.dir);
	f->t.repo.worktree = f->work;
	f->t.repo.is_bare = false;
}

static enum attr_state ask(const struct fixture *f, const char *path)
{
	enum attr_state state;
	struct attrs *a;

	assert_int_equal(attr_files_load(&a, "delta", f->odb, NULL), 0);
	state = attrs_of(a, path);
	attrs_free(a);
	return state;
}

/* The rules of a file override those of files that were added before it. */
static void precedence(void **state)
{
	struct fixture f;

	setup(&f);
	assert_int_equal(ask(&f, "d/a"), ATTR_UNSPECIFIED);
	tmprepo_write(&f.t, "home/.config/git/attributes", "a delta");
	assert_int_equal(ask(&f, "d/a"), ATTR_SET);
	tmprepo_write(&f.t, "work/.gitattributes", "a -delta");
	assert_int_equal(ask(&f, "d/a"), ATTR_SET);
	with_work_tree(&f);
	assert_int_equal(ask(&f, "d/a"), ATTR_UNSET);
	tmprepo_write(&f.t, "info/attributes", "a delta=1");
	assert_int_equal(ask(&f, "d/a"), ATTR_VALUE);
	teardown(&f);
}

/*
 * Writes the index file of a work tree. Its `nr` entries are .gitattributes
 * files: each element of `files` is a path and the rules of the file.
 */
static void write_index(struct fixture *f, const char *const (*files)[2],
			size_t nr)
{
	struct buf index = BUF_INIT;

	indexfile_head(&index, 2, (uint32_t)nr);
	for (size_t i = 0; i < nr; i++) {
		struct indexfile_entry e = {.path = files[i][0],
					    .mode = 0100644};

		tmppack_loose(&f->t, "objects", &e.oid, OBJ_BLOB, files[i][1],
			      strlen(files[i][1]));
		indexfile_put(&index, 2, HASH_SHA1, &e, NULL);
	}
	indexfile_finish(&index, HASH_SHA1);
	tmprepo_write_len(&f->t, "index", index.data, index.len);
	buf_release(&index);
}

/*
 * In an index file, "d/-x/.gitattributes" comes before "d/.gitattributes". But
 * the rules of "d" must be added first, because they rank lower.
 */
static void of_an_index(void **state)
{
	static const char *const files[][2] = {
		{"d/-x/.gitattributes", "a delta"},
		{"d/.gitattributes", "a -delta"},
		{"d/e/f/a", "1"},
	};
	struct fixture f;

	setup(&f);
	write_index(&f, files, 3);
	assert_int_equal(ask(&f, "d/a"), ATTR_UNSPECIFIED);
	with_work_tree(&f);
	assert_int_equal(ask(&f, "d/a"), ATTR_UNSET);
	assert_int_equal(ask(&f, "d/-x/a"), ATTR_SET);
	assert_int_equal(ask(&f, "a"), ATTR_UNSPECIFIED);
	/*
	 * d/e/.gitattributes is only in the work tree. This file is read
	 * because the index has another file below d/e.
	 */
	tmprepo_write(&f.t, "work/d/e/.gitattributes", "a delta=1");
	assert_int_equal(ask(&f, "d/e/f/a"), ATTR_VALUE);
	/*
	 * A .gitattributes file in the work tree replaces the one in the index.
	 */
	tmprepo_write(&f.t, "work/d/.gitattributes", "b -delta");
	assert_int_equal(ask(&f, "d/a"), ATTR_UNSPECIFIED);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(precedence),
		cmocka_unit_test(of_an_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
