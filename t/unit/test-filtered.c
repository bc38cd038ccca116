/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/filtered.c, which filters lists of objects by type and size.
 * They prove that the same objects remain as in a slow computation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/filterset.h"
#include "t/unit/walkrepo.h"
#include "walk/filtered.h"

/* Fills *items with all objects that the wants of the request reach. */
static void list_all(struct walk_items *items, struct walkrepo *f,
		     const struct filterset *s)
{
	for (uint32_t nr = 0; nr < f->h.r.nr; nr++)
		if (s->levels[nr])
			assert_int_equal(
				walk_items_append(items, walkrepo_pos(f, nr),
						  f->h.r.objects[nr].type, nr),
				0);
}

static void filtered_lists(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 60, 20);
	for (int i = 0; i < 300; i++) {
		struct walk_items items = {NULL, 0, 0};
		struct bitset spared = BITSET_INIT;
		struct filterset s;
		uint32_t expect = 0;

		filterset_init(&s, &f.h.r, &f.w, false);
		list_all(&items, &f, &s);
		assert_int_equal(filtered_spared(&spared, &f.w, &s.tips,
						 s.filter_wants, NULL),
				 0);
		assert_int_equal(
			filtered_items(&items, &f.w, &s.filter, &spared, NULL),
			0);
		for (uint32_t nr = 0; nr < f.h.r.nr; nr++)
			expect += filterset_has(&s, &f.h.r, nr);
		assert_int_equal(items.nr, expect);
		for (size_t k = 0; k < items.nr; k++)
			assert_true(filterset_has(&s, &f.h.r,
						  items.items[k].name_hash));
		bitset_release(&spared);
		free(items.items);
		filterset_release(&s);
	}
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filtered_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
