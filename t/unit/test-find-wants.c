/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-wants.c, which handles very many wants. They prove that
 * the closure of the wants is found, whether the types of the wants come from
 * the bitmap index or from the objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/foundrepo.h"

#define COMMITS 100
#define OTHERS 3

struct env {
	struct randrepo r;
	struct odb *odb;
	struct packing_send_options options;
	struct oid *wants; /* up to RANDREPO_MAX ids */
	struct packing_request request;
	struct foundrepo_tags tags;
	/*
	 * Indexed like r->objects: whether the object is a tag to which a ref
	 * points.
	 */
	bool *named;
	bool *expected, *found; /* indexed by object number */
};

/*
 * Makes a pack with a bitmap index. If `is_all_packed` is false, there are also
 * newer objects outside of the pack.
 */
static void env_init(struct env *e, uint64_t *seed, bool is_all_packed)
{
	memset(e, 0, sizeof(*e));
	randrepo_init(&e->r, HASH_SHA1, seed);
	randrepo_history(&e->r, 600);
	randrepo_store_pack(&e->r);
	randrepo_all_refs(&e->r);
	bitmaprepo_repack(&e->r, true, true);
	if (!is_all_packed) {
		randrepo_history(&e->r, 10);
		randrepo_store_pack(&e->r);
		randrepo_history(&e->r, 5);
		randrepo_store(&e->r);
	}
	e->wants = calloc(RANDREPO_MAX, sizeof(*e->wants));
	e->named = calloc(RANDREPO_MAX, sizeof(bool));
	e->expected = calloc(RANDREPO_MAX, sizeof(bool));
	e->found = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(e->wants && e->named && e->expected && e->found);
	e->tags = (struct foundrepo_tags){&e->r, e->named, 0};
	assert_int_equal(
		packing_send_options_load(&e->options, &e->r.t.repo, NULL), 0);
	assert_int_equal(odb_open(&e->odb, &e->r.t.repo, NULL, NULL), 0);
	assert_true((e->odb->pack_nr == 1) == is_all_packed);
}

static void env_release(struct env *e)
{
	odb_close(e->odb);
	free(e->wants);
	free(e->named);
	free(e->expected);
	free(e->found);
	randrepo_release(&e->r);
}

static void want(struct env *e, uint32_t nr)
{
	e->wants[e->request.want_nr++] = e->r.objects[nr].oid;
	randrepo_reach(&e->r, e->expected, nr);
}

/*
 * Make a request that wants commits, a few objects of any type, and tags. If
 * `all_tags` is true, it wants all tags, otherwise nearly all. If `all_refs` is
 * true, refs point to all wanted tags, otherwise to some of them. No ref points
 * to a tag that is not wanted, so include-tag adds no tag.
 */
static void ask(struct env *e, bool all_tags, bool all_refs)
{
	memset(e->expected, 0, RANDREPO_MAX);
	e->request = (struct packing_request){
		.wants = e->wants,
		.tags = {foundrepo_each_tag, &e->tags},
		.use_bitmap = true,
	};
	for (uint32_t i = 0; i < e->r.nr; i++) {
		bool is_tag = e->r.objects[i].type == OBJ_TAG;
		bool is_wanted = all_tags || randrepo_below(&e->r, 8);

		if (is_tag && is_wanted)
			want(e, i);
		e->named[i] = is_tag && is_wanted &&
			      (all_refs || randrepo_below(&e->r, 2));
	}
	for (uint32_t i = 0; i < COMMITS; i++)
		want(e, e->r.commits[randrepo_below(&e->r, e->r.commit_nr)]);
	for (uint32_t i = 0; i < OTHERS; i++)
		want(e, randrepo_below(&e->r, e->r.nr));
}

static void check(struct env *e, struct found *f)
{
	foundrepo_mark_all(&e->r, e->found, f);
	for (uint32_t i = 0; i < e->r.nr; i++)
		assert_int_equal(e->found[i], e->expected[i]);
}

static void open_found(struct env *e, struct found *f, struct error *warning)
{
	struct error err = ERROR_INIT;

	if (found_open(f, e->odb, &e->request, &e->options, warning, &err) < 0)
		fail_msg("%s", err.msg);
}

static void wants_are_answered(void **state)
{
	uint64_t seed = random_seed();

	(void)state;
	for (int packed = 0; packed < 2; packed++) {
		struct env e;

		env_init(&e, &seed, packed);
		for (int i = 0; i < 24; i++) {
			struct error warning;
			struct found f;

			ask(&e, i % 3, i / 3 % 2);
			e.tags.visits = 0;
			open_found(&e, &f, &warning);
			assert_non_null(f.pb);
			/*
			 * The list of all tags is read for the capability
			 * include-tag: a tag whose target is sent must be sent,
			 * too. If all tags are wanted, the list is read once
			 * more, to find the targets of the tags.
			 */
			assert_int_equal(e.tags.visits, i % 3 ? 2 : 1);
			check(&e, &f);
			found_close(&f);
		}
		env_release(&e);
	}
}

/*
 * If the bitmap index proves to be damaged, it is closed. Object types that
 * were read from the index are forgotten, because they may be wrong.
 */
static void a_damaged_index_is_not_believed(void **state)
{
	uint64_t seed = random_seed();
	struct buf bytes = BUF_INIT;
	struct env e;
	char *name;

	(void)state;
	env_init(&e, &seed, true);
	name = bitmaprepo_read_index(&e.r, e.odb, &bytes);
	for (size_t at = 0; at < bytes.len; at += 1 + bytes.len / 60) {
		struct error warning = ERROR_INIT;
		struct found f;

		bytes.data[at] ^= 0x40;
		tmprepo_write_len(&e.r.t, name, bytes.data, bytes.len);
		bytes.data[at] ^= 0x40;
		ask(&e, at % 2, true);
		open_found(&e, &f, &warning);
		assert_null(f.pb);
		assert_non_null(strstr(warning.msg, ".bitmap"));
		check(&e, &f);
		found_close(&f);
	}
	buf_release(&bytes);
	free(name);
	env_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wants_are_answered),
		cmocka_unit_test(a_damaged_index_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
