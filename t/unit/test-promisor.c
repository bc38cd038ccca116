/* SPDX-License-Identifier: MIT */
/*
 * Tests of check/promisor.c and promisor-walk.c, which handle partial clones.
 * In the random repositories, some objects are in a promisor pack and some are
 * loose. Others are missing, but the promisor pack refers to them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "check/promisor.h"
#include "t/unit/packfile.h"
#include "t/unit/randrepo.h"

struct bed {
	struct randrepo r;
	bool packed[RANDREPO_MAX], named[RANDREPO_MAX], gone[RANDREPO_MAX];
	bool expect[RANDREPO_MAX];
	struct odb *odb;
	struct walk w;
	struct promisor p;
	struct walk_tips wants, none;
};

static void write_pack(struct bed *b)
{
	struct packfile *p = malloc(sizeof(*p));

	assert_non_null(p);
	packfile_init(p, b->r.t.repo.algo);
	for (uint32_t i = 0; i < b->r.nr; i++)
		if (b->packed[i])
			packfile_add(p, b->r.objects[i].type,
				     b->r.objects[i].data.data,
				     b->r.objects[i].data.len);
	packfile_finish(p);
	tmprepo_write_len(&b->r.t, "objects/pack/pack-1.pack", p->bytes.data,
			  p->bytes.len);
	tmprepo_write_len(&b->r.t, "objects/pack/pack-1.idx", p->idx.data,
			  p->idx.len);
	tmprepo_write(&b->r.t, "objects/pack/pack-1.promisor", "");
	packfile_release(p);
	free(p);
}

/*
 * Puts some objects into the promisor pack, makes some loose, and leaves some
 * out. Commits and tags are never left out, because refs point to them.
 */
static void scatter(struct bed *b)
{
	struct randrepo *r = &b->r;

	for (uint32_t i = 0; i < r->nr; i++)
		b->packed[i] = randrepo_below(r, 2);
	for (uint32_t i = 0; i < r->nr; i++)
		for (uint32_t k = 0; b->packed[i] && k < r->objects[i].ref_nr;
		     k++)
			b->named[r->objects[i].refs[k]] = true;
	for (uint32_t i = 0; i < r->nr; i++) {
		enum object_type type = r->objects[i].type;

		b->gone[i] = !b->packed[i] && b->named[i] &&
			     (type == OBJ_BLOB || type == OBJ_TREE) &&
			     randrepo_below(r, 2);
		if (!b->packed[i] && !b->gone[i])
			randrepo_store_one(r, "objects", i);
	}
	write_pack(b);
}

static void bed_init(struct bed *b, uint64_t *seed)
{
	memset(b, 0, sizeof(*b));
	randrepo_init(&b->r, HASH_SHA1, seed);
	randrepo_history(&b->r, 25);
	scatter(b);
	assert_int_equal(odb_open(&b->odb, &b->r.t.repo, NULL, NULL), 0);
	assert_int_equal(walk_open(&b->w, b->odb, NULL, 0, NULL), 0);
	assert_int_equal(promisor_init(&b->p, &b->w, NULL), 0);
	assert_true(b->p.has_packs);
	assert_false(b->p.has_others);
}

static void bed_release(struct bed *b)
{
	walk_tips_release(&b->wants);
	promisor_release(&b->p);
	walk_close(&b->w);
	odb_close(b->odb);
	randrepo_release(&b->r);
}

static uint32_t pos_of(struct bed *b, uint32_t nr)
{
	uint32_t obj_pos;

	assert_int_equal(
		objspace_add(&b->w.space, b->r.objects[nr].oid.bytes, &obj_pos),
		0);
	return obj_pos;
}

/*
 * Sets b->expect[i] for the objects that `nr` reaches. Objects that are missing
 * or in the promisor pack are not visited.
 */
static void expect(struct bed *b, uint32_t nr)
{
	const struct randrepo_object *o = &b->r.objects[nr];

	if (b->packed[nr] || b->gone[nr] || b->expect[nr])
		return;
	b->expect[nr] = true;
	for (uint32_t i = 0; i < o->ref_nr; i++)
		expect(b, o->refs[i]);
}

static void check_result(struct bed *b, const struct walk_result *result)
{
	const struct history *h = &b->w.history;
	struct bitset found = BITSET_INIT;
	size_t nr = 0;

	assert_int_equal(bitset_init(&found, objspace_end(&b->w.space)), 0);
	for (size_t i = 0; i < result->revs.nr; i++)
		bitset_set(&found,
			   h->commits[walk_result_commit(result, i)].obj_pos);
	for (size_t i = 0; i < result->objects.nr; i++)
		bitset_set(&found, result->objects.items[i].obj_pos);
	for (uint32_t i = 0; i < b->r.nr; i++) {
		assert_int_equal(bitset_get(&found, pos_of(b, i)),
				 b->expect[i]);
		nr += b->expect[i];
	}
	assert_int_equal(result->revs.nr + result->objects.nr, nr);
	bitset_release(&found);
}

static void check_one(uint64_t *seed, bool keep_promised)
{
	struct walk_result result = WALK_RESULT_INIT;
	struct error err = ERROR_INIT;
	struct bed *b = malloc(sizeof(*b));

	assert_non_null(b);
	bed_init(b, seed);
	for (uint32_t i = 0; i < b->r.commit_nr; i++) {
		uint32_t nr = b->r.commits[i];

		if (randrepo_below(&b->r, 8))
			continue;
		assert_int_equal(walk_add_tip(&b->w, &b->wants,
					      &b->r.objects[nr].oid, false,
					      NULL),
				 0);
		expect(b, nr);
	}
	for (uint32_t i = 0; i < b->r.nr && keep_promised; i++)
		if (b->named[i])
			expect(b, i);
	if (promisor_enumerate(&result, &b->p, &b->wants, &b->none,
			       PATH_GROUP_NONE, keep_promised, &err) < 0)
		fail_msg("%s", err.msg);
	check_result(b, &result);
	for (uint32_t i = 0; i < b->r.nr; i++)
		assert_int_equal(promisor_promises(&b->p, pos_of(b, i), NULL),
				 b->packed[i] || b->named[i]);
	walk_result_release(&result);
	bed_release(b);
	free(b);
}

static void random_repositories(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 10; i++)
		check_one(&seed, i % 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_repositories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
