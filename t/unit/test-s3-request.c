/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/s3-request.c, which sends requests to S3: which failures are
 * temporary, and which requests are sent again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/s3-request.h"
#include "t/unit/s3-peer.h"

#define CODE(code) "<Error><Code>" code "</Code></Error>"
#define FAILED(status, code)                                                   \
	"HTTP/1.1 " status " X\r\nConnection: close\r\n\r\n" CODE(code)

static const struct filestore_condition create = {STORE_CREATE, NULL};
static const struct filestore_condition always = {STORE_ALWAYS, NULL};

/*
 * Puts a file. The first try of the request fails with `failure`, the second
 * succeeds. `want`: expected result; `requests`: expected number of requests.
 */
static void check(const struct filestore_condition *condition,
		  const char *failure, int want, size_t requests)
{
	const struct peer_answer script[] = {{failure, PEER_CLOSE},
					     {OK, PEER_KEEP}};
	struct s3_peer p;

	s3_peer_start(&p, script, 2, 100);
	assert_int_equal(
		filestore_put(p.store, NULL, "a", "text", 4, condition, &p.err),
		want);
	if (want == STORE_AMBIGUOUS)
		assert_true(*p.err.msg);
	s3_peer_stop(&p);
	assert_int_equal(p.peer.request_nr, requests);
	peer_release(&p.peer);
}

static void test_no_effect(void **state)
{
	check(&create, FAILED("429", "x"), 0, 2);
	check(&create, FAILED("503", "SlowDown"), 0, 2);
	check(&create, FAILED("409", "ConditionalRequestConflict"), 0, 2);
	check(&create, FAILED("409", "OperationAborted"), 0, 2);
	check(&create, FAILED("400", "RequestTimeout"), 0, 2);
}

static void test_unknown(void **state)
{
	static const char *const failures[] = {
		NULL,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ncut",
		FAILED("500", "InternalError"),
		FAILED("502", "x"),
		FAILED("503", "ServiceUnavailable"),
		FAILED("504", "x"),
		FAILED("408", "x"),
		FAILED("520", "x"),
		FAILED("202", "x"),
		FAILED("204", "x"),
	};

	for (size_t i = 0; i < ARRAY_NR(failures); i++) {
		check(&create, failures[i], STORE_AMBIGUOUS, 1);
		check(&always, failures[i], 0, 2);
	}
}

static void test_final(void **state)
{
	check(&always, FAILED("400", "InvalidRequest"), ERR_INVALID, 1);
	check(&always, FAILED("401", "x"), ERR_DENIED, 1);
	check(&always, FAILED("404", "NoSuchBucket"), ERR_INVALID, 1);
	check(&always, FAILED("405", "x"), ERR_UNSUPPORTED, 1);
	check(&always, FAILED("409", "other"), ERR_INVALID, 1);
	check(&always, FAILED("301", "PermanentRedirect"), ERR_INVALID, 1);
	check(&always, FAILED("307", "TemporaryRedirect"), ERR_INVALID, 1);
	check(&always, FAILED("413", "EntityTooLarge"), ERR_INVALID, 1);
	check(&always, FAILED("501", "NotImplemented"), ERR_UNSUPPORTED, 1);
	check(&always, FAILED("418", "x"), ERR_PEER, 1);
}

