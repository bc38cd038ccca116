/* SPDX-License-Identifier: MIT */
/* repo/ref-pack.h: when packing is worth it. What it does is tested against
 * stock Git, in t/t3210-pack-refs.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "repo/ref-pack.h"

/* Sizes of packed-refs, and the number of loose refs at which Git 2.55 packs.
 */
static void test_limit(void **state)
{
	static const struct {
		uint64_t size;
		size_t limit;
	} measured[] = {
		{0, 16}, {46, 16}, {5538, 25}, {55939, 45}, {568940, 60},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_NR(measured); i++)
		assert_int_equal(ref_pack_limit(measured[i].size),
				 measured[i].limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
