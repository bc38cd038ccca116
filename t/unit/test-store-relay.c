/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/relay.h, a store that sends requests through the relay of the
 * node: it passes the checks for all stores, and requests are not lost or
 * repeated wrongly if the relay ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "store/open.h"
#include "t/unit/relaypeer.h"
#include "t/unit/store-suite.h"

static const struct filestore_condition create = {STORE_CREATE, NULL};
static const struct filestore_condition always = {STORE_ALWAYS, NULL};

/* Seconds by which the monotonic clock is ahead of the real one. */
static atomic_int ahead_seconds;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int ret = (int)syscall(SYS_clock_gettime, id, ts);

	if (id == CLOCK_MONOTONIC)
		ts->tv_sec += ahead_seconds;
	return ret;
}

struct fixture {
	struct relaypeer peer;
	struct relay *relay;
	struct filestore *store;
	/*
	 * The store that the process uses if the relay (which sends requests to
	 * the store) does not answer.
	 */
	struct memstore direct;
	struct error err;
};

static void open_store(struct fixture *f)
{
	memstore_init(&f->direct);
	f->relay = relay_new(f->peer.path);
	assert_non_null(f->relay);
	assert_int_equal(store_relay_open(&f->store, f->relay, 0,
					  &f->direct.store, &f->err),
			 0);
}

static void close_store(struct fixture *f)
{
	filestore_close(f->store);
	relay_free(f->relay);
	memstore_release(&f->direct);
}

static void begin(struct fixture *f, unsigned answers, enum relaypeer_end end)
{
	memset(f, 0, sizeof(*f));
	relaypeer_init(&f->peer);
	f->peer.answers = answers;
	f->peer.end = end;
	relaypeer_start(&f->peer);
	open_store(f);
}

static void finish(struct fixture *f)
{
	close_store(f);
	relaypeer_stop(&f->peer);
	relaypeer_release(&f->peer);
}

/*
 * Runs the checks that every store must pass. If `has_relay` is true, this
 * process sends most requests to the relay, and the relay sends them to its own
 * store. Other requests go directly to a store of this process. Both stores use
 * the same directory, so both find the same files.
 */
static void run_suite(bool has_relay)
{
	struct fixture f = {.err = ERROR_INIT};
	struct filestore *direct;

	relaypeer_init(&f.peer);
	assert_int_equal(
		store_directory_make(&f.peer.store, f.peer.dir.path, NULL), 0);
	assert_int_equal(store_directory_make(&direct, f.peer.dir.path, NULL),
			 0);
	if (has_relay)
		relaypeer_start(&f.peer);
	f.relay = relay_new(f.peer.path);
	assert_int_equal(store_relay_open(&f.store, f.relay, 0, direct, &f.err),
			 0);
	if (store_suite(f.store, &f.err))
		fail_msg("%s", f.err.msg);
	filestore_close(f.store);
	relay_free(f.relay);
	if (has_relay) {
		relaypeer_stop(&f.peer);
		assert_true(f.peer.questions > 20);
		/* The connection is kept. */
		assert_int_equal(f.peer.connections, 1);
	}
	filestore_close(f.peer.store);
	relaypeer_release(&f.peer);
}

static void test_suite(void **state)
{
	run_suite(true);
}

static void test_suite_without_relay(void **state)
{
	run_suite(false);
}

static bool has(struct filestore *s, const char *name, const char *content)
{
	struct error err = ERROR_INIT;

	return suite_has(s, name, content, &err);
}

/*
 * The relay ends at its second request, which is a put on the condition that
 * the file does not exist.
 */
