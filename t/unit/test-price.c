/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/price.c, which estimates the cost of a request. test-send.c
 * tests when the server asks for admission.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packing/price.h"
#include "t/unit/asking.h"

static void test_walk(void **state)
{
	struct packing_request request = {.want_nr = 1};
	struct bitmap_plan plan = {.walk_cost = 0};
	uint64_t clone = packing_price_walk(&request, &plan, 100000);
	uint64_t fetch, planned;

	assert_true(clone > packing_price_walk(&request, &plan, 1000));
	request.have_nr = 1;
	fetch = packing_price_walk(&request, &plan, 100000);
	assert_true(fetch < clone);
	plan.reason = "some";
	plan.walk_cost = 2;
	planned = packing_price_walk(&request, &plan, 100000);
	plan.walk_cost = 4;
	assert_int_equal(packing_price_walk(&request, &plan, 100000),
			 2 * planned);
	/*
	 * UINT64_MAX means that the cost of a walk is unknown, and not that it
	 * is very large.
	 */
	plan.walk_cost = UINT64_MAX;
	assert_int_equal(packing_price_walk(&request, &plan, 100000), fetch);
	plan.walk_cost = UINT64_MAX - 1;
	assert_int_equal(packing_price_walk(&request, &plan, 1), UINT64_MAX);
}

static void test_filters(void **state)
{
	struct packing_request request = {.want_nr = 1};
	struct bitmap_plan plan = {.walk_cost = 0};
	uint64_t all = packing_price_walk(&request, &plan, 100000);
	struct filter filter;

	filter_init(&filter);
	request.filter = &filter;
	assert_int_equal(packing_price_walk(&request, &plan, 100000), all);
	filter.depth = 1;
	assert_true(packing_price_walk(&request, &plan, 100000) < all / 2);

	assert_int_equal(packing_price_filter(NULL, 1000), 0);
	assert_int_equal(packing_price_filter(&filter, 1000), 0);
	filter.blob_limit = 0;
	assert_int_equal(packing_price_filter(&filter, 1000), 0);
	filter.blob_limit = 512;
	assert_true(packing_price_filter(&filter, 1000) > 0);
	filter_release(&filter);
}

static void test_send(void **state)
{
	assert_true(packing_price_items(0) > 0);
	assert_true(packing_price_items(1000) > 2 * packing_price_items(0));
	assert_int_equal(packing_price_deflate(0), 0);
	assert_true(packing_price_deflate(1 << 20) > 1000);
}

/*
 * The price of sending stored bytes depends on their number, and not on how
 * they are divided into ranges.
 */
static void test_spans(void **state)
{
	uint64_t seed = random_seed(), all, odd;
	struct bitmap_space space;
	struct bitset bits = {0};
	struct randrepo r;
	struct pack *pack;
	struct odb *odb;
	uint32_t nr;

	asking_repo(&r, HASH_SHA1, &seed);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	pack = odb->packs[0].pack;
	space = bitmap_space_of_pack(odb, &odb->packs[0],
				     pack_get_rev(pack, NULL));
	nr = bitmap_space_nr(&space);
	assert_int_equal(bitset_init(&bits, nr), 0);
	assert_int_equal(packing_price_spans(&space, &bits), 0);
	assert_int_equal(packing_stored_len(&space, &bits), 0);
	for (uint32_t bit = 1; bit < nr; bit += 2)
		bitset_set(&bits, bit);
	odd = packing_price_spans(&space, &bits);
	for (uint32_t bit = 0; bit < nr; bit += 2)
		bitset_set(&bits, bit);
	all = packing_price_spans(&space, &bits);
	assert_int_equal(all, nr / 4 + (pack->file.len - 32) / 800);
	assert_int_equal(packing_stored_len(&space, &bits),
			 pack->file.len - 32);
	assert_true(odd > 0 && odd < all);
	/*
	 * A single large object at the end of the pack also raises the price.
	 */
	bitset_clear(&bits);
	bitset_set(&bits, nr - 1);
	assert_int_equal(packing_price_spans(&space, &bits),
			 (pack->file.len - 20 -
			  pack_rev_offset(pack_get_rev(pack, NULL), nr - 1)) /
				 800);
	bitset_release(&bits);
	odb_close(odb);
	randrepo_release(&r);
}

static int grant(void *ctx, uint64_t price_us, unsigned *threads,
		 struct error *err)
{
	*threads = *(unsigned *)ctx;
	assert_true(price_us <= UINT64_C(3600000000));
	return price_us == 7 ? error_set(err, ERR_DENIED, "no") : 0;
}

static void test_admit(void **state)
{
	unsigned granted = 2, threads;
	const struct packing_admission admission = {grant, &granted};
	struct packing_send_options options = {.threads = 0};

	assert_int_equal(packing_admit(&threads, &options, 7, NULL), 0);
	assert_int_equal(threads, 0);
	options.admission = &admission;
	assert_int_equal(packing_admit(&threads, &options, 1, NULL), 0);
	assert_int_equal(threads, 2);
	/* A price above an hour counts as an hour. */
	assert_int_equal(packing_admit(&threads, &options, UINT64_MAX, NULL),
			 0);
	options.threads = 4;
	assert_int_equal(packing_admit(&threads, &options, 1, NULL), 0);
	assert_int_equal(threads, 2);
	options.threads = 1;
	assert_int_equal(packing_admit(&threads, &options, 1, NULL), 0);
	assert_int_equal(threads, 1);
	granted = 0;
	assert_int_equal(packing_admit(&threads, &options, 1, NULL), 0);
	assert_int_equal(threads, 1);
	assert_int_equal(packing_admit(&threads, &options, 7, NULL),
			 ERR_DENIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),  cmocka_unit_test(test_filters),
		cmocka_unit_test(test_send),  cmocka_unit_test(test_spans),
		cmocka_unit_test(test_admit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
