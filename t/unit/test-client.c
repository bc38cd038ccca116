/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/client.c, the HTTP client of stores. They prove that limits
 * hold, and that the outcome of a request says whether it may have taken
 * effect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "store/client.h"
#include "t/unit/http-peer.h"

static const struct client_limits limits = {10000, 10000, false};
static const struct client_limits impatient = {10000, 1000, true};

/*
 * A client, the server that it talks to, and the response of the last request.
 */
struct fixture {
	struct peer peer;
	struct client *client;
	struct client_answer answer;
	struct client_request request;
	struct error err;
};

static void start(struct fixture *f, const struct peer_answer *script,
		  size_t script_nr)
{
	memset(f, 0, sizeof(*f));
	peer_start(&f->peer, script, script_nr);
	assert_int_equal(client_open(&f->client, &limits, NULL, NULL), 0);
	client_answer_init(&f->answer);
	f->request = (struct client_request){
		.method = "GET", .url = f->peer.url, .answer_max = 100};
}

static int run(struct fixture *f)
{
	return client_send(f->client, &f->answer, &f->request, &f->err);
}

static void stop(struct fixture *f)
{
	client_close(f->client);
	peer_stop(&f->peer);
	client_answer_release(&f->answer);
}

static void test_answer(void **state)
{
	const struct peer_answer script[] = {
		{"HTTP/1.1 100 Continue\r\nETag: \"no\"\r\n\r\n"
		 "HTTP/1.1 404 Not Found\r\neTaG: \"a-1\"\r\n"
		 "Content-Length: 3\r\nRetry-After: 7\r\n"
		 "Last-Modified: Fri, 24 May 2013 00:00:00 GMT\r\n"
		 "Content-Range: bytes 5-7/443\r\n\r\nabc",
		 PEER_KEEP},
		{"HTTP/1.1 204 No Content\r\nETag: a<b\r\nRetry-After: x\r\n"
		 "Content-Range: bytes 5-7/*\r\n\r\n",
		 PEER_KEEP},
	};
	const char *const headers[] = {"x-a: 1"};
	struct fixture f;

	start(&f, script, 2);
	f.request.headers = headers;
	f.request.header_nr = 1;
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.outcome, CLIENT_ANSWERED);
	assert_int_equal(f.answer.status, 404);
	assert_string_equal(f.answer.etag, "\"a-1\"");
	assert_string_equal(f.answer.body.data, "abc");
	assert_int_equal(f.answer.len, 3);
	assert_int_equal(f.answer.first, 5);
	assert_int_equal(f.answer.total, 443);
	assert_int_equal(f.answer.retry_after, 7);
	assert_int_equal(f.answer.mtime, 1369353600);
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.status, 204);
	assert_string_equal(f.answer.etag, "");
	assert_int_equal(f.answer.body.len, 0);
	assert_true(f.answer.total == UINT64_MAX);
	assert_int_equal(f.answer.retry_after, 0);
	stop(&f);
	assert_true(peer_got(&f.peer, 0, "GET / HTTP/1.1\r\n"));
	assert_true(peer_got(&f.peer, 0, "x-a: 1\r\n"));
	assert_false(peer_got(&f.peer, 0, "Accept"));
	assert_int_equal(f.peer.connection_nr, 1);
	peer_release(&f.peer);
}

static void test_put(void **state)
{
	const struct peer_answer script[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", PEER_KEEP},
	};
	struct fixture f;

	start(&f, script, 1);
	f.request.method = "PUT";
	f.request.body = "content";
	f.request.body_len = 7;
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.status, 200);
	stop(&f);
	assert_true(peer_got(&f.peer, 0, "Content-Length: 7\r\n"));
	assert_true(peer_got(&f.peer, 0, "\r\n\r\ncontent"));
	assert_false(peer_got(&f.peer, 0, "Expect"));
	peer_release(&f.peer);
}

static void test_too_long(void **state)
{
	const struct peer_answer script[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345",
		 PEER_KEEP},
	};
	struct fixture f;

	start(&f, script, 1);
	f.request.answer_max = 4;
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.outcome, CLIENT_LOST);
	assert_string_equal(f.err.msg, "the answer of the store is too long");
	stop(&f);
	peer_release(&f.peer);
}

/*
 * Sends a PUT to a server that sends no response or an incomplete one. The
 * outcome must be CLIENT_LOST: the PUT may have taken effect or not.
 */
static void check_lost(const char *text, int then)
{
	const struct peer_answer script[] = {{text, then}};
	struct fixture f;

	start(&f, script, 1);
	if (then == PEER_SILENT) {
		client_close(f.client);
		assert_int_equal(client_open(&f.client, &impatient, NULL, NULL),
				 0);
	}
	f.request.method = "PUT";
	f.request.body = "x";
	f.request.body_len = 1;
	f.request.once = true;
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.outcome, CLIENT_LOST);
	assert_int_equal(f.answer.status, 0);
	assert_true(*f.err.msg);
	stop(&f);
	assert_int_equal(f.peer.request_nr, 1);
	peer_release(&f.peer);
}