static void test_ends_at_a_put(void **state)
{
	for (int end = RELAYPEER_BEFORE; end <= RELAYPEER_BAD; end++) {
		struct fixture f;
		bool took_effect = end != RELAYPEER_BEFORE;

		begin(&f, 1, (enum relaypeer_end)end);
		assert_int_equal(filestore_put(f.store, NULL, "a", "1", 1,
					       &create, &f.err),
				 0);
		/*
		 * The outcome of the put is unknown, and the process must not
		 * repeat the put. So the result is STORE_AMBIGUOUS.
		 */
		assert_int_equal(filestore_put(f.store, NULL, "b", "2", 1,
					       &create, &f.err),
				 STORE_AMBIGUOUS);
		assert_true(*f.err.msg);
		assert_int_equal(has(&f.peer.mem.store, "b", "2"), took_effect);
		assert_int_equal(f.direct.requests, 0);
		/*
		 * After the relay (the process that sends requests to the
		 * store) has ended, this process sends requests to the store
		 * directly.
		 */
		assert_int_equal(filestore_put(f.store, NULL, "c", "3", 1,
					       &create, &f.err),
				 0);
		assert_true(has(&f.direct.store, "c", "3"));
		finish(&f);
	}
}

static void test_ends_at_a_put_that_may_be_repeated(void **state)
{
	for (int end = RELAYPEER_BEFORE; end <= RELAYPEER_BAD; end++) {
		struct fixture f;

		begin(&f, 0, (enum relaypeer_end)end);
		assert_int_equal(filestore_put(f.store, NULL, "a", "1", 1,
					       &always, &f.err),
				 0);
		assert_true(has(&f.direct.store, "a", "1"));
		finish(&f);
	}
}

static void test_ends_at_a_read(void **state)
{
	for (int end = RELAYPEER_BEFORE; end <= RELAYPEER_BAD; end++) {
		struct fixture f;

		begin(&f, 0, (enum relaypeer_end)end);
		filestore_put(&f.direct.store, NULL, "a", "1", 1, &always,
			      NULL);
		assert_true(has(f.store, "a", "1"));
		finish(&f);
	}
}

/*
 * A process sends its requests through the relay, another process, which passes
 * the requests on to the store. Here, the relay has ended, and its socket file
 * still exists. So the first process must send its requests to the store
 * directly.
 */
static void test_nobody_listens(void **state)
{
	struct fixture f;

	memset(&f, 0, sizeof(f));
	relaypeer_init(&f.peer);
	f.peer.listener = sys_passing_listen(f.peer.path, NULL);
	assert_true(f.peer.listener >= 0);
	sys_close(f.peer.listener);
	open_store(&f);
	assert_int_equal(
		filestore_put(f.store, NULL, "a", "1", 1, &create, &f.err), 0);
	assert_true(has(&f.direct.store, "a", "1"));
	close_store(&f);
	relaypeer_release(&f.peer);
}

/*
 * The first connection fails, because the relay has not started yet. Half a
 * minute later, the process tries again, and then uses the relay.
 */
static void test_starts_later(void **state)
{
	struct fixture f;

	memset(&f, 0, sizeof(f));
	relaypeer_init(&f.peer);
	open_store(&f);
	assert_int_equal(
		filestore_put(f.store, NULL, "a", "1", 1, &create, &f.err), 0);
	assert_true(has(&f.direct.store, "a", "1"));
	relaypeer_start(&f.peer);
	ahead_seconds = 20;
	assert_int_equal(
		filestore_put(f.store, NULL, "b", "2", 1, &create, &f.err), 0);
	assert_true(has(&f.direct.store, "b", "2"));
	ahead_seconds = 31;
	for (int i = 0; i < 2; i++)
		assert_int_equal(filestore_put(f.store, NULL, "c", "3", 1,
					       &always, &f.err),
				 0);
	assert_true(has(&f.peer.mem.store, "c", "3"));
	assert_false(has(&f.direct.store, "c", "3"));
	finish(&f);
	assert_int_equal(f.peer.questions, 2);
	assert_int_equal(f.peer.connections, 1);
	ahead_seconds = 0;
}

