/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/progress.c: progress meters print the same text as those of Git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/buf.h"
#include "sys/progress.h"
#include "sys/thread.h"

#define HOUR_NS (UINT64_C(3600) * 1000000000)

static void put(void *ctx, const char *text, size_t len)
{
	assert_int_equal(buf_append(ctx, text, len), 0);
}

static void every_percent_then_done(void **state)
{
	struct buf text = BUF_INIT;
	struct progress_out out = {.put = put, .ctx = &text, .delay_ns = 0};
	struct progress p;

	progress_start(&p, &out, "Counting objects", 5);
	for (int i = 0; i < 5; i++)
		progress_add(&p, 1);
	progress_stop(&p);
	assert_string_equal(text.data, "Counting objects:  20% (1/5)\r"
				       "Counting objects:  40% (2/5)\r"
				       "Counting objects:  60% (3/5)\r"
				       "Counting objects:  80% (4/5)\r"
				       "Counting objects: 100% (5/5)\r"
				       "Counting objects: 100% (5/5), done.\n");
	buf_release(&text);
}

static void same_percent_is_not_drawn_again(void **state)
{
	struct buf text = BUF_INIT;
	struct progress_out out = {.put = put, .ctx = &text, .delay_ns = 0};
	struct progress p;

	progress_start(&p, &out, "X", 1000);
	progress_set(&p, 11);
	progress_set(&p, 12);
	progress_set(&p, 19);
	progress_stop(&p);
	assert_string_equal(text.data, "X:   1% (11/1000)\r"
				       "X:   1% (19/1000), done.\n");
	buf_release(&text);
}

static void ended_phase(void **state)
{
	struct buf text = BUF_INIT;
	struct progress_out out = {.put = put, .ctx = &text, .delay_ns = 0};

	(void)state;
	progress_tell(NULL, "X", 3);
	progress_tell(&out, "X", 0);
	assert_int_equal(text.len, 0);
	progress_tell(&out, "X", 3);
	assert_non_null(strstr(text.data, "X: 100% (3/3), done.\n"));
	buf_release(&text);
}

static void unknown_total(void **state)
{
	struct buf text = BUF_INIT;
	struct progress_out out = {.put = put, .ctx = &text, .delay_ns = 0};
	struct progress p;

	progress_start(&p, &out, "Enumerating objects", 0);
	progress_add(&p, 20);
	progress_add(&p, 22);
	progress_stop(&p);
	assert_string_equal(text.data, "Enumerating objects: 42, done.\n");
	buf_release(&text);
}

/* The title of the output replaces the titles of its meters. */
static void one_title(void **state)
{
	struct buf text = BUF_INIT;
	struct progress_out out = {.put = put, .ctx = &text, .title = "All"};
	struct progress p;

	progress_start(&p, &out, "Enumerating objects", 0);
	progress_add(&p, 2);
	progress_stop(&p);
	assert_string_equal(text.data, "All: 2, done.\n");
	buf_release(&text);
}

/*
 * A meter without a total is printed at most once a second. The test does not
 * wait, but moves the stored time of the last output into the past.
 */
static void once_a_second_without_a_total(void **state)
{
	struct buf text = BUF_INIT;
	struct progress_out out = {.put = put, .ctx = &text, .delay_ns = 0};
	struct progress p;

	progress_start(&p, &out, "E", 0);
	p.drawn_ns -= HOUR_NS;
	progress_add(&p, 100);
	progress_add(&p, 1);
	p.drawn_ns -= HOUR_NS;
	progress_set(&p, 7);
	progress_stop(&p);
	assert_string_equal(text.data, "E: 100\rE: 7  \rE: 7, done.\n");
	buf_release(&text);
}

