/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/s3.c, a store in an S3 bucket, with a server that answers from
 * a script. t/t5590-store.sh tests with real servers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "t/unit/s3-peer.h"

#define HEAD_OF(status, fields) "HTTP/1.1 " status "\r\n" fields "\r\n"

#define NO_KEY                                                                 \
	BODY("404 Not Found", "37", "<Error><Code>NoSuchKey</Code></Error>")

static const struct filestore_condition create = {STORE_CREATE, NULL};
static const struct filestore_condition always = {STORE_ALWAYS, NULL};

/* ---- reading */

/*
 * If a response is truncated, the next request asks for the rest of the same
 * version of the file.
 */
static void test_resume(void **state)
{
	const struct peer_answer script[] = {
		{HEAD_OF("200 OK",
			 "ETag: \"e\"\r\nContent-Length: 10\r\n") "0123",
		 PEER_CLOSE},
		{BODY("503 Busy", "0", ""), PEER_KEEP},
		{HEAD_OF("206 Part",
			 "ETag: \"e\"\r\nContent-Length: 6\r\n"
			 "Content-Range: bytes 4-9/10\r\n") "456789",
		 PEER_KEEP},
	};
	struct filestore_info info;
	struct buf got = BUF_INIT;
	struct s3_peer p;

	s3_peer_start(&p, script, 3, 100);
	assert_int_equal(filestore_get(p.store, &got, &info, "a", 10, &p.err),
			 0);
	assert_string_equal(got.data, "0123456789");
	assert_int_equal(info.size, 10);
	assert_string_equal(info.etag, "\"e\"");
	s3_peer_stop(&p);
	assert_true(peer_got(&p.peer, 0, "GET /bucket/pre/a HTTP/1.1\r\n"));
	assert_false(peer_got(&p.peer, 0, "range:"));
	assert_true(peer_got(&p.peer, 1, "range: bytes=4-9\r\n"));
	assert_true(peer_got(&p.peer, 2, "if-match: \"e\"\r\n"));
	assert_true(peer_got(&p.peer, 2,
			     "SignedHeaders=host;if-match;range;"
			     "x-amz-content-sha256;x-amz-date, "));
	peer_release(&p.peer);
	buf_release(&got);
}

/*
 * Reads a file. The first response is truncated after "01", and the second is
 * `second`. `want`: expected result.
 */
static void check_rest(const char *first, const char *second, int want)
{
	const struct peer_answer script[] = {{first, PEER_CLOSE},
					     {second, PEER_CLOSE}};
	struct buf got = BUF_INIT;
	struct s3_peer p;

	s3_peer_start(&p, script, second ? 2 : 1, 100);
	assert_int_equal(filestore_get(p.store, &got, NULL, "a", 10, &p.err),
			 want);
	assert_int_equal(got.len, 0);
	s3_peer_stop(&p);
	peer_release(&p.peer);
	buf_release(&got);
}

static void test_bad_rest(void **state)
{
	const char *cut = HEAD_OF("200 OK", "ETag: \"e\"\r\n"
					    "Content-Length: 4\r\n") "01";

	check_rest(cut, NO_KEY, STORE_ABSENT);
	/*
	 * Status 404 with the page of a proxy does not mean that the file is
	 * absent.
	 */
	check_rest(BODY("404 Not Found", "4", "page"), NULL, ERR_INVALID);
	check_rest(cut, BODY("200 OK", "2", "23"), ERR_PEER);
	check_rest(cut,
		   HEAD_OF("206 Part", "Content-Length: 2\r\n"
				       "Content-Range: bytes 1-2/4\r\n") "12",
		   ERR_PEER);
	check_rest(cut,
		   HEAD_OF("206 Part", "Content-Length: 3\r\n"
				       "Content-Range: bytes 2-4/5\r\n") "234",
		   ERR_PEER);
	check_rest(cut,
		   HEAD_OF("206 Part", "Content-Length: 1\r\n"
				       "Content-Range: bytes 2-2/4\r\n") "2",
		   ERR_PEER);
	/*
	 * Without an entity tag in the response, the rest of the file is not
	 * requested.
	 */
	check_rest(HEAD_OF("200 OK", "Content-Length: 4\r\n") "01", NULL,
		   STORE_UNAVAILABLE);
	/* A response without a size is an error. */
	check_rest(HEAD_OF("200 OK", "Connection: close\r\n") "01", NULL,
		   ERR_PEER);
}

