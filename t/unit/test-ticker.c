/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/ticker.c: a function is called at intervals, and the ticker can
 * be stopped at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <stdatomic.h>
#include "sys/clock.h"
#include "sys/ticker.h"

static void tick(void *ctx)
{
	atomic_fetch_add((atomic_uint *)ctx, 1);
}

static void test_ticks(void **state)
{
	uint64_t start = sys_clock_ns();
	struct sys_ticker *t;
	atomic_uint nr = 0;

	assert_int_equal(sys_ticker_start(&t, 3600, tick, &nr, NULL), 0);
	sys_ticker_stop(t);
	assert_int_equal(atomic_load(&nr), 0);
	assert_int_equal(sys_ticker_start(&t, 1, tick, &nr, NULL), 0);
	while (!atomic_load(&nr) &&
	       sys_clock_ns() - start < UINT64_C(20000000000))
		;
	sys_ticker_stop(t);
	assert_true(atomic_load(&nr) >= 1);
	sys_ticker_stop(NULL);
}

/*
 * State of a callback that blocks until the test releases it, for at most ten
 * seconds.
 */
struct stuck {
	atomic_uint nr, is_free, has_waited;
};

static void tick_stuck(void *ctx)
{
	uint64_t start = sys_clock_ns();
	struct stuck *s = ctx;

	atomic_fetch_add(&s->nr, 1);
	while (!atomic_load(&s->is_free) && !atomic_load(&s->has_waited))
		if (sys_clock_ns() - start > UINT64_C(10000000000))
			atomic_store(&s->has_waited, 1);
}

/*
 * The function of a ticker is not called before sys_ticker_go(). Further calls
 * of sys_ticker_go() do not wait, even while the function is running.
 */
static void test_goes_later(void **state)
{
	uint64_t start = sys_clock_ns();
	struct stuck stuck = {0, 0, 0};
	struct sys_ticker *t;

	assert_int_equal(sys_ticker_new(&t, 1, tick_stuck, &stuck, NULL), 0);
	sys_ticker_stop(t);
	assert_int_equal(atomic_load(&stuck.nr), 0);
	assert_int_equal(sys_ticker_new(&t, 1, tick_stuck, &stuck, NULL), 0);
	assert_int_equal(sys_ticker_go(t, NULL), 0);
	assert_int_equal(sys_ticker_go(t, NULL), 0);
	while (!atomic_load(&stuck.nr) &&
	       sys_clock_ns() - start < UINT64_C(20000000000))
		;
	assert_int_equal(sys_ticker_go(t, NULL), 0);
	atomic_store(&stuck.is_free, 1);
	sys_ticker_stop(t);
	assert_true(atomic_load(&stuck.nr) >= 1);
	assert_int_equal(atomic_load(&stuck.has_waited), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_goes_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
