/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/named-packs.c, a list of pack names: a pack is found by its
 * name, with or without an extension.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packs/named-packs.h"

static void names(void **state)
{
	struct named_packs names = NAMED_PACKS_INIT;
	struct pack pack = {.name = "pack-2"};

	assert_false(named_packs_has_name(NULL, "pack-1"));
	assert_false(named_packs_has_name(&names, "pack-1"));
	assert_int_equal(named_packs_add(&names, "pack-1.pack"), 0);
	assert_int_equal(named_packs_add(&names, "pack-2.idx"), 0);
	assert_int_equal(named_packs_add(&names, "pack-3"), 0);
	assert_int_equal(named_packs_add(&names, ".pack"), 0);
	assert_true(named_packs_has_name(&names, "pack-1"));
	assert_true(named_packs_has(&names, &pack));
	assert_true(named_packs_has_name(&names, "pack-3"));
	assert_true(named_packs_has_name(&names, ".pack"));
	assert_false(named_packs_has_name(&names, "pack-1.pack"));
	assert_false(named_packs_has_name(&names, "pack-"));
	named_packs_release(&names);
	assert_int_equal(names.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
