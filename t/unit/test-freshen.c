/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/freshen.c. Pruning keeps an unreachable object if a file with
 * this object was modified recently. So freshen_object() sets the modification
 * time of one such file, a loose object or a pack, to the present. The tests
 * prove that the chosen file is one whose time protects the object. If there is
 * no such file, no time may be changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "odb/freshen.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "t/unit/tmppack.h"

#define OLD 1000000000

struct fixture {
	struct tmprepo t;
	struct tmppack_object packed[1];
	struct oid loose, absent;
	char loose_path[256], pack_path[256];
};

static void fixture_init(struct fixture *f)
{
	char hex[OID_MAX_HEX_LEN + 1];

	f->packed[0] = (struct tmppack_object){.type = OBJ_BLOB,
					       .text = "one\n"};
	tmprepo_init(&f->t, HASH_SHA1);
	tmppack_write(&f->t, "objects", "pack-1", f->packed, 1, false);
	tmppack_loose(&f->t, "objects", &f->loose, OBJ_BLOB, "two\n", 4);
	tmppack_oid(&f->t, &f->absent, OBJ_BLOB, "three\n", 6);
	oid_to_hex(hex, &f->loose, HASH_SHA1);
	snprintf(f->loose_path, sizeof(f->loose_path), "%s/%.2s/%s",
		 f->t.objects, hex, hex + 2);
	snprintf(f->pack_path, sizeof(f->pack_path), "%s/pack/pack-1.pack",
		 f->t.objects);
	assert_int_equal(sys_set_mtime(f->loose_path, OLD, NULL), 0);
	assert_int_equal(sys_set_mtime(f->pack_path, OLD, NULL), 0);
}

static bool is_new(const char *path)
{
	struct sys_stat st;

	assert_int_equal(sys_stat(&st, path, NULL), 0);
	return st.mtime_ns / 1000000000 > sys_clock_seconds() - 1000;
}

static bool freshen(const struct fixture *f, const struct oid *oid)
{
	struct odb *odb;
	bool done;

	assert_int_equal(odb_open(&odb, &f->t.repo, NULL, NULL), 0);
	done = freshen_object(odb, oid);
	odb_close(odb);
	return done;
}

static void test_one_copy(void **state)
{
	struct fixture f;

	fixture_init(&f);
	assert_false(freshen(&f, &f.absent));
	assert_false(is_new(f.loose_path) || is_new(f.pack_path));
	assert_true(freshen(&f, &f.loose));
	assert_true(is_new(f.loose_path));
	assert_false(is_new(f.pack_path));
	assert_true(freshen(&f, &f.packed[0].oid));
	assert_true(is_new(f.pack_path));
	tmprepo_release(&f.t);
}

/*
 * Each object of a cruft pack has its own time in the .mtimes file. So a new
 * time of the pack file does not protect the object.
 */
static void test_cruft(void **state)
{
	struct fixture f;

	fixture_init(&f);
	tmprepo_write(&f.t, "objects/pack/pack-1.mtimes", "");
	assert_false(freshen(&f, &f.packed[0].oid));
	assert_false(is_new(f.pack_path));
	/*
	 * Another pack, which is not a cruft pack, has the object, too. The
	 * file of this pack gets the present time.
	 */
	tmppack_write(&f.t, "objects", "pack-2", f.packed, 1, false);
	assert_true(freshen(&f, &f.packed[0].oid));
	assert_false(is_new(f.pack_path));
	tmprepo_release(&f.t);
}

/*
 * freshen_object() ignores a copy of an object if its pack was removed after
 * the object database was opened, or if the name of the pack starts with a dot.
 */
static void test_no_pack(void **state)
{
	struct fixture f;
	struct odb *odb;

	fixture_init(&f);
	assert_int_equal(odb_open(&odb, &f.t.repo, NULL, NULL), 0);
	assert_int_equal(sys_unlink(f.pack_path, NULL), 0);
	assert_false(freshen_object(odb, &f.packed[0].oid));
	odb_close(odb);
	tmppack_write(&f.t, "objects", ".tmp-1-pack-1", f.packed, 1, false);
	assert_false(freshen(&f, &f.packed[0].oid));
	tmprepo_release(&f.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_copy),
		cmocka_unit_test(test_cruft),
		cmocka_unit_test(test_no_pack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
