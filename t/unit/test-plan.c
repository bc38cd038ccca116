/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/plan.c, which decides for each object of a pack whether its
 * stored bytes are copied. Copying them must give a valid pack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "t/unit/itemlist.h"
#include "t/unit/nomem.h"

static void plan(struct itemlist *l, const struct plan_options *options)
{
	struct error err = ERROR_INIT;

	if (plan_items(&l->list, &l->packs, options, &err) < 0)
		fail_msg("%s", err.msg);
}

/*
 * Check that no delta chain is a cycle, and that each base is in the list.
 * Returns the number of deltas that are copied.
 */
static size_t check_chains(const struct itemlist *l)
{
	size_t deltas = 0;

	for (size_t i = 0; i < l->list.nr; i++) {
		const struct packing_item *item = &l->list.items[i];
		size_t steps = 0;

		assert_int_equal(item->how == PACKING_COPY_DELTA,
				 item->base != PACKING_NO_ITEM);
		deltas += item->how == PACKING_COPY_DELTA;
		for (; item->base != PACKING_NO_ITEM; steps++) {
			assert_true(item->base < l->list.nr);
			assert_true(steps < l->list.nr);
			assert_int_equal(item->type,
					 l->list.items[item->base].type);
			item = &l->list.items[item->base];
		}
	}
	return deltas;
}

static void check_items(const struct itemlist *l,
			const struct plan_options *options)
{
	for (size_t i = 0; i < l->list.nr; i++) {
		const struct packing_item *item = &l->list.items[i];
		const struct randrepo_object *o = &l->r.objects[l->object[i]];
		bool packed = item->obj_pos < l->space.packed_nr;

		assert_int_equal(item->pack_nr != PACKING_NO_ITEM, packed);
		if (item->how != PACKING_COPY_DELTA)
			assert_int_equal(item->size, o->data.len);
		if (!packed || item->is_external)
			assert_true(item->how == PACKING_WHOLE ||
				    item->how == PACKING_COPY);
		if (!options->reuse_object)
			assert_int_equal(item->how == PACKING_COPY, 0);
		if (!options->reuse_delta)
			assert_int_equal(item->how == PACKING_COPY_DELTA, 0);
		assert_int_equal(item->no_delta,
				 item->size > options->big_file_threshold);
	}
}

static void random_lists(void **state)
{
	static const unsigned keep[] = {16, 14, 8, 3};
	uint64_t seed = random_seed();
	struct itemlist l;
	size_t deltas = 0;

	itemlist_init(&l, &seed);
	for (int i = 0; i < 24; i++) {
		struct plan_options options = itemlist_plan_options;

		options.reuse_delta = i % 4 != 1;
		options.reuse_object = i % 4 != 2;
		options.big_file_threshold = i % 4 == 3 ? 300 : 1 << 20;
		itemlist_fill(&l, keep[i / 4 % ARRAY_NR(keep)], i % 2);
		plan(&l, &options);
		check_items(&l, &options);
		deltas += check_chains(&l);
	}
	assert_true(deltas > 100);
	itemlist_release(&l);
}

/* Returns the length of the longest chain of copied deltas. */
static size_t longest_chain(const struct itemlist *l)
{
	size_t longest = 0;

	for (size_t i = 0; i < l->list.nr; i++) {
		uint32_t at = (uint32_t)i;
		size_t len = 0;

		for (; l->list.items[at].base != PACKING_NO_ITEM; len++)
			at = l->list.items[at].base;
		if (len > longest)
			longest = len;
	}
	return longest;
}

/* Returns the number of items that were cut off from their stored base. */
static size_t count_cut(const struct itemlist *l)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->list.nr; i++) {
		const struct packing_item *item = &l->list.items[i];

		if (item->retry)
			assert_int_equal(item->how, PACKING_WHOLE);
		nr += item->retry;
	}
	return nr;
}

