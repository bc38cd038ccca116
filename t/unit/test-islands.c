/* SPDX-License-Identifier: MIT */
/*
 * Tests of islands/, the delta islands. They prove that an object is in the
 * islands of the refs that reach it. A delta base must be in all islands of its
 * delta.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "islands/islands.h"
#include "t/unit/walkrepo.h"
#include "walk/ref-tips.h"

/*
 * Marks the object `nr`. If it is a tree, also marks all trees and blobs below
 * it.
 */
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
		assert_int_equal(islands_mark_tip(&islands, &w.w, &tips, NULL),
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

/*
 * A chosen tip may be a tree or a blob. The tip island (objects of shallow
 * clones) must contain this object.
 */
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
	assert_int_equal(islands_mark_tip(&islands, &w.w, &tips, NULL), 0);
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
	/*
	 * An object that was found after the islands were marked is in no delta
	 * island.
	 */
	assert_false(islands_may_delta(&islands, 1, 1000));
	assert_true(islands_may_delta(&islands, 1000, 3));
	islands_release(&islands);
}

#define FORKS 5

/*
 * Writes refs of some forks, and refs that belong to no fork. The refs point to
 * objects of all types. Sets reached[fork][i] for each object that the refs of
 * the fork reach.
 */
static void write_fork_refs(struct walkrepo *w, bool **reached)
{
	struct randrepo *r = &w->h.r;

	for (uint32_t fork = 0; fork < FORKS; fork++) {
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t nr = k < 3 ? r->commits[randrepo_below(
						      r, r->commit_nr)]
					    : randrepo_below(r, r->nr);
			char name[64];

			snprintf(name, sizeof(name), "refs/forks/%u/heads/%u",
				 fork, k);
			randrepo_ref(r, name, nr);
			randrepo_reach(r, reached[fork], nr);
		}
	}
	randrepo_ref(r, "refs/others/x", r->commits[r->commit_nr - 1]);
}

/*
 * Enumerates all objects that refs reach. For each commit, also lists its new
 * objects.
 */
static void enumerate(struct walk_result *found, struct walkrepo *w,
		      struct refs *refs)
{
	struct walk_options options = {.objects = true, .keep_lists = true};
	struct walk_tips wants = WALK_TIPS_INIT, none = WALK_TIPS_INIT;

	assert_int_equal(ref_tips_add(&w->w, &wants, refs, "", NULL), 0);
	assert_int_equal(
		walk_enumerate(found, &w->w, &wants, &none, &options, NULL), 0);
	walk_tips_release(&wants);
}

/*
 * Marks the delta islands of all refs, and of `head_nr` heads. The elements of
 * `heads` are indexes in r.objects[].
 */
