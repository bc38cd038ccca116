/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/relay-message.c: messages of any allowed length and their
 * fields are sent and received, and malformed ones are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "store/relay-message.h"
#include "sys/thread.h"

struct ends {
	int fds[2];
};

static void make(struct ends *e)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, e->fds), 0);
}

static void release(struct ends *e)
{
	close(e->fds[0]);
	close(e->fds[1]);
}

struct sending {
	int fd, ret;
	const struct buf *message;
};

static void *send_it(void *arg)
{
	struct sending *s = arg;

	s->ret = relay_message_send(s->fd, s->message, NULL);
	return NULL;
}

static void check_length(size_t len)
{
	struct buf message = BUF_INIT, got = BUF_INIT;
	struct sending s = {.message = &message};
	struct ends e;
	pthread_t thread;

	make(&e);
	s.fd = e.fds[0];
	for (size_t i = 0; i < len; i++)
		buf_append_char(&message, (char)(i * 7 + i / 251));
	assert_int_equal(sys_thread_start(&thread, send_it, &s), 0);
	assert_int_equal(relay_message_receive(e.fds[1], &got, NULL), 0);
	sys_thread_join(thread);
	assert_int_equal(s.ret, 0);
	assert_int_equal(got.len, len);
	assert_memory_equal(got.data, message.data, len);
	release(&e);
	buf_release(&message);
	buf_release(&got);
}

static void test_lengths(void **state)
{
	check_length(0);
	check_length(1);
	check_length(RELAY_PACKET_MAX - 1);
	check_length(RELAY_PACKET_MAX);
	check_length(RELAY_PACKET_MAX + 1);
	check_length(2 * RELAY_PACKET_MAX);
	check_length(RELAY_MESSAGE_MAX);
}

static void *send_for_ever(void *arg)
{
	static const char packet[RELAY_PACKET_MAX + 1] = {1};
	const int *fd = arg;

	while (send(*fd, packet, sizeof(packet), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

static void test_too_long(void **state)
{
	struct buf message = BUF_INIT, got = BUF_INIT;
	struct ends e;
	pthread_t thread;

	make(&e);
	assert_int_equal(buf_reserve(&message, RELAY_MESSAGE_MAX + 1), 0);
	memset(message.data, 0, RELAY_MESSAGE_MAX + 1);
	buf_set_len(&message, RELAY_MESSAGE_MAX + 1);
	assert_int_equal(relay_message_send(e.fds[0], &message, NULL),
			 ERR_PEER);
	assert_int_equal(sys_thread_start(&thread, send_for_ever, &e.fds[0]),
			 0);
	assert_int_equal(relay_message_receive(e.fds[1], &got, NULL), ERR_PEER);
	close(e.fds[1]);
	sys_thread_join(thread);
	close(e.fds[0]);
	buf_release(&message);
	buf_release(&got);
}

static void check_malformed(const char *packet, size_t len)
{
	struct buf got = BUF_INIT;
	struct ends e;

	make(&e);
	assert_int_equal(send(e.fds[0], packet, len, 0), len);
	shutdown(e.fds[0], SHUT_WR);
	assert_int_equal(relay_message_receive(e.fds[1], &got, NULL), ERR_PEER);
	release(&e);
	buf_release(&got);
}

static void test_malformed(void **state)
{
	check_malformed("\2x", 2);
	/* Only the last packet of a message may be empty. */
	check_malformed("\1", 1);
	/* The last packet of the message is missing. */
	check_malformed("\1x", 2);
}

static void test_fields(void **state)
{
	struct error why = {ERR_DENIED, 0, "no"}, got = ERROR_INIT;
	struct buf m = BUF_INIT;
	struct cursor c;
	const char *text;
	char word[5];
	size_t len;
	int result = 7;

	assert_int_equal(relay_message_add(&m, "a\0b", 3), 0);
	assert_int_equal(relay_message_add(&m, "four", 4), 0);
	assert_int_equal(relay_message_add_result(&m, 3, &why), 0);
	assert_int_equal(relay_message_add_result(&m, ERR_IO, &why), 0);
	assert_int_equal(relay_message_add_result(&m, 0, NULL), 0);
	c = cursor_make(m.data, m.len);
	assert_false(relay_message_take_word(&c, word, 4));
	c = cursor_make(m.data, m.len);
	assert_true(relay_message_take(&c, &text, &len, 3));
	assert_memory_equal(text, "a\0b", 3);
	assert_true(relay_message_take_word(&c, word, 4));
	assert_string_equal(word, "four");
	assert_true(relay_message_take_result(&c, &result, &got));
	assert_int_equal(result, 3);
	assert_int_equal(got.code, ERR_DENIED);
	assert_string_equal(got.msg, "no");
	assert_true(relay_message_take_result(&c, &result, &got));
	assert_int_equal(result, ERR_IO);
	assert_int_equal(got.code, ERR_IO);
	assert_true(relay_message_take_result(&c, &result, &got));
	assert_int_equal(result, 0);
	assert_false(relay_message_take_result(&c, &result, &got));
	c = cursor_make(m.data, m.len);
	assert_false(relay_message_take(&c, &text, &len, 2));
	c = cursor_make(m.data, 6);
	assert_false(relay_message_take(&c, &text, &len, 3));
	buf_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
