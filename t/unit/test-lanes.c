/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/lanes.c, the queues of requests (one lane for each client)
 * that wait for a thread: lanes take turns, and a greedy client leaves threads
 * to other clients.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/lanes.h"
#include "t/unit/random.h"

#define THREADS 32

static void put(struct lanes *lanes, struct lane_item *item, const char *client)
{
	item->key = lanes_key(client);
	lanes_put(lanes, item);
}

/*
 * Takes items (requests) until no further item may run. Returns the number of
 * items taken.
 */
static unsigned take_all(struct lanes *lanes)
{
	unsigned nr = 0;

	while (lanes_take(lanes))
		nr++;
	return nr;
}

static void test_order(void **state)
{
	struct lanes *lanes = lanes_new(THREADS);
	struct lane_item items[6];

	assert_null(lanes_take(lanes));
	for (int i = 0; i < 4; i++)
		put(lanes, &items[i], "a");
	put(lanes, &items[4], "b");
	put(lanes, &items[5], "b");
	assert_int_equal(lanes_waiting(lanes, lanes_key("a")), 4);
	assert_int_equal(lanes_waiting(lanes, lanes_key("c")), 0);
	/*
	 * The lanes (queues, one for each client) take turns, and each lane
	 * keeps the order of its items.
	 */
	assert_ptr_equal(lanes_take(lanes), &items[0]);
	assert_ptr_equal(lanes_take(lanes), &items[4]);
	assert_ptr_equal(lanes_take(lanes), &items[1]);
	assert_ptr_equal(lanes_take(lanes), &items[5]);
	assert_ptr_equal(lanes_take(lanes), &items[2]);
	assert_ptr_equal(lanes_take(lanes), &items[3]);
	assert_null(lanes_take(lanes));
	for (int i = 0; i < 6; i++)
		lanes_done(lanes, items[i].key);
	lanes_free(lanes);
	lanes_free(NULL);
}

/* A client with many requests does not get all threads. */
static void test_greedy(void **state)
{
	struct lanes *lanes = lanes_new(THREADS);
	struct lane_item a[200], b[200], c;

	for (int i = 0; i < 200; i++)
		put(lanes, &a[i], "a");
	assert_int_equal(take_all(lanes), THREADS / 2);
	for (int i = 0; i < 200; i++)
		put(lanes, &b[i], "b");
	assert_int_equal(take_all(lanes), THREADS / 4);
	put(lanes, &c, "c");
	assert_ptr_equal(lanes_take(lanes), &c);
	lanes_done(lanes, c.key);
	/*
	 * When one request of client "b" ends, at most one more request of this
	 * client may run.
	 */
	for (int i = 0; i < 100; i++) {
		lanes_done(lanes, lanes_key("b"));
		assert_true(take_all(lanes) <= 1);
	}
	lanes_free(lanes);
}

static void test_single(void **state)
{
	struct lanes *lanes = lanes_new(1);
	struct lane_item a, b;

	put(lanes, &a, "a");
	put(lanes, &b, "a");
	assert_ptr_equal(lanes_take(lanes), &a);
	assert_null(lanes_take(lanes));
	lanes_done(lanes, a.key);
	assert_ptr_equal(lanes_take(lanes), &b);
	lanes_done(lanes, b.key);
	lanes_free(lanes);
}

/*
 * A client may start a request only if it uses fewer threads than are free.
 * Here there are three threads, and two clients use one thread each. So one
 * thread is free, and no client may start a second request.
 *
 * Then the request of client b ends, and two threads are free. Client a uses
 * one thread, so its second request may run. Now one thread is free. Client b
 * uses no thread, so its second request may run, too.
 */