static void test_lost(void **state)
{
	check_lost(NULL, PEER_CLOSE);
	check_lost("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut",
		   PEER_CLOSE);
	check_lost("this is not HTTP\r\n\r\n", PEER_CLOSE);
	/*
	 * The server sends nothing, so the client's time limit ends the
	 * request.
	 */
	check_lost(NULL, PEER_SILENT);
}

/*
 * A server that closes a used connection without a response may have executed
 * the request. By default, libcurl sends such a request again. The client must
 * prevent the repetition, because not every request may be executed twice.
 */
static void check_once(const char *method, size_t body_len)
{
	const struct peer_answer script[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", PEER_KEEP},
		{NULL, PEER_CLOSE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", PEER_KEEP},
	};
	struct fixture f;

	start(&f, script, 3);
	assert_int_equal(run(&f), 0);
	f.request.method = method;
	f.request.body = "abc";
	f.request.body_len = body_len;
	f.request.once = true;
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.outcome, CLIENT_LOST);
	stop(&f);
	assert_int_equal(f.peer.request_nr, 2);
	peer_release(&f.peer);
}

static void test_once(void **state)
{
	check_once("PUT", 3);
	check_once("PUT", 0);
	check_once("POST", 3);
	check_once("DELETE", 0);
}

/*
 * The server closes a used connection without a response. Without the flag
 * `once`, libcurl sends the request again, with its whole body.
 */
static void test_again(void **state)
{
	const struct peer_answer script[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", PEER_KEEP},
		{NULL, PEER_CLOSE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", PEER_KEEP},
	};
	struct fixture f;

	start(&f, script, 3);
	assert_int_equal(run(&f), 0);
	f.request.method = "PUT";
	f.request.body = "abc";
	f.request.body_len = 3;
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.outcome, CLIENT_ANSWERED);
	stop(&f);
	assert_int_equal(f.peer.request_nr, 3);
	assert_true(peer_got(&f.peer, 2, "\r\n\r\nabc"));
	peer_release(&f.peer);
}

static void test_not_sent(void **state)
{
	struct fixture f;

	start(&f, NULL, 0);
	/* The server has stopped, so its port refuses connections. */
	peer_stop(&f.peer);
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.outcome, CLIENT_NOT_SENT);
	f.request.url = "ftp://127.0.0.1/";
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.answer.outcome, CLIENT_NOT_SENT);
	client_close(f.client);
	peer_release(&f.peer);
}

static int take(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct buf *got = ctx;

	if (memchr(bytes, '!', len))
		return error_set(err, ERR_CANCELLED, "stop");
	return buf_append(got, bytes, len);
}

static void test_sink(void **state)
{
	const struct peer_answer script[] = {
		{"HTTP/1.1 206 Part\r\nContent-Length: 4\r\n\r\nabcd",
		 PEER_KEEP},
		{"HTTP/1.1 500 Bad\r\nContent-Length: 4\r\n\r\noops",
		 PEER_KEEP},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!", PEER_KEEP},
	};
	struct buf got = BUF_INIT;
	struct filestore_sink sink = {take, &got};
	struct fixture f;

	start(&f, script, 3);
	f.request.sink = &sink;
	assert_int_equal(run(&f), 0);
	assert_string_equal(got.data, "abcd");
	assert_int_equal(f.answer.body.len, 0);
	assert_int_equal(run(&f), 0);
	assert_string_equal(got.data, "abcd");
	assert_string_equal(f.answer.body.data, "oops");
	assert_int_equal(run(&f), ERR_CANCELLED);
	assert_string_equal(f.err.msg, "stop");
	stop(&f);
	buf_release(&got);
	peer_release(&f.peer);
}

static void test_authority(void **state)
{
	struct client *client;
	struct client_answer answer;
	struct client_request r = {.method = "GET",
				   .url = "https://127.0.0.1:1/",
				   .answer_max = 1};
	struct error err = ERROR_INIT;

	client_answer_init(&answer);
	assert_int_equal(client_open(&client, &limits, "/none/such", NULL), 0);
	/*
	 * Two things fail here: opening the missing file of certificate
	 * authorities, and connecting to the server. Whichever fails first, the
	 * result must say that the request was not sent.
	 */
	if (!client_send(client, &answer, &r, &err))
		assert_int_equal(answer.outcome, CLIENT_NOT_SENT);
	assert_int_equal(err.code, ERR_PEER);
	client_answer_release(&answer);
	client_close(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),    cmocka_unit_test(test_put),
		cmocka_unit_test(test_too_long),  cmocka_unit_test(test_lost),
		cmocka_unit_test(test_once),      cmocka_unit_test(test_again),
		cmocka_unit_test(test_not_sent),  cmocka_unit_test(test_sink),
		cmocka_unit_test(test_authority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