/* Long stored chains are cut into pieces of at most options.chain_max. */
static void chain_limit(void **state)
{
	uint64_t seed = random_seed();
	struct itemlist l;
	size_t longest;

	itemlist_init(&l, &seed);
	itemlist_fill(&l, 16, false);
	plan(&l, &itemlist_plan_options);
	longest = longest_chain(&l);
	assert_true(longest > 1);
	assert_int_equal(count_cut(&l), 0);
	for (uint32_t max = 1; max <= longest + 2; max++) {
		struct plan_options options = itemlist_plan_options;
		size_t deltas;

		options.chain_max = max;
		itemlist_fill(&l, 16, false);
		plan(&l, &options);
		check_items(&l, &options);
		deltas = check_chains(&l);
		assert_int_equal(longest_chain(&l),
				 max <= longest ? max - 1 : longest);
		assert_int_equal(deltas > 0, max > 1);
		assert_int_equal(count_cut(&l) > 0, max <= longest);
	}
	itemlist_release(&l);
}

/*
 * An object that is stored whole in a pack of at least options.settled_min
 * objects is marked `settled`: it is sent whole without a delta search.
 */
static void settled(void **state)
{
	uint64_t seed = random_seed();
	struct itemlist l;
	size_t nr = 0;

	itemlist_init(&l, &seed);
	for (uint32_t min = 0; min < 400; min += 20) {
		struct plan_options options = itemlist_plan_options;

		options.settled_min = min;
		itemlist_fill(&l, 12, false);
		plan(&l, &options);
		for (size_t i = 0; i < l.list.nr; i++) {
			const struct packing_item *item = &l.list.items[i];
			bool is_whole = min && item->how == PACKING_COPY;

			assert_int_equal(
				item->settled,
				is_whole &&
					l.odb->packs[item->pack_nr]
							.pack->idx.nr >= min);
			nr += item->settled;
		}
	}
	assert_true(nr > 0);
	itemlist_release(&l);
}

struct receiver {
	struct itemlist *l;
	const bool *has;
};

static bool receiver_has(void *ctx, uint32_t odb_pos)
{
	const struct receiver *receiver = ctx;
	struct oid oid;

	odb_oid(&oid, receiver->l->odb, odb_pos);
	return receiver->has[randrepo_find(&receiver->l->r, &oid)];
}

/*
 * A delta may have a base that only the receiver has (thin pack). Such a base
 * is not in the list of objects.
 */
static void thin(void **state)
{
	uint64_t seed = random_seed();
	bool *has = calloc(RANDREPO_MAX, sizeof(*has));
	struct plan_options options = itemlist_plan_options;
	struct receiver receiver;
	struct itemlist l;
	size_t nr = 0, without = 0;

	assert_non_null(has);
	itemlist_init(&l, &seed);
	itemlist_fill(&l, 6, false);
	memset(has, 1, RANDREPO_MAX);
	for (size_t i = 0; i < l.list.nr; i++)
		has[l.object[i]] = false;
	receiver = (struct receiver){&l, has};
	options.is_base = receiver_has;
	options.base_ctx = &receiver;
	plan(&l, &options);
	for (size_t i = 0; i < l.list.nr; i++) {
		const struct packing_item *item = &l.list.items[i];
		const struct odb_pack *pack;
		struct packs_stored stored;
		uint32_t idx_pos;

		if (item->pack_nr == PACKING_NO_ITEM)
			continue;
		pack = odb_locate(l.odb, item->obj_pos, &idx_pos);
		assert_int_equal(packs_stored(&stored, &l.packs,
					      (uint32_t)(pack - l.odb->packs),
					      idx_pos, NULL),
				 0);
		if (stored.entry.type != OBJ_OFS_DELTA &&
		    stored.entry.type != OBJ_REF_DELTA)
			continue;
		/*
		 * For each delta, the base is in the list or at the receiver.
		 * So the delta is copied.
		 */
		assert_int_equal(item->how, PACKING_COPY_DELTA);
		nr++;
		without += item->base == PACKING_NO_ITEM;
	}
	assert_true(nr > without && without > 0);
	free(has);
	itemlist_release(&l);
}

