/* SPDX-License-Identifier: MIT */
/* islands/islands.c: what the tip island holds, and which bases it allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "islands/islands.h"
#include "t/unit/walkrepo.h"

/* Mark what an object reaches without going through commits' parents. */
static void mark_tree(const struct randrepo *r, uint32_t nr, bool *marks)
{
	const struct randrepo_object *o = &r->objects[nr];

	if (marks[nr])
		return;
	marks[nr] = true;
	if (o->type == OBJ_TREE)
		for (uint32_t i = 0; i < o->ref_nr; i++)
			if (r->objects[o->refs[i]].type != OBJ_COMMIT)
				mark_tree(r, o->refs[i], marks);
}

static uint32_t tree_of(const struct randrepo *r, uint32_t commit)
{
	const struct randrepo_object *o = &r->objects[commit];

	for (uint32_t i = 0; i < o->ref_nr; i++)
		if (r->objects[o->refs[i]].type == OBJ_TREE)
			return o->refs[i];
	fail_msg("a commit without tree");
	return 0;
}

static void the_trees_of_tips(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA1, &seed, 20, 5);
	for (uint32_t tip_nr = 0; tip_nr < 4; tip_nr++) {
		struct islands islands = ISLANDS_INIT;
		struct walk_tips tips = WALK_TIPS_INIT;
		bool *marks = calloc(RANDREPO_MAX, sizeof(*marks));
		size_t nr = 0;

		assert_non_null(marks);
		for (uint32_t i = 0; i < tip_nr; i++) {
			uint32_t c = w.h.r.commits[randrepo_below(
				&w.h.r, w.h.r.commit_nr)];

			assert_int_equal(walk_add_tip(&w.w, &tips,
						      &w.h.r.objects[c].oid,
						      false, NULL),
					 0);
			mark_tree(&w.h.r, tree_of(&w.h.r, c), marks);
		}
		assert_int_equal(islands_paint_tip(&islands, &w.w, &tips, NULL),
				 0);
		for (uint32_t i = 0; i < w.h.r.nr; i++) {
			assert_int_equal(
				islands_in_tip(&islands, walkrepo_pos(&w, i)),
				marks[i]);
			nr += marks[i];
		}
		assert_int_equal(nr > 0, tip_nr > 0);
		free(marks);
		walk_tips_release(&tips);
		islands_release(&islands);
	}
	walkrepo_release(&w);
}

/* Trees and blobs that references name. */
static void others_among_tips(void **state)
{
	uint64_t seed = random_seed();
	struct islands islands = ISLANDS_INIT;
	struct walk_tips tips = WALK_TIPS_INIT;
	struct walkrepo w;
	uint32_t blob;

	walkrepo_init(&w, HASH_SHA1, &seed, 5, 5);
	blob = randrepo_blob(&w.h.r, 777);
	randrepo_store(&w.h.r);
	walkrepo_reopen(&w);
	assert_int_equal(walk_add_tip(&w.w, &tips, &w.h.r.objects[blob].oid,
				      false, NULL),
			 0);
	assert_int_equal(islands_paint_tip(&islands, &w.w, &tips, NULL), 0);
	for (uint32_t i = 0; i < w.h.r.nr; i++)
		assert_int_equal(islands_in_tip(&islands, walkrepo_pos(&w, i)),
				 i == blob);
	walk_tips_release(&tips);
	islands_release(&islands);
	walkrepo_release(&w);
}

static void which_bases(void **state)
{
	struct islands islands = ISLANDS_INIT;

	assert_true(islands_may_delta(NULL, 1, 2));
	assert_int_equal(bitset_init(&islands.tip, 4), 0);
	bitset_set(&islands.tip, 1);
	bitset_set(&islands.tip, 2);
	assert_true(islands_may_delta(&islands, 1, 2));
	assert_false(islands_may_delta(&islands, 1, 3));
	assert_true(islands_may_delta(&islands, 3, 1));
	assert_true(islands_may_delta(&islands, 3, 0));
	/* Numbers given out after painting are in no island. */
	assert_false(islands_may_delta(&islands, 1, 1000));
	assert_true(islands_may_delta(&islands, 1000, 3));
	islands_release(&islands);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trees_of_tips),
		cmocka_unit_test(others_among_tips),
		cmocka_unit_test(which_bases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
