/* SPDX-License-Identifier: MIT */
/*
 * Tests of builtin/gc-need.c, which decides whether gc is needed. They prove
 * that it lists and chooses the right packs, and how it counts loose objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "builtin/gc-parts.h"
#include "t/unit/tmprepo.h"

static void add_pack(struct tmprepo *t, const char *base, const char *content)
{
	char name[128];

	snprintf(name, sizeof(name), "objects/pack/%s.pack", base);
	tmprepo_write(t, name, content);
	snprintf(name, sizeof(name), "objects/pack/%s.idx", base);
	tmprepo_write(t, name, "");
}

static size_t staying(const struct gc_packs *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->packs[i].name, name))
			return list->packs[i].stays;
	fail_msg("no %s", name);
	return 0;
}

static void test_packs(void **state)
{
	struct gc_packs list = {NULL, 0, 0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(gc_packs_list(&list, &t.repo, NULL), 0);
	assert_int_equal(list.nr, 0);
	assert_int_equal(gc_packs_keep(&list, 0), 0);
	add_pack(&t, "pack-a", "1234");
	add_pack(&t, "pack-b", "123456");
	add_pack(&t, "pack-c", "123456789");
	tmprepo_write(&t, "objects/pack/pack-b.keep", "");
	tmprepo_write(&t, "objects/pack/pack-c.mtimes", "");
	tmprepo_write(&t, "objects/pack/pack-d.pack", "no index");
	add_pack(&t, "loose-e", "12");
	add_pack(&t, "f", "1");
	add_pack(&t, ".tmp-1-pack-g", "1234567890");
	tmprepo_write(&t, "objects/pack/tmp_pack_x", "");
	assert_int_equal(gc_packs_list(&list, &t.repo, NULL), 0);
	assert_int_equal(list.nr, 5);
	assert_int_equal(gc_packs_count(&list), 4);
	assert_int_equal(gc_packs_keep(&list, 5), 1);
	assert_true(staying(&list, "pack-b.pack"));
	assert_int_equal(gc_packs_keep(&list, 1), 4);
	assert_false(staying(&list, "pack-c.pack"));
	assert_int_equal(gc_packs_keep(&list, 0), 1);
	assert_true(staying(&list, "pack-b.pack"));
	assert_false(staying(&list, "pack-a.pack"));
	gc_packs_release(&list);
	tmprepo_release(&t);
}

static void test_loose(void **state)
{
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(gc_has_many_loose(&t.repo, 1, NULL), 0);
	tmprepo_write(&t, "objects/17/tmp_obj_123", "");
	tmprepo_write(&t, "objects/17/12345678901234567890123456789012345678",
		      "");
	assert_int_equal(gc_has_many_loose(&t.repo, 1, NULL), 0);
	tmprepo_write(&t, "objects/17/12345678901234567890123456789012345679",
		      "");
	assert_int_equal(gc_has_many_loose(&t.repo, 1, NULL), 1);
	assert_int_equal(gc_has_many_loose(&t.repo, 256, NULL), 1);
	assert_int_equal(gc_has_many_loose(&t.repo, 257, NULL), 0);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs),
		cmocka_unit_test(test_loose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
