/* SPDX-License-Identifier: MIT */
/*
 * Tests of admission/admission.c, the queue and the tokens for expensive
 * requests. They prove that the limits hold for several processes together, and
 * that no token is lost if a process is killed. A low load of the machine adds
 * tokens, and a high load halves them. No test depends on how fast the
 * machine is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "admission/admission.h"
#include "sys/clock.h"
#include "sys/process.h"
#include "sys/thread.h"
#include "t/unit/emulated.h"

#define SECOND_NS UINT64_C(1000000000)
#define DEAR 1000000

static const struct admission_options options = {
	.limits = {.token_max = 1,
		   .share = 25,
		   .queue_max = 3,
		   .principal_max = 2,
		   .push_max = 1,
		   .wait_ns = 600 * SECOND_NS},
	.connection_max = 20,
	.address_max = 5,
};

static int enter(struct admission_pass *pass, struct admission *a,
		 const char *who, const struct admission_listener *listener,
		 struct error *err)
{
	struct admission_ask ask = {
		.principal = who, .network = "n", .price_us = DEAR};

	return admission_enter(pass, a, &ask, listener, err);
}

static unsigned waiting(struct admission *a)
{
	struct admission_view view;

	admission_look(&view, a);
	return view.waiting;
}

static unsigned held(struct admission *a)
{
	struct admission_view view;

	admission_look(&view, a);
	return view.tokens_held;
}

/* Waits until `nr` requests wait in the queue. */
static void await_waiting(struct admission *a, unsigned nr)
{
	uint64_t end = sys_clock_ns() + 60 * SECOND_NS;

	while (waiting(a) != nr && sys_clock_ns() < end)
		sys_sleep_ns(SECOND_NS / 1000);
	assert_int_equal(waiting(a), nr);
}

static int refuse(void *ctx, unsigned ahead, struct error *err)
{
	*(unsigned *)ctx = ahead + 1;
	return error_set(err, ERR_PEER, "gone");
}

struct pauser {
	struct admission *a;
	struct admission_pass *pass;
	unsigned waiting;
};

/*
 * Callback that gets the position of a request in the queue. It pauses the
 * request, as a server does while it writes the position to a slow client. Then
 * it returns an error.
 */
static int tell_and_pause(void *ctx, unsigned ahead, struct error *err)
{
	struct pauser *p = ctx;

	admission_pause(p->pass);
	p->waiting = waiting(p->a);
	return error_set(err, ERR_PEER, "gone");
}

/*
 * Pausing a request that waits in the queue has no effect: the request keeps
 * its position. Pausing or resuming a request twice has the same effect as
 * once.
 */
static void test_pause(void **state)
{
	struct admission *a = admission_new(&options, NULL);
	struct admission_pass one, two;
	struct pauser pauser = {a, &two, 0};
	const struct admission_listener listener = {tell_and_pause, &pauser};

	assert_int_equal(enter(&one, a, "a", NULL, NULL), 0);
	assert_int_equal(enter(&two, a, "b", &listener, NULL), ERR_PEER);
	assert_int_equal(pauser.waiting, 1);
	assert_int_equal(waiting(a), 0);
	admission_resume(&one);
	assert_int_equal(held(a), 1);
	admission_pause(&one);
	admission_pause(&one);
	assert_int_equal(held(a), 0);
	admission_resume(&one);
	assert_int_equal(held(a), 1);
	admission_leave(&one);
	assert_int_equal(held(a), 0);
	admission_free(a);
}

static void test_wait(void **state)
{
	struct admission *a = admission_new(&options, NULL);
	struct admission_options late = options;
	struct admission_pass one, two;
	struct error err = ERROR_INIT;
	unsigned heard = 0;
	const struct admission_listener listener = {refuse, &heard};

	assert_int_equal(enter(&one, a, "a", NULL, NULL), 0);
	assert_int_equal(one.tokens, 1);
	/*
	 * The client of a waiting request disconnects, so the callback returns
	 * an error.
	 */
	assert_int_equal(enter(&two, a, "b", &listener, &err), ERR_PEER);
	assert_null(two.a);
	assert_int_equal(heard, 1);
	assert_int_equal(waiting(a), 0);
	/* A request that waits longer than the time limit fails. */
	late.limits.wait_ns = SECOND_NS / 100;
	admission_configure(a, &late);
	assert_int_equal(enter(&two, a, "b", NULL, &err), ERR_DENIED);
	assert_string_equal(err.msg, "the server is busy, try again later");
	admission_leave(&two);
	admission_pause(&one);
	assert_int_equal(enter(&two, a, "b", NULL, &err), 0);
	admission_leave(&two);
	admission_resume(&one);
	assert_int_equal(held(a), 1);
	admission_raise(&one, 5);
	assert_int_equal(one.price_us, DEAR + 5);
	admission_yield(&one);
	admission_leave(&one);
	assert_int_equal(held(a), 0);
	admission_free(a);
}

/*
 * One process holds the only token (permit for expensive work), and two
 * processes wait for the token. The holder and the first waiting process are
 * killed. Then the second waiting process (`heir`) gets the token.
 */
