/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/output.c, the bytes of a response on the way to the socket: a
 * slow client gets all bytes in order, and a lost client ends the response.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/output.h"
#include "sys/thread.h"

/*
 * More bytes than the socket and the outbox can hold while the client reads
 * nothing.
 */
#define BIG_LEN ((size_t)8 << 20)

struct talk {
	struct daemon_stream stream;
	struct daemon_output out;
	int client; /* the client's end of the socket */
};

static void start(struct talk *t)
{
	int fds[2];

	memset(t, 0, sizeof(*t));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	daemon_stream_init(&t->stream, fds[0]);
	t->client = fds[1];
	t->out.stream = &t->stream;
	t->out.patience.limit_ms = 60000;
}

static void stop(struct talk *t)
{
	outbox_release(&t->out.box);
	daemon_stream_release(&t->stream);
	if (t->client >= 0)
		close(t->client);
}

static int write_bytes(struct talk *t, const void *bytes, size_t len,
		       struct error *err)
{
	struct iovec iov[2] = {
		{(void *)(uintptr_t)bytes, len / 3},
		{(char *)(uintptr_t)bytes + len / 3, len - len / 3}};

	return daemon_output_writev(&t->out, iov, 2, err);
}

static uint8_t *make_bytes(size_t len)
{
	uint8_t *bytes = malloc(len);

	assert_non_null(bytes);
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(i * 2654435761U >> 11);
	return bytes;
}

/* Bytes that the socket takes at once do not wait in the outbox. */
static void test_direct(void **state)
{
	struct talk t;
	char got[16];

	start(&t);
	assert_int_equal(write_bytes(&t, "nine bytes", 9, NULL), 0);
	assert_true(outbox_is_empty(&t.out.box));
	assert_int_equal(read(t.client, got, sizeof(got)), 9);
	assert_memory_equal(got, "nine byte", 9);
	stop(&t);
}

/* Fill the socket with zeros until it takes no more. Returns their number. */
static size_t fill(const struct talk *t)
{
	static const char zeros[4096];
	size_t nr = 0;
	ssize_t n;

	while ((n = write(t->stream.fd, zeros, sizeof(zeros))) > 0)
		nr += (size_t)n;
	return nr;
}

static void read_all(int fd, void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = read(fd, (char *)bytes + done, len - done);

		assert_true(n > 0);
		done += (size_t)n;
	}
}

/*
 * While the socket is full, a short text waits in the outbox, and the writer
 * does not wait. daemon_output_flush() sends the text when the client reads.
 */
static void test_full(void **state)
{
	struct talk t;
	size_t filled;
	uint8_t *got;
	char text[5];

	start(&t);
	filled = fill(&t);
	assert_int_equal(write_bytes(&t, "waits", 5, NULL), 0);
	assert_int_equal(outbox_unsent(&t.out.box), 5);
	got = malloc(filled);
	read_all(t.client, got, filled);
	free(got);
	assert_int_equal(daemon_output_flush(&t.out, NULL), 0);
	assert_true(outbox_is_empty(&t.out.box));
	read_all(t.client, text, sizeof(text));
	assert_memory_equal(text, "waits", 5);
	stop(&t);
}

struct reader {
	int fd;
	uint8_t *bytes;
	size_t len;
};

static void *read_slowly(void *ctx)
{
	struct reader *r = ctx;

	for (size_t done = 0; done < r->len;) {
		size_t max = r->len - done < 50000 ? r->len - done : 50000;
		ssize_t n = read(r->fd, r->bytes + done, max);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return NULL;
}

/*
 * Copied bytes, then a borrowed range, then copied bytes again, all longer than
 * the outbox may hold. The client gets them in this order.
 */
static void test_order(void **state)
{
	uint8_t *bytes = make_bytes(BIG_LEN);
	struct serve_span span = {.bytes = bytes + BIG_LEN / 4,
				  .len = BIG_LEN / 2};
	struct reader r;
	pthread_t thread;
	struct talk t;

	start(&t);
	r = (struct reader){t.client, calloc(1, BIG_LEN), BIG_LEN};
	assert_non_null(r.bytes);
	assert_int_equal(sys_thread_start(&thread, read_slowly, &r), 0);
	assert_int_equal(write_bytes(&t, bytes, BIG_LEN / 4, NULL), 0);
	assert_int_equal(daemon_output_emit(&t.out, &span, NULL), 0);
	assert_int_equal(
		write_bytes(&t, bytes + BIG_LEN / 4 * 3, BIG_LEN / 4, NULL), 0);
	assert_int_equal(daemon_output_flush(&t.out, NULL), 0);
	sys_thread_join(thread);
	assert_memory_equal(r.bytes, bytes, BIG_LEN);
	free(r.bytes);
	free(bytes);
	stop(&t);
}

/*
 * A client that goes away loses the bytes that wait in the outbox, and each
 * later write fails at once.
 */
static void test_lost(void **state)
{
	struct error err = ERROR_INIT;
	struct talk t;

	start(&t);
	fill(&t);
	assert_int_equal(write_bytes(&t, "waits", 5, NULL), 0);
	close(t.client);
	t.client = -1;
	assert_int_equal(daemon_output_flush(&t.out, &err), ERR_PEER);
	assert_true(atomic_load(&t.out.has_failed));
	assert_int_equal(t.out.lost, 5);
	assert_true(outbox_is_empty(&t.out.box));
	assert_int_equal(write_bytes(&t, "more", 4, &err), ERR_PEER);
	assert_string_equal(err.msg,
			    "the connection to the client was lost earlier");
	stop(&t);
}

/* A client that reads nothing for the time limit counts as lost. */
static void test_patience(void **state)
{
	struct talk t;

	start(&t);
	t.out.patience.limit_ms = 50;
	fill(&t);
	assert_int_equal(write_bytes(&t, "waits", 5, NULL), 0);
	assert_int_equal(daemon_output_flush(&t.out, NULL), ERR_PEER);
	assert_int_equal(t.out.lost, 5);
	stop(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_direct),   cmocka_unit_test(test_full),
		cmocka_unit_test(test_order),    cmocka_unit_test(test_lost),
		cmocka_unit_test(test_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