/* The stored deltas form a cycle. So one of the objects must be sent whole. */
static void ring(void **state)
{
	uint64_t seed = random_seed();
	struct packfile *p = malloc(sizeof(*p));
	struct objspace space;
	struct packing_items list;
	struct randrepo r;
	struct packs packs;
	struct odb *odb;
	size_t copied = 0;

	assert_non_null(p);
	randrepo_init(&r, HASH_SHA1, &seed);
	packfile_init(p, HASH_SHA1);
	for (unsigned i = 0; i < 6; i++) {
		struct pack_entry e = {.type = OBJ_REF_DELTA, .size = 3};
		uint32_t nr = randrepo_blob(&r, 1 + i);
		uint32_t base = randrepo_blob(&r, 1 + (i + 1) % 6);

		e.base_oid = r.objects[base].oid.bytes;
		packfile_add_entry(p, &e, "abc", 3, &r.objects[nr].oid);
	}
	packfile_finish(p);
	tmprepo_write_len(&r.t, "objects/pack/pack-1.pack", p->bytes.data,
			  p->bytes.len);
	tmprepo_write_len(&r.t, "objects/pack/pack-1.idx", p->idx.data,
			  p->idx.len);
	packfile_release(p);
	free(p);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	objspace_init(&space, odb);
	packing_items_init(&list, &space);
	assert_int_equal(packs_init(&packs, odb, NULL), 0);
	for (uint32_t i = 0; i < r.nr; i++)
		assert_int_equal(
			packing_items_append(&list, i, OBJ_BLOB, 0, false), 0);
	plan_items(&list, &packs, &itemlist_plan_options, NULL);
	for (size_t i = 0; i < list.nr; i++)
		copied += list.items[i].how == PACKING_COPY_DELTA;
	assert_int_equal(list.nr, 6);
	assert_int_equal(copied, 5);
	packing_items_release(&list);
	packs_release(&packs);
	objspace_release(&space);
	odb_close(odb);
	randrepo_release(&r);
}

static void missing(void **state)
{
	static const uint8_t nothing[OID_MAX_LEN] = {1, 2, 3};
	uint64_t seed = random_seed();
	uint32_t obj_pos;
	struct itemlist l;

	itemlist_init(&l, &seed);
	assert_int_equal(objspace_add(&l.space, nothing, &obj_pos), 0);
	assert_int_equal(
		packing_items_append(&l.list, obj_pos, OBJ_BLOB, 0, false), 0);
	assert_int_equal(
		plan_items(&l.list, &l.packs, &itemlist_plan_options, NULL),
		ERR_MISSING);
	itemlist_release(&l);
}

/*
 * If the list of objects says that an object has another type than it has in
 * the pack, its stored bytes are not copied.
 */
static void wrong_type(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct itemlist l;
	uint32_t obj_pos;

	itemlist_init(&l, &seed);
	/* Add commits to the list. Some are stored whole, others as deltas. */
	for (uint32_t i = 0; i < 50; i++) {
		uint32_t nr = l.r.commits[i];

		assert_int_equal(objspace_add(&l.space,
					      l.r.objects[nr].oid.bytes,
					      &obj_pos),
				 0);
		assert_int_equal(packing_items_append(&l.list, obj_pos,
						      OBJ_BLOB, 0, false),
				 0);
	}
	assert_int_equal(
		plan_items(&l.list, &l.packs, &itemlist_plan_options, &err), 0);
	/*
	 * The list names another type than the pack, so the stored bytes must
	 * not be copied. Reading the object again will report the error.
	 */
	for (size_t i = 0; i < l.list.nr; i++)
		assert_int_not_equal(l.list.items[i].how, PACKING_COPY);
	assert_int_equal(err.code, 0);
	itemlist_release(&l);
}

/*
 * The tip island has the objects that a clone with depth 1 needs. An object of
 * this island may only have a delta base in the island. If the base of its
 * stored delta is outside, two objects are marked `retry`: the object itself
 * (A), and the object that is stored whole at the end of A's delta chain (W).
 * Then the delta search may compare A with W. If W is in the island, A can
 * become a delta of W. Otherwise W can become a delta of A.
 */
