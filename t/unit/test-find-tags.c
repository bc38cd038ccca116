/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-tags.c, which finds the tags to include. They prove
 * that a request with include-tag gets each tag whose target is sent, and no
 * other tag. If a tag points to its target through other tags, these tags are
 * sent, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/foundrepo.h"

#define WANTS 300

struct env {
	struct randrepo r;
	struct odb *odb;
	struct packing_send_options options;
	struct oid wants[WANTS], have;
	struct packing_request request;
	/*
	 * `asked`: number of calls of may_have(). `spared`: number of these
	 * calls that returned 0. After such a call, find-tags.c visits no tag.
	 */
	uint32_t asked, spared;
	struct foundrepo_tags tags;
	/*
	 * Indexed like r->objects: whether the object is a tag to which a ref
	 * points.
	 */
	bool *named;
	bool *want_set, *had_set, *found, *expected;
};

/* Prepares queries of the repository e->r. */
static void env_open(struct env *e)
{
	bool **sets[] = {&e->named, &e->want_set, &e->had_set, &e->found,
			 &e->expected};

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		*sets[i] = calloc(RANDREPO_MAX, sizeof(bool));
		assert_non_null(*sets[i]);
	}
	assert_int_equal(
		packing_send_options_load(&e->options, &e->r.t.repo, NULL), 0);
	e->options.exact = true;
	e->tags = (struct foundrepo_tags){&e->r, e->named, 0};
	assert_int_equal(odb_open(&e->odb, &e->r.t.repo, NULL, NULL), 0);
}

/*
 * Makes a pack with a bitmap index, and newer objects outside of the pack. If
 * at most FEW_MAX objects are to be sent, packing/find-tags.c makes a list of
 * them. The pack has more than FEW_MAX objects, so random requests are on both
 * sides of this limit.
 */
static void env_init(struct env *e, uint64_t *seed)
{
	memset(e, 0, sizeof(*e));
	randrepo_init(&e->r, HASH_SHA1, seed);
	randrepo_history(&e->r, 1000);
	randrepo_store_pack(&e->r);
	randrepo_all_refs(&e->r);
	bitmaprepo_repack(&e->r, true, true);
	randrepo_history(&e->r, 10);
	randrepo_store_pack(&e->r);
	randrepo_history(&e->r, 5);
	randrepo_store(&e->r);
	env_open(e);
}

static void env_release(struct env *e)
{
	odb_close(e->odb);
	free(e->named);
	free(e->want_set);
	free(e->had_set);
	free(e->found);
	free(e->expected);
	randrepo_release(&e->r);
}

static int each_named(void *ctx,
		      int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		      void *fn_ctx, struct error *err)
{
	struct env *e = ctx;

	return foundrepo_each_tag(&e->tags, fn, fn_ctx, err);
}

/*
 * Callback: returns 1 if one of `targets` is the target of a tag to which a ref
 * points, otherwise 0. Computed from the known objects, without visiting all
 * tags.
 */
static int may_have(void *ctx, const struct oidmap *targets, struct error *err)
{
	struct env *e = ctx;
	uint32_t value;

	e->asked++;
	for (uint32_t i = 0; i < e->r.nr; i++)
		if (e->named[i] &&
		    oidmap_get(targets,
			       &e->r.objects[foundrepo_peel(&e->r, i)].oid,
			       &value))
			return 1;
	e->spared++;
	return 0;
}

/*
 * Choose the tags to which refs point: all tags, or a random half of the tags.
 */
static void name_tags(struct env *e, bool all)
{
	for (uint32_t i = 0; i < e->r.nr; i++)
		e->named[i] = e->r.objects[i].type == OBJ_TAG &&
			      (all || randrepo_below(&e->r, 2));
}

/* Returns one of the last `newest` commits, or of all if there are fewer. */
static uint32_t random_commit(struct env *e, uint32_t newest)
{
	if (newest > e->r.commit_nr)
		newest = e->r.commit_nr;
	return e->r.commits[e->r.commit_nr - 1 - randrepo_below(&e->r, newest)];
}

/*
 * Make a request that wants `want_nr` random commits. If `has_have` is true,
 * add a have.
 */
static void ask(struct env *e, uint32_t want_nr, bool has_have)
{
	uint32_t have = random_commit(e, 400);

	memset(e->want_set, 0, RANDREPO_MAX);
	memset(e->had_set, 0, RANDREPO_MAX);
	for (uint32_t i = 0; i < want_nr; i++) {
		uint32_t want = random_commit(e, want_nr > 1 ? 1000 : 50);

		randrepo_reach(&e->r, e->want_set, want);
		e->wants[i] = e->r.objects[want].oid;
	}
	if (has_have)
		randrepo_reach(&e->r, e->had_set, have);
	e->have = e->r.objects[have].oid;
	e->request = (struct packing_request){
		.wants = e->wants,
		.want_nr = want_nr,
		.haves = &e->have,
		.have_nr = has_have,
		.tags = {each_named, e},
	};
}

