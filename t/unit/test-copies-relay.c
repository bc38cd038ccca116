/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/relay.h, the relay of a cache directory: requests are
 * answered, malformed messages close the connection, and a new relay replaces
 * an old one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/resource.h>
#include <unistd.h>

#include "copies/relay.h"
#include "store/relay-message.h"
#include "sys/event.h"
#include "sys/io.h"
#include "sys/passing.h"
#include "sys/thread.h"
#include "t/unit/copynode.h"

struct fixture {
	struct copynode c;
	struct stored_relay *relay;
	pthread_t thread;
	bool is_over; /* atomic: the thread ends */
	char path[4096];
};

/*
 * Accepts connections until the test ends. This is a short version of the loop
 * in processes/relay.c.
 */
static void *accept_all(void *arg)
{
	struct fixture *f = arg;
	int set = sys_event_open(NULL);

	sys_event_add(set, stored_relay_listener(f->relay), f, false, NULL);
	while (!__atomic_load_n(&f->is_over, __ATOMIC_SEQ_CST)) {
		void *ready;

		sys_event_wait(set, &ready, 1, 10);
		stored_relay_accept(f->relay, NULL);
	}
	sys_close(set);
	return NULL;
}

static void start_accepting(struct fixture *f)
{
	f->is_over = false;
	assert_int_equal(sys_thread_start(&f->thread, accept_all, f), 0);
}

static void stop_accepting(struct fixture *f)
{
	__atomic_store_n(&f->is_over, true, __ATOMIC_SEQ_CST);
	sys_thread_join(f->thread);
}

static void open_relay(struct fixture *f, struct stored_relay **out)
{
	struct stored_relay_options o = {
		.dir = f->c.node->dir,
		.origin = copynode_origin(&f->c),
	};

	if (stored_relay_open(out, &o, &f->c.err))
		fail_msg("%s", f->c.err.msg);
}

static void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	copynode_init(&f->c);
	open_relay(f, &f->relay);
	snprintf(f->path, sizeof(f->path), "%s/relay", f->c.node->dir);
	start_accepting(f);
}

static void fixture_release(struct fixture *f)
{
	stop_accepting(f);
	stored_relay_close(f->relay);
	copynode_release(&f->c);
}

static int read_through(struct relay *relay, const char *name)
{
	struct buf question = BUF_INIT, answer = BUF_INIT;
	struct error err = ERROR_INIT;
	struct cursor c;
	int ret, result = -100;

	buf_append_char(&question, RELAY_READ);
	buf_append_char(&question, STORED_RELAY_PROBE);
	relay_message_add(&question, name, strlen(name));
	buf_append_be64(&question, 0);
	buf_append_be64(&question, STORE_TO_END);
	ret = relay_ask(relay, &answer, &question, &err);
	c = cursor_make(answer.data, answer.len);
	if (!ret)
		assert_true(relay_message_take_result(&c, &result, &err));
	buf_release(&question);
	buf_release(&answer);
	return ret ? 100 + ret : result;
}

static void test_answers(void **state)
{
	struct fixture f;
	struct relay *relay;

	fixture_init(&f);
	relay = relay_new(f.path);
	assert_int_equal(read_through(relay, "none"), STORE_ABSENT);
	assert_int_equal(read_through(relay, "../x"), ERR_INVALID);
	assert_int_equal(stored_relay_busy(f.relay), 1);
	relay_free(relay);
	fixture_release(&f);
}

/*
 * The relay closes the connection of a process that sends a malformed message.
 */
static void test_malformed(void **state)
{
	static const char *const bad[] = {"", "\1", "\1\2", "\3", "\177"};
	struct fixture f;

	fixture_init(&f);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = sys_passing_connect(f.path, 0, NULL);
		struct buf m = BUF_INIT;

		assert_int_equal(relay_message_receive(fd, &m, NULL), 0);
		assert_string_equal(m.data, RELAY_GREETING);
		buf_reset(&m);
		buf_append_str(&m, bad[i]);
		assert_int_equal(relay_message_send(fd, &m, NULL), 0);
		assert_int_equal(relay_message_receive(fd, &m, NULL), ERR_PEER);
		sys_close(fd);
		buf_release(&m);
	}
	fixture_release(&f);
}

/*
 * A new relay gets all new connections and requests. The old relay can end
 * although a client still has an idle connection to it.
 */
static void test_is_replaced(void **state)
{
	struct fixture f;
	struct stored_relay *old;
	struct relay *before, *after;

	fixture_init(&f);
	before = relay_new(f.path);
	assert_int_equal(read_through(before, "none"), STORE_ABSENT);
	old = f.relay;
	stop_accepting(&f);
	open_relay(&f, &f.relay);
	stored_relay_refuse(old);
	start_accepting(&f);
	after = relay_new(f.path);
	assert_int_equal(read_through(after, "none"), STORE_ABSENT);
	assert_int_equal(read_through(before, "none"), STORE_ABSENT);
	assert_int_equal(stored_relay_busy(f.relay), 2);
	stored_relay_close(old);
	relay_free(before);
	relay_free(after);
	fixture_release(&f);
}

/*
 * If the relay's process has no free descriptor, a new connection waits until
 * there is one.
 */
static void test_no_descriptors(void **state)
{
	struct fixture f;
	struct rlimit before, none;
	int client, next;

	fixture_init(&f);
	stop_accepting(&f);
	client = sys_passing_connect(f.path, 0, NULL);
	assert_true(client >= 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	next = dup(client);
	close(next);
	none = (struct rlimit){(rlim_t)next, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(stored_relay_accept(f.relay, NULL), ERR_IO);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(stored_relay_busy(f.relay), 0);
	assert_int_equal(stored_relay_accept(f.relay, NULL), 0);
	assert_int_equal(stored_relay_busy(f.relay), 1);
	sys_close(client);
	start_accepting(&f);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_is_replaced),
		cmocka_unit_test(test_no_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
