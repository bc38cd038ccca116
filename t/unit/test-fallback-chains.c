/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/fallback-chains.c, which finds other bases for stored deltas
 * whose bases are not sent. They prove that each new delta produces its object,
 * that no deltas form a cycle, and that limits hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pack/delta.h"
#include "packing/fallback-delta.h"
#include "t/unit/itemlist.h"

static void fallback_with(struct itemlist *l,
			  const struct fallback_chains_options *options)
{
	struct fallback_chains_options o = *options;

	o.packs = &l->packs;
	o.reader = odb_reader_new(l->odb, 1 << 20);
	o.compression = -1;
	assert_non_null(o.reader);
	assert_int_equal(fallback_chains_make(&l->list, &o, NULL), 0);
	odb_reader_free(o.reader);
}

static void plan(struct itemlist *l, const struct plan_options *options)
{
	struct error err = ERROR_INIT;

	if (plan_items(&l->list, &l->packs, options, &err) < 0)
		fail_msg("%s", err.msg);
}

static const struct buf *content_of(const struct itemlist *l, uint32_t item)
{
	struct oid oid;

	odb_oid(&oid, l->odb, l->list.items[item].obj_pos);
	return &l->r.objects[randrepo_find(&l->r, &oid)].data;
}

static void check_delta(const struct itemlist *l, uint32_t nr)
{
	const struct packing_item *item = &l->list.items[nr];
	const struct buf *to = content_of(l, nr);
	const struct buf *from = content_of(l, item->base);
	struct buf delta = BUF_INIT, made = BUF_INIT;

	assert_non_null(item->delta);
	assert_int_equal(packread_inflate(&delta, item->delta, item->delta_len,
					  item->delta_size),
			 item->delta_len);
	assert_int_equal(buf_reserve(&made, to->len), 0);
	assert_int_equal(delta_apply(made.data, to->len, from->data, from->len,
				     delta.data, delta.len),
			 0);
	assert_memory_equal(made.data, to->data, to->len);
	assert_int_equal(item->type, l->list.items[item->base].type);
	assert_true(delta.len <= to->len / 2);
	buf_release(&delta);
	buf_release(&made);
}

/*
 * Apply all deltas, and check that no delta chain is a cycle. Returns the
 * number of new deltas.
 */
static size_t check(const struct itemlist *l)
{
	size_t made = 0;

	for (uint32_t i = 0; i < l->list.nr; i++) {
		const struct packing_item *item = &l->list.items[i];
		size_t steps = 0;

		if (item->how == PACKING_DELTA) {
			assert_false(item->is_external);
			check_delta(l, i);
			made++;
		}
		for (; item->base != PACKING_NO_ITEM; steps++) {
			assert_true(steps < l->list.nr);
			item = &l->list.items[item->base];
		}
	}
	return made;
}

static size_t orphans(const struct itemlist *l)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->list.nr; i++)
		nr += l->list.items[i].how == PACKING_WHOLE &&
		      !l->list.items[i].is_external &&
		      l->list.items[i].pack_nr != PACKING_NO_ITEM;
	return nr;
}

/*
 * Random objects are sent. The packs store them as deltas, but some delta bases
 * are not sent. At least a quarter of the deltas without their bases must get
 * another base.
 */
static void random_lists(void **state)
{
	static const unsigned keep[] = {14, 8, 4, 2};
	struct fallback_chains_options options = {0};
	uint64_t seed = random_seed();
	size_t lost = 0, made = 0;
	struct itemlist l;

	itemlist_init(&l, &seed);
	for (unsigned i = 0; i < 24; i++) {
		itemlist_fill(&l, keep[i % ARRAY_NR(keep)], i % 3 == 2);
		plan(&l, &itemlist_plan_options);
		lost += orphans(&l);
		fallback_with(&l, &options);
		made += check(&l);
	}
	assert_true(lost > 200);
	assert_true(made > lost / 4);
	itemlist_release(&l);
}

/* ---- tests with packs of known content */

/* Versions of one text. The packs store them only as REF_DELTAs. */
struct versions {
	struct itemlist l;
	struct packfile *pack; /* the pack being made */
	unsigned pack_nr;
};

