/* SPDX-License-Identifier: MIT */
/* repack/prune-packed.c: which loose objects go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "repack/prune-packed.h"
#include "sys/io.h"
#include "t/unit/tmppack.h"

static void count(void *ctx, const char *path)
{
	assert_true(sys_exists(path));
	++*(unsigned *)ctx;
}

/* Loose objects that a pack has go; others stay. */
static void loose_objects(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"},
					  {.type = OBJ_BLOB, .text = "two\n"}};
	char name[256], hex[OID_MAX_HEX_LEN + 1];
	unsigned removed_nr;
	struct tmprepo t;
	struct odb *odb;
	struct oid one, three;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", packed, 2, false);
	tmppack_loose(&t, "objects", &one, OBJ_BLOB, "one\n", 4);
	tmppack_loose(&t, "objects", &three, OBJ_BLOB, "three\n", 6);
	for (unsigned i = 0; i < 2; i++) {
		struct prune_packed_options options = {
			.removing = count,
			.ctx = &removed_nr,
			.dry_run = !i,
		};

		removed_nr = 0;
		assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
		assert_int_equal(removed_nr, 1);
		oid_to_hex(hex, &one, HASH_SHA1);
		snprintf(name, sizeof(name), "%s/%.2s", t.objects, hex);
		assert_int_equal(sys_exists(name), !i);
	}
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	assert_false(odb_has_loose(odb, &one));
	assert_true(odb_has_loose(odb, &three));
	odb_close(odb);
	oid_to_hex(hex, &three, HASH_SHA1);
	snprintf(name, sizeof(name), "objects/%.2s/%s", hex, hex + 2);
	tmprepo_remove(&t, name);
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(loose_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
