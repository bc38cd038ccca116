/* SPDX-License-Identifier: MIT */
/*
 * Tests of deltas/delta-order.c, which sorts the candidates of a delta search
 * and splits them into segments for threads. They prove that similar objects
 * become neighbours, that the right objects get a search, and that each
 * candidate is in one segment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "deltas/delta-order.h"
#include "t/unit/random.h"

static const struct delta_search_options options = {
	.window = 10,
	.depth = 50,
	.big_file_threshold = 100000,
};

static struct packing_item *add(struct packing_items *list,
				enum object_type type, uint32_t name_hash,
				uint64_t size)
{
	struct packing_item *item;

	assert_int_equal(packing_items_append(list, (uint32_t)list->nr, type,
					      name_hash, false),
			 0);
	item = &list->items[list->nr - 1];
	item->size = size;
	return item;
}

static void assert_items(const struct delta_order *order, const uint32_t *items,
			 size_t nr)
{
	assert_int_equal(order->nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(order->candidates[i].item, items[i]);
}

static void only_candidates(void **state)
{
	struct packing_items list = {0};
	struct delta_order order;

	add(&list, OBJ_BLOB, 1, 49);
	add(&list, OBJ_BLOB, 1, 50);
	add(&list, OBJ_BLOB, 1, 100000);
	add(&list, OBJ_BLOB, 1, 100001);
	add(&list, OBJ_BLOB, 1, 80)->how = PACKING_COPY_DELTA;
	add(&list, OBJ_BLOB, 1, 80)->how = PACKING_COPY;
	add(&list, OBJ_BLOB, 1, 80)->is_external = true;
	assert_int_equal(delta_order_init(&order, &list, &options), 0);
	assert_items(&order, (uint32_t[]){6, 2, 5, 1}, 4);
	assert_int_equal(order.target_nr, 3);
	delta_order_release(&order);
	packing_items_release(&list);
}

static void sorted_by_type_name_external_size(void **state)
{
	struct packing_items list = {0};
	struct delta_order order;

	add(&list, OBJ_BLOB, 7, 100);                             /* item 0 */
	add(&list, OBJ_BLOB, 7, 300);                             /* item 1 */
	add(&list, OBJ_BLOB, 7, 100);                             /* item 2 */
	add(&list, OBJ_BLOB, 7, 200)->is_external = true;         /* item 3 */
	add(&list, OBJ_BLOB, UINT32_MAX, 900);                    /* item 4 */
	add(&list, OBJ_TREE, 9, 100);                             /* item 5 */
	add(&list, OBJ_COMMIT, 0, 100);                           /* item 6 */
	add(&list, OBJ_BLOB, UINT32_MAX, 50)->is_external = true; /* item 7 */
	assert_int_equal(delta_order_init(&order, &list, &options), 0);
	assert_items(&order, (uint32_t[]){6, 5, 3, 1, 0, 2, 7, 4}, 8);
	/*
	 * A commit or a tree cannot become a delta if no other object has its
	 * type.
	 */
	assert_int_equal(order.segment_nr, 1);
	assert_int_equal(order.segments[0].first, 2);
	assert_int_equal(order.segments[0].end, 8);
	assert_int_equal(order.segments[0].target_nr, 4);
	delta_order_release(&order);
	packing_items_release(&list);
}

/*
 * Two objects that are stored in the same pack are not compared by default:
 * they were compared when the pack was made. With retry_same_pack, they are
 * compared again.
 */
static void targets_by_pack(void **state)
{
	struct delta_search_options retry = options;
	struct packing_items list = {0};
	struct delta_order order;

	for (uint32_t i = 0; i < 8; i++)
		add(&list, OBJ_BLOB, 7, 100 - i)->pack_nr = 3;
	assert_int_equal(delta_order_init(&order, &list, &options), 0);
	assert_int_equal(order.target_nr, 0);
	assert_int_equal(order.segment_nr, 0);
	delta_order_release(&order);

	retry.retry_same_pack = true;
	assert_int_equal(delta_order_init(&order, &list, &retry), 0);
	assert_int_equal(order.target_nr, 7);
	delta_order_release(&order);

	list.items[2].pack_nr = 1;
	list.items[4].no_delta = true;
	assert_int_equal(delta_order_init(&order, &list, &options), 0);
	assert_int_equal(order.nr, 7);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_not_equal(order.candidates[i].item, 4);
		assert_int_equal(order.candidates[i].is_target, i >= 2);
	}
	assert_int_equal(order.target_nr, 5);
	delta_order_release(&order);

	list.items[2].pack_nr = 3;
	list.items[5].pack_nr = PACKING_NO_ITEM; /* in no pack */
	list.items[4].no_delta = false;
	assert_int_equal(delta_order_init(&order, &list, &options), 0);
	assert_int_equal(order.target_nr, 3);
	delta_order_release(&order);

	list.items[5].pack_nr = 3;
	/*
	 * Item 6 becomes an external item: only the receiver has its object. So
	 * it now comes first, and belongs to no pack.
	 */
	list.items[6].is_external = true;
	assert_int_equal(delta_order_init(&order, &list, &options), 0);
	assert_int_equal(order.candidates[0].item, 6);
	assert_int_equal(order.target_nr, 7);
	delta_order_release(&order);
	packing_items_release(&list);
}