/*
 * Compare the found objects with the expected ones: the closure of the wants,
 * and the tags to include. Returns the number of tags.
 */
static uint32_t check(struct env *e)
{
	uint32_t tags = 0;

	for (uint32_t i = 0; i < e->r.nr; i++)
		e->expected[i] = e->r.objects[i].type == OBJ_TAG
					 ? e->want_set[i] && !e->had_set[i]
					 : e->found[i];
	for (uint32_t i = 0; i < e->r.nr; i++)
		if (e->named[i] && e->expected[foundrepo_peel(&e->r, i)])
			for (uint32_t at = i; e->r.objects[at].type == OBJ_TAG;
			     at = e->r.objects[at].refs[0])
				e->expected[at] = true;
	for (uint32_t i = 0; i < e->r.nr; i++) {
		assert_int_equal(e->found[i], e->expected[i]);
		tags += e->found[i] && e->r.objects[i].type == OBJ_TAG;
	}
	return tags;
}

static void tags_come_along(void **state)
{
	uint64_t seed = random_seed();
	uint32_t tags = 0, many = 0, few = 0;
	struct error warning, err = ERROR_INIT;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 40; i++) {
		name_tags(&e, i % 2);
		ask(&e, i % 3 ? WANTS : 1, i / 2 % 2);
		e.request.use_bitmap = i % 10 < 8;
		e.options.threads = 1 + i / 4 % 2;
		e.request.tags.may_have = i / 2 % 2 ? may_have : NULL;
		if (found_open(&f, e.odb, &e.request, &e.options, &warning,
			       &err) < 0)
			fail_msg("%s", err.msg);
		assert_int_equal(f.pb != NULL, e.request.use_bitmap);
		many += bitset_count(&f.packed) > 1024;
		few += bitset_count(&f.packed) < 1024;
		foundrepo_mark_all(&e.r, e.found, &f);
		tags += check(&e);
		found_close(&f);
	}
	assert_true(e.asked > e.spared);
	assert_true(tags > 100 && many > 5 && few > 5);
	env_release(&e);
}

/*
 * Asserts that bit 0 stands for object `nr`, and that this object is to be
 * sent.
 */
static void check_first_bit(struct env *e, const struct found *f, uint32_t nr)
{
	uint32_t idx_pos = bitmap_space_idx_pos(&f->space, 0);

	assert_memory_equal(bitmap_space_id(&f->space, idx_pos),
			    e->r.objects[nr].oid.bytes, hash_len(HASH_SHA1));
	assert_true(bitset_get(&f->packed, 0));
}

/*
 * A clone of a small repository with one tag must get this tag. The tag is
 * newer than the bitmap index, and its target is the first object of the
 * indexed pack.
 */
static void target_is_first_in_pack(void **state)
{
	uint64_t seed = random_seed();
	uint8_t files[RANDREPO_FILES] = {1};
	struct error warning, err = ERROR_INIT;
	struct env e = {.r = {.nr = 0}};
	uint32_t commit, tag;
	struct found f;

	randrepo_init(&e.r, HASH_SHA1, &seed);
	commit = randrepo_commit(&e.r, files, NULL, 0, 1700000000);
	randrepo_store_pack(&e.r);
	randrepo_all_refs(&e.r);
	bitmaprepo_repack(&e.r, true, true);
	tag = randrepo_tag(&e.r, commit);
	randrepo_store(&e.r);
	env_open(&e);
	name_tags(&e, true);
	ask(&e, 1, false);
	e.request.use_bitmap = true;
	assert_int_equal(
		found_open(&f, e.odb, &e.request, &e.options, &warning, &err),
		0);
	assert_non_null(f.pb);
	check_first_bit(&e, &f, commit);
	foundrepo_mark_all(&e.r, e.found, &f);
	assert_true(e.found[tag]);
	found_close(&f);
	env_release(&e);
}

static int fail_each(void *ctx,
		     int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		     void *fn_ctx, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "no tags");
}

/*
 * If refs cannot be read, the error is about refs. It must not say that the
 * bitmap index is damaged.
 */
static void errors_of_tags_are_told(void **state)
{
	uint64_t seed = random_seed();
	struct error warning = ERROR_INIT, err = ERROR_INIT;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	ask(&e, WANTS, false);
	e.request.use_bitmap = true;
	e.request.tags.each = fail_each;
	assert_int_equal(
		found_open(&f, e.odb, &e.request, &e.options, &warning, &err),
		ERR_CORRUPT);
	assert_string_equal(err.msg, "no tags");
	assert_int_equal(warning.code, 0);
	env_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_come_along),
		cmocka_unit_test(target_is_first_in_pack),
		cmocka_unit_test(errors_of_tags_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
