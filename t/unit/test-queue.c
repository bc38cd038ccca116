/* SPDX-License-Identifier: MIT */
/*
 * Tests of admission/queue.c, the queue for expensive work, with a simulated
 * clock. The tests prove that principals (users or clients) get equal shares of
 * the service up to a small difference, that no request waits forever, and that
 * the queue goes on if a process dies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "admission/queue.h"
#include "random.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
/*
 * Price of an expensive request, in microseconds. It is far above
 * ADMISSION_CHEAP_US.
 */
#define DEAR 1000000

static const struct admission_limits limits = {
	.token_max = 8,
	.share = 25,
	.queue_max = 200,
	.principal_max = 50,
	.push_max = 2,
	.wait_ns = 300000 * MS,
};

static struct admission_queue *new_queue(unsigned tokens)
{
	struct admission_queue *q = malloc(sizeof(*q));
	struct admission_limits own = limits;

	assert_non_null(q);
	own.token_max = tokens;
	admission_queue_init(q, &own);
	return q;
}

static int add(struct admission_queue *q, const char *principal,
	       const char *network, uint64_t price_us)
{
	const struct admission_ask ask = {
		.principal = principal,
		.network = network,
		.price_us = price_us,
		.process = 1,
	};

	return admission_queue_add(q, &ask, 0);
}

static enum admission_state state(const struct admission_queue *q, int nr)
{
	return (enum admission_state)atomic_load(&q->tickets[nr].state);
}

static int grant_all(struct admission_queue *q, uint64_t now)
{
	int nr = 0;

	while (admission_queue_next(q, now) >= 0)
		nr++;
	return nr;
}

/*
 * Sets the service that each account has used to zero, as repairing the queue
 * does.
 */
static void clear_service(struct admission_queue *q)
{
	q->now_us = 0;
	for (unsigned i = 0; i < ADMISSION_ACCOUNTS_MAX; i++)
		q->accounts[i].used_us = q->accounts[i].now_us = 0;
	for (unsigned i = 0; i < ADMISSION_TICKETS_MAX; i++)
		if (state(q, (int)i) != ADMISSION_FREE)
			q->tickets[i].charged_us = 0;
}

/*
 * Checks that the counters of the queue agree with its tickets (waiting and
 * running requests).
 */
static void check(const struct admission_queue *q)
{
	struct admission_queue *copy = malloc(sizeof(*copy));
	struct admission_queue *expected = malloc(sizeof(*expected));

	memcpy(copy, q, sizeof(*copy));
	memcpy(expected, q, sizeof(*expected));
	clear_service(expected);
	admission_queue_repair(copy);
	assert_int_equal(copy->tokens_held, q->tokens_held);
	assert_int_equal(copy->express_nr, q->express_nr);
	assert_int_equal(atomic_load(&copy->waiting_nr),
			 atomic_load(&q->waiting_nr));
	assert_int_equal(copy->ticket_end, q->ticket_end);
	assert_memory_equal(copy->accounts, expected->accounts,
			    sizeof(q->accounts));
	assert_true(q->tokens_held <= q->token_nr);
	free(copy);
	free(expected);
}

/* ---- tokens */

static void test_share(void **st)
{
	struct admission_queue *q = new_queue(8);
	int b;

	/*
	 * One principal (the user or client that is charged) may hold all
	 * tokens if no other principal waits.
	 */
	for (int i = 0; i < 20; i++)
		assert_int_equal(add(q, "a", "n", DEAR), i);
	assert_int_equal(grant_all(q, 0), 8);
	b = add(q, "b", "n", DEAR);
	assert_int_equal(grant_all(q, 0), 0);
	/*
	 * The next token (permit for one thread) goes to the principal (user or
	 * client) that has no token yet.
	 */
	admission_queue_remove(q, 0, 5 * MS);
	assert_int_equal(admission_queue_next(q, 5 * MS), b);
	assert_int_equal(admission_queue_next(q, 5 * MS), -1);
	check(q);
	free(q);
	/*
	 * Two principals (users or clients) wait from the start. While others
	 * wait, each may hold at most a quarter of the tokens: 2 of 8.
	 */
	q = new_queue(8);
	for (int i = 0; i < 8; i++) {
		add(q, "a", "n", DEAR);
		add(q, "b", "n", DEAR);
	}
	for (int i = 0; i < 4; i++)
		admission_queue_next(q, 0);
	for (int i = 0, a = 0; i < 16; i++) {
		a += state(q, i) == ADMISSION_RUNNING && !(i % 2);
		if (i == 15)
			assert_int_equal(a, 2);
	}
	check(q);
	free(q);
}

