/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/newobj.c, which lists for each commit the trees and blobs that
 * its parents do not have at the same path (new objects). Each list is compared
 * with lists of all paths. Unions of lists are compared with all objects that
 * the commits reach.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"

/* Commits whose new objects are listed. Parents come before their children. */
struct request {
	uint32_t *commits;
	size_t nr;
	/* Indexed like r.objects: whether the object is one of `commits`. */
	bool *in;
};

/*
 * Chooses the commits that some random tips reach. If `bounded` is true, leaves
 * out all commits that one random commit reaches.
 */
static void choose(struct walkrepo *f, struct request *req, bool bounded)
{
	struct randrepo *r = &f->h.r;
	bool *want = walkrepo_set(), *have = walkrepo_set();

	for (uint32_t i = randrepo_below(r, 4) + 1; i-- > 0;)
		randrepo_reach(r, want, walkrepo_some_commit(f));
	if (bounded)
		randrepo_reach(r, have, walkrepo_some_commit(f));
	req->commits = mem_alloc(r->commit_nr, sizeof(*req->commits));
	assert_non_null(req->commits);
	req->in = walkrepo_set();
	req->nr = 0;
	for (uint32_t i = 0; i < r->commit_nr; i++) {
		uint32_t c, nr = r->commits[i];

		if (!want[nr] || have[nr])
			continue;
		req->in[nr] = true;
		c = walkrepo_commit(f, nr);
		assert_int_equal(history_parse(&f->w.history, c, NULL), 0);
		req->commits[req->nr++] = c;
	}
	free(want);
	free(have);
}

static void request_release(struct request *req)
{
	free(req->commits);
	free(req->in);
}

static void compute(struct walkrepo *f, const struct request *req,
		    struct newobj_set *set,
		    const struct newobj_options *options)
{
	struct error err = ERROR_INIT;

	*set = (struct newobj_set)NEWOBJ_SET_INIT;
	if (newobj_compute(set, &f->w.history, req->commits, req->nr, options,
			   &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(set->nr, req->nr);
}

/*
 * Checks the list of new objects of one commit. Trees must come first, and
 * objects of one type must be in the order of their paths.
 */
static void check_list(struct walkrepo *f, const struct newobj_list *list,
		       uint32_t commit)
{
	const struct randrepo_object *o = &f->h.r.objects[commit];
	uint32_t parents[16], nr = 0, at[2] = {0, list->tree_nr};
	struct pathlist expect;

	for (uint32_t i = 1; i < o->ref_nr && nr < TREEDIFF_MAX_PARENTS; i++)
		parents[nr++] = randhist_tree(&f->h, o->refs[i]);
	pathlist_new(&f->h.r, &expect, o->refs[0], parents, nr);
	for (size_t i = 0; i < expect.nr; i++) {
		const struct pathlist_item *p = &expect.items[i];
		bool is_blob = f->h.r.objects[p->nr].type == OBJ_BLOB;
		const struct treediff_object *item =
			&list->items[at[is_blob]++];

		assert_int_equal(walkrepo_nr(f, item->obj_pos), p->nr);
		assert_int_equal(item->name_hash,
				 name_hash_add(0, p->path, strlen(p->path)));
	}
	assert_int_equal(at[0], list->tree_nr);
	assert_int_equal(at[1], list->nr);
	free(expect.items);
}

static bool *union_of(struct walkrepo *f, const struct newobj_set *set)
{
	bool *all = walkrepo_set();

	for (size_t i = 0; i < set->nr; i++)
		for (uint32_t k = 0; k < set->lists[i].nr; k++)
			all[walkrepo_nr(f, set->lists[i].items[k].obj_pos)] =
				true;
	return all;
}

/*
 * Checks the union of all lists: it must contain all objects in the trees of
 * the requested commits, and no other objects.
 *
 * `bounded`: objects in the trees of parents outside of the request may be
 * missing.
 */
static void check_union(struct walkrepo *f, const struct request *req,
			const struct newobj_set *set, bool bounded)
{
	const struct randrepo *r = &f->h.r;
	bool *all = union_of(f, set), *may = walkrepo_set();
	bool *need_not = walkrepo_set();

	for (uint32_t i = 0; i < r->commit_nr; i++) {
		const struct randrepo_object *o = &r->objects[r->commits[i]];

		if (!req->in[r->commits[i]])
			continue;
		randrepo_reach(r, may, o->refs[0]);
		for (uint32_t k = 1; k < o->ref_nr; k++)
			if (!req->in[o->refs[k]])
				randrepo_reach(
					r, need_not,
					randhist_tree(&f->h, o->refs[k]));
	}
	for (uint32_t i = 0; i < r->nr; i++) {
		assert_true(may[i] || !all[i]);
		assert_true(all[i] || !may[i] || (bounded && need_not[i]));
	}
	free(all);
	free(may);
	free(need_not);
}

static void check_same(const struct newobj_set *a, const struct newobj_set *b)
{
	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		assert_int_equal(a->lists[i].tree_nr, b->lists[i].tree_nr);
		assert_int_equal(a->lists[i].nr, b->lists[i].nr);
		if (a->lists[i].nr)
			assert_memory_equal(
				a->lists[i].items, b->lists[i].items,
				a->lists[i].nr * sizeof(*a->lists->items));
	}
}

static void one_request(struct walkrepo *f, bool bounded, unsigned i)
{
	struct newobj_options options = {.threads = 1};
	struct newobj_set lists, other;
	struct request req;

	choose(f, &req, bounded);
	compute(f, &req, &lists, &options);
	for (size_t k = 0; k < req.nr; k += 1 + i % 3)
		check_list(f, &lists.lists[k],
			   walkrepo_commit_obj(f, req.commits[k]));
	check_union(f, &req, &lists, bounded);
	options.threads = i % 4;
	options.memory_limit = i % 5 * 10000;
	compute(f, &req, &other, &options);
	check_same(&lists, &other);
	newobj_release(&other);
	options.union_only = true;
	compute(f, &req, &other, &options);
	check_union(f, &req, &other, bounded);
	newobj_release(&other);
	newobj_release(&lists);
	request_release(&req);
}

static void random_requests(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 140, 20);
		for (unsigned i = 0; i < 50; i++)
			one_request(&f, i & 1, i);
		walkrepo_release(&f);
	}
}

