/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/commit-ahead.c, in which threads decode commits before a walk
 * needs them. They prove that the commits of random histories are decoded
 * correctly, and that a broken commit is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "walk/history.h"

static void check_commit(struct walkrepo *f, uint32_t nr,
			 const struct ahead_commit *commit)
{
	const struct randrepo_object *o = &f->h.r.objects[nr];
	struct commit_view view;

	assert_int_equal(commit_parse(&view, o->data.data, o->data.len,
				      f->odb->algo, NULL),
			 0);
	assert_int_equal(commit->date, view.committer_date);
	assert_int_equal(walkrepo_nr(f, commit->tree_pos), o->refs[0]);
	assert_int_equal(commit->parent_nr, o->ref_nr - 1);
	for (uint32_t i = 0; i < commit->parent_nr; i++)
		assert_int_equal(walkrepo_nr(f, commit->parents[i]),
				 o->refs[i + 1]);
}

/*
 * Marks in `expect` the commits that must be decoded: commit `nr` and its
 * ancestors. The search stops at loose commits and at commit `cut` of the
 * shallow boundary, which are not decoded.
 */
static void expect_from(struct walkrepo *f, bool *expect, uint32_t nr,
			uint32_t cut)
{
	const struct randrepo_object *o = &f->h.r.objects[nr];

	if (o->type != OBJ_COMMIT || expect[nr] || nr == cut ||
	    walkrepo_pos(f, nr) >= f->odb->packed_nr)
		return;
	expect[nr] = true;
	for (uint32_t i = 1; i < o->ref_nr; i++)
		expect_from(f, expect, o->refs[i], cut);
}

static void check_all(struct walkrepo *f, const struct commit_ahead *ahead,
		      const bool *expect)
{
	struct ahead_commit commit;

	for (uint32_t i = 0; i < f->h.r.nr; i++) {
		bool got = commit_ahead_get(ahead, walkrepo_pos(f, i), &commit);

		assert_int_equal(got, expect[i]);
		if (got)
			check_commit(f, i, &commit);
	}
	assert_false(commit_ahead_get(ahead, UINT32_MAX, &commit));
}

static void run(struct walkrepo *f, unsigned threads, bool with_cut)
{
	struct randrepo *r = &f->h.r;
	struct oidmap cuts = OIDMAP_INIT;
	bool *expect = walkrepo_set();
	uint32_t from[5], cut = with_cut ? walkrepo_some_commit(f) : UINT32_MAX;
	struct commit_ahead *ahead;
	size_t nr = randrepo_below(r, 6);

	for (size_t i = 0; i < nr; i++) {
		uint32_t tip = walkrepo_some_commit(f);

		/* A tip can be any object, but only commits are decoded. */
		if (!randrepo_below(r, 8))
			tip = randrepo_below(r, r->nr);
		from[i] = walkrepo_pos(f, tip);
		expect_from(f, expect, tip, cut);
	}
	if (with_cut)
		assert_int_equal(oidmap_put(&cuts, &r->objects[cut].oid, 0), 0);
	ahead = commit_ahead_new(&f->w.space, with_cut ? &cuts : NULL, from, nr,
				 threads);
	assert_non_null(ahead);
	check_all(f, ahead, expect);
	commit_ahead_free(ahead);
	oidmap_release(&cuts);
	free(expect);
}

static void random_histories(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 150, 10);
		for (unsigned i = 0; i < 40; i++)
			run(&f, i % 5, i % 3 == 0);
		walkrepo_release(&f);
	}
	commit_ahead_free(NULL);
}

/*
 * A broken commit is not decoded. Commits that only the broken commit reaches
 * are not decoded either.
 */
static void broken_commit(void **state)
{
	struct tmppack_object objects[] = {
		{OBJ_COMMIT, "tree of mine\n", {{0}}},
		{OBJ_COMMIT, NULL, {{0}}},
		{OBJ_TREE, "no tree either", {{0}}},
	};
	uint64_t seed = random_seed();
	char hex[2][OID_MAX_HEX_LEN + 1], text[256];
	struct ahead_commit commit;
	struct commit_ahead *ahead;
	struct walkrepo f;
	uint32_t pos[2];

	randhist_init(&f.h, HASH_SHA1, &seed);
	for (int i = 0; i < 3; i += 2)
		tmppack_oid(&f.h.r.t, &objects[i].oid, objects[i].type,
			    objects[i].text, strlen(objects[i].text));
	snprintf(text, sizeof(text),
		 "tree %s\nparent %s\nauthor A <a> 1 +0000\n"
		 "committer A <a> 77 +0000\n\nx\n",
		 oid_to_hex(hex[0], &objects[2].oid, HASH_SHA1),
		 oid_to_hex(hex[1], &objects[0].oid, HASH_SHA1));
	objects[1].text = text;
	tmppack_write(&f.h.r.t, "objects", "pack-1", objects, 3, false);
	walkrepo_open(&f);
	for (int i = 0; i < 2; i++)
		assert_true(objspace_find(&f.w.space, objects[i].oid.bytes,
					  &pos[i]));
	ahead = commit_ahead_new(&f.w.space, NULL, &pos[1], 1, 2);
	assert_non_null(ahead);
	assert_false(commit_ahead_get(ahead, pos[0], &commit));
	assert_true(commit_ahead_get(ahead, pos[1], &commit));
	assert_int_equal(commit.date, 77);
	assert_int_equal(commit.parent_nr, 1);
	assert_int_equal(commit.parents[0], pos[0]);
	commit_ahead_free(ahead);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories),
		cmocka_unit_test(broken_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