/* After the maximum number of tries, the result is that of the last try. */
static void test_tries(void **state)
{
	const struct peer_answer slow[] = {
		{FAILED("503", "SlowDown"), PEER_CLOSE},
		{FAILED("503", "SlowDown"), PEER_CLOSE},
		{FAILED("503", "SlowDown"), PEER_CLOSE},
	};
	const struct peer_answer mixed[] = {
		{FAILED("503", "SlowDown"), PEER_CLOSE},
		{FAILED("500", "x"), PEER_CLOSE},
		{FAILED("503", "SlowDown"), PEER_CLOSE},
	};
	struct filestore_info info;
	struct s3_peer p;

	s3_peer_start(&p, slow, 3, 100);
	assert_int_equal(
		filestore_put(p.store, NULL, "a", "", 0, &create, &p.err),
		STORE_UNAVAILABLE);
	assert_string_equal(p.err.msg, "the store failed: status 503 SlowDown");
	s3_peer_stop(&p);
	assert_int_equal(p.peer.request_nr, 3);
	peer_release(&p.peer);

	s3_peer_start(&p, mixed, 3, 100);
	assert_int_equal(
		filestore_put(p.store, NULL, "a", "", 0, &always, &p.err),
		STORE_AMBIGUOUS);
	s3_peer_stop(&p);
	assert_int_equal(p.peer.request_nr, 3);
	peer_release(&p.peer);

	/*
	 * A read changes nothing. So if it fails, the result is never
	 * STORE_AMBIGUOUS.
	 */
	s3_peer_start(&p, mixed, 3, 100);
	assert_int_equal(filestore_head(p.store, &info, "a", &p.err),
			 STORE_UNAVAILABLE);
	s3_peer_stop(&p);
	peer_release(&p.peer);
}

/*
 * The simulated clock is `own_clock` nanoseconds ahead of the real clock. Each
 * call of clock_gettime() first adds `clock_step` nanoseconds to `own_clock`.
 */
static atomic_uint_least64_t clock_step, own_clock;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int ret = (int)syscall(SYS_clock_gettime, id, ts);
	uint64_t ns;

	if (ret || id != CLOCK_MONOTONIC)
		return ret;
	own_clock += clock_step;
	ns = (uint64_t)ts->tv_nsec + own_clock;
	ts->tv_sec += (time_t)(ns / 1000000000);
	ts->tv_nsec = (long)(ns % 1000000000);
	return 0;
}

/* A request that has taken too long is not tried again. */
static void test_time_for_tries(void **state)
{
	const struct peer_answer script[] = {
		{FAILED("503", "SlowDown"), PEER_CLOSE},
		{OK, PEER_KEEP},
	};
	struct buf text = BUF_INIT;
	struct filestore_info info;

	for (int i = 0; i < 2; i++) {
		struct s3_peer p;

		s3_peer_start(&p, script, 2, 100);
		((struct s3 *)p.store)->try_ms = 1;
		clock_step = 2000000;
		assert_int_equal(i ? filestore_head(p.store, &info, "a", &p.err)
				   : filestore_get(p.store, &text, NULL, "a",
						   10, &p.err),
				 STORE_UNAVAILABLE);
		clock_step = 0;
		s3_peer_stop(&p);
		assert_int_equal(p.peer.request_nr, 1);
		peer_release(&p.peer);
	}
	buf_release(&text);
}

/*
 * The first try may have had an effect. So the result is ambiguous, even if the
 * next try fails with a permanent error.
 */
static void test_error_after_unknown(void **state)
{
	const struct peer_answer script[] = {
		{FAILED("500", "x"), PEER_CLOSE},
		{FAILED("403", "AccessDenied"), PEER_CLOSE},
	};
	struct s3_peer p;

	s3_peer_start(&p, script, 2, 100);
	assert_int_equal(
		filestore_put(p.store, NULL, "a", "", 0, &always, &p.err),
		STORE_AMBIGUOUS);
	s3_peer_stop(&p);
	peer_release(&p.peer);
}

static void test_path(void **state)
{
	struct s3 s3 = {.bucket = (char *)"b", .prefix = (char *)""};
	struct buf path = BUF_INIT;

	assert_int_equal(s3_path(&path, &s3, NULL), 0);
	assert_string_equal(path.data, "/b");
	buf_reset(&path);
	assert_int_equal(s3_path(&path, &s3, "n"), 0);
	assert_string_equal(path.data, "/b/n");
	buf_reset(&path);
	s3.prefix = (char *)"p/q";
	assert_int_equal(s3_path(&path, &s3, "n"), 0);
	assert_string_equal(path.data, "/b/p/q/n");
	buf_release(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_effect),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_final),
		cmocka_unit_test(test_tries),
		cmocka_unit_test(test_time_for_tries),
		cmocka_unit_test(test_error_after_unknown),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