/*
 * Reverses the order of the commits in the request. The computed lists must
 * have the same order as the request.
 */
static void check_turned(struct walkrepo *f, struct request *req,
			 struct newobj_set *lists,
			 const struct newobj_options *options)
{
	struct newobj_set other;
	size_t nr = req->nr;

	for (size_t i = 0; i < nr / 2; i++) {
		uint32_t c = req->commits[i];
		struct newobj_list list = lists->lists[i];

		req->commits[i] = req->commits[nr - 1 - i];
		req->commits[nr - 1 - i] = c;
		lists->lists[i] = lists->lists[nr - 1 - i];
		lists->lists[nr - 1 - i] = list;
	}
	compute(f, req, &other, options);
	check_same(lists, &other);
	newobj_release(&other);
}

/*
 * The request has more commits than fit into one chunk. Several threads must
 * compute the same lists as one thread. For so many commits, the tested code
 * makes tables that speed up look-ups (space.tables).
 */
static void many_commits(void **state)
{
	struct newobj_options options = {.threads = 1};
	struct newobj_set lists, other;
	uint64_t seed = random_seed();
	struct request req;
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 700, 0);
	req.in = walkrepo_set();
	req.nr = f.h.r.commit_nr;
	req.commits = mem_alloc(req.nr, sizeof(*req.commits));
	for (size_t i = 0; i < req.nr; i++) {
		req.in[f.h.r.commits[i]] = true;
		req.commits[i] = walkrepo_commit(&f, f.h.r.commits[i]);
		assert_int_equal(
			history_parse(&f.w.history, req.commits[i], NULL), 0);
	}
	compute(&f, &req, &lists, &options);
	assert_non_null(f.w.space.tables);
	for (options.threads = 2; options.threads < 5; options.threads++) {
		options.union_only = false;
		compute(&f, &req, &other, &options);
		assert_true(other.chunk_nr > 1);
		check_same(&lists, &other);
		newobj_release(&other);
		options.union_only = true;
		compute(&f, &req, &other, &options);
		check_union(&f, &req, &other, false);
		newobj_release(&other);
	}
	options.union_only = false;
	check_turned(&f, &req, &lists, &options);
	newobj_release(&lists);
	request_release(&req);
	walkrepo_release(&f);
}

/*
 * Objects in options.known are left out of the lists. All other objects stay.
 */
static void known_objects(void **state)
{
	struct newobj_options options = {.threads = 2};
	uint64_t seed = random_seed();
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 120, 10);
	for (int i = 0; i < 20; i++) {
		bool *reached = walkrepo_set();
		struct newobj_set lists, other;
		struct request req;
		struct bitset known;

		choose(&f, &req, i & 1);
		randrepo_reach(&f.h.r, reached, walkrepo_some_commit(&f));
		for (uint32_t k = 0; k < f.h.r.nr; k++)
			walkrepo_pos(&f, k);
		assert_int_equal(bitset_init(&known, objspace_end(&f.w.space)),
				 0);
		for (uint32_t k = 0; k < f.h.r.nr; k++)
			if (reached[k])
				bitset_set(&known, walkrepo_pos(&f, k));
		options.known = NULL;
		compute(&f, &req, &lists, &options);
		options.known = &known;
		compute(&f, &req, &other, &options);
		for (size_t c = 0; c < req.nr; c++) {
			uint32_t at = 0;

			for (uint32_t k = 0; k < lists.lists[c].nr; k++) {
				const struct treediff_object *item =
					&lists.lists[c].items[k];

				if (bitset_test(&known, item->obj_pos))
					continue;
				assert_true(at < other.lists[c].nr);
				assert_memory_equal(&other.lists[c].items[at++],
						    item, sizeof(*item));
			}
			assert_int_equal(at, other.lists[c].nr);
		}
		newobj_release(&lists);
		newobj_release(&other);
		bitset_release(&known);
		request_release(&req);
		free(reached);
	}
	walkrepo_release(&f);
}

static void missing_tree(void **state)
{
	struct newobj_options options = {.threads = 2};
	struct newobj_set set = NEWOBJ_SET_INIT;
	uint64_t seed = random_seed();
	struct randtree t = {.nr = 0};
	struct error err = ERROR_INIT;
	struct walkrepo f;
	uint32_t tree, nr, c;

	randhist_init(&f.h, HASH_SHA1, &seed);
	randtree_put(&t, "a/b", 1);
	tree = randtree_store(&f.h.r, &t, "");
	nr = randhist_commit_tree(&f.h.r, tree, NULL, 0, 10);
	randrepo_store_one(&f.h.r, "objects", nr);
	walkrepo_open(&f);
	c = walkrepo_commit(&f, nr);
	assert_int_equal(history_parse(&f.w.history, c, NULL), 0);
	assert_int_equal(
		newobj_compute(&set, &f.w.history, &c, 1, &options, &err),
		ERR_MISSING);
	assert_non_null(strstr(err.msg, "is missing"));
	newobj_release(&set);
	assert_int_equal(
		newobj_compute(&set, &f.w.history, NULL, 0, &options, &err), 0);
	newobj_release(&set);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(many_commits),
		cmocka_unit_test(known_objects),
		cmocka_unit_test(missing_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
