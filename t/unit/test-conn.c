/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/conn.c: the fields in the head of an HTTP request, and the
 * lines that the server writes to its log about a connection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/conn.h"

/* Makes a connection on which the whole head of a request has arrived. */
static struct daemon_input *receive(struct daemon_conn *conn, const char *head)
{
	struct daemon_input *in = daemon_give_input(conn);

	assert_non_null(in);
	in->len = (size_t)snprintf(in->bytes, sizeof(in->bytes), "%s", head);
	assert_int_equal(
		http1_head_parse(&in->head, &daemon_limits, in->bytes, in->len),
		1);
	return in;
}

static void test_fields(void **state)
{
	struct daemon_conn conn = {.input = NULL};
	struct daemon_input *in = receive(
		&conn, "GET /a.git HTTP/1.1\r\nHost: x\r\n"
		       "Git-Protocol: version=2 \r\n"
		       "Accept: a\r\naccept: b\r\nACCEPT-X: c\r\n\r\n");

	assert_string_equal(daemon_field(in, "host"), "x");
	/*
	 * The space after the value of a header field does not belong to the
	 * value.
	 */
	assert_string_equal(daemon_field(in, "git-protocol"), "version=2");
	assert_null(daemon_field(in, "accep"));
	assert_int_equal(daemon_field_nr(in, "Accept"), 2);
	assert_int_equal(daemon_field_nr(in, "accept-x"), 1);
	assert_int_equal(daemon_field_nr(in, "accept-"), 0);
	assert_string_equal(daemon_string_at(in, in->head.path), "/a.git");
	free(in);
}

/*
 * A connection has at most one input (a buffer for received bytes), which stays
 * until it is freed.
 */
static void test_give_input(void **state)
{
	struct daemon_conn conn = {.input = NULL};
	struct daemon_input *in = daemon_give_input(&conn);

	assert_non_null(in);
	assert_ptr_equal(conn.input, in);
	assert_int_equal(in->len, 0);
	in->len = 7;
	assert_ptr_equal(daemon_give_input(&conn), in);
	assert_int_equal(in->len, 7);
	free(in);
}

static void keep(void *ctx, const char *line)
{
	snprintf(ctx, 1024, "%s", line);
}

/* A client cannot write a line of its own into the log. */
static void test_log(void **state)
{
	struct daemon_conn conn = {.address = "192.0.2.7"};
	char line[1024];
	const struct daemon_options options = {.log = keep, .log_ctx = line};

	daemon_log(&options, &conn, "an ordinary line");
	assert_string_equal(line, "192.0.2.7: an ordinary line");
	daemon_log(&options, &conn, "/a\n192.0.2.8: forged\033[1m");
	assert_null(strchr(line, '\n'));
	assert_null(strchr(line, '\033'));
	assert_memory_equal(line, "192.0.2.7: /a", 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_give_input),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