static void nothing_before_the_delay(void **state)
{
	struct buf text = BUF_INIT;
	struct progress_out out = {
		.put = put, .ctx = &text, .delay_ns = HOUR_NS};
	struct progress p;

	progress_start(&p, &out, "Late", 2);
	progress_add(&p, 1);
	progress_add(&p, 1);
	progress_stop(&p);
	assert_int_equal(text.len, 0);
	progress_start(&p, &out, "Late", 2);
	progress_add(&p, 1);
	p.started_ns -= HOUR_NS;
	progress_add(&p, 1);
	progress_stop(&p);
	assert_string_equal(text.data, "Late: 100% (2/2)\r"
				       "Late: 100% (2/2), done.\n");
	buf_release(&text);
}

static void without_a_place_to_go(void **state)
{
	struct progress p;

	progress_start(&p, NULL, "Quiet", 10);
	progress_add(&p, 1);
	progress_set(&p, 5);
	progress_stop(&p);
	assert_null(p.out);
}

static int add_some(void *ctx, unsigned thread_nr, size_t task_nr,
		    struct error *err)
{
	for (int i = 0; i < 100; i++)
		progress_add(ctx, 1);
	return 0;
}

static void several_threads_count_together(void **state)
{
	struct buf text = BUF_INIT;
	struct progress_out out = {.put = put, .ctx = &text, .delay_ns = 0};
	struct progress p;

	progress_start(&p, &out, "All", 10000);
	assert_int_equal(sys_parallel(4, 100, add_some, &p, NULL), 0);
	progress_stop(&p);
	assert_non_null(strstr(text.data, "All: 100% (10000/10000), done.\n"));
	buf_release(&text);
}

struct polled {
	unsigned nr, cancel_at;
	uint64_t done;
};

static int poll_it(void *ctx, const char *title, uint64_t done, uint64_t total)
{
	struct polled *p = ctx;

	assert_string_equal(title, "Working");
	assert_int_equal(total, 1000000);
	assert_true(done >= p->done);
	p->done = done;
	return ++p->nr == p->cancel_at;
}

/*
 * The callback `poll` is called for the first step, and then only for a few of
 * the steps. If it cancels the work, this step and all further steps fail.
 */
static void polling(void **state)
{
	struct polled polled = {.cancel_at = 0};
	struct progress_out out = {.ctx = &polled, .poll = poll_it};
	struct error err = ERROR_INIT;
	struct progress p;

	progress_start(&p, &out, "Working", 1000000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(progress_step(&p, 1, &err), 0);
	assert_true(polled.nr >= 1 && polled.nr < 100);
	progress_stop(&p);
	polled = (struct polled){.cancel_at = 1};
	progress_start(&p, &out, "Working", 1000000);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(progress_step(&p, 1, &err), ERR_CANCELLED);
		assert_int_equal(err.code, ERR_CANCELLED);
	}
	assert_int_equal(polled.nr, 1);
	progress_stop(&p);
}

static void asking_by_hand(void **state)
{
	struct polled polled = {.cancel_at = 2};
	struct progress_out deaf = {.ctx = &polled};
	struct progress_out out = {.ctx = &polled, .poll = poll_it};
	struct error err = ERROR_INIT;

	assert_int_equal(progress_ask(NULL, "Working", 1000000, &err), 0);
	assert_int_equal(progress_ask(&deaf, "Working", 1000000, &err), 0);
	assert_int_equal(progress_ask(&out, "Working", 1000000, &err), 0);
	assert_int_equal(polled.nr, 1);
	assert_int_equal(progress_ask(&out, "Working", 1000000, &err),
			 ERR_CANCELLED);
	assert_int_equal(err.code, ERR_CANCELLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_percent_then_done),
		cmocka_unit_test(same_percent_is_not_drawn_again),
		cmocka_unit_test(ended_phase),
		cmocka_unit_test(unknown_total),
		cmocka_unit_test(one_title),
		cmocka_unit_test(once_a_second_without_a_total),
		cmocka_unit_test(nothing_before_the_delay),
		cmocka_unit_test(without_a_place_to_go),
		cmocka_unit_test(several_threads_count_together),
		cmocka_unit_test(polling),
		cmocka_unit_test(asking_by_hand),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