static void test_threads(void **st)
{
	struct admission_queue *q = new_queue(8);
	int dear, cheap;

	/*
	 * An expensive request gets several tokens (permits for one thread
	 * each), but at most half of the free ones.
	 */
	dear = add(q, "a", "n", DEAR);
	assert_int_equal(admission_queue_next(q, 0), dear);
	assert_int_equal(q->tickets[dear].tokens, 4);
	cheap = add(q, "a", "n", 100);
	assert_int_equal(admission_queue_next(q, 0), cheap);
	assert_int_equal(q->tickets[cheap].tokens, 1);
	assert_int_equal(q->tokens_held, 5);
	admission_queue_remove(q, dear, MS);
	assert_int_equal(q->tokens_held, 1);
	check(q);
	free(q);
}

static void test_express(void **st)
{
	struct admission_queue *q = new_queue(2);
	int cheap, second, other;

	for (int i = 0; i < 10; i++)
		add(q, "a", "n", DEAR);
	assert_int_equal(grant_all(q, 0), 2);
	cheap = add(q, "b", "n", 100);
	second = add(q, "b", "n", 100);
	other = add(q, "a", "n", 100);
	/*
	 * Cheap requests may run without a token (express). Each principal
	 * (user or client) has at most one such request at a time.
	 */
	assert_int_equal(grant_all(q, 0), 2);
	assert_int_equal(state(q, cheap), ADMISSION_EXPRESS);
	assert_int_equal(state(q, second), ADMISSION_WAITING);
	assert_int_equal(state(q, other), ADMISSION_EXPRESS);
	/*
	 * At most two requests may run without a token at a time, as many as
	 * there are tokens.
	 */
	add(q, "c", "n", 100);
	assert_int_equal(grant_all(q, 0), 0);
	admission_queue_remove(q, cheap, MS);
	assert_int_equal(grant_all(q, MS), 1);
	check(q);
	/*
	 * If a request that runs without a token turns out to be expensive, it
	 * must wait for a token.
	 */
	assert_false(admission_queue_yield(q, other, MS));
	assert_true(admission_queue_yield(q, other, 200 * MS));
	assert_int_equal(state(q, other), ADMISSION_WAITING);
	assert_int_equal(grant_all(q, 200 * MS), 1);
	assert_int_equal(state(q, other), ADMISSION_WAITING);
	check(q);
	free(q);
}

static void test_yield(void **st)
{
	struct admission_queue *q = new_queue(2);
	int a = add(q, "a", "n", DEAR), a2 = add(q, "a", "n", DEAR), b;

	assert_int_equal(grant_all(q, 0), 2);
	add(q, "a", "n", DEAR);
	/*
	 * No other principal (user or client) waits for a token, so the request
	 * need not yield its token.
	 */
	assert_false(admission_queue_yield(q, a, 500 * MS));
	b = add(q, "b", "n", DEAR);
	assert_false(admission_queue_yield(q, a, 50 * MS));
	assert_true(admission_queue_yield(q, a, 500 * MS));
	assert_int_equal(admission_queue_next(q, 500 * MS), b);
	assert_int_equal(admission_queue_next(q, 500 * MS), -1);
	/*
	 * A request that has begun gets its turn before a request that has not
	 * begun.
	 */
	admission_queue_remove(q, a2, 600 * MS);
	assert_int_equal(admission_queue_next(q, 600 * MS), a);
	check(q);
	free(q);
}

static void test_pause(void **st)
{
	struct admission_queue *q = new_queue(1);
	int a = add(q, "a", "n", DEAR), b = add(q, "b", "n", DEAR);

	assert_int_equal(admission_queue_next(q, 0), a);
	admission_queue_pause(q, a, 10 * MS);
	assert_int_equal(admission_queue_next(q, 10 * MS), b);
	/*
	 * While the client does not read, the time of the request is not
	 * charged.
	 */
	assert_int_equal(q->accounts[q->tickets[a].flow].used_us, 10000);
	admission_queue_resume(q, a);
	assert_int_equal(admission_queue_next(q, 10000 * MS), -1);
	admission_queue_remove(q, b, 10000 * MS);
	assert_int_equal(admission_queue_next(q, 10000 * MS), a);
	admission_queue_remove(q, a, 10005 * MS);
	assert_int_equal(q->accounts[q->tickets[a].flow].used_us, 15000);
	check(q);
	free(q);
}

/* ---- fairness */

#define PRINCIPALS 40
#define PRICE_MAX 200000

