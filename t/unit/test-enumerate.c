/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/enumerate.c, which lists the objects of a request. They prove
 * that the lists for random requests equal those of a recursive search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"

/*
 * A random request. The arrays are indexed like r->objects. `want`: the wants
 * reach the object. `have`: the haves reach the object.
 */
struct request {
	struct walk_tips wants, haves;
	bool *want, *have;
	/*
	 * Indexed like r->objects. Set if the result may lack the object. This
	 * is so if a have of type tag, tree or blob reaches the object, or if a
	 * boundary commit's tree has it.
	 */
	bool *excluded;
};

static void add_tips(struct walkrepo *f, struct request *req, bool wants,
		     uint32_t max)
{
	struct randrepo *r = &f->h.r;

	for (uint32_t i = randrepo_below(r, max + 1); i-- > 0;) {
		uint32_t nr = randrepo_below(r, 4) ? walkrepo_some_commit(f)
						   : randrepo_below(r, r->nr);

		assert_int_equal(walk_add_tip(&f->w,
					      wants ? &req->wants : &req->haves,
					      &r->objects[nr].oid, false, NULL),
				 0);
		randrepo_reach(r, wants ? req->want : req->have, nr);
	}
}

static void request_init(struct request *req, struct walkrepo *f)
{
	*req = (struct request){WALK_TIPS_INIT, WALK_TIPS_INIT, walkrepo_set(),
				walkrepo_set(), walkrepo_set()};
	add_tips(f, req, true, 5);
	add_tips(f, req, false, 4);
}

static void request_release(struct request *req)
{
	walk_tips_release(&req->wants);
	walk_tips_release(&req->haves);
	free(req->want);
	free(req->have);
	free(req->excluded);
}

/*
 * Checks that the result has exactly the commits that the wants reach and that
 * the haves do not reach.
 */
static void check_commits(struct walkrepo *f, const struct request *req,
			  const struct walk_result *result)
{
	const struct randrepo *r = &f->h.r;
	bool *found = walkrepo_set();

	for (size_t i = 0; i < result->revs.nr; i++)
		found[walkrepo_commit_obj(f, result->revs.commits[i])] = true;
	for (uint32_t i = 0; i < r->commit_nr; i++) {
		uint32_t nr = r->commits[i];

		assert_int_equal(found[nr], req->want[nr] && !req->have[nr]);
	}
	free(found);
}

/*
 * Marks in `expect` the objects that the result must have: objects in the trees
 * of the result's commits, and tips that are no commits. Sets req->excluded[]
 * for haves that are no commits, and for the objects that these haves reach. If
 * `boundary` is true, also sets req->excluded[] for objects in the trees of
 * boundary commits.
 */
static void expect_objects(struct walkrepo *f, struct request *req,
			   const struct walk_result *result, bool boundary,
			   bool *expect)
{
	const struct randrepo *r = &f->h.r;

	for (size_t i = 0; i < result->revs.nr; i++) {
		uint32_t nr = walkrepo_commit_obj(f, result->revs.commits[i]);

		randrepo_reach(r, expect, randhist_tree(&f->h, nr));
	}
	for (size_t i = 0; i < req->wants.others.nr; i++) {
		uint32_t nr = walkrepo_nr(f,
					  req->wants.others.items[i].obj_pos);

		if (r->objects[nr].type == OBJ_TREE)
			randrepo_reach(r, expect, nr);
		expect[nr] = true;
	}
	for (size_t i = 0; i < req->haves.others.nr; i++) {
		uint32_t nr = walkrepo_nr(f,
					  req->haves.others.items[i].obj_pos);

		if (r->objects[nr].type == OBJ_TREE)
			randrepo_reach(r, req->excluded, nr);
		req->excluded[nr] = true;
	}
	for (size_t i = 0; boundary && i < result->revs.boundary_nr; i++) {
		uint32_t nr = walkrepo_commit_obj(f, result->revs.boundary[i]);

		randrepo_reach(r, req->excluded, randhist_tree(&f->h, nr));
	}
}

/*
 * The walk may have computed result->uninteresting: the trees and blobs that
 * the haves' commits reach. If so, checks this set, sets req->excluded[] for
 * these trees and blobs, and returns true. If `in_part` is true, the set may
 * lack some of them.
 */