/*
 * The file is replaced after the first bytes were received. So the new file is
 * read from its start, and the old bytes are dropped. If the file is replaced
 * in each try, the read fails.
 */
static void test_replaced(void **state)
{
#define CUT                                                                    \
	{                                                                      \
		HEAD_OF("200 OK", "ETag: \"e\"\r\nContent-Length: 4\r\n")      \
		"01", PEER_CLOSE                                               \
	}
#define CHANGED                                                                \
	{                                                                      \
		BODY("412 Changed", "0", ""), PEER_KEEP                        \
	}
	const struct peer_answer script[] = {
		CUT,     CHANGED, {BODY("200 OK", "3", "abc"), PEER_KEEP},
		CUT,     CHANGED, CUT,
		CHANGED, CUT,     CHANGED,
		CUT,     CHANGED, CUT,
		CHANGED,
	};
	struct buf got = BUF_INIT;
	struct s3_peer p;

	s3_peer_start(&p, script, ARRAY_NR(script), 100);
	assert_int_equal(filestore_get(p.store, &got, NULL, "a", 4, &p.err), 0);
	assert_string_equal(got.data, "abc");
	assert_int_equal(filestore_get(p.store, &got, NULL, "a", 4, &p.err),
			 STORE_UNAVAILABLE);
	assert_string_equal(got.data, "abc");
	assert_string_equal(p.err.msg,
			    "'a' was changed while it was being read");
	s3_peer_stop(&p);
	assert_int_equal(p.peer.request_nr, ARRAY_NR(script));
	assert_false(peer_got(&p.peer, 2, "range: "));
	assert_false(peer_got(&p.peer, 2, "if-match: "));
	peer_release(&p.peer);
	buf_release(&got);
}

static void test_ranges(void **state)
{
	const struct peer_answer script[] = {
		{BODY("416 Range", "0", ""), PEER_KEEP},
		{BODY("200 OK", "4", "0123"), PEER_CLOSE},
		{HEAD_OF("416 Range", "Content-Length: 0\r\n"
				      "Content-Range: bytes */4\r\n"),
		 PEER_KEEP},
		{HEAD_OF("206 Part", "Content-Length: 2\r\n"
				     "Content-Range: bytes 1-2/10\r\n") "12",
		 PEER_KEEP},
	};
	struct filestore_sink sink = {NULL, NULL};
	struct filestore_info info;
	struct s3_peer p;
	char got[4] = "";

	s3_peer_start(&p, script, 4, 100);
	assert_int_equal(filestore_get_range(p.store, got, "a", 9, 1, &p.err),
			 ERR_INVALID);
	/* The server ignores the requested range, which is an error. */
	assert_int_equal(filestore_get_range(p.store, got, "a", 1, 2, &p.err),
			 ERR_PEER);
	/* The range starts at the end of the file. So it is empty. */
	assert_int_equal(filestore_read(p.store, &info, &sink, "a", 4,
					STORE_TO_END, &p.err),
			 0);
	assert_int_equal(info.size, 4);
	assert_int_equal(filestore_get_range(p.store, got, "a", 1, 2, &p.err),
			 0);
	assert_string_equal(got, "12");
	s3_peer_stop(&p);
	assert_true(peer_got(&p.peer, 1, "range: bytes=1-2\r\n"));
	assert_true(peer_got(&p.peer, 2, "range: bytes=4-\r\n"));
	peer_release(&p.peer);
}

/*
 * A response with status 404 may come from the store, which says so in the
 * body, or from a proxy. The response to HEAD has no body, so it does not tell
 * whether the store or a proxy has sent it. So a second request (GET) is sent.
 * The body of its response tells whether the store says that the file is
 * absent.
 */