#define COMMON_LEN 4000
/*
 * Number of bytes by which one version of the text is longer than the others.
 */
#define LONG_VERSION 1200

/*
 * Returns the object of version `nr` of the text. Equal numbers give the same
 * object.
 */
static uint32_t version_object(struct versions *v, unsigned nr)
{
	uint64_t seed = 4711;
	struct buf data = BUF_INIT;
	uint32_t object;

	for (unsigned i = 0; i < COMMON_LEN; i++)
		buf_append_char(&data, (char)('a' + random_next(&seed) % 26));
	for (unsigned i = 0; nr == LONG_VERSION && i < nr; i++)
		buf_append_char(&data, (char)('a' + random_next(&seed) % 26));
	buf_printf(&data, "version %u", nr);
	object = randrepo_add(&v->l.r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	return object;
}

static const struct randrepo_object *version(struct versions *v, unsigned nr)
{
	return &v->l.r.objects[version_object(v, nr)];
}

static void versions_begin(struct versions *v, uint64_t *seed)
{
	memset(v, 0, sizeof(*v));
	randrepo_init(&v->l.r, HASH_SHA1, seed);
}

static void pack_begin(struct versions *v)
{
	v->pack = malloc(sizeof(*v->pack));
	assert_non_null(v->pack);
	packfile_init(v->pack, HASH_SHA1);
}

static void pack_whole(struct versions *v, unsigned nr)
{
	const struct randrepo_object *o = version(v, nr);

	packfile_add(v->pack, OBJ_BLOB, o->data.data, o->data.len);
}

static void pack_delta(struct versions *v, unsigned nr, unsigned base)
{
	const struct randrepo_object *o = version(v, nr);
	const struct randrepo_object *b = version(v, base);
	struct pack_entry e = {.type = OBJ_REF_DELTA};
	void *delta;

	assert_int_equal(delta_create_near(b->data.data, b->data.len,
					   o->data.data, o->data.len, 0, &delta,
					   &e.size),
			 0);
	e.base_oid = b->oid.bytes;
	packfile_add_entry(v->pack, &e, delta, e.size, &o->oid);
	free(delta);
}

static void pack_end(struct versions *v)
{
	char name[64];

	packfile_finish(v->pack);
	for (int i = 0; i < 2; i++) {
		const struct buf *b = i ? &v->pack->idx : &v->pack->bytes;

		snprintf(name, sizeof(name), "objects/pack/pack-%u.%s",
			 v->pack_nr, i ? "idx" : "pack");
		tmprepo_write_len(&v->l.r.t, name, b->data, b->len);
	}
	v->pack_nr++;
	packfile_release(v->pack);
	free(v->pack);
}

static void versions_open(struct versions *v)
{
	struct itemlist *l = &v->l;

	assert_int_equal(odb_open(&l->odb, &l->r.t.repo, NULL, NULL), 0);
	objspace_init(&l->space, l->odb);
	packing_items_init(&l->list, &l->space);
	assert_int_equal(packs_init(&l->packs, l->odb, NULL), 0);
}

/*
 * Appends versions of the text to the list of items to send. `nrs`: the numbers
 * of these versions, followed by a negative number.
 */
static void versions_send(struct versions *v, const int *nrs)
{
	for (; *nrs >= 0; nrs++) {
		uint32_t obj_pos;

		assert_int_equal(
			objspace_add(&v->l.space,
				     version(v, (unsigned)*nrs)->oid.bytes,
				     &obj_pos),
			0);
		assert_int_equal(packing_items_append(&v->l.list, obj_pos,
						      OBJ_BLOB, 7, false),
				 0);
	}
}

/*
 * Write a pack of `nr` versions. Each version but the first is a delta of the
 * version before.
 */
static void versions_chain(struct versions *v, uint64_t *seed, unsigned nr)
{
	versions_begin(v, seed);
	pack_begin(v);
	pack_whole(v, 0);
	for (unsigned i = 1; i < nr; i++)
		pack_delta(v, i, i - 1);
	pack_end(v);
	versions_open(v);
}

static uint32_t base_of(const struct versions *v, uint32_t item)
{
	const struct packing_item *i = &v->l.list.items[item];

	assert_int_equal(i->how, PACKING_DELTA);
	return i->base;
}

/*
 * The stored delta base of an object is not sent. Then the stored delta chain
 * is followed to the first object that is sent. This object becomes the delta
 * base.
 */
static void next_on_the_chain(void **state)
{
	struct fallback_chains_options options = {0};
	uint64_t seed = random_seed();
	struct versions v;

	versions_chain(&v, &seed, 12);
	versions_send(&v, (const int[]){10, 0, 3, 7, 8, -1});
	plan(&v.l, &itemlist_plan_options);
	fallback_with(&v.l, &options);
	assert_int_equal(check(&v.l), 3);
	assert_int_equal(base_of(&v, 0), 4);
	assert_int_equal(base_of(&v, 2), 1);
	assert_int_equal(base_of(&v, 3), 2);
	assert_int_equal(v.l.list.items[4].how, PACKING_COPY_DELTA);
	assert_int_equal(v.l.list.nr, 5);
	itemlist_release(&v.l);
}

/*
 * Five objects are sent, all stored as deltas. The bases on their delta chains
 * are not sent. All chains end at the same object. So the first of the five is
 * sent whole, and becomes the base of the other four.
 */
static void heirs(void **state)
{
	struct fallback_chains_options options = {0};
	uint64_t seed = random_seed();
	struct versions v;

	versions_begin(&v, &seed);
	pack_begin(&v);
	pack_whole(&v, 0);
	pack_delta(&v, 1, 0);
	pack_delta(&v, 2, 1);
	for (unsigned i = 10; i < 14; i++)
		pack_delta(&v, i, 2);
	pack_delta(&v, 20, 0);
	pack_end(&v);
	versions_open(&v);
	versions_send(&v, (const int[]){10, 11, 12, 13, 20, -1});
	plan(&v.l, &itemlist_plan_options);
	assert_int_equal(orphans(&v.l), 5);
	fallback_with(&v.l, &options);
	assert_int_equal(check(&v.l), 4);
	assert_int_equal(v.l.list.items[0].how, PACKING_WHOLE);
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(base_of(&v, i), 0);
	itemlist_release(&v.l);
}

static bool is_third(void *ctx, uint32_t odb_pos)
{
	struct versions *v = ctx;
	struct oid oid;

	odb_oid(&oid, v->l.odb, odb_pos);
	return oid_equal(&oid, &version(v, 3)->oid);
}

/*
 * Two objects are sent, 5 and 12. Their delta chains meet in the object 3. This
 * object is not sent, because the receiver has it already. It becomes the delta
 * base of both objects that are sent. The list of items gets the object 3 only
 * once, as an external item (a base that is not sent).
 */
static void receiver_has(void **state)
{
	uint64_t seed = random_seed();
	struct versions v;
	struct fallback_chains_options options = {
		.is_base = is_third,
		.base_ctx = &v,
	};

	versions_begin(&v, &seed);
	pack_begin(&v);
	pack_whole(&v, 0);
	for (unsigned i = 1; i < 6; i++)
		pack_delta(&v, i, i - 1);
	pack_delta(&v, 10, 4);
	pack_delta(&v, 11, 3);
	pack_delta(&v, 12, 11);
	pack_end(&v);
	versions_open(&v);
	versions_send(&v, (const int[]){5, 12, -1});
	plan(&v.l, &itemlist_plan_options);
	fallback_with(&v.l, &options);
	assert_int_equal(check(&v.l), 2);
	assert_int_equal(v.l.list.nr, 3);
	assert_int_equal(base_of(&v, 0), 2);
	assert_int_equal(base_of(&v, 1), 2);
	assert_true(v.l.list.items[2].is_external);
	itemlist_release(&v.l);
}

/*
 * Plan all items as objects that are compressed whole, however the packs store
 * them.
 */
static void plan_by_hand(struct versions *v)
{
	for (size_t i = 0; i < v->l.list.nr; i++) {
		v->l.list.items[i].how = PACKING_WHOLE;
		v->l.list.items[i].pack_nr = 0;
	}
	assert_int_equal(packs_prepare(&v->l.packs, 0, 6, NULL), 0);
}

/*
 * Deltas form a cycle, so none of their objects can be read. The error is
 * reported when the objects are written, because planning does not read
 * objects.
 */
static void ring(void **state)
{
	struct fallback_chains_options options = {0};
	uint64_t seed = random_seed();
	struct versions v;

	versions_begin(&v, &seed);
	pack_begin(&v);
	for (unsigned i = 0; i < 6; i++)
		pack_delta(&v, i, (i + 5) % 6);
	pack_end(&v);
	versions_open(&v);
	versions_send(&v, (const int[]){1, 4, -1});
	plan_by_hand(&v);
	fallback_with(&v.l, &options);
	assert_int_equal(check(&v.l), 0);
	assert_int_equal(v.l.list.nr, 2);
	itemlist_release(&v.l);
}

/*
 * The object at the end of a delta chain is missing from all packs. So no
 * object of the chain can be read, and no new delta is made.
 */
static void broken(void **state)
{
	struct fallback_chains_options options = {0};
	uint64_t seed = random_seed();
	struct versions v;

	versions_begin(&v, &seed);
	pack_begin(&v);
	for (unsigned i = 1; i < 6; i++)
		pack_delta(&v, i, i - 1);
	pack_end(&v);
	versions_open(&v);
	versions_send(&v, (const int[]){2, 5, -1});
	plan_by_hand(&v);
	fallback_with(&v.l, &options);
	assert_int_equal(check(&v.l), 0);
	itemlist_release(&v.l);
}

/*
 * Object 2 is sent without its delta base, object 1. So object 2 becomes a
 * delta of object 0. Objects 3 to 8 are damaged: each is stored as a delta, but
 * no object begins at the offset of its base. They must not change the result
 * for object 2.
 */
static void damaged(void **state)
{
	struct fallback_chains_options options = {0};
	struct pack_entry e = {.type = OBJ_OFS_DELTA, .base_distance = 5};
	uint64_t seed = random_seed();
	struct versions v;

	versions_begin(&v, &seed);
	pack_begin(&v);
	pack_whole(&v, 0);
	pack_delta(&v, 1, 0);
	pack_delta(&v, 2, 1);
	for (unsigned i = 3; i < 9; i++)
		packfile_add_entry(v.pack, &e, "", 0, &version(&v, i)->oid);
	pack_end(&v);
	versions_open(&v);
	versions_send(&v, (const int[]){0, 2, 3, 4, 5, 6, 7, 8, -1});
	plan_by_hand(&v);
	v.l.list.items[1].size = version(&v, 2)->data.len;
	fallback_with(&v.l, &options);
	assert_int_equal(check(&v.l), 1);
	assert_int_equal(base_of(&v, 1), 0);
	itemlist_release(&v.l);
}

/*
 * When the new deltas exceed a limit of bytes (cache_size), no further delta is
 * made.
 */
static void budget(void **state)
{
	struct fallback_chains_options options = {0};
	uint64_t seed = random_seed();
	struct versions v;
	uint64_t first_len;

	for (int i = 0; i < 3; i++) {
		versions_chain(&v, &seed, 12);
		versions_send(&v, (const int[]){0, 2, 4, 6, 8, 10, -1});
		plan(&v.l, &itemlist_plan_options);
		fallback_with(&v.l, &options);
		assert_int_equal(check(&v.l), i ? i : 5);
		first_len = v.l.list.items[1].delta_len;
		options.cache_size = i ? first_len + 1 : 1;
		itemlist_release(&v.l);
	}
}

/*
 * No delta is made for three kinds of items: items that are copied, items with
 * `no_delta` (excluded by an attribute or by size), and external items (delta
 * bases that are not written).
 */
static void others_stay(void **state)
{
	struct fallback_chains_options options = {0};
	uint64_t seed = random_seed();
	struct versions v;

	versions_chain(&v, &seed, 8);
	versions_send(&v, (const int[]){0, 1, 3, 6, -1});
	plan(&v.l, &itemlist_plan_options);
	v.l.list.items[2].no_delta = true;
	v.l.list.items[3].is_external = true;
	fallback_with(&v.l, &options);
	assert_int_equal(check(&v.l), 0);
	assert_int_equal(v.l.list.items[0].how, PACKING_COPY);
	assert_int_equal(v.l.list.items[1].how, PACKING_COPY_DELTA);
	itemlist_release(&v.l);
}

/*
 * An item is marked for the delta search (`retry`) if a pack stores the item as
 * a delta that cannot be copied, and if another item has the same name hash.
 */
static void retried(void **state)
{
	struct fallback_chains_options options = {0};
	uint64_t seed = random_seed();
	struct versions v;

	versions_begin(&v, &seed);
	pack_begin(&v);
	pack_whole(&v, 0);
	for (unsigned i = 1; i < 4; i++)
		pack_delta(&v, i, 0);
	pack_whole(&v, 10);
	pack_delta(&v, 11, 10);
	pack_whole(&v, 20);
	pack_end(&v);
	versions_open(&v);
	versions_send(&v, (const int[]){1, 2, 11, 20, -1});
	v.l.list.items[2].name_hash = 8;
	plan(&v.l, &itemlist_plan_options);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			fallback_chains_retry(&v.l.list, &v.l.packs, NULL), 0);
		/*
		 * Two items are not marked for the delta search. No other item
		 * has the name hash of the first item. The pack stores the
		 * second item whole.
		 */
		assert_false(v.l.list.items[2].retry);
		assert_false(v.l.list.items[3].retry);
		assert_true(v.l.list.items[0].retry);
		assert_int_equal(v.l.list.items[1].retry, !i);
		for (uint32_t k = 0; k < 4; k++)
			v.l.list.items[k].retry = false;
		fallback_with(&v.l, &options);
	}
	/* An item without a name hash is not marked for the delta search. */
	v.l.list.items[1].how = PACKING_COPY;
	for (uint32_t k = 0; k < 4; k++)
		v.l.list.items[k].name_hash = 0;
	assert_int_equal(fallback_chains_retry(&v.l.list, &v.l.packs, NULL), 0);
	assert_false(v.l.list.items[0].retry);
	itemlist_release(&v.l);
}

