/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/bit-filter.c, which applies object filters to query results.
 * They prove that the results equal those of a slow filter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/bit-filter.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/filterset.h"

static int note(void *ctx, uint32_t obj_pos, enum object_type type)
{
	struct bitmaprepo *b = ctx;
	struct oid oid;
	uint32_t nr;

	objspace_oid(&oid, &b->walk.space, obj_pos);
	nr = randrepo_find(b->r, &oid);
	assert_int_equal(b->r->objects[nr].type, type);
	assert_false(b->found[nr]);
	b->found[nr] = true;
	return 0;
}

static void check(struct bitmaprepo *b, const struct filterset *s)
{
	const struct pack_bitmap_query query = {
		.filter = &s->filter,
		.filter_wants = s->filter_wants,
	};
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips none = WALK_TIPS_INIT;
	struct error err = ERROR_INIT;

	assert_true(bitmap_filter_can(&s->filter));
	if (pack_bitmap_query(&result, b->pb, &b->walk, &s->tips, &none, &query,
			      &err) < 0)
		fail_msg("%s", err.msg);
	memset(b->found, 0, RANDREPO_MAX * sizeof(*b->found));
	assert_int_equal(pack_bitmap_each(b->pb, &result, note, b, NULL), 0);
	for (uint32_t nr = 0; nr < b->r->nr; nr++)
		if (b->found[nr] != filterset_has(s, b->r, nr)) {
			struct buf spec = BUF_INIT;

			filter_print(&spec, &s->filter);
			fail_msg("%s: object %u, a %s: %d", spec.data, nr,
				 object_type_name(b->r->objects[nr].type),
				 b->found[nr]);
		}
	pack_bitmap_result_release(&result);
}

static void queries(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 60);
	randrepo_store(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	randrepo_history(&r, 12);
	randrepo_store(&r);
	bitmaprepo_open(&b, &r);
	for (int i = 0; i < 300; i++) {
		struct filterset s;

		filterset_init(&s, &r, &b.walk, false);
		check(&b, &s);
		filterset_release(&s);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * The client has fetched with the filter before. So the client may lack objects
 * that its commits reach but that the filter leaves out. At first, the set
 * `had` has all objects of the index, as if the commits of the client reached
 * all of them. bitmap_filter_undecided() removes from this set the objects that
 * the client may lack. Objects of a type that always passes the filter must
 * stay in the set.
 */
static void removes_undecided(void **state)
{
	static const struct {
		const char *spec;
		bool trees, blobs;
	} cases[] = {
		{"blob:none", true, false},
		{"blob:limit=5", true, false},
		{"tree:0", false, false},
		{"object:type=blob", false, true},
	};
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 20);
	randrepo_store(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	bitmaprepo_open(&b, &r);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bitset had = BITSET_INIT;
		struct filter filter;

		filter_init(&filter);
		assert_int_equal(filter_add(&filter, cases[i].spec, NULL), 0);
		assert_int_equal(bitset_init(&had, b.pb->file.object_nr), 0);
		bitset_set_range(&had, 0, had.bits);
		bitmap_filter_undecided(&b.pb->file, &filter, &had);
		for (uint32_t bit = 0; bit < had.bits; bit++) {
			enum object_type type = pack_bitmap_type(b.pb, bit);

			if (type == OBJ_TREE)
				assert_int_equal(bitset_test(&had, bit),
						 cases[i].trees);
			if (type == OBJ_BLOB)
				assert_int_equal(bitset_test(&had, bit),
						 cases[i].blobs);
		}
		bitset_release(&had);
		filter_release(&filter);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries),
		cmocka_unit_test(removes_undecided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
