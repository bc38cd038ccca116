/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/s3-upload.c, which uploads large files to S3 in parts: the
 * requests of an upload, and failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "t/unit/s3-peer.h"

#define CLOSED(status, body)                                                   \
	"HTTP/1.1 " status "\r\nConnection: close\r\n\r\n" body
#define BEGUN                                                                  \
	CLOSED("200 OK", "<InitiateMultipartUploadResult>"                     \
			 "<UploadId>a+b</UploadId>"                            \
			 "</InitiateMultipartUploadResult>")
#define DONE                                                                   \
	CLOSED("200 OK", "<CompleteMultipartUploadResult>"                     \
			 "<ETag>&#34;x-2&#34;</ETag>"                          \
			 "</CompleteMultipartUploadResult>")
#define GONE "HTTP/1.1 204 No Content\r\n\r\n"

static const struct filestore_condition create = {STORE_CREATE, NULL};

/* Uploads a file of two parts. */
static int upload(struct s3_peer *p, const struct peer_answer *script,
		  size_t script_nr, char *etag)
{
	int ret;

	s3_peer_start(p, script, script_nr, 4);
	ret = filestore_put(p->store, etag, "a", "012345", 6, &create, &p->err);
	s3_peer_stop(p);
	return ret;
}

static void test_upload(void **state)
{
	const struct peer_answer script[] = {
		{BEGUN, PEER_CLOSE},
		{OK, PEER_KEEP},
		{OK, PEER_KEEP},
		{DONE, PEER_CLOSE},
	};
	char etag[STORE_ETAG_MAX + 1];
	size_t first;
	struct s3_peer p;

	assert_int_equal(upload(&p, script, 4, etag), 0);
	assert_string_equal(etag, "\"x-2\"");
	assert_int_equal(p.peer.request_nr, 4);
	assert_true(peer_got(&p.peer, 0,
			     "POST /bucket/pre/a?uploads= HTTP/1.1\r\n"));
	/*
	 * The requests of both parts are sent in parallel, so they may arrive
	 * in any order.
	 */
	first = peer_got(&p.peer, 1, "partNumber=1") ? 1 : 2;
	assert_true(peer_got(&p.peer, first,
			     "PUT /bucket/pre/a?partNumber=1&uploadId=a%2Bb "));
	assert_true(peer_got(&p.peer, first, "\r\n\r\n0123"));
	assert_true(peer_got(&p.peer, 3 - first, "partNumber=2&"));
	assert_true(peer_got(&p.peer, 3 - first, "\r\n\r\n45"));
	assert_false(peer_got(&p.peer, first, "if-none-match"));
	assert_true(peer_got(&p.peer, 3,
			     "POST /bucket/pre/a?uploadId=a%2Bb HTTP/1.1\r\n"));
	assert_true(peer_got(&p.peer, 3, "if-none-match: *\r\n"));
	assert_true(peer_got(&p.peer, 3,
			     "<CompleteMultipartUpload><Part>"
			     "<PartNumber>1</PartNumber><ETag>\"e\"</ETag>"
			     "</Part><Part><PartNumber>2</PartNumber>"
			     "<ETag>\"e\"</ETag></Part>"
			     "</CompleteMultipartUpload>"));
	peer_release(&p.peer);
}

/*
 * The last request of an upload gets `answer`. `want`: expected result;
 * `after`: expected number of further requests.
 */
static void check_last(const char *answer, int want, size_t after)
{
	const struct peer_answer script[] = {
		{BEGUN, PEER_CLOSE},  {OK, PEER_KEEP},    {OK, PEER_KEEP},
		{answer, PEER_CLOSE}, {GONE, PEER_CLOSE},
	};
	char etag[STORE_ETAG_MAX + 1];
	struct s3_peer p;

	assert_int_equal(upload(&p, script, 5, etag), want);
	assert_string_equal(etag, "");
	assert_int_equal(p.peer.request_nr, 4 + after);
	if (after)
		assert_true(peer_got(&p.peer, 4,
				     "DELETE /bucket/pre/a?uploadId=a%2Bb "));
	peer_release(&p.peer);
}

static void test_last_step(void **state)
{
#define LATE(code) "<Error><Code>" code "</Code></Error>"
	check_last(CLOSED("412 Precondition Failed", ""), STORE_CONFLICT, 1);
	check_last(CLOSED("200 OK", LATE("PreconditionFailed")), STORE_CONFLICT,
		   1);
	/*
	 * Nobody knows whether the upload has succeeded, so it must not be
	 * aborted.
	 */
	check_last(NULL, STORE_AMBIGUOUS, 0);
	check_last(CLOSED("500 Bad", ""), STORE_AMBIGUOUS, 0);
	check_last(CLOSED("200 OK", LATE("InternalError")), STORE_AMBIGUOUS, 0);
	check_last(CLOSED("200 OK", ""), STORE_AMBIGUOUS, 0);
	check_last(CLOSED("404 Not Found", LATE("NoSuchUpload")),
		   STORE_AMBIGUOUS, 0);
}

static void test_begin_fails(void **state)
{
	const struct peer_answer script[] = {
		{CLOSED("403 Forbidden", ""), PEER_CLOSE},
	};
	/* a service that does not know uploads in parts */
	const struct peer_answer absent[] = {
		{CLOSED("404 Not Found", LATE("NoSuchKey")), PEER_CLOSE},
	};
	const struct peer_answer lost[] = {
		{NULL, PEER_CLOSE}, {NULL, PEER_CLOSE}, {NULL, PEER_CLOSE}};
	struct s3_peer p;

	assert_int_equal(upload(&p, script, 1, NULL), ERR_DENIED);
	assert_int_equal(p.peer.request_nr, 1);
	peer_release(&p.peer);
	assert_int_equal(upload(&p, absent, 1, NULL), ERR_PEER);
	assert_string_equal(p.err.msg,
			    "the store does not support multipart uploads");
	peer_release(&p.peer);
	assert_int_equal(upload(&p, lost, 3, NULL), STORE_UNAVAILABLE);
	assert_int_equal(p.peer.request_nr, 3);
	peer_release(&p.peer);
}

/*
 * The server refuses a part, so the upload fails and is aborted. The request
 * for the second part may already have been sent, and is refused, too.
 */
static void test_part_fails(void **state)
{
	const struct peer_answer script[] = {
		{BEGUN, PEER_CLOSE},
		{CLOSED("403 Forbidden", ""), PEER_CLOSE},
		{CLOSED("403 Forbidden", ""), PEER_CLOSE},
		{GONE, PEER_CLOSE},
	};
	struct s3_peer p;

	assert_int_equal(upload(&p, script, 4, NULL), ERR_DENIED);
	assert_true(peer_got(&p.peer, p.peer.request_nr - 1,
			     "DELETE /bucket/pre/a?uploadId=a%2Bb "));
	peer_release(&p.peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_upload),
		cmocka_unit_test(test_last_step),
		cmocka_unit_test(test_begin_fails),
		cmocka_unit_test(test_part_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
