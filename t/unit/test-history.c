/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/history.c, the table of parsed commits. They prove that commits
 * are the same, whether they come from objects, from a commit-graph, or from
 * threads that decode ahead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph-write/commit-graph-write.h"
#include "t/unit/walkrepo.h"

static void check_commit(struct walkrepo *f, uint32_t c)
{
	const struct history *h = &f->w.history;
	const struct history_commit *commit = &h->commits[c];
	const struct randrepo_object *o =
		&f->h.r.objects[walkrepo_commit_obj(f, c)];
	struct commit_view view;

	assert_int_equal(o->type, OBJ_COMMIT);
	assert_int_equal(commit_parse(&view, o->data.data, o->data.len,
				      f->odb->algo, NULL),
			 0);
	assert_true(commit->parsed);
	assert_int_equal(commit->generation == HISTORY_GENERATION_UNKNOWN,
			 !h->graph);
	assert_int_equal(commit->date, view.committer_date);
	assert_int_equal(walkrepo_nr(f, commit->tree_pos), o->refs[0]);
	assert_int_equal(commit->parent_nr, o->ref_nr - 1);
	for (uint32_t i = 0; i < commit->parent_nr; i++)
		assert_int_equal(
			walkrepo_commit_obj(f, history_parents(h, c)[i]),
			o->refs[i + 1]);
}

static void parse(struct walkrepo *f, uint32_t c)
{
	struct error err = ERROR_INIT;

	if (history_parse(&f->w.history, c, &err) < 0)
		fail_msg("%s", err.msg);
}

/*
 * Parses random commits. Some are parsed twice, and some were decoded ahead by
 * threads.
 */
static void random_commits(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 120, 20);
		for (unsigned threads = 1; threads < 4; threads++) {
			f.w.history.threads = threads;
			for (int i = 0; i < 400; i++) {
				uint32_t nr = walkrepo_some_commit(&f);
				uint32_t c = walkrepo_commit(&f, nr);

				assert_int_equal(walkrepo_commit(&f, nr), c);
				assert_int_equal(
					history_find(&f.w.history,
						     walkrepo_pos(&f, nr)),
					c);
				if (i == 20)
					history_read_ahead(&f.w.history);
				parse(&f, c);
				check_commit(&f, c);
			}
			assert_int_equal(!!f.w.history.ahead, threads > 1);
			for (uint32_t c = 0; c < f.w.history.nr; c++) {
				parse(&f, c);
				check_commit(&f, c);
			}
			walkrepo_reopen(&f);
		}
		walkrepo_release(&f);
	}
}

/*
 * Parses commits from a commit-graph. They must be right, whether their tree
 * ids are read at once, or later by history_tree().
 */
static void commits_from_a_graph(void **state)
{
	uint64_t seed = random_seed();

	for (int lazy = 0; lazy < 2; lazy++) {
		struct commit_graph_options o;
		struct walkrepo f;

		walkrepo_init(&f, HASH_SHA1, &seed, 80, 0);
		randrepo_all_refs(&f.h.r);
		assert_int_equal(
			commit_graph_options_load(&o, &f.h.r.t.repo, NULL), 0);
		assert_int_equal(commit_graph_write(f.odb, &o, NULL), 1);
		walkrepo_reopen(&f);
		f.w.history.lazy_trees = lazy;
		for (int i = 0; i < 200; i++) {
			uint32_t nr = walkrepo_some_commit(&f), tree,
				 graph_pos = 0;
			uint32_t c = walkrepo_commit(&f, nr);

			parse(&f, c);
			assert_true(
				history_graph_pos(&f.w.history, c, &graph_pos));
			assert_memory_equal(
				commit_graph_oid_raw(f.w.history.graph,
						     graph_pos),
				f.h.r.objects[nr].oid.bytes, 20);
			assert_int_equal(
				history_tree(&f.w.history, c, &tree, NULL), 0);
			assert_int_equal(walkrepo_nr(&f, tree),
					 f.h.r.objects[nr].refs[0]);
			check_commit(&f, c);
		}
		walkrepo_release(&f);
	}
}

/*
 * A commit on the shallow boundary has no parents. This also holds if a thread
 * has decoded the commit ahead.
 */
static void shallow_boundary(void **state)
{
	uint64_t seed = random_seed();

	for (unsigned threads = 1; threads < 3; threads++) {
		struct walkrepo f;
		uint32_t cut = 0, c;

		walkrepo_init(&f, HASH_SHA1, &seed, 60, 0);
		walk_close(&f.w);
		while (f.h.r.objects[f.h.r.commits[cut]].ref_nr < 2)
			cut++;
		cut = f.h.r.commits[cut];
		assert_int_equal(walk_open(&f.w, f.odb, &f.h.r.objects[cut].oid,
					   1, NULL),
				 0);
		f.w.history.threads = threads;
		walkrepo_commit(&f, f.h.r.commits[59]);
		walkrepo_commit(&f, cut);
		history_read_ahead(&f.w.history);
		c = walkrepo_commit(&f, cut);
		parse(&f, c);
		assert_int_equal(f.w.history.commits[c].parent_nr, 0);
		assert_int_equal(
			walkrepo_nr(&f, f.w.history.commits[c].tree_pos),
			randhist_tree(&f.h, cut));
		walkrepo_release(&f);
	}
}

static void fails(struct walkrepo *f, uint32_t c, int code, const char *text)
{
	struct error err = ERROR_INIT;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(history_parse(&f->w.history, c, &err), code);
		assert_int_equal(err.code, code);
		assert_non_null(strstr(err.msg, text));
		assert_false(f->w.history.commits[c].parsed);
	}
}

static void errors(void **state)
{
	uint64_t seed = random_seed();
	struct buf bad = BUF_INIT;
	struct walkrepo f;
	struct oid absent;
	uint32_t pos, c, nr;

	randhist_init(&f.h, HASH_SHA1, &seed);
	randhist_grow_by(&f.h, 5, false);
	buf_printf(&bad, "tree 1234\n");
	nr = randrepo_add(&f.h.r, OBJ_COMMIT, &bad, NULL, 0);
	randtree_store_packs(&f.h.r);
	walkrepo_open(&f);
	fails(&f, walkrepo_commit(&f, nr), ERR_CORRUPT,
	      "commit without a valid tree line");
	fails(&f, walkrepo_commit(&f, randhist_tree(&f.h, f.h.r.commits[4])),
	      ERR_CORRUPT, "is not a commit");
	memset(&absent, 3, sizeof(absent));
	assert_int_equal(objspace_add(&f.w.space, absent.bytes, &pos), 0);
	assert_int_equal(history_find(&f.w.history, pos), HISTORY_NONE);
	assert_int_equal(history_add(&f.w.history, pos, &c), 0);
	assert_int_equal(history_find(&f.w.history, pos), c);
	fails(&f, c, ERR_MISSING, "is missing");
	memset(&absent, 4, sizeof(absent));
	assert_int_equal(objspace_add(&f.w.space, absent.bytes, &pos), 0);
	assert_int_equal(history_add(&f.w.history, pos, &c), 0);
	tmprepo_write(&f.h.r.t,
		      "objects/04/04040404040404040404040404040404040404", "");
	fails(&f, c, ERR_MISSING, "not a zlib stream");
	buf_release(&bad);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_commits),
		cmocka_unit_test(commits_from_a_graph),
		cmocka_unit_test(shallow_boundary),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