/* A running request of the simulation, which ends at a known time. */
struct job {
	int nr, principal;
	uint64_t begin, end;
};

struct world {
	struct admission_queue *q;
	uint64_t random;
	struct job jobs[8];
	unsigned job_nr;
	uint64_t now, service_us[PRINCIPALS];
	int owner[ADMISSION_TICKETS_MAX];
};

static void ask(struct world *w, int principal, const char *network)
{
	char name[16];
	/*
	 * The real cost of a request may differ much from its estimated price.
	 */
	uint64_t price = ADMISSION_CHEAP_US + random_next(&w->random) % 1000000;
	int nr;

	snprintf(name, sizeof(name), "p%d", principal);
	nr = add(w->q, name, network, price);
	assert_true(nr >= 0);
	w->owner[nr] = principal;
}

static void run_next(struct world *w)
{
	int nr;

	while ((nr = admission_queue_next(w->q, w->now)) >= 0) {
		uint64_t us = 1 + random_next(&w->random) % PRICE_MAX;

		w->jobs[w->job_nr++] = (struct job){nr, w->owner[nr], w->now,
						    w->now + us * US};
	}
}

/*
 * Ends the running request whose end comes first. Returns its principal (user
 * or client).
 */
static int end_next(struct world *w)
{
	unsigned first = 0;
	struct job job;

	for (unsigned i = 1; i < w->job_nr; i++)
		if (w->jobs[i].end < w->jobs[first].end)
			first = i;
	assert_true(w->job_nr > 0);
	job = w->jobs[first];
	w->jobs[first] = w->jobs[--w->job_nr];
	w->now = job.end;
	w->service_us[job.principal] += (job.end - job.begin) / US;
	admission_queue_remove(w->q, job.nr, w->now);
	return job.principal;
}

/*
 * Principals (users or clients) with 1 to 10 waiting requests each must get the
 * same amount of service.
 */
static void test_fair(void **st)
{
	struct world w = {.q = new_queue(4)};
	uint64_t low = UINT64_MAX, high = 0;

	w.random = random_seed();
	for (int p = 0; p < PRINCIPALS; p++)
		for (int i = 0; i <= p % 10; i++)
			ask(&w, p, "n");
	for (int i = 0; i < 20000; i++) {
		run_next(&w);
		ask(&w, end_next(&w), "n");
	}
	check(w.q);
	for (int p = 0; p < PRINCIPALS; p++) {
		low = w.service_us[p] < low ? w.service_us[p] : low;
		high = w.service_us[p] > high ? w.service_us[p] : high;
	}
	/*
	 * Service is the time for which requests of a principal have run. In
	 * start-time fair queuing, the service of any two principals differs by
	 * a limited amount. The limit is the largest price (time that a request
	 * costs), times the number of tokens. The number of tokens is 4, so 4
	 * requests can run at one time.
	 */
	assert_true(high - low <= 4 * (PRICE_MAX + 1000000 + 30000));
	assert_true(low > 20000 / PRINCIPALS * (PRICE_MAX / 4));
	free(w.q);
}

/*
 * Networks get equal shares, however many principals (users or clients) each
 * network has.
 */
static void test_networks(void **st)
{
	struct world w = {.q = new_queue(4)};
	uint64_t small = 0, large = 0;

	w.random = random_seed();
	for (int p = 0; p < PRINCIPALS; p++)
		for (int i = 0; i < 3; i++)
			ask(&w, p, p < 5 ? "small" : "large");
	for (int i = 0; i < 20000; i++) {
		int p;

		run_next(&w);
		p = end_next(&w);
		ask(&w, p, p < 5 ? "small" : "large");
	}
	for (int p = 0; p < PRINCIPALS; p++)
		*(p < 5 ? &small : &large) += w.service_us[p];
	assert_true(small > large / 10 * 9 && large > small / 10 * 9);
	check(w.q);
	free(w.q);
}

/*
 * One principal (user or client) has 200 waiting requests. A single request of
 * another principal must wait for only a few of them.
 */
static void test_greedy(void **st)
{
	struct world w = {.q = new_queue(2)};

	w.random = random_seed();
	for (int i = 0; i < 200; i++)
		ask(&w, 0, "n");
	for (int i = 0; i < 300; i++) {
		int done = 0;

		run_next(&w);
		if (i % 10)
			ask(&w, end_next(&w), "n");
		if (i % 10)
			continue;
		ask(&w, 1, "n");
		while (end_next(&w) != 1) {
			run_next(&w);
			ask(&w, 0, "n");
			assert_true(++done <= 6);
		}
	}
	check(w.q);
	free(w.q);
}

