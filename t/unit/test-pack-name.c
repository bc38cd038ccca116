/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/pack-name.h: which file names belong to a pack, and lists of
 * names of packs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "pack/pack-name.h"

static void test_packs(void **state)
{
	static const char *const names[] = {
		"pack-1",      "loose-1",
		"PACK-1",      "foo",
		"1234",        "pack-",
		"-x",          "a b",
		"pack-1.pack", "a.idx",
		"tmp_pack_x",  "idx",
		"a.",          "multi-pack-index",
	};
	static const char *const extensions[] = {
		".pack",   ".idx",      ".rev", ".bitmap",
		".mtimes", ".promisor", ".keep"};
	char file_name[64];

	for (size_t i = 0; i < ARRAY_NR(names); i++)
		for (size_t k = 0; k < ARRAY_NR(extensions); k++) {
			strcpy(file_name, names[i]);
			strcat(file_name, extensions[k]);
			assert_int_equal(pack_name_len(file_name),
					 strlen(names[i]));
		}
}

static void test_other_files(void **state)
{
	static const char *const names[] = {
		"",
		".",
		".idx",
		"pack-1",
		"pack",
		"pack-1.PACK",
		"pack-1.idx2",
		"pack-1.pack.",
		"pack-1.pack.lock",
		"tmp_pack_x",
		".tmp-1-pack-1.pack",
		".foo.idx",
		"multi-pack-index",
		"multi-pack-index.lock",
		"multi-pack-index-1.rev",
		"multi-pack-index-1.bitmap",
	};

	for (size_t i = 0; i < ARRAY_NR(names); i++)
		assert_int_equal(pack_name_len(names[i]), 0);
}

static void test_temporary(void **state)
{
	assert_true(pack_name_is_temporary(".tmp-1-pack-1"));
	assert_false(pack_name_is_temporary("pack-1"));
	assert_false(pack_name_is_temporary("tmp_pack_x"));
}

/* A pack is found by its name, which was added with or without an extension. */
static void test_list(void **state)
{
	struct strlist names = STRLIST_INIT;

	assert_false(pack_names_has(NULL, "pack-1"));
	assert_false(pack_names_has(&names, "pack-1"));
	assert_int_equal(pack_names_add(&names, "pack-1.pack"), 0);
	assert_int_equal(pack_names_add(&names, "pack-2.idx"), 0);
	assert_int_equal(pack_names_add(&names, "pack-3"), 0);
	assert_int_equal(pack_names_add(&names, ".pack"), 0);
	assert_true(pack_names_has(&names, "pack-1"));
	assert_true(pack_names_has(&names, "pack-2"));
	assert_true(pack_names_has(&names, "pack-3"));
	assert_true(pack_names_has(&names, ".pack"));
	assert_false(pack_names_has(&names, "pack-1.pack"));
	assert_false(pack_names_has(&names, "pack-"));
	strlist_release(&names);
	assert_int_equal(names.nr, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_temporary),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