static void test_killed(void **state)
{
	struct admission *a = admission_new(&options, NULL);
	struct admission_pass pass;
	struct admission_view view;
	pid_t holder = fork(), waiter, heir;
	int status;

	if (!holder) {
		enter(&pass, a, "holder", NULL, NULL);
		for (;;)
			pause();
	}
	while (!held(a))
		sys_sleep_ns(SECOND_NS / 1000);
	waiter = fork();
	if (!waiter) {
		enter(&pass, a, "waiter", NULL, NULL);
		_exit(3);
	}
	await_waiting(a, 1);
	heir = fork();
	if (!heir)
		_exit(enter(&pass, a, "heir", NULL, NULL) ? 1 : 7);
	await_waiting(a, 2);
	admission_look(&view, a);
	assert_int_equal(view.line_nr, 3);
	assert_string_equal(view.lines[0].name, "holder");
	assert_int_equal(view.lines[0].running, 1);
	assert_int_equal(view.lines[1].waiting, 1);
	kill(waiter, SIGKILL);
	assert_int_equal(waitpid(waiter, NULL, 0), waiter);
	admission_forget(a, waiter);
	assert_int_equal(waiting(a), 1);
	kill(holder, SIGKILL);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	admission_forget(a, holder);
	assert_int_equal(waitpid(heir, &status, 0), heir);
	assert_int_equal(WEXITSTATUS(status), 7);
	/*
	 * The process `heir` has exited without giving the token (permit for
	 * expensive work) back.
	 */
	admission_forget(a, heir);
	assert_int_equal(held(a), 0);
	admission_free(a);
}

struct work {
	struct admission *a;
	unsigned rounds;
};

static void *work(void *ctx)
{
	struct work *w = ctx;
	struct admission_pass pass;

	for (unsigned i = 0; i < w->rounds; i++) {
		if (enter(&pass, w->a, i % 2 ? "x" : "y", NULL, NULL))
			return ctx;
		if (held(w->a) != 1)
			return ctx;
		admission_yield(&pass);
		admission_pause(&pass);
		admission_resume(&pass);
		admission_leave(&pass);
	}
	return NULL;
}

/*
 * Threads and child processes share one token (permit for expensive work). The
 * children are killed at arbitrary moments.
 */
static void test_crowd(void **state)
{
	struct work w = {NULL, 300};
	struct admission *a;
	pthread_t threads[6];
	void *failed;

	if (!has_robust_locks())
		return;
	a = w.a = admission_new(&options, NULL);
	for (int i = 0; i < 6; i++)
		assert_int_equal(sys_thread_start(&threads[i], work, &w), 0);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		if (!child) {
			struct work endless = {a, UINT32_MAX};

			work(&endless);
			_exit(0);
		}
		sys_sleep_ns(SECOND_NS / 200);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		admission_forget(a, child);
	}
	for (int i = 0; i < 6; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(held(a), 0);
	assert_int_equal(waiting(a), 0);
	admission_free(a);
}

