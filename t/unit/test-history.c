/* SPDX-License-Identifier: MIT */
/* walk/history.c: commits in memory against what was stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"

static void check_commit(struct walkrepo *w, uint32_t nr)
{
	const struct randrepo_object *o = &w->r.objects[nr];
	const struct history *h = &w->walk.history;
	uint32_t c = walkrepo_commit(w, nr);

	assert_int_equal(walkrepo_nr(w, h->commits[c].obj_pos), nr);
	assert_int_equal(walkrepo_nr(w, h->commits[c].tree_pos), o->refs[0]);
	assert_int_equal(h->commits[c].parent_nr, o->ref_nr - 1);
	for (uint32_t i = 0; i + 1 < o->ref_nr; i++) {
		uint32_t p = history_parents(h, c)[i];

		assert_int_equal(walkrepo_nr(w, h->commits[p].obj_pos),
				 o->refs[i + 1]);
	}
	assert_int_equal(history_find(h, h->commits[c].obj_pos), c);
}

static void commits_are_as_stored(void **state)
{
	uint64_t seed = random_seed();
	const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (int i = 0; i < 2; i++) {
		struct walkrepo w;

		walkrepo_init(&w, algos[i], 60, &seed);
		/* newest first: parents are added before they are parsed */
		for (uint32_t k = w.r.commit_nr; k-- > 0;)
			check_commit(&w, w.r.commits[k]);
		walkrepo_release(&w);
	}
}

/* A commit that is cut has no parents; all others keep theirs. */
static void shallow_commits_have_no_parents(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;
	struct walk cut;
	uint32_t nr, pos, c;

	walkrepo_init(&w, HASH_SHA1, 40, &seed);
	for (nr = w.r.commits[w.r.commit_nr - 1]; w.r.objects[nr].ref_nr < 2;)
		nr = w.r.commits[randrepo_below(&w.r, w.r.commit_nr)];
	assert_int_equal(walk_open(&cut, w.odb, &w.r.objects[nr].oid, 1, NULL),
			 0);
	assert_int_equal(
		objspace_add(&cut.space, w.r.objects[nr].oid.bytes, &pos), 0);
	assert_int_equal(history_add(&cut.history, pos, &c), 0);
	assert_int_equal(history_parse(&cut.history, c, NULL), 0);
	assert_int_equal(cut.history.commits[c].parent_nr, 0);
	c = walkrepo_commit(&w, nr);
	assert_true(w.walk.history.commits[c].parent_nr > 0);
	walk_close(&cut);
	walkrepo_release(&w);
}

static void other_objects_are_refused(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct oid absent = {{9}};
	struct walkrepo w;
	uint32_t c, pos;

	walkrepo_init(&w, HASH_SHA1, 4, &seed);
	pos = walkrepo_pos(&w, w.r.objects[w.r.commits[0]].refs[0]);
	assert_int_equal(history_find(&w.walk.history, pos), HISTORY_NONE);
	assert_int_equal(history_add(&w.walk.history, pos, &c), 0);
	assert_int_equal(history_parse(&w.walk.history, c, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "is not a commit"));
	assert_int_equal(objspace_add(&w.walk.space, absent.bytes, &pos), 0);
	assert_int_equal(history_add(&w.walk.history, pos, &c), 0);
	assert_int_equal(history_parse(&w.walk.history, c, &err), ERR_MISSING);
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commits_are_as_stored),
		cmocka_unit_test(shallow_commits_have_no_parents),
		cmocka_unit_test(other_objects_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
