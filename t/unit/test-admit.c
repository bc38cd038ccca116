/* SPDX-License-Identifier: MIT */
/* Tests of daemon/admit.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/daemon-parts.h"
#include "sys/thread.h"

static const struct admission_options options = {
	.limits = {.token_max = 2,
		   .share = 50,
		   .queue_max = 3,
		   .principal_max = 2,
		   .push_max = 1,
		   .wait_ns = UINT64_C(600000000000)},
	.connection_max = 20,
	.address_max = 5,
};

static void *rest(void *ctx)
{
	daemon_admit_rest(ctx, true);
	return NULL;
}

static unsigned held(struct admission *a)
{
	struct admission_view view;

	admission_look(&view, a);
	return view.tokens_held;
}

/* A wait of the thread that sends keepalives is no rest of the work. */
static void test_rest(void **state)
{
	struct admission *a = admission_new(&options, NULL);
	const struct daemon_shared shared = {.admission = a};
	struct admission_ask ask = {
		.principal = "p", .network = "n", .price_us = 1000000};
	atomic_bool is_lost = false;
	struct daemon_admit ad;
	pthread_t other;

	daemon_admit_init(&ad, &shared, "p", &is_lost);
	assert_int_equal(admission_enter(&ad.pass, a, &ask, NULL, NULL), 0);
	assert_true(held(a) > 0);
	assert_int_equal(sys_thread_start(&other, rest, &ad), 0);
	sys_thread_join(other);
	assert_true(held(a) > 0);
	daemon_admit_rest(&ad, true);
	assert_int_equal(held(a), 0);
	daemon_admit_rest(&ad, false);
	assert_true(held(a) > 0);
	admission_leave(&ad.pass);
	admission_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