static void test_head(void **state)
{
	const struct peer_answer script[] = {
		{HEAD_OF("409 Conflict", "Content-Length: 37\r\n"), PEER_KEEP},
		{HEAD_OF("404 Not Found", "Content-Length: 37\r\n"), PEER_KEEP},
		{NO_KEY, PEER_KEEP},
		{HEAD_OF("404 Not Found", "Content-Length: 4\r\n"), PEER_KEEP},
		{BODY("404 Not Found", "4", "page"), PEER_KEEP},
		{HEAD_OF("200 OK", "Content-Length: 7\r\nETag: \"e\"\r\n"
				   "Date: Fri, 24 May 2013 00:00:07 GMT\r\n"),
		 PEER_KEEP},
		{HEAD_OF("200 OK", "Connection: close\r\n"), PEER_CLOSE},
	};
	struct filestore_info info;
	struct s3_peer p;

	s3_peer_start(&p, script, 7, 100);
	/*
	 * The first response is a 409 without an error code in a body. Such a
	 * failure may be temporary, so the request is sent again.
	 */
	assert_int_equal(filestore_head(p.store, &info, "a", &p.err),
			 STORE_ABSENT);
	assert_int_equal(filestore_head(p.store, &info, "a", &p.err),
			 ERR_INVALID);
	assert_int_equal(filestore_head(p.store, &info, "a", &p.err), 0);
	assert_int_equal(info.size, 7);
	assert_int_equal(info.now, 1369353607);
	assert_string_equal(info.etag, "\"e\"");
	assert_int_equal(filestore_head(p.store, &info, "a", &p.err), ERR_PEER);
	s3_peer_stop(&p);
	assert_true(peer_got(&p.peer, 0, "HEAD /bucket/pre/a HTTP/1.1\r\n"));
	assert_true(peer_got(&p.peer, 2, "GET /bucket/pre/a HTTP/1.1\r\n"));
	peer_release(&p.peer);
}

/* ---- writing */

static void test_put(void **state)
{
	const struct filestore_condition replace = {STORE_REPLACE, "\"old\""};
	const struct peer_answer script[] = {
		{OK, PEER_KEEP},
		{BODY("412 Precondition Failed", "0", ""), PEER_KEEP},
		{NO_KEY, PEER_KEEP},
		{NO_KEY, PEER_KEEP},
		{BODY("403 Forbidden", "52",
		      "<Error><Code>AccessDenied</Code><Message/></Error>  "),
		 PEER_KEEP},
	};
	char etag[STORE_ETAG_MAX + 1];
	struct s3_peer p;

	s3_peer_start(&p, script, 5, 100);
	assert_int_equal(
		filestore_put(p.store, etag, "a", "1", 1, &create, &p.err), 0);
	assert_string_equal(etag, "\"e\"");
	assert_int_equal(
		filestore_put(p.store, etag, "a", "1", 1, &create, &p.err),
		STORE_CONFLICT);
	assert_string_equal(etag, "");
	assert_int_equal(
		filestore_put(p.store, etag, "a", "1", 1, &replace, &p.err),
		STORE_CONFLICT);
	assert_int_equal(
		filestore_put(p.store, etag, "a", "1", 1, &always, &p.err),
		ERR_PEER);
	assert_int_equal(
		filestore_put(p.store, etag, "a", "1", 1, &always, &p.err),
		ERR_DENIED);
	assert_string_equal(p.err.msg,
			    "the store denies access: status 403 AccessDenied");
	s3_peer_stop(&p);
	assert_true(peer_got(&p.peer, 0, "PUT /bucket/pre/a HTTP/1.1\r\n"));
	assert_true(peer_got(&p.peer, 0, "if-none-match: *\r\n"));
	assert_true(
		peer_got(&p.peer, 0,
			 "x-amz-content-sha256: 6b86b273ff34fce19d6b804eff5a"
			 "3f5747ada4eaa22f1d49c01e52ddb7875b4b\r\n"));
	assert_true(peer_got(&p.peer, 0,
			     "Authorization: AWS4-HMAC-SHA256 Credential=id/"));
	assert_true(peer_got(&p.peer, 2, "if-match: \"old\"\r\n"));
	assert_false(peer_got(&p.peer, 3, "if-"));
	assert_false(peer_got(&p.peer, 0, "secret"));
	peer_release(&p.peer);
}

static void test_delete(void **state)
{
	const struct peer_answer script[] = {
		{"HTTP/1.1 204 No Content\r\n\r\n", PEER_KEEP},
		{NO_KEY, PEER_KEEP},
		{NULL, PEER_CLOSE},
		{OK, PEER_KEEP},
	};
	struct s3_peer p;

	s3_peer_start(&p, script, 4, 100);
	assert_int_equal(filestore_delete(p.store, "a", &p.err), 0);
	assert_int_equal(filestore_delete(p.store, "a", &p.err), 0);
	assert_int_equal(filestore_delete(p.store, "a", &p.err),
			 STORE_AMBIGUOUS);
	s3_peer_stop(&p);
	assert_int_equal(p.peer.request_nr, 3);
	peer_release(&p.peer);
}