static void mark_all(struct islands *islands, struct walkrepo *w,
		     const uint32_t *heads, size_t head_nr)
{
	static const char config[] = "[pack]\n"
				     "island = refs/forks/([0-9]+)/\n"
				     "islandCore = 3\n";
	struct walk_result found = WALK_RESULT_INIT;
	struct walk_tips head_tips = WALK_TIPS_INIT;
	struct config *c = &w->h.r.t.repo.config;
	struct error err = ERROR_INIT;
	struct refs *refs;

	assert_int_equal(config_parse(c, config, sizeof(config) - 1,
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(refs_open(&refs, &w->h.r.t.repo, NULL), 0);
	enumerate(&found, w, refs);
	for (size_t i = 0; i < head_nr; i++)
		assert_int_equal(walk_add_tip(&w->w, &head_tips,
					      &w->h.r.objects[heads[i]].oid,
					      false, NULL),
				 0);
	if (islands_mark_refs(islands, &w->w, &found, refs, &head_tips, NULL,
			      &err) < 0)
		fail_msg("%s", err.msg);
	walk_tips_release(&head_tips);
	walk_result_release(&found);
	refs_close(refs);
	config_release(c);
}

static bool reached_by_more(bool **reached, uint32_t sub, uint32_t set)
{
	for (uint32_t fork = 0; fork < FORKS; fork++)
		if (reached[fork][sub] && !reached[fork][set])
			return false;
	return true;
}

/*
 * An object is in the delta island of a fork if, and only if, a ref of the fork
 * reaches it.
 */
static void what_references_reach(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 6; round++) {
		struct islands islands = ISLANDS_INIT;
		bool *reached[FORKS];
		struct walkrepo w;

		walkrepo_init(&w, round % 2 ? HASH_SHA256 : HASH_SHA1, &seed,
			      15, 5);
		for (uint32_t fork = 0; fork < FORKS; fork++)
			reached[fork] = walkrepo_set();
		write_fork_refs(&w, reached);
		mark_all(&islands, &w, NULL, 0);
		assert_int_equal(islands.sets.island_nr, FORKS);
		for (uint32_t i = 0; i < w.h.r.nr; i++) {
			uint32_t pos = walkrepo_pos(&w, i);
			uint32_t other = randrepo_below(&w.h.r, w.h.r.nr);

			/*
			 * The delta islands are numbered in the order of their
			 * names.
			 */
			for (uint32_t fork = 0; fork < FORKS; fork++)
				assert_int_equal(
					island_sets_has(
						&islands.sets,
						islands_set(&islands, pos),
						fork),
					reached[fork][i]);
			assert_int_equal(islands_in_core(&islands, pos),
					 reached[3][i]);
			assert_int_equal(
				islands_may_delta(&islands, pos,
						  walkrepo_pos(&w, other)),
				reached_by_more(reached, i, other));
		}
		for (uint32_t fork = 0; fork < FORKS; fork++)
			free(reached[fork]);
		islands_release(&islands);
		walkrepo_release(&w);
	}
}

/*
 * Many forks have the same branch. Only one set of islands is stored: the set
 * of all forks.
 */
static void one_set_for_one_value(void **state)
{
	uint64_t seed = random_seed();
	struct islands islands = ISLANDS_INIT;
	struct walkrepo w;
	uint32_t tip;

	walkrepo_init(&w, HASH_SHA1, &seed, 5, 5);
	tip = w.h.r.commits[w.h.r.commit_nr - 1];
	for (uint32_t fork = 0; fork < 100; fork++) {
		char name[64];

		snprintf(name, sizeof(name), "refs/forks/%u/heads/x", fork);
		randrepo_ref(&w.h.r, name, tip);
	}
	mark_all(&islands, &w, NULL, 0);
	assert_int_equal(islands.sets.nr, 2); /* with the empty set */
	assert_int_equal(
		island_sets_count(&islands.sets,
				  islands_set(&islands, walkrepo_pos(&w, tip))),
		100);
	islands_release(&islands);
	walkrepo_release(&w);
}

/*
 * Each head commit adds two islands: one with all objects that the head
 * reaches, and one with all objects that its tree reaches.
 */
static void heads_and_their_trees(void **state)
{
	uint64_t seed = random_seed();
	struct islands islands = ISLANDS_INIT;
	bool *reached[FORKS], *history[2], *trees[2];
	struct walkrepo w;
	uint32_t heads[2];

	walkrepo_init(&w, HASH_SHA1, &seed, 15, 5);
	for (uint32_t fork = 0; fork < FORKS; fork++)
		reached[fork] = walkrepo_set();
	write_fork_refs(&w, reached);
	for (uint32_t k = 0; k < 2; k++) {
		char name[32];

		heads[k] = walkrepo_some_commit(&w);
		snprintf(name, sizeof(name), "refs/heads/%u", k);
		randrepo_ref(&w.h.r, name, heads[k]);
		history[k] = walkrepo_set();
		trees[k] = walkrepo_set();
		randrepo_reach(&w.h.r, history[k], heads[k]);
		mark_tree(&w.h.r, tree_of(&w.h.r, heads[k]), trees[k]);
	}
	mark_all(&islands, &w, heads, 2);
	assert_int_equal(islands.sets.island_nr, FORKS + 4);
	for (uint32_t i = 0; i < w.h.r.nr; i++) {
		uint32_t pos = walkrepo_pos(&w, i);
		uint32_t set = islands_set(&islands, pos);

		for (uint32_t fork = 0; fork < FORKS; fork++)
			assert_int_equal(
				island_sets_has(&islands.sets, set, fork),
				reached[fork][i]);
		for (uint32_t k = 0; k < 2; k++) {
			assert_int_equal(island_sets_has(&islands.sets, set,
							 FORKS + 2 * k),
					 history[k][i]);
			assert_int_equal(island_sets_has(&islands.sets, set,
							 FORKS + 2 * k + 1),
					 trees[k][i]);
		}
		assert_int_equal(islands_in_tip(&islands, pos),
				 trees[0][i] || trees[1][i]);
	}
	for (uint32_t fork = 0; fork < FORKS; fork++)
		free(reached[fork]);
	for (uint32_t k = 0; k < 2; k++) {
		free(history[k]);
		free(trees[k]);
	}
	islands_release(&islands);
	walkrepo_release(&w);
}

/*
 * Sets the expected layer (part of a pack) to `layer`, for object `nr` and for
 * all objects that it reaches. An object that is in an earlier layer stays
 * there.
 */
static void expect_layers(const struct randrepo *r, enum islands_layer *layers,
			  uint32_t nr, enum islands_layer layer)
{
	bool *reached = walkrepo_set();

	randrepo_reach(r, reached, nr);
	for (uint32_t i = 0; i < r->nr; i++)
		if (reached[i] && layer < layers[i])
			layers[i] = layer;
	free(reached);
}

static void mark_layers(struct islands *islands, struct walkrepo *w)
{
	struct walk_result found = WALK_RESULT_INIT;
	struct error err = ERROR_INIT;
	struct refs *refs;

	assert_int_equal(refs_open(&refs, &w->h.r.t.repo, NULL), 0);
	enumerate(&found, w, refs);
	if (islands_mark_layers(islands, &w->w, &found, refs, &err) < 0)
		fail_msg("%s", err.msg);
	walk_result_release(&found);
	refs_close(refs);
}

static void check_layers(struct walkrepo *w, const struct islands *islands,
			 const enum islands_layer *layers)
{
	const struct randrepo *r = &w->h.r;

	for (uint32_t i = 0; i < r->nr; i++) {
		uint32_t pos = walkrepo_pos(w, i);
		uint32_t other = randrepo_below(&w->h.r, r->nr);

		assert_int_equal(islands_layer(islands, pos), layers[i]);
		assert_int_equal(
			islands_may_delta(islands, pos, walkrepo_pos(w, other)),
			layers[other] <= layers[i]);
	}
}

/*
 * A pack has layers. The first layer has the objects that HEAD's branch
 * reaches, the next layer those that branches and tags add, and the last layer
 * all others. A tag object is in the layer of its commit. A tree to which a ref
 * points is in the last layer.
 */
static void the_layers_of_clones(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 6; round++) {
		enum islands_layer layers[RANDREPO_MAX];
		struct islands islands = ISLANDS_INIT;
		struct walkrepo w;
		uint32_t main_nr, side, pull, in_side, in_main;

		walkrepo_init(&w, round % 2 ? HASH_SHA256 : HASH_SHA1, &seed,
			      15, 5);
		for (uint32_t i = 0; i < RANDREPO_MAX; i++)
			layers[i] = ISLANDS_LAYER_REST;
		main_nr = walkrepo_some_commit(&w);
		side = walkrepo_some_commit(&w);
		pull = walkrepo_some_commit(&w);
		in_main = randrepo_tag(&w.h.r, randrepo_tag(&w.h.r, main_nr));
		in_side = randrepo_tag(&w.h.r, walkrepo_some_commit(&w));
		randrepo_store(&w.h.r);
		walkrepo_reopen(&w);
		randrepo_ref(&w.h.r, "refs/heads/side", side);
		randrepo_ref(&w.h.r, "refs/changes/1", pull);
		randrepo_ref(&w.h.r, "refs/tags/main", in_main);
		randrepo_ref(&w.h.r, "refs/tags/side", in_side);
		randrepo_ref(&w.h.r, "refs/tags/tree", tree_of(&w.h.r, pull));
		mark_layers(&islands, &w);
		assert_null(islands.layers);
		assert_int_equal(islands_layer(&islands, 0),
				 ISLANDS_LAYER_HEAD);
		randrepo_ref(&w.h.r, "refs/heads/main", main_nr);
		mark_layers(&islands, &w);
		expect_layers(&w.h.r, layers, side, ISLANDS_LAYER_BRANCHES);
		expect_layers(&w.h.r, layers, in_side, ISLANDS_LAYER_BRANCHES);
		expect_layers(&w.h.r, layers, in_main, ISLANDS_LAYER_HEAD);
		layers[in_side] = layers[w.h.r.objects[in_side].refs[0]];
		check_layers(&w, &islands, layers);
		islands_release(&islands);
		walkrepo_release(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trees_of_tips),
		cmocka_unit_test(others_among_tips),
		cmocka_unit_test(which_bases),
		cmocka_unit_test(what_references_reach),
		cmocka_unit_test(one_set_for_one_value),
		cmocka_unit_test(heads_and_their_trees),
		cmocka_unit_test(the_layers_of_clones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
