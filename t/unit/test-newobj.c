/* SPDX-License-Identifier: MIT */
/* walk/newobj.c: unions of what commits add, against their closures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"

struct all {
	uint32_t *commits; /* commit_nr, parents first */
	uint32_t nr;
};

static void load_all(struct all *all, struct walkrepo *w)
{
	all->nr = w->r.commit_nr;
	all->commits = calloc(all->nr, sizeof(*all->commits));
	assert_non_null(all->commits);
	/* the repository made parents before their children */
	for (uint32_t i = 0; i < all->nr; i++)
		all->commits[i] = walkrepo_commit(w, w->r.commits[i]);
}

static void take(struct walkrepo *w, const struct newobj_list *list, bool *set)
{
	for (uint32_t i = 0; i < list->nr; i++) {
		uint32_t nr = walkrepo_nr(w, list->items[i].obj_pos);

		assert_int_equal(w->r.objects[nr].type,
				 i < list->tree_nr ? OBJ_TREE : OBJ_BLOB);
		set[nr] = true;
	}
}

static void check_closure(const struct walkrepo *w, const bool *reach,
			  const bool *set)
{
	for (uint32_t i = 0; i < w->r.nr; i++)
		if (w->r.objects[i].type != OBJ_COMMIT)
			assert_int_equal(set[i], reach[i]);
}

/* reach(c) is the union of new(a) over all ancestors a of c. */
static void ancestors_make_the_closure(void **state)
{
	uint64_t seed = random_seed();
	struct newobj_options options = {.threads = 2};
	struct newobj_set set = NEWOBJ_SET_INIT;
	struct walkrepo w;
	struct all all;

	walkrepo_init(&w, HASH_SHA1, 80, &seed);
	load_all(&all, &w);
	assert_int_equal(newobj_compute(&set, &w.walk.history, all.commits,
					all.nr, &options, NULL),
			 0);
	for (uint32_t i = 0; i < all.nr; i += 5) {
		bool *reach = calloc(RANDREPO_MAX, sizeof(*reach));
		bool *found = calloc(RANDREPO_MAX, sizeof(*found));

		assert_true(reach && found);
		randrepo_reach(&w.r, reach, w.r.commits[i]);
		for (uint32_t k = 0; k < all.nr; k++)
			if (reach[w.r.commits[k]])
				take(&w, &set.lists[k], found);
		check_closure(&w, reach, found);
		free(reach);
		free(found);
	}
	newobj_release(&set);
	free(all.commits);
	walkrepo_release(&w);
}

/* The same lists for any number of threads. */
static void threads_do_not_matter(void **state)
{
	uint64_t seed = random_seed();
	struct newobj_set sets[3] = {NEWOBJ_SET_INIT, NEWOBJ_SET_INIT,
				     NEWOBJ_SET_INIT};
	struct walkrepo w;
	struct all all;

	walkrepo_init(&w, HASH_SHA1, 600, &seed);
	load_all(&all, &w);
	for (unsigned t = 0; t < 3; t++) {
		struct newobj_options options = {.threads = t + 1};

		assert_int_equal(newobj_compute(&sets[t], &w.walk.history,
						all.commits, all.nr, &options,
						NULL),
				 0);
	}
	for (unsigned t = 1; t < 3; t++)
		for (uint32_t i = 0; i < all.nr; i++) {
			const struct newobj_list *a = &sets[0].lists[i];
			const struct newobj_list *b = &sets[t].lists[i];

			assert_int_equal(a->nr, b->nr);
			assert_int_equal(a->tree_nr, b->tree_nr);
			assert_memory_equal(a->items, b->items,
					    a->nr * sizeof(*a->items));
		}
	for (unsigned t = 0; t < 3; t++)
		newobj_release(&sets[t]);
	free(all.commits);
	walkrepo_release(&w);
}

/* Leaving out what an older commit lists loses nothing of the union. */
static void unions_are_complete(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;
	struct all all;
	bool *reach = calloc(RANDREPO_MAX, sizeof(*reach));

	assert_non_null(reach);
	walkrepo_init(&w, HASH_SHA256, 600, &seed);
	load_all(&all, &w);
	for (uint32_t i = 0; i < all.nr; i++)
		randrepo_reach(&w.r, reach, w.r.commits[i]);
	for (unsigned t = 1; t < 4; t++) {
		struct newobj_options options = {.threads = t,
						 .union_only = true};
		struct newobj_set set = NEWOBJ_SET_INIT;
		bool *found = calloc(RANDREPO_MAX, sizeof(*found));

		assert_non_null(found);
		assert_int_equal(newobj_compute(&set, &w.walk.history,
						all.commits, all.nr, &options,
						NULL),
				 0);
		for (uint32_t i = 0; i < all.nr; i++)
			take(&w, &set.lists[i], found);
		check_closure(&w, reach, found);
		newobj_release(&set);
		free(found);
	}
	free(reach);
	free(all.commits);
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ancestors_make_the_closure),
		cmocka_unit_test(threads_do_not_matter),
		cmocka_unit_test(unions_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
