/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/admit.c, which gets tokens (permits for expensive work) for
 * the server's requests. They prove that only the thread that works on a
 * request can give up the request's tokens. They also prove for which address a
 * request is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/admit.h"
#include "daemon/conn.h"
#include "access/trusted.h"
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

/*
 * daemon_admit_rest() gives back the tokens (permits for expensive work) of a
 * request while the request waits for its client. If a thread that only sends
 * keep-alives calls it, the call must have no effect, because another thread
 * works on the request.
 */
static void test_rest(void **state)
{
	struct admission *a = admission_new(&options, NULL);
	const struct daemon_shared shared = {.admission = a};
	const struct daemon_options daemon_options = {.work_nice = 0};
	struct admission_ask ask = {
		.principal = "p", .network = "n", .price_us = 1000000};
	atomic_bool is_lost = false;
	struct daemon_admit ad;
	pthread_t other;

	daemon_admit_init(&ad, &daemon_options, &shared, "p", &is_lost);
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

static void check_principal(const char *expected, const char *head)
{
	struct trusted_net nets[2];
	const struct daemon_options daemon = {.proxies = nets, .proxy_nr = 2};
	struct daemon_input *in = calloc(1, sizeof(*in));
	struct daemon_conn conn = {
		.protocol = DAEMON_HTTP, .input = in, .address = "10.0.0.1"};

	assert_true(trusted_parse(&nets[0], "10.0.0.0/8"));
	assert_true(trusted_parse(&nets[1], "2001:db8::5"));
	http1_head_init(&in->head);
	in->len = (size_t)snprintf(in->bytes, sizeof(in->bytes),
				   "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", head);
	assert_int_equal(
		http1_head_parse(&in->head, &daemon_limits, in->bytes, in->len),
		1);
	assert_string_equal(daemon_principal(&daemon, &conn), expected);
	free(in);
}

/*
 * A client can write any address into X-Forwarded-For. A request is counted for
 * an address of this header only if a trusted proxy has appended the address.
 */
static void test_principal(void **state)
{
	check_principal("10.0.0.1", "");
	check_principal("192.0.2.7", "X-Forwarded-For: 192.0.2.7\r\n");
	check_principal("192.0.2.7",
			"X-Forwarded-For: 192.0.2.1 , 192.0.2.7\r\n");
	check_principal("192.0.2.7", "X-Forwarded-For: 192.0.2.1\r\n"
				     "x-forwarded-for: 192.0.2.7\r\n");
	check_principal("192.0.2.7", "X-Forwarded-For: 192.0.2.1,192.0.2.7\r\n"
				     "X-Forwarded-For: 10.1.2.3\r\n");
	check_principal("192.0.2.7", "X-Forwarded-For: 192.0.2.1,192.0.2.7,"
				     "2001:db8::5\r\n");
	check_principal("2001:db8::/64", "X-Forwarded-For: 2001:db8::6\r\n");
	check_principal("10.0.0.1", "X-Forwarded-For: nonsense\r\n");
	check_principal("10.0.0.2", "X-Forwarded-For: x, 10.0.0.2\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_principal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
