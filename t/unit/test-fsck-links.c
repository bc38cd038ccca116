/* SPDX-License-Identifier: MIT */
/*
 * Tests of check/fsck-links.c, which finds missing and unreachable objects.
 * They prove that the results equal those of a slow model, for the fast
 * algorithm and for the algorithm that reads every object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check/fsck-objects.h"
#include "t/unit/random.h"
#include "t/unit/walkrepo.h"

struct heard {
	struct walkrepo *f;
	size_t broken, mistyped, missing, unreachable;
	/*
	 * Indexed like r.objects. `left`: the object was reported as
	 * unreachable. `dangling`: the object was also reported as one to which
	 * no object refers.
	 */
	bool *left;
	bool *dangling;
	struct oid last_missing;
};

static int on_report(void *ctx, const struct fsck_report *report,
		     struct error *err)
{
	return 0;
}

static int on_corrupt(void *ctx, const struct oid *oid, const struct pack *pack,
		      const char *path, const struct error *why,
		      struct error *err)
{
	return 0;
}

static int on_broken(void *ctx, const struct fsck_links_object *from,
		     const struct fsck_links_object *to, struct error *err)
{
	((struct heard *)ctx)->broken++;
	return 0;
}

static int on_mistyped(void *ctx, const struct fsck_links_object *from,
		       const struct fsck_links_object *to,
		       enum object_type actual, struct error *err)
{
	((struct heard *)ctx)->mistyped++;
	return 0;
}

static int on_missing(void *ctx, const struct fsck_links_object *object,
		      struct error *err)
{
	struct heard *h = ctx;

	h->missing++;
	h->last_missing = object->oid;
	return 0;
}

static int on_unreachable(void *ctx, const struct fsck_links_object *object,
			  bool used, struct error *err)
{
	struct heard *h = ctx;
	uint32_t nr = randrepo_find(&h->f->h.r, &object->oid);

	assert_int_equal(object->type, h->f->h.r.objects[nr].type);
	h->unreachable++;
	h->left[nr] = true;
	h->dangling[nr] = !used;
	return 0;
}

/*
 * Runs a check. The roots are `root` and, unless NULL, the missing object
 * `absent`, which is added twice.
 */
static void run(struct walkrepo *f, struct heard *h, uint32_t root,
		const struct oid *absent)
{
	const struct fsck_scan_events scan_events = {on_report, on_corrupt,
						     NULL, NULL};
	const struct fsck_links_events events = {
		on_broken, on_mistyped, on_missing, on_unreachable, h, NULL};
	struct fsck_rules rules;
	struct fsck_scan scan;
	struct fsck_links l;

	*h = (struct heard){f, .left = walkrepo_set(),
			    .dangling = walkrepo_set()};
	fsck_rules_init(&rules, f->odb->algo, false);
	fsck_scan_init(&scan);
	scan.space = &f->w.space;
	scan.rules = &rules;
	scan.events = &scan_events;
	assert_int_equal(fsck_scan_run(&scan, NULL), 0);
	assert_int_equal(fsck_links_init(&l, &f->w, &scan, &events, NULL), 0);
	assert_true(fsck_links_root(&l, &f->h.r.objects[root].oid, OBJ_NONE,
				    NULL) > 0);
	for (int i = 0; absent && i < 2; i++)
		assert_int_equal(fsck_links_root(&l, absent, OBJ_TREE, NULL),
				 0);
	assert_int_equal(fsck_links_reach(&l, NULL), 0);
	assert_int_equal(fsck_links_leftover(&l, NULL), 0);
	fsck_links_release(&l);
	fsck_scan_release(&scan);
	fsck_rules_release(&rules);
}

static void heard_release(struct heard *h)
{
	free(h->left);
	free(h->dangling);
}

/*
 * Checks that the unreachable objects are those that `root` does not reach.
 * Dangling objects must be the unreachable ones to which no unreachable object
 * refers.
 */
static void check_model(struct walkrepo *f, const struct heard *h,
			uint32_t root)
{
	struct randrepo *r = &f->h.r;
	bool *reached = walkrepo_set(), *named = walkrepo_set();

	randrepo_reach(r, reached, root);
	for (uint32_t i = 0; i < r->nr; i++)
		for (uint32_t k = 0; k < r->objects[i].ref_nr; k++)
			if (!reached[i])
				named[r->objects[i].refs[k]] = true;
	for (uint32_t i = 0; i < r->nr; i++) {
		assert_int_equal(h->left[i], !reached[i]);
		if (!reached[i])
			assert_int_equal(h->dangling[i], !named[i]);
	}
	free(reached);
	free(named);
}

static void test_whole(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 6; i++) {
		struct walkrepo f;
		struct heard h;
		uint32_t root;

		walkrepo_init(&f, i & 1 ? HASH_SHA256 : HASH_SHA1, &seed, 50,
			      10);
		root = walkrepo_some_commit(&f);
		run(&f, &h, root, NULL);
		assert_int_equal(h.missing + h.broken + h.mistyped, 0);
		check_model(&f, &h, root);
		heard_release(&h);
		walkrepo_release(&f);
	}
}

/*
 * Adds a commit with the given ids as its tree and its parent. The ids may be
 * those of missing objects. Returns the commit's index in r.objects[].
 */
static uint32_t add_commit(struct walkrepo *f, const char *tree,
			   const char *parent)
{
	struct buf data = BUF_INIT;
	uint32_t nr;

	buf_printf(&data,
		   "tree %s\nparent %s\nauthor a <a> 1 +0000\n"
		   "committer a <a> 1 +0000\n\n",
		   tree, parent);
	nr = randrepo_add(&f->h.r, OBJ_COMMIT, &data, NULL, 0);
	buf_release(&data);
	randrepo_store(&f->h.r);
	walkrepo_reopen(f);
	return nr;
}

static void test_damaged(void **state)
{
	static const char ones[] = "1111111111111111111111111111111111111111";
	static const char twos[] = "2222222222222222222222222222222222222222";
	char hex[OID_MAX_HEX_LEN + 1];
	uint64_t seed = random_seed();
	struct walkrepo f;
	struct heard h;
	uint32_t root;

	walkrepo_init(&f, HASH_SHA1, &seed, 20, 5);
	root = add_commit(&f, ones, twos);
	run(&f, &h, root, NULL);
	assert_int_equal(h.broken, 2);
	assert_int_equal(h.missing, 2);
	heard_release(&h);

	/*
	 * The header "tree" of this commit has the id of a commit, which is
	 * reported as an object of the wrong type.
	 */
	oid_to_hex(hex, &f.h.r.objects[f.h.r.commits[0]].oid, HASH_SHA1);
	root = add_commit(&f, hex, hex);
	run(&f, &h, root, NULL);
	assert_int_equal(h.mistyped, 1);
	assert_int_equal(h.missing, 0);
	heard_release(&h);
	walkrepo_release(&f);
}

static void test_absent_root(void **state)
{
	struct oid absent = {{3}};
	uint64_t seed = random_seed();
	struct walkrepo f;
	struct heard h;

	walkrepo_init(&f, HASH_SHA1, &seed, 10, 2);
	run(&f, &h, walkrepo_some_commit(&f), &absent);
	assert_int_equal(h.missing, 1);
	assert_int_equal(h.last_missing.bytes[0], 3);
	assert_int_equal(h.broken, 0);
	heard_release(&h);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_absent_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