static bool exclude_uninteresting(struct walkrepo *f, struct request *req,
				  const struct walk_result *result,
				  bool in_part)
{
	const struct randrepo *r = &f->h.r;
	bool *uninteresting = walkrepo_set();

	for (size_t i = 0; i < req->haves.commit_nr; i++)
		randrepo_reach(r, uninteresting,
			       walkrepo_commit_obj(f, req->haves.commits[i]));
	for (uint32_t at = 0;
	     result->uninteresting.bits && at < objspace_end(&f->w.space);
	     at++) {
		uint32_t nr = walkrepo_nr(f, at);
		enum object_type type = r->objects[nr].type;

		if (type != OBJ_TREE && type != OBJ_BLOB)
			continue;
		if (in_part)
			assert_true(uninteresting[nr] ||
				    !bitset_get(&result->uninteresting, at));
		else
			assert_int_equal(bitset_get(&result->uninteresting, at),
					 uninteresting[nr]);
		req->excluded[nr] |= uninteresting[nr];
	}
	free(uninteresting);
	return result->uninteresting.bits;
}

static void check_objects(struct walkrepo *f, struct request *req,
			  const struct walk_result *result, bool boundary,
			  bool in_part)
{
	bool *expect = walkrepo_set(), *found = walkrepo_set();

	expect_objects(f, req, result, boundary, expect);
	boundary |= exclude_uninteresting(f, req, result, in_part);
	in_part &= result->uninteresting.bits != 0;
	for (size_t i = 0; i < result->objects.nr; i++) {
		const struct walk_item *item = &result->objects.items[i];
		uint32_t nr = walkrepo_nr(f, item->obj_pos);

		assert_int_equal(item->type, f->h.r.objects[nr].type);
		assert_int_not_equal(item->type, OBJ_COMMIT);
		assert_false(found[nr]);
		found[nr] = true;
		assert_true(expect[nr] && (in_part || !req->excluded[nr]));
	}
	for (uint32_t i = 0; i < f->h.r.nr; i++) {
		if (expect[i] && !req->have[i])
			assert_true(found[i]);
		/*
		 * With `in_part`, the walk may have excluded only some of the
		 * objects that the haves reach. So each expected object must be
		 * found, unless it may be excluded.
		 *
		 * Without `in_part`, exactly the expected objects that are not
		 * excluded must be found. This is checked only if the walk
		 * excludes the objects of boundary trees, or if there are no
		 * boundary commits.
		 */
		if (in_part)
			assert_true(found[i] || !expect[i] || req->excluded[i]);
		else if (boundary || !result->revs.boundary_nr)
			assert_int_equal(found[i],
					 expect[i] && !req->excluded[i]);
	}
	free(expect);
	free(found);
}

static void one_request(struct walkrepo *f, unsigned i)
{
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = i % 8,
		.exclude_boundary = i & 1,
		.exclude_uninteresting = i % 5 > 2,
		.use_tree_changes = i % 5 > 3,
		.exact_commits = true,
		.keep_lists = i & 2,
		.set_only = !(i & 2) && i & 16,
		.threads = i % 3,
	};
	struct error err = ERROR_INIT;
	struct request req;

	request_init(&req, f);
	if (walk_enumerate(&result, &f->w, &req.wants, &req.haves, &options,
			   &err) < 0)
		fail_msg("%s", err.msg);
	check_commits(f, &req, &result);
	if (options.objects)
		check_objects(f, &req, &result, options.exclude_boundary,
			      options.use_tree_changes);
	else
		assert_int_equal(result.objects.nr, 0);
	assert_true(options.exclude_uninteresting ||
		    !result.uninteresting.bits);
	assert_int_equal(result.lists.nr, options.objects && options.keep_lists
						  ? result.revs.nr
						  : 0);
	walk_result_release(&result);
	assert_null(result.revs.commits);
	request_release(&req);
}

static void random_requests(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 140, 20);
		for (unsigned i = 0; i < 600; i++) {
			if (i % 100 == 0)
				walkrepo_reopen(&f);
			one_request(&f, i);
		}
		walkrepo_release(&f);
	}
}

/*
 * Several options change how a walk enumerates objects. With each option, the
 * walk must find the same objects.
 */
static void everything(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 600, 20);
	for (unsigned i = 0; i < 6; i++) {
		struct walk_result result = WALK_RESULT_INIT;
		struct walk_tips none = WALK_TIPS_INIT;
		struct walk_options options = {
			.objects = true,
			.keep_lists = i & 1,
			.threads = 1 + i / 2,
		};
		struct request req = {WALK_TIPS_INIT, WALK_TIPS_INIT,
				      walkrepo_set(), walkrepo_set(),
				      walkrepo_set()};

		walkrepo_reopen(&f);
		for (uint32_t k = 0; k < f.h.r.nr; k++) {
			if (req.want[f.h.r.nr - 1 - k])
				continue;
			assert_int_equal(
				walk_add_tip(
					&f.w, &req.wants,
					&f.h.r.objects[f.h.r.nr - 1 - k].oid,
					false, NULL),
				0);
			randrepo_reach(&f.h.r, req.want, f.h.r.nr - 1 - k);
		}
		assert_int_equal(walk_enumerate(&result, &f.w, &req.wants,
						&none, &options, NULL),
				 0);
		check_commits(&f, &req, &result);
		check_objects(&f, &req, &result, false, false);
		assert_int_equal(result.revs.nr + result.objects.nr, f.h.r.nr);
		walk_result_release(&result);
		request_release(&req);
	}
	walkrepo_release(&f);
}

