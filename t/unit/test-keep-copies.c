/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/keep-copies.c. A pack may store an old version of a file as a
 * delta of a newer version. If a branch or a new tag has the old version, the
 * tested code keeps a whole copy of it beside the pack. The tests prove which
 * versions get a copy, and that each copy has the right content.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "pack/inflate.h"
#include "packs/keep-deltas.h"
#include "t/unit/keptrepo.h"

#define OLD 10
#define OLDER 5

/* Returns the tree of a commit. */
static const struct oid *tree_of(const struct keptrepo *k, uint32_t nr)
{
	const struct randrepo_object *o = k->r.objects;

	return &o[o[k->commits[nr]].refs[0]].oid;
}

/* Repack the repository, and search deltas for all objects again. */
static void search_deltas(struct randrepo *r)
{
	struct repack_options options;
	struct repack_result result;

	bitmaprepo_options(&options, &r->t.repo);
	options.newpack.make.reuse_delta = false;
	assert_int_equal(repack_run(&result, &r->t.repo, &options, NULL), 0);
}

/*
 * Make a repository with two more branches, and with tags. Repack it without
 * keeping deltas.
 */
static void init(struct keptrepo *k)
{
	keptrepo_init(k, "[repack]\nkeptDeltas = 0\n");
	keptrepo_close(k);
	randrepo_ref(&k->r, "refs/heads/old", k->commits[OLD]);
	randrepo_ref(&k->r, "refs/heads/older", k->commits[OLDER]);
	randrepo_ref(&k->r, "refs/tags/same", k->commits[OLD]);
	randrepo_ref(&k->r, "refs/tags/blob", k->blobs[0]);
	for (uint32_t i = 11; i < 11 + KEEP_TAGS_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "refs/tags/v%u", i);
		randrepo_ref(&k->r, name, k->commits[i]);
	}
	search_deltas(&k->r);
	keptrepo_open(k);
}

/*
 * Only the newest tips are chosen, in this order: HEAD, the newest tags, other
 * branches. Each tree is listed once.
 */
static void newest_tips(void **state)
{
	struct keep_tips tips;
	struct keptrepo k;
	struct walk w;

	init(&k);
	assert_int_equal(walk_open(&w, k.odb, NULL, 0, NULL), 0);
	assert_int_equal(keep_tips_find(&tips, &w, k.refs, NULL), 0);
	assert_int_equal(tips.nr, 1 + KEEP_TAGS_MAX + 2);
	assert_true(
		oid_equal(&tips.trees[0], tree_of(&k, KEPTREPO_COMMITS - 1)));
	for (uint32_t i = 0; i < KEEP_TAGS_MAX; i++)
		assert_true(oid_equal(&tips.trees[1 + i],
				      tree_of(&k, 10 + KEEP_TAGS_MAX - i)));
	assert_true(oid_equal(&tips.trees[tips.nr - 2], tree_of(&k, OLD)));
	assert_true(oid_equal(&tips.trees[tips.nr - 1], tree_of(&k, OLDER)));
	walk_close(&w);
	keptrepo_release(&k);
}

struct got {
	struct oid targets[8];
	uint8_t *made[8];
	uint32_t size[8], len[8];
	size_t nr;
};

static int take(void *ctx, const struct kept_delta *copy, uint8_t *made)
{
	struct got *got = ctx;

	assert_true(kept_delta_is_copy(copy));
	assert_int_equal(copy->step, 0);
	assert_in_range(got->nr, 0, 7);
	got->targets[got->nr] = copy->target;
	got->size[got->nr] = copy->size;
	got->len[got->nr] = copy->len;
	got->made[got->nr++] = made;
	return 0;
}

/*
 * Make whole copies of objects in the trees of the tips OLD and OLDER. A whole
 * copy is the deflated object itself, and not a delta. `max_len`: maximum size
 * of all copies in bytes. `cost_max`: maximum cost of making the copies. The
 * unit is the cost of deflating one byte.
 */
static void make(struct got *got, struct keptrepo *k, uint64_t max_len,
		 uint64_t cost_max)
{
	struct kept_deltas none = KEPT_DELTAS_INIT;
	struct keep_tips tips = {.nr = 2};
	struct keep_copies_options options = {
		.tips = &tips,
		.pack = &k->odb->packs[0],
		.old = &none,
		.max_len = max_len,
		.cost_max = cost_max,
		.add = take,
		.ctx = got,
	};
	struct walk w;

	memset(got, 0, sizeof(*got));
	assert_int_equal(k->odb->pack_nr, 1);
	tips.trees[0] = *tree_of(k, OLD);
	tips.trees[1] = *tree_of(k, OLDER);
	assert_int_equal(walk_open(&w, k->odb, NULL, 0, NULL), 0);
	assert_int_equal(keep_copies_make(&options, &w), 0);
	walk_close(&w);
}

static void got_release(struct got *got)
{
	for (size_t i = 0; i < got->nr; i++)
		free(got->made[i]);
}

/*
 * In the trees of the tips OLD and OLDER, each blob gets a whole copy. The
 * copies inflate to the content of the blobs.
 */
static void copies_of_blobs(void **state)
{
	struct inflater *inflater = inflater_new();
	struct buf bytes = BUF_INIT;
	struct keptrepo k;
	struct got got;

	init(&k);
	make(&got, &k, UINT64_MAX, UINT64_MAX);
	assert_int_equal(got.nr, 2);
	for (size_t i = 0; i < 2; i++) {
		uint32_t blob = k.blobs[i ? OLDER : OLD];
		const struct randrepo_object *o = &k.r.objects[blob];

		assert_true(oid_equal(&got.targets[i], &o->oid));
		assert_int_equal(buf_reserve(&bytes, got.size[i]), 0);
		assert_int_equal(inflater_exact(inflater, bytes.data,
						got.size[i], got.made[i],
						got.len[i], NULL),
				 0);
		assert_int_equal(got.size[i], o->data.len);
		assert_memory_equal(bytes.data, o->data.data, o->data.len);
	}
	got_release(&got);
	inflater_free(inflater);
	buf_release(&bytes);
	keptrepo_release(&k);
}

/*
 * A limit of bytes, or a limit of cost, ends the copying early. The blob of the
 * tip OLD is copied before the blob of the tip OLDER. Even a cost limit of 0
 * allows one copy.
 */
static void limits(void **state)
{
	struct keptrepo k;
	struct got got;

	init(&k);
	make(&got, &k, 100, UINT64_MAX);
	assert_int_equal(got.nr, 0);
	make(&got, &k, 15000, UINT64_MAX);
	assert_int_equal(got.nr, 1);
	assert_true(oid_equal(&got.targets[0], &k.r.objects[k.blobs[OLD]].oid));
	got_release(&got);
	make(&got, &k, UINT64_MAX, 0);
	assert_int_equal(got.nr, 1);
	assert_true(oid_equal(&got.targets[0], &k.r.objects[k.blobs[OLD]].oid));
	got_release(&got);
	keptrepo_release(&k);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_tips),
		cmocka_unit_test(copies_of_blobs),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