static void test_judge(void **state)
{
	struct admission *a = admission_new(&options, NULL);
	const struct admission_ask ask = {.principal = "p", .network = "n"};
	struct admission_pass pass;
	struct admission_view view;
	pid_t pids[2];

	assert_int_equal(enter(&pass, a, "a", NULL, NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(admission_judge(a, &ask),
				 ADMISSION_NO_REFUSAL);
		pids[i] = fork();
		if (!pids[i]) {
			struct admission_pass own;

			enter(&own, a, "p", NULL, NULL);
			_exit(0);
		}
		await_waiting(a, i + 1);
	}
	assert_int_equal(admission_judge(a, &ask), ADMISSION_PRINCIPAL_FULL);
	admission_refused(a, ADMISSION_ADDRESS);
	admission_look(&view, a);
	assert_int_equal(view.refused[ADMISSION_PRINCIPAL_FULL], 1);
	assert_int_equal(view.refused[ADMISSION_ADDRESS], 1);
	admission_leave(&pass);
	/*
	 * Each child ends while it holds the token (permit for expensive work).
	 * The other child gets the token only after the parent has called
	 * admission_forget() for the ended child.
	 */
	for (unsigned i = 0; i < 2; i++) {
		pid_t ended = waitpid(-1, NULL, 0);

		assert_true(ended == pids[0] || ended == pids[1]);
		admission_forget(a, ended);
	}
	assert_int_equal(held(a), 0);
	admission_free(a);
}

static void test_connections(void **state)
{
	struct admission *a = admission_new(&options, NULL);
	struct admission_view view;
	char address[16];
	pid_t child;

	/*
	 * The limit of connections of one address applies to two processes
	 * together.
	 */
	child = fork();
	if (!child) {
		for (int i = 0; i < 3; i++)
			admission_connect(a, "192.0.2.1", false);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	for (int i = 0; i < 2; i++)
		assert_int_equal(admission_connect(a, "192.0.2.1", false), 0);
	assert_int_equal(admission_connect(a, "192.0.2.1", false),
			 ADMISSION_ADDRESS);
	assert_int_equal(admission_connect(a, "192.0.2.1", true), 0);
	admission_disconnect(a, "192.0.2.1");
	admission_forget(a, child);
	assert_int_equal(admission_connect(a, "192.0.2.1", false), 0);
	admission_look(&view, a);
	assert_int_equal(view.connections, 3);
	for (int i = 3; i < 20; i++) {
		snprintf(address, sizeof(address), "192.0.2.%d", i);
		assert_int_equal(admission_connect(a, address, false), 0);
	}
	assert_int_equal(admission_connect(a, "::1", true),
			 ADMISSION_CONNECTIONS);
	admission_disconnect(a, "192.0.2.3");
	assert_int_equal(admission_connect(a, "::1", false), 0);
	admission_look(&view, a);
	assert_int_equal(view.connections, 20);
	assert_int_equal(view.refused[ADMISSION_CONNECTIONS], 1);
	admission_free(a);
}

/*
 * If there are more client addresses than entries in the table of addresses,
 * all connections are still counted.
 */
static void test_crowded_table(void **state)
{
	enum { NR = 60000 };
	struct admission_options many = options;
	struct admission_view view;
	struct admission *a;
	char address[32];

	many.connection_max = NR;
	a = admission_new(&many, NULL);
	for (int i = 0; i < NR; i++) {
		snprintf(address, sizeof(address), "192.0.%d.%d", i / 256,
			 i % 256);
		assert_int_equal(admission_connect(a, address, false), 0);
	}
	assert_int_equal(admission_connect(a, "::1", true),
			 ADMISSION_CONNECTIONS);
	admission_look(&view, a);
	assert_int_equal(view.connections, NR);
	for (int i = 0; i < NR; i++) {
		snprintf(address, sizeof(address), "192.0.%d.%d", i / 256,
			 i % 256);
		admission_disconnect(a, address);
	}
	admission_look(&view, a);
	assert_int_equal(view.connections, 0);
	admission_free(a);
}

/*
 * If all tickets (entries of the queue's table) are in use, a further request
 * runs without a ticket.
 */
static void test_full(void **state)
{
	static struct admission_pass passes[ADMISSION_TICKETS_MAX + 1];
	struct admission_options wide = options;
	struct admission *a;
	struct admission_ask ask = {
		.principal = "a", .network = "n", .is_push = true};

	wide.limits.push_max = ADMISSION_TICKETS_MAX + 1;
	a = admission_new(&wide, NULL);
	for (int i = 0; i <= ADMISSION_TICKETS_MAX; i++)
		assert_int_equal(
			admission_enter(&passes[i], a, &ask, NULL, NULL), 0);
	assert_null(passes[ADMISSION_TICKETS_MAX].a);
	assert_int_equal(passes[ADMISSION_TICKETS_MAX].tokens, 1);
	for (int i = 0; i <= ADMISSION_TICKETS_MAX; i++)
		admission_leave(&passes[i]);
	admission_free(a);
}

static int parse_pressure(const char *text)
{
	return admission_pressure_parse(text, strlen(text));
}

static void test_pressure_parse(void **state)
{
	static const char *const bad[] = {
		"",
		"some avg10",
		"some avg10=",
		"some avg10=1",
		"some avg10=1.",
		"some avg10=1.2",
		"some avg10=1.2 avg60=0.00",
		"some avg10=x.00",
		"some avg10=-1.00",
		"some avg10=1.2.3",
		"some avg10=100.01",
		"some avg10=99999999999999999999.00",
		"full avg10=1.00",
	};

	assert_int_equal(
		parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 "
			       "total=0\nfull avg10=9.00"),
		0);
	assert_int_equal(parse_pressure("some avg10=12.34 avg60"), 1234);
	assert_int_equal(parse_pressure("some avg10=100.00"), 10000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse_pressure(bad[i]), -1);
}

static void test_pressure_adjust(void **state)
{
	int full = ADMISSION_PRESSURE_CPU + 1;

	/*
	 * If the load is low, the number of tokens grows by one, up to the
	 * limit.
	 */
	assert_int_equal(admission_pressure_adjust(1, 8, 0, 0), 2);
	assert_int_equal(admission_pressure_adjust(8, 8, 0, 0), 8);
	assert_int_equal(admission_pressure_adjust(9, 4, 0, 0), 4);
	/*
	 * If the load is high, the number of tokens is halved, but never below
	 * 1.
	 */
	assert_int_equal(admission_pressure_adjust(8, 8, full, 0), 4);
	assert_int_equal(admission_pressure_adjust(
				 7, 8, 0, ADMISSION_PRESSURE_MEMORY + 1),
			 3);
	assert_int_equal(admission_pressure_adjust(1, 8, full, full), 1);
	/* An unknown load (-1) counts as low. */
	assert_int_equal(admission_pressure_adjust(3, 8, -1, -1), 4);
	assert_int_equal(admission_pressure_adjust(3, 8, ADMISSION_PRESSURE_CPU,
						   ADMISSION_PRESSURE_MEMORY),
			 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_crowded_table),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_pressure_parse),
		cmocka_unit_test(test_pressure_adjust),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