static void tip_island(void **state)
{
	uint64_t seed = random_seed();
	size_t inside = 0, lost = 0, retried = 0;
	struct itemlist l;

	itemlist_init(&l, &seed);
	for (int i = 0; i < 8; i++) {
		struct islands islands = ISLANDS_INIT;
		uint32_t *base;

		itemlist_fill(&l, 14, false);
		plan(&l, &itemlist_plan_options);
		base = calloc(l.list.nr, sizeof(*base));
		assert_non_null(base);
		assert_int_equal(
			bitset_init(&islands.tip, objspace_end(&l.space)), 0);
		for (size_t k = 0; k < l.list.nr; k++) {
			base[k] = l.list.items[k].base;
			l.list.items[k].base = PACKING_NO_ITEM;
			assert_false(l.list.items[k].retry);
			if (!randrepo_below(&l.r, 3))
				bitset_set(&islands.tip,
					   l.list.items[k].obj_pos);
		}
		l.list.islands = &islands;
		plan(&l, &itemlist_plan_options);
		check_chains(&l);
		for (size_t k = 0; k < l.list.nr; k++) {
			const struct packing_item *item = &l.list.items[k];
			bool allowed;

			if (base[k] == PACKING_NO_ITEM) {
				assert_int_equal(item->base, PACKING_NO_ITEM);
				retried += item->retry;
				continue;
			}
			allowed = islands_may_delta(
				&islands, item->obj_pos,
				l.list.items[base[k]].obj_pos);
			assert_int_equal(item->base,
					 allowed ? base[k] : PACKING_NO_ITEM);
			assert_true(allowed || item->retry);
			inside += allowed;
			lost += !allowed;
		}
		l.list.islands = NULL;
		islands_release(&islands);
		free(base);
	}
	assert_true(inside > 100 && lost > 10 && retried > 0);
	itemlist_release(&l);
}

/* A list that is planned several times, while allocations fail. */
struct again {
	struct itemlist l;
	/* the state of each item after it was planned with enough memory */
	uint8_t how[RANDREPO_MAX];
};

static void plan_anew(void *ctx)
{
	struct again *again = ctx;
	struct itemlist *l = &again->l;

	packs_release(&l->packs);
	odb_close(l->odb);
	assert_int_equal(odb_open(&l->odb, &l->r.t.repo, NULL, NULL), 0);
	l->space.odb = l->odb;
	assert_int_equal(packs_init(&l->packs, l->odb, NULL), 0);
	for (size_t i = 0; i < l->list.nr; i++) {
		l->list.items[i].how = PACKING_WHOLE;
		l->list.items[i].base = PACKING_NO_ITEM;
		l->list.items[i].size = 0;
	}
}

static int plan_again(void *ctx, struct error *err)
{
	struct again *again = ctx;
	struct plan_options options = itemlist_plan_options;

	options.threads = 1;
	return plan_items(&again->l.list, &again->l.packs, &options, err);
}

static void check_again(void *ctx)
{
	struct again *again = ctx;

	for (size_t i = 0; i < again->l.list.nr; i++)
		assert_int_equal(again->l.list.items[i].how, again->how[i]);
}

/*
 * If an allocation fails, either plan_items() fails, or its plan is the same as
 * with enough memory.
 */
static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct again *again = calloc(1, sizeof(*again));

	assert_non_null(again);
	itemlist_init(&again->l, &seed);
	itemlist_fill(&again->l, 2, false);
	plan(&again->l, &itemlist_plan_options);
	for (size_t i = 0; i < again->l.list.nr; i++)
		again->how[i] = again->l.list.items[i].how;
	nomem_each(plan_anew, plan_again, check_again, again);
	itemlist_release(&again->l);
	free(again);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lists), cmocka_unit_test(settled),
		cmocka_unit_test(chain_limit),  cmocka_unit_test(thin),
		cmocka_unit_test(ring),         cmocka_unit_test(tip_island),
		cmocka_unit_test(missing),      cmocka_unit_test(wrong_type),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