/*
 * A principal (user or client) that was idle must not get extra service
 * afterwards.
 */
static void test_newcomer(void **st)
{
	struct world w = {.q = new_queue(1)};
	int late = 0;

	w.random = random_seed();
	for (int i = 0; i < 10; i++)
		ask(&w, 0, "n");
	for (int i = 0; i < 1000; i++) {
		run_next(&w);
		ask(&w, end_next(&w), "n");
	}
	for (int i = 0; i < 10; i++)
		ask(&w, 1, "n");
	memset(w.service_us, 0, sizeof(w.service_us));
	for (int i = 0; i < 200; i++) {
		run_next(&w);
		late += w.jobs[0].principal;
		ask(&w, end_next(&w), "n");
	}
	assert_true(late > 60 && late < 140);
	free(w.q);
}

/* ---- limits */

static void test_limits(void **st)
{
	struct admission_queue *q = new_queue(1);
	struct admission_ask ask = {
		.principal = "a", .network = "n", .price_us = DEAR};
	char name[16];

	for (unsigned i = 0; i < limits.principal_max; i++) {
		assert_int_equal(admission_queue_judge(q, &ask),
				 ADMISSION_NO_REFUSAL);
		admission_queue_add(q, &ask, 0);
	}
	assert_int_equal(admission_queue_judge(q, &ask),
			 ADMISSION_PRINCIPAL_FULL);
	ask.principal = "b";
	assert_int_equal(admission_queue_judge(q, &ask), ADMISSION_NO_REFUSAL);
	for (unsigned i = limits.principal_max; i < limits.queue_max; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		add(q, name, "n", DEAR);
	}
	assert_int_equal(admission_queue_judge(q, &ask),
			 ADMISSION_NETWORK_FULL);
	ask.network = "m";
	assert_int_equal(admission_queue_judge(q, &ask), ADMISSION_NO_REFUSAL);
	/*
	 * Fill the table of tickets (requests in the queue), until it has no
	 * free entry.
	 */
	for (unsigned i = limits.queue_max; i < ADMISSION_TICKETS_MAX; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		assert_int_equal(add(q, name, name, DEAR), i);
	}
	assert_int_equal(add(q, "d", "n", DEAR), -1);
	check(q);
	free(q);
}

static void test_pushes(void **st)
{
	struct admission_queue *q = new_queue(1);
	struct admission_ask ask = {.principal = "a",
				    .network = "n",
				    .is_push = true,
				    .process = 1};
	int nr[4];

	assert_int_equal(add(q, "a", "n", DEAR), 0);
	for (int i = 0; i < 4; i++) {
		ask.principal = i == 1 ? "b" : "a";
		nr[i] = admission_queue_add(q, &ask, 0);
	}
	/* Two pushes run although another request holds the only token. */
	assert_int_equal(grant_all(q, 0), 3);
	assert_int_equal(state(q, nr[1]), ADMISSION_RUNNING);
	assert_int_equal(state(q, nr[2]), ADMISSION_WAITING);
	assert_int_equal(admission_queue_ahead(q, nr[3]), 1);
	admission_queue_remove(q, nr[0], MS);
	assert_int_equal(admission_queue_next(q, MS), nr[2]);
	ask.network = "m";
	assert_int_equal(admission_queue_next(q, MS), -1);
	nr[0] = admission_queue_add(q, &ask, 0);
	assert_int_equal(admission_queue_next(q, MS), nr[0]);
	check(q);
	free(q);
}

/*
 * The number of running pushes to a repository is limited. One principal (user
 * or client) must not use up this limit.
 */
static void test_push_share(void **st)
{
	struct admission_queue *q = new_queue(1);
	struct admission_ask ask = {.principal = "a",
				    .network = "n",
				    .is_push = true,
				    .process = 1};
	int first, second, other;

	first = admission_queue_add(q, &ask, 0);
	second = admission_queue_add(q, &ask, 0);
	assert_int_equal(admission_queue_next(q, 0), first);
	assert_int_equal(admission_queue_next(q, 0), -1);
	ask.principal = "b";
	other = admission_queue_add(q, &ask, 0);
	assert_int_equal(admission_queue_next(q, 0), other);
	admission_queue_remove(q, first, MS);
	assert_int_equal(admission_queue_next(q, MS), second);
	check(q);
	free(q);
}

