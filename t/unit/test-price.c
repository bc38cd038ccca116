/* SPDX-License-Identifier: MIT */
/* Tests of packing/price.c. test-send.c tests when packs ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packing/price.h"

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
	 * UINT64_MAX means that the cost is unknown, and not that it is very
	 * large.
	 */
	plan.walk_cost = UINT64_MAX;
	assert_int_equal(packing_price_walk(&request, &plan, 100000), fetch);
	plan.walk_cost = UINT64_MAX - 1;
	assert_int_equal(packing_price_walk(&request, &plan, 1), UINT64_MAX);
}

static void test_send(void **state)
{
	assert_int_equal(packing_price_send(0, 0), 0);
	/*
	 * An object that is copied in a span costs less than one that is sent
	 * by itself.
	 */
	assert_true(packing_price_send(1000, 0) < packing_price_send(0, 1000));
	assert_int_equal(packing_price_send(1000, 1000),
			 packing_price_send(1000, 0) +
				 packing_price_send(0, 1000));
	assert_int_equal(packing_price_deflate(0), 0);
	assert_true(packing_price_deflate(1 << 20) > 1000);
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
	/* The sum of prices must not overflow. */
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
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_admit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