static void test_another_version(void **state)
{
	struct fixture f;

	memset(&f, 0, sizeof(f));
	relaypeer_init(&f.peer);
	f.peer.greeting = "gitreach relay 0";
	relaypeer_start(&f.peer);
	open_store(&f);
	assert_int_equal(
		filestore_put(f.store, NULL, "a", "1", 1, &create, &f.err), 0);
	assert_true(has(&f.direct.store, "a", "1"));
	finish(&f);
	assert_int_equal(f.peer.questions, 0);
}

/*
 * Files above RELAY_FILE_MAX bytes do not fit into a message of the relay, so
 * the process reads and writes them directly.
 */
static void test_long_files(void **state)
{
	static char bytes[RELAY_FILE_MAX + 1];
	struct fixture f;
	struct buf got = BUF_INIT;

	begin(&f, 1000, RELAYPEER_BEFORE);
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(filestore_put(f.store, NULL, "long", bytes,
				       sizeof(bytes), &create, &f.err),
			 0);
	assert_int_equal(filestore_put(f.store, NULL, "fits", bytes,
				       sizeof(bytes) - 1, &create, &f.err),
			 0);
	assert_int_equal(filestore_get(f.store, &got, NULL, "fits",
				       sizeof(bytes), &f.err),
			 0);
	assert_int_equal(got.len, sizeof(bytes) - 1);
	assert_memory_equal(got.data, bytes, got.len);
	assert_true(has(&f.direct.store, "long", "") == false);
	/*
	 * Another process has written a long file. This process asks the relay
	 * for the file. The relay answers only that the file is too long for a
	 * message. So this process reads the file from the store itself,
	 * without the relay.
	 */
	filestore_put(&f.peer.mem.store, NULL, "other", bytes, sizeof(bytes),
		      &always, NULL);
	filestore_put(&f.direct.store, NULL, "other", bytes, sizeof(bytes),
		      &always, NULL);
	buf_reset(&got);
	assert_int_equal(filestore_get(f.store, &got, NULL, "other",
				       sizeof(bytes), &f.err),
			 0);
	assert_int_equal(got.len, sizeof(bytes));
	assert_memory_equal(got.data, bytes, got.len);
	buf_release(&got);
	finish(&f);
	/*
	 * The relay got three requests: put and get of "fits", and get of
	 * "other".
	 */
	assert_int_equal(f.peer.questions, 3);
}

/*
 * Callback of the relay's store. The first letter of a file's name selects the
 * result, and the client of the relay must get the same result.
 */
static enum memstore_fate refuse(void *ctx, enum memstore_op op,
				 const char *name)
{
	(void)ctx;
	(void)op;
	return *name == 'd'   ? MEMSTORE_DOWN
	       : *name == 'e' ? MEMSTORE_ERROR
	       : *name == 'l' ? MEMSTORE_LOST
			      : MEMSTORE_NORMAL;
}

static void test_results(void **state)
{
	struct fixture f;
	struct buf got = BUF_INIT;

	begin(&f, 1000, RELAYPEER_BEFORE);
	f.peer.mem.fate = refuse;
	assert_int_equal(filestore_get(f.store, &got, NULL, "down", 9, &f.err),
			 STORE_UNAVAILABLE);
	assert_int_equal(filestore_get(f.store, &got, NULL, "error", 9, &f.err),
			 ERR_DENIED);
	assert_int_equal(f.err.code, ERR_DENIED);
	assert_true(*f.err.msg);
	assert_int_equal(
		filestore_get(f.store, &got, NULL, "absent", 9, &f.err),
		STORE_ABSENT);
	assert_int_equal(
		filestore_put(f.store, NULL, "lost", "1", 1, &create, &f.err),
		STORE_AMBIGUOUS);
	assert_int_equal(f.direct.requests, 0);
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suite),
		cmocka_unit_test(test_suite_without_relay),
		cmocka_unit_test(test_ends_at_a_put),
		cmocka_unit_test(test_ends_at_a_put_that_may_be_repeated),
		cmocka_unit_test(test_ends_at_a_read),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_starts_later),
		cmocka_unit_test(test_another_version),
		cmocka_unit_test(test_long_files),
		cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