/*
 * Four objects are sent. One pack stores two of them as deltas, and another
 * pack stores the other two as deltas. All four must be marked for the delta
 * search (`retry`).
 */
static void retried_in_two_packs(void **state)
{
	uint64_t seed = random_seed();
	struct versions v;

	versions_begin(&v, &seed);
	for (unsigned first = 0; first < 20; first += 10) {
		pack_begin(&v);
		pack_whole(&v, first);
		for (unsigned i = 1; i < 4; i++)
			pack_delta(&v, first + i, first);
		pack_end(&v);
	}
	versions_open(&v);
	versions_send(&v, (const int[]){1, 2, 11, 12, -1});
	plan(&v.l, &itemlist_plan_options);
	assert_int_equal(fallback_chains_retry(&v.l.list, &v.l.packs, NULL), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(v.l.list.items[i].retry);
	itemlist_release(&v.l);
}

/*
 * If an item is marked for the delta search (`retry`), a delta of a fifth of
 * the object's size is dropped: the search may find a better one. Otherwise the
 * delta stays.
 */
static void mediocre(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct fallback_chains_options options = {0};
		uint64_t seed = random_seed();
		struct versions v;

		versions_begin(&v, &seed);
		pack_begin(&v);
		pack_whole(&v, 0);
		pack_delta(&v, 1, 0);
		pack_delta(&v, LONG_VERSION, 1);
		pack_end(&v);
		versions_open(&v);
		versions_send(&v, (const int[]){0, LONG_VERSION, -1});
		plan(&v.l, &itemlist_plan_options);
		v.l.list.items[1].retry = i;
		fallback_with(&v.l, &options);
		assert_int_equal(v.l.list.items[1].how,
				 i ? PACKING_WHOLE : PACKING_DELTA);
		itemlist_release(&v.l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lists),
		cmocka_unit_test(next_on_the_chain),
		cmocka_unit_test(heirs),
		cmocka_unit_test(receiver_has),
		cmocka_unit_test(ring),
		cmocka_unit_test(broken),
		cmocka_unit_test(damaged),
		cmocka_unit_test(budget),
		cmocka_unit_test(others_stay),
		cmocka_unit_test(retried),
		cmocka_unit_test(retried_in_two_packs),
		cmocka_unit_test(mediocre),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
