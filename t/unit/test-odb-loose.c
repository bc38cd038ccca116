/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb-loose.c: each loose object is found at its path, and a visit
 * lists all loose objects and no other files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "t/unit/tmppack.h"

/* Records the objects that a visit of loose objects has found. */
struct seen {
	struct oid oids[8];
	int nr;
	int stop_with;
};

static int see(void *ctx, const struct oid *oid, const char *path)
{
	struct seen *seen = ctx;

	assert_true(sys_exists(path));
	seen->oids[seen->nr++] = *oid;
	return seen->stop_with;
}

static bool saw(const struct seen *seen, const struct oid *oid)
{
	for (int i = 0; i < seen->nr; i++)
		if (oid_equal(&seen->oids[i], oid))
			return true;
	return false;
}

static void test_visits(void **state)
{
	struct oid local, far, none = OID_ZERO_INIT;
	struct seen seen = {.nr = 0};
	struct buf path = BUF_INIT;
	struct tmprepo t;
	struct odb *odb;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_loose(&t, "objects", &local, OBJ_BLOB, "local", 5);
	tmppack_loose(&t, "far", &far, OBJ_BLOB, "far", 3);
	tmprepo_write(&t, "objects/00/tmp_obj_x", "");
	tmprepo_write(&t, "objects/zz/x", "");
	tmprepo_write(&t, "objects/info/alternates", "../far\n");
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	assert_true(odb_has_loose(odb, &local));
	assert_true(odb_has_loose(odb, &far));
	assert_true(odb_has(odb, &far));
	assert_false(odb_has_loose(odb, &none));
	assert_int_equal(odb_loose_path(&path, odb, odb->dirs[0], &local), 0);
	assert_true(sys_exists(path.data));

	assert_int_equal(odb_each_loose(odb, true, see, &seen, NULL), 0);
	assert_int_equal(seen.nr, 1);
	assert_true(saw(&seen, &local));
	seen.nr = 0;
	assert_int_equal(odb_each_loose(odb, false, see, &seen, NULL), 0);
	assert_int_equal(seen.nr, 2);
	assert_true(saw(&seen, &local) && saw(&seen, &far));
	seen.nr = 0;
	assert_int_equal(
		odb_each_loose_with(odb, far.bytes[0], see, &seen, NULL), 0);
	assert_int_equal(seen.nr, 1);
	assert_true(saw(&seen, &far));
	seen.nr = 0;
	seen.stop_with = 7;
	assert_int_equal(odb_each_loose(odb, false, see, &seen, NULL), 7);
	assert_int_equal(seen.nr, 1);
	buf_release(&path);
	odb_close(odb);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