static void test_list(void **state)
{
#define LIST                                                                   \
	"<ListBucketResult><IsTruncated>true</IsTruncated>"                    \
	"<NextContinuationToken>t=</NextContinuationToken><Contents>"          \
	"<Key>pre/a/b</Key><Size>1</Size></Contents></ListBucketResult>"
	const struct peer_answer script[] = {
		{HEAD_OF("200 OK", "Connection: close\r\n") LIST, PEER_CLOSE},
		{HEAD_OF("200 OK", "Connection: close\r\n") "<a/>", PEER_CLOSE},
		{BODY("404 Not Found", "0", ""), PEER_KEEP},
	};
	struct filestore_page page = {NULL, 0, 0, NULL};
	struct s3_peer p;

	s3_peer_start(&p, script, 3, 100);
	assert_int_equal(filestore_list(p.store, &page, "a/", 9999, &p.err), 0);
	assert_int_equal(page.nr, 1);
	assert_string_equal(page.entries[0].name, "a/b");
	assert_int_equal(filestore_list(p.store, &page, "a/", 1, &p.err),
			 ERR_PEER);
	assert_int_equal(page.nr, 0);
	assert_int_equal(filestore_list(p.store, &page, "", 1, &p.err),
			 ERR_INVALID);
	s3_peer_stop(&p);
	assert_true(peer_got(&p.peer, 0,
			     "GET /bucket?list-type=2&max-keys=1000&"
			     "prefix=pre%2Fa%2F HTTP/1.1\r\n"));
	assert_true(peer_got(&p.peer, 1,
			     "GET /bucket?continuation-token=t%3D&list-type=2&"
			     "max-keys=1&prefix=pre%2Fa%2F HTTP/1.1\r\n"));
	peer_release(&p.peer);
}

/* ---- settings */

static int open_with(const char *endpoint, const char *bucket,
		     const char *prefix, struct buf *url)
{
	const struct store_keys keys = {(char *)"id", (char *)"secret", NULL};
	struct store_s3_settings set = STORE_S3_SETTINGS_INIT;
	struct filestore *store;
	int ret;

	set.endpoint = endpoint;
	set.bucket = bucket;
	set.prefix = prefix;
	set.keys = &keys;
	ret = store_s3_open(&store, &set, NULL);
	buf_reset(url);
	if (!ret)
		assert_int_equal(filestore_presign(store, url, "n", 60, NULL),
				 0);
	if (!ret && strchr(url->data, '?'))
		buf_set_len(url, (size_t)(strchr(url->data, '?') - url->data));
	url->data[url->alloc ? url->len : 0] = '\0';
	filestore_close(store);
	return ret;
}

static void test_settings(void **state)
{
	static const char *const good[][2] = {
		{NULL, "https://s3.us-east-1.amazonaws.com/bkt/p/n"},
		{"http://127.0.0.1:80", "http://127.0.0.1/bkt/p/n"},
		{"https://s3.example.com:443/",
		 "https://s3.example.com/bkt/p/n"},
		{"http://[::1]:9000", "http://[::1]:9000/bkt/p/n"},
		{"http://[::1]", "http://[::1]/bkt/p/n"},
	};
	static const char *const bad[] = {
		"",
		"s3.example.com",
		"ftp://s3.example.com",
		"http://",
		"http:///",
		"http://S3.example.com",
		"http://user@host",
		"http://host/path",
		"http://host:",
		"http://host:x",
		"http://host?x",
		"http://[::1",
		"http://host\n",
	};
	struct buf url = BUF_INIT;

	assert_int_equal(buf_reserve(&url, 1), 0);
	for (size_t i = 0; i < ARRAY_NR(good); i++) {
		assert_int_equal(open_with(good[i][0], "bkt", "p", &url), 0);
		assert_string_equal(url.data, good[i][1]);
	}
	for (size_t i = 0; i < ARRAY_NR(bad); i++)
		assert_int_equal(open_with(bad[i], "bkt", "p", &url),
				 ERR_INVALID);
	assert_int_equal(open_with(NULL, "bkt", "", &url), 0);
	assert_string_equal(url.data,
			    "https://s3.us-east-1.amazonaws.com/bkt/n");
	assert_int_equal(open_with(NULL, "b", "p", &url), ERR_INVALID);
	assert_int_equal(open_with(NULL, "a/b", "p", &url), ERR_INVALID);
	assert_int_equal(open_with(NULL, "Bucket", "p", &url), ERR_INVALID);
	assert_int_equal(open_with(NULL, "bkt", "p/", &url), ERR_INVALID);
	assert_int_equal(open_with(NULL, "bkt", "../p", &url), ERR_INVALID);
	buf_release(&url);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resume),
		cmocka_unit_test(test_bad_rest),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_delete),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