static void test_ahead(void **st)
{
	struct admission_queue *q = new_queue(1);
	int a3 = 0, b1, b2;

	add(q, "x", "n", DEAR);
	assert_int_equal(grant_all(q, 0), 1);
	for (int i = 0; i < 4; i++)
		a3 = add(q, "a", "n", DEAR);
	assert_int_equal(admission_queue_ahead(q, a3), 3);
	b1 = add(q, "b", "n", DEAR);
	b2 = add(q, "b", "n", DEAR);
	/*
	 * The requests will get tokens in the order a b a b a a.
	 * admission_queue_ahead() returns how many requests get tokens before a
	 * given one.
	 */
	assert_in_range(admission_queue_ahead(q, b1), 0, 1);
	assert_in_range(admission_queue_ahead(q, b2), 1, 3);
	assert_int_equal(admission_queue_ahead(q, a3), 5);
	free(q);
}

/* ---- processes that die */

static void test_forget(void **st)
{
	struct admission_queue *q = new_queue(4);
	int mine;

	for (int i = 0; i < 6; i++) {
		const struct admission_ask ask = {.principal = "a",
						  .network = "n",
						  .price_us = DEAR,
						  .process = 7};

		admission_queue_add(q, &ask, 0);
	}
	mine = add(q, "b", "n", DEAR);
	assert_int_equal(grant_all(q, 0), 4);
	admission_queue_pause(q, 0, MS);
	assert_int_equal(admission_queue_forget(q, 7, 2 * MS), 6);
	check(q);
	assert_int_equal(q->tokens_held, state(q, mine) == ADMISSION_RUNNING);
	grant_all(q, 2 * MS);
	assert_int_equal(state(q, mine), ADMISSION_RUNNING);
	assert_int_equal(admission_queue_forget(q, 7, 2 * MS), 0);
	free(q);
}

/*
 * Repairing the queue computes all counters again from the tickets (requests in
 * the queue), so wrong counters of a killed process do not matter.
 */
static void test_repair(void **st)
{
	struct admission_queue *q = new_queue(4), *copy = new_queue(4);
	const struct admission_ask push = {
		.principal = "a", .network = "n", .is_push = true};

	for (int i = 0; i < 9; i++)
		add(q, i % 2 ? "a" : "b", i % 3 ? "n" : "m", i % 4 ? DEAR : 1);
	admission_queue_add(q, &push, 0);
	grant_all(q, 0);
	admission_queue_pause(q, 2, MS);
	memcpy(copy, q, sizeof(*q));
	q->tokens_held = 77;
	q->express_nr = 5;
	q->ticket_end = 1;
	q->account_end = 0;
	atomic_store(&q->waiting_nr, 1000);
	for (int i = 0; i < 5; i++) {
		q->accounts[i].nr += 3;
		q->accounts[i].waiting = 0;
		q->accounts[i].tokens = 9;
		q->accounts[i].pushes = 9;
		q->accounts[i].express++;
	}
	q->accounts[0].used_us = UINT64_MAX;
	admission_queue_repair(q);
	clear_service(copy);
	assert_memory_equal(q, copy, sizeof(*q));
	free(q);
	free(copy);
}

/*
 * Makes random calls. After each, the counters of the queue must agree with its
 * tickets (requests in the queue).
 */
static void test_random(void **st)
{
	struct admission_queue *q = new_queue(3);
	uint64_t random;

	random = random_seed();
	for (int i = 0; i < 20000; i++) {
		uint64_t now = (uint64_t)i * 30 * MS;
		int nr = (int)(random_next(&random) % 60);
		enum admission_state is = state(q, nr);
		char who[8], network[8];

		snprintf(who, sizeof(who), "%u",
			 (unsigned)(random_next(&random) % 9));
		snprintf(network, sizeof(network), "%u",
			 (unsigned)(random_next(&random) % 4));
		if (q->ticket_end < 60 && random_next(&random) % 2)
			add(q, who, network, random_next(&random) % 2 * DEAR);
		else if (is == ADMISSION_RUNNING && random_next(&random) % 2)
			admission_queue_pause(q, nr, now);
		else if (is == ADMISSION_PAUSED)
			admission_queue_resume(q, nr);
		else if (is == ADMISSION_RUNNING || is == ADMISSION_EXPRESS)
			admission_queue_yield(q, nr, now);
		else if (is != ADMISSION_FREE)
			admission_queue_remove(q, nr, now);
		while (admission_queue_next(q, now) >= 0)
			;
		if (!(i % 50))
			check(q);
	}
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_express),
		cmocka_unit_test(test_yield),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_networks),
		cmocka_unit_test(test_greedy),
		cmocka_unit_test(test_newcomer),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_pushes),
		cmocka_unit_test(test_push_share),
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