/*
 * The delta search has three passes. A target is an object for which a pass
 * searches a delta base.
 *
 * In the first pass, the objects are in the order of their paths. In the second
 * pass, objects that are already deltas are skipped: they are neither targets
 * nor possible bases. In the third pass, all objects are possible bases again.
 * But only two kinds of objects are targets of the third pass: objects without
 * a delta, and objects whose delta is poor (large).
 */
static void passes(void **state)
{
	struct delta_search_options by_path = options;
	struct packing_items list = {0};
	struct delta_order order;
	struct packing_item *item;

	by_path.grouping = PATH_GROUP_PATH;
	for (uint32_t i = 0; i < 6; i++)
		add(&list, OBJ_BLOB, 7, 9000 - i)->path_hash = 1 + i % 2;
	assert_int_equal(delta_order_init(&order, &list, &by_path), 0);
	assert_items(&order, (uint32_t[]){0, 2, 4, 1, 3, 5}, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(order.candidates[i].is_target, i % 3 != 0);
		assert_int_equal(order.candidates[i].starts, i == 3);
	}
	for (uint32_t i = 2; i < 6; i++) {
		item = &list.items[i];
		item->how = PACKING_DELTA;
		item->base = i - 2;
		item->delta_size = i == 4 ? 4000 : 20;
	}
	assert_int_equal(
		delta_order_pass(&order, &list, &by_path, DELTA_PASS_ROOTS), 0);
	assert_items(&order, (uint32_t[]){0, 1, 2, 3, 4, 5}, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(order.candidates[i].is_skipped, i >= 2);
		assert_int_equal(order.candidates[i].is_target, i == 1);
	}
	assert_int_equal(
		delta_order_pass(&order, &list, &by_path, DELTA_PASS_ALL), 0);
	for (uint32_t i = 0; i < 6; i++) {
		assert_false(order.candidates[i].is_skipped);
		assert_int_equal(order.candidates[i].is_target,
				 i == 1 || i == 4);
		assert_int_equal(order.candidates[i].is_near, i >= 2);
	}
	assert_int_equal(order.target_nr, 2);
	delta_order_release(&order);
	packing_items_release(&list);
}

static int by_first(const void *a, const void *b)
{
	const struct delta_segment *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * The candidates for deltas are divided into segments. Each candidate is in one
 * segment. A group of objects with equal name hashes is split only if it is
 * very large.
 */
static void segments(void **state)
{
	struct packing_items list = {0};
	struct delta_order order;
	uint64_t seed = random_seed();
	size_t end = 0, cuts_in_names = 0;

	for (unsigned i = 0; i < 100000; i++) {
		bool same = random_next(&seed) % 3 == 0;
		uint32_t name = (uint32_t)(random_next(&seed) >> 34);

		add(&list, random_next(&seed) & 1 ? OBJ_BLOB : OBJ_TREE,
		    same ? 5 : name / 1000, 60 + random_next(&seed) % 90000);
	}
	assert_int_equal(delta_order_init(&order, &list, &options), 0);
	assert_true(order.segment_nr > 20);
	assert_true(order.segment_nr <= 66);
	for (size_t i = 1; i < order.segment_nr; i++)
		assert_true(order.segments[i - 1].weight >=
			    order.segments[i].weight);
	qsort(order.segments, order.segment_nr, sizeof(*order.segments),
	      by_first);
	for (size_t i = 0; i < order.segment_nr; i++) {
		const struct delta_segment *seg = &order.segments[i];
		const struct packing_item *first =
			&list.items[order.candidates[seg->first].item];
		const struct packing_item *last =
			&list.items[order.candidates[seg->end - 1].item];

		assert_int_equal(seg->first, end);
		assert_int_equal(first->type, last->type);
		end = seg->end;
		if (end == order.nr)
			break;
		first = &list.items[order.candidates[end].item];
		if (first->type == last->type &&
		    first->name_hash == last->name_hash) {
			cuts_in_names++;
			assert_int_equal(first->name_hash, 5);
			assert_true(seg->end - seg->first >= 8192);
		}
	}
	assert_int_equal(end, order.nr);
	assert_true(cuts_in_names >= 2);
	delta_order_release(&order);
	packing_items_release(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_candidates),
		cmocka_unit_test(sorted_by_type_name_external_size),
		cmocka_unit_test(targets_by_pack),
		cmocka_unit_test(passes),
		cmocka_unit_test(segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