/*
 * If a want reaches a missing blob or tree, the error message names the missing
 * object.
 */
static void missing_objects(void **state)
{
	uint64_t seed = random_seed();
	struct randtree t = {.nr = 0};
	struct walkrepo f;
	uint32_t tree, commit;

	randhist_init(&f.h, HASH_SHA1, &seed);
	randtree_put(&t, "a/b", 1);
	randtree_put(&t, "c", 2);
	tree = randtree_store(&f.h.r, &t, "");
	commit = randhist_commit_tree(&f.h.r, tree, NULL, 0, 10);
	for (uint32_t gone = 0; gone < commit; gone++) {
		struct walk_result result = WALK_RESULT_INIT;
		struct walk_options options = {
			.objects = true,
			.set_only = gone & 1,
		};
		struct walk_tips wants = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
		struct oid *oid = &f.h.r.objects[gone].oid;
		char hex[OID_MAX_HEX_LEN + 1], name[128];
		struct error err = ERROR_INIT;

		for (uint32_t i = 0; i < f.h.r.nr; i++)
			randrepo_store_one(&f.h.r, "objects", i);
		oid_to_hex(hex, oid, HASH_SHA1);
		snprintf(name, sizeof(name), "objects/%.2s/%s", hex, hex + 2);
		tmprepo_remove(&f.h.r.t, name);
		walkrepo_open(&f);
		assert_int_equal(walk_add_tip(&f.w, &wants,
					      &f.h.r.objects[commit].oid, false,
					      NULL),
				 0);
		assert_int_equal(walk_enumerate(&result, &f.w, &wants, &none,
						&options, &err),
				 ERR_MISSING);
		assert_non_null(strstr(err.msg, hex));
		walk_result_release(&result);
		walk_tips_release(&wants);
		walkrepo_close(&f);
	}
	randhist_release(&f.h);
}

/*
 * A tree is missing, but only a have reaches it. This is no error. The client
 * has the objects in this tree. The walk cannot know this, so it may list them
 * all the same.
 */
static void missing_behind_haves(void **state)
{
	uint64_t seed = random_seed();
	struct randtree t = {.nr = 0};
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = true,
		.set_only = true,
		.exclude_boundary = true,
		.exclude_uninteresting = true,
	};
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	struct error err = ERROR_INIT;
	uint32_t shared, gone, old, want, sent = 0;
	struct walkrepo f;

	randhist_init(&f.h, HASH_SHA1, &seed);
	shared = randrepo_blob(&f.h.r, 1);
	gone = f.h.r.nr;
	randtree_put(&t, "a/b", 1);
	old = randhist_commit_tree(&f.h.r, randtree_store(&f.h.r, &t, ""), NULL,
				   0, 10);
	randtree_put(&t, "a/d", 3);
	want = randhist_commit_tree(&f.h.r, randtree_store(&f.h.r, &t, ""),
				    &old, 1, 20);
	assert_int_equal(f.h.r.objects[gone].type, OBJ_TREE);
	for (uint32_t i = 0; i < f.h.r.nr; i++)
		if (i != gone)
			randrepo_store_one(&f.h.r, "objects", i);
	walkrepo_open(&f);
	assert_int_equal(walk_add_tip(&f.w, &wants, &f.h.r.objects[want].oid,
				      false, NULL),
			 0);
	assert_int_equal(
		walk_add_tip(&f.w, &haves, &f.h.r.objects[old].oid, true, NULL),
		0);
	assert_int_equal(
		walk_enumerate(&result, &f.w, &wants, &haves, &options, &err),
		0);
	assert_int_equal(err.code, 0);
	assert_false(result.uninteresting.bits);
	for (size_t i = 0; i < result.objects.nr; i++)
		sent += walkrepo_nr(&f, result.objects.items[i].obj_pos) ==
			shared;
	assert_int_equal(sent, 1);
	walk_result_release(&result);
	walk_tips_release(&wants);
	walk_tips_release(&haves);
	walkrepo_close(&f);
	randhist_release(&f.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(everything),
		cmocka_unit_test(missing_objects),
		cmocka_unit_test(missing_behind_haves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