static void test_two_follow(void **state)
{
	struct lanes *lanes = lanes_new(3);
	struct lane_item a[2], b[2];

	put(lanes, &a[0], "a");
	assert_true(lanes_has_ready(lanes));
	assert_ptr_equal(lanes_take(lanes), &a[0]);
	put(lanes, &b[0], "b");
	assert_ptr_equal(lanes_take(lanes), &b[0]);
	put(lanes, &a[1], "a");
	put(lanes, &b[1], "b");
	assert_false(lanes_has_ready(lanes));
	assert_null(lanes_take(lanes));
	lanes_done(lanes, b[0].key);
	assert_ptr_equal(lanes_take(lanes), &a[1]);
	assert_true(lanes_has_ready(lanes));
	assert_ptr_equal(lanes_take(lanes), &b[1]);
	assert_false(lanes_has_ready(lanes));
	lanes_free(lanes);
}

/*
 * Random requests of several clients. A client may get one more thread only if
 * it uses fewer threads than are free. If such a client has a waiting request,
 * this request must run. When a request ends, one more thread is free, and the
 * client of the request uses one thread less. So at most two further requests
 * may run.
 */
static void test_random(void **state)
{
	enum { ITEMS = 400, CLIENTS = 12 };
	struct lanes *lanes = lanes_new(THREADS);
	static const char *const names[] = {"0", "1", "2", "3", "4",  "5",
					    "6", "7", "8", "9", "10", "11"};
	struct lane_item items[ITEMS], *running[THREADS];
	uint64_t random = random_seed();
	unsigned put_nr = 0, run_nr = 0, ended = 0;

	while (ended < ITEMS) {
		struct lane_item *item;
		unsigned taken = 0;

		if (put_nr < ITEMS && random_next(&random) % 2) {
			put(lanes, &items[put_nr++],
			    names[random_next(&random) % CLIENTS *
				  (random_next(&random) % 2)]);
		} else if (run_nr) {
			unsigned at = (unsigned)(random_next(&random) % run_nr);

			lanes_done(lanes, running[at]->key);
			running[at] = running[--run_nr];
			ended++;
		}
		while (lanes_has_ready(lanes)) {
			item = lanes_take(lanes);
			assert_non_null(item);
			assert_true(run_nr < THREADS);
			running[run_nr++] = item;
			taken++;
		}
		assert_null(lanes_take(lanes));
		assert_true(taken <= 2);
	}
	assert_null(lanes_take(lanes));
	lanes_free(lanes);
}

/*
 * lanes_starve() reports a client without a thread whose request has waited
 * long enough. lanes_excess() reports a client that uses more than an equal
 * share of the threads.
 */
static void test_starving(void **state)
{
	struct lanes *lanes = lanes_new(4);
	uint64_t a = lanes_key("a"), b = lanes_key("b");
	struct lane_item items[8] = {{.since_ns = 5}};
	int i;

	for (i = 0; i < 3; i++)
		put(lanes, &items[i], "a");
	assert_true(lanes_starve(lanes, 5));
	assert_int_equal(take_all(lanes), 2);
	/* The third request of "a" waits, but "a" uses threads. */
	assert_int_equal(lanes_waiting(lanes, a), 1);
	assert_false(lanes_starve(lanes, 5));
	/* The only client may use all threads. */
	assert_int_equal(lanes_excess(lanes, a), 0);
	put(lanes, &items[3], "b");
	put(lanes, &items[4], "c");
	assert_int_equal(take_all(lanes), 2);
	assert_int_equal(lanes_excess(lanes, a), 2);
	assert_int_equal(lanes_excess(lanes, b), 0);
	assert_int_equal(lanes_excess(lanes, lanes_key("none")), 0);
	items[5].since_ns = 7;
	put(lanes, &items[5], "d");
	assert_int_equal(take_all(lanes), 0);
	assert_false(lanes_starve(lanes, 6));
	assert_true(lanes_starve(lanes, 7));
	lanes_done(lanes, a);
	assert_int_equal(lanes_excess(lanes, a), 0);
	assert_int_equal(take_all(lanes), 1);
	assert_false(lanes_starve(lanes, 7));
	/* Lanes that do not belong to one client do not starve. */
	items[6] = (struct lane_item){.key = 1};
	lanes_put(lanes, &items[6]);
	assert_false(lanes_starve(lanes, 7));
	lanes_free(lanes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starving),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_greedy),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_two_follow),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
