/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/filter-split.c, which splits the objects of a repack by an
 * object filter. Random filters, with and without conditions on paths, must
 * select the same objects as a slow computation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packs/pack-job-parts.h"
#include "t/unit/filterset.h"
#include "t/unit/walkrepo.h"

static void check_one(struct walkrepo *f, struct filterset *s)
{
	const struct walk_options options = {.objects = true};
	struct walk_tips none = WALK_TIPS_INIT;
	struct walk_result found = WALK_RESULT_INIT;
	struct bitset passed = BITSET_INIT;
	const struct filter_split split = {
		.walk = &f->w,
		.wants = &s->tips,
		.haves = &none,
		.found = &found,
	};
	size_t expect = 0;

	assert_int_equal(
		walk_enumerate(&found, &f->w, &s->tips, &none, &options, NULL),
		0);
	assert_int_equal(filter_split_passed(&passed, &split, &s->filter, NULL),
			 0);
	for (uint32_t nr = 0; nr < f->h.r.nr; nr++) {
		bool has = filterset_has(s, &f->h.r, nr);

		expect += has;
		assert_int_equal(bitset_get(&passed, walkrepo_pos(f, nr)), has);
	}
	assert_int_equal(bitset_count(&passed), expect);
	bitset_release(&passed);
	walk_result_release(&found);
}

static void check_many(bool with_paths)
{
	uint64_t seed = random_seed();
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 60, 20);
	for (int i = 0; i < 200; i++) {
		struct filterset s;

		filterset_init(&s, &f.h.r, &f.w, with_paths);
		filterset_walk(&s, &f.h.r);
		/*
		 * A split never applies the filter to wants. So requests that
		 * apply the filter to wants are skipped.
		 */
		if (!s.filter_wants)
			check_one(&f, &s);
		filterset_release(&s);
	}
	walkrepo_release(&f);
}

static void by_type_and_size(void **state)
{
	check_many(false);
}

static void by_path(void **state)
{
	check_many(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_type_and_size),
		cmocka_unit_test(by_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
