/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/sigv4.c, signatures of S3 requests. The examples are those of
 * "Authenticating Requests: Using the Authorization Header" and "... Query
 * Parameters" in the API reference of Amazon S3. Their keys are published
 * there, and are not in use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "store/sigv4.h"

/* Time of the examples: Fri, 24 May 2013 00:00:00 GMT. */
#define NOW 1369353600
#define EMPTY_HASH                                                             \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HOST                                                                   \
	{                                                                      \
		"host", "examplebucket.s3.amazonaws.com"                       \
	}
#define DATE                                                                   \
	{                                                                      \
		"x-amz-date", "20130524T000000Z"                               \
	}

static const struct store_keys keys = {
	(char *)"AKIAIOSFODNN7EXAMPLE",
	(char *)"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	NULL,
};

static void check(const char *method, const char *path,
		  const struct sigv4_pair *query, size_t query_nr,
		  const struct sigv4_pair *headers, size_t header_nr,
		  const char *body_hash, const char *want)
{
	struct sigv4_request r = {
		.method = method,
		.path = path,
		.query = query,
		.query_nr = query_nr,
		.headers = headers,
		.header_nr = header_nr,
		.body_hash = body_hash,
		.region = "us-east-1",
		.keys = &keys,
		.now = NOW,
	};
	struct buf got = BUF_INIT;

	assert_int_equal(sigv4_authorize(&got, &r, NULL), 0);
	assert_string_equal(got.data, want);
	buf_release(&got);
}

static void test_get(void **state)
{
	const struct sigv4_pair headers[] = {
		DATE,
		{"range", "bytes=0-9"},
		{"x-amz-content-sha256", EMPTY_HASH},
		HOST,
	};

	check("GET", "/test.txt", NULL, 0, headers, 4, EMPTY_HASH,
	      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
	      "us-east-1/s3/aws4_request, SignedHeaders=host;range;"
	      "x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857b"
	      "d35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void test_put(void **state)
{
	const char *body = "Welcome to Amazon S3.";
	char hash[SIGV4_HASH_LEN];
	struct sigv4_pair headers[] = {
		HOST,
		DATE,
		{"date", "Fri, 24 May 2013 00:00:00 GMT"},
		{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
		{"x-amz-content-sha256", hash},
	};

	assert_int_equal(sigv4_body_hash(hash, body, strlen(body)), 0);
	assert_string_equal(hash,
			    "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e9"
			    "9e42034a8b803f8b072");
	check("PUT", "/test$file.text", NULL, 0, headers, 5, hash,
	      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
	      "us-east-1/s3/aws4_request, SignedHeaders=date;host;"
	      "x-amz-content-sha256;x-amz-date;x-amz-storage-class, "
	      "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971a"
	      "f0ece108bd");
}

static void test_query(void **state)
{
	const struct sigv4_pair headers[] = {
		HOST, DATE, {"x-amz-content-sha256", EMPTY_HASH}};
	const struct sigv4_pair lifecycle = {"lifecycle", ""};
	const struct sigv4_pair list[] = {{"prefix", "J"}, {"max-keys", "2"}};

	check("GET", "/", &lifecycle, 1, headers, 3, EMPTY_HASH,
	      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
	      "us-east-1/s3/aws4_request, SignedHeaders=host;"
	      "x-amz-content-sha256;x-amz-date, Signature=fea454ca298b7da1c6807"
	      "8a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
	check("GET", "/", list, 2, headers, 3, EMPTY_HASH,
	      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
	      "us-east-1/s3/aws4_request, SignedHeaders=host;"
	      "x-amz-content-sha256;x-amz-date, Signature=34b48302e7b5fa45bde80"
	      "84f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void test_presign(void **state)
{
	const struct sigv4_pair host = HOST;
	struct sigv4_request r = {
		.method = "GET",
		.path = "/test.txt",
		.headers = &host,
		.header_nr = 1,
		.region = "us-east-1",
		.keys = &keys,
		.now = NOW,
	};
	const struct store_keys with_token = {keys.id, keys.secret,
					      (char *)"a/token"};
	struct sigv4_pair query[7] = {{"a", ""}, {"b", ""}, {"c", ""},
				      {"d", ""}, {"e", ""}, {"f", ""},
				      {"g", ""}};
	struct buf got = BUF_INIT;

	assert_int_equal(sigv4_presign(&got, &r, 86400, NULL), 0);
	assert_string_equal(got.data,
			    "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="
			    "AKIAIOSFODNN7"
			    "EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_"
			    "request&X-Amz-Date=2"
			    "0130524T000000Z&X-Amz-Expires=86400&X-Amz-"
			    "SignedHeaders=host&X-"
			    "Amz-Signature="
			    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957"
			    "d157751f604d404");
	buf_reset(&got);
	r.keys = &with_token;
	assert_int_equal(sigv4_presign(&got, &r, 60, NULL), 0);
	assert_non_null(strstr(got.data, "X-Amz-Security-Token=a%2Ftoken&"));
	r.query = query;
	r.query_nr = 7;
	assert_int_equal(sigv4_presign(&got, &r, 60, NULL), ERR_INVALID);
	buf_release(&got);
}

static void test_limits(void **state)
{
	struct sigv4_pair pairs[SIGV4_PAIRS_MAX + 1];
	struct sigv4_request r = {.method = "GET",
				  .path = "/",
				  .query = pairs,
				  .query_nr = SIGV4_PAIRS_MAX + 1,
				  .region = "r",
				  .keys = &keys};
	struct buf got = BUF_INIT;

	for (size_t i = 0; i <= SIGV4_PAIRS_MAX; i++)
		pairs[i] = (struct sigv4_pair){"x", "y"};
	assert_int_equal(sigv4_authorize(&got, &r, NULL), ERR_INVALID);
	assert_int_equal(got.len, 0);
	buf_release(&got);
}

static void test_quote(void **state)
{
	struct buf got = BUF_INIT;
	char time[SIGV4_TIME_LEN];

	assert_int_equal(sigv4_quote(&got, "aZ09-._~/ +\xc3\xa4", false), 0);
	assert_string_equal(got.data, "aZ09-._~%2F%20%2B%C3%A4");
	buf_reset(&got);
	assert_int_equal(sigv4_quote(&got, "/a/b", true), 0);
	assert_string_equal(got.data, "/a/b");
	buf_release(&got);
	sigv4_time(time, 1764269874);
	assert_string_equal(time, "20251127T185754Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get),    cmocka_unit_test(test_put),
		cmocka_unit_test(test_query),  cmocka_unit_test(test_presign),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_quote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
