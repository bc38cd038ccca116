/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/s3-answer.c, which parses XML responses of S3: listings,
 * errors and uploads in parts are understood, and malformed responses are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "store/s3-answer.h"

/* A file in a listing, shortened from the API reference of Amazon S3. */
#define FILE_OF(key, size)                                                     \
	"<Contents><Key>" key "</Key>"                                         \
	"<LastModified>2009-10-12T17:50:30.000Z</LastModified>"                \
	"<ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag>"            \
	"<Size>" size "</Size><StorageClass>STANDARD</StorageClass>"           \
	"<Owner><ID>8a69</ID></Owner></Contents>"
#define LIST_OF(content)                                                       \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                         \
	"<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" \
	"<Name>bucket</Name>" content "</ListBucketResult>"

static int read_listing(struct filestore_page *page, const char *text)
{
	return s3_answer_listing(page, "p/", text, strlen(text), NULL);
}

static void test_listing(void **state)
{
	struct filestore_page page = {NULL, 0, 0, NULL};
	const char *text = LIST_OF(
		"<IsTruncated>true</IsTruncated>"
		"<NextContinuationToken>1ue/=&amp;</"
		"NextContinuationToken>" FILE_OF("p/a", "434234")
			FILE_OF("p/.hidden", "1") FILE_OF("p/b/c", "0"));

	assert_int_equal(read_listing(&page, text), 0);
	assert_int_equal(page.nr, 2);
	assert_string_equal(page.entries[0].name, "a");
	assert_int_equal(page.entries[0].info.size, 434234);
	assert_int_equal(page.entries[0].info.mtime, 1255369830);
	assert_string_equal(page.entries[0].info.etag,
			    "\"fba9dede5f27731c9771645a39863328\"");
	assert_string_equal(page.entries[1].name, "b/c");
	assert_string_equal(page.next, "1ue/=&");
	filestore_page_release(&page);
	assert_int_equal(read_listing(&page, LIST_OF("<IsTruncated>false"
						     "</IsTruncated>")),
			 0);
	assert_int_equal(page.nr, 0);
	assert_null(page.next);
}

static void test_bad_listings(void **state)
{
	static const char *const texts[] = {
		"",
		"<Error><Code>x</Code></Error>",
		LIST_OF(FILE_OF("other/a", "1")),
		LIST_OF(FILE_OF("p/a", "")),
		LIST_OF(FILE_OF("p/a", "-1")),
		LIST_OF(FILE_OF("p/a", "1 ")),
		LIST_OF(FILE_OF("p/a", "99999999999999999999")),
		LIST_OF(FILE_OF("p/a&#0;", "1")),
		LIST_OF("<Contents><Key>p/a</Key></Contents>"),
		LIST_OF("<Contents><Size>1</Size></Contents>"),
		LIST_OF("<Contents><LastModified>x</LastModified></Contents>"),
		LIST_OF("<IsTruncated>true</IsTruncated>"),
		"<ListBucketResult>",
	};
	struct filestore_page page = {NULL, 0, 0, NULL};
	struct buf long_key = BUF_INIT;

	for (size_t i = 0; i < ARRAY_NR(texts); i++) {
		assert_int_equal(read_listing(&page, texts[i]), ERR_CORRUPT);
		filestore_page_release(&page);
	}
	buf_append_str(&long_key, "<ListBucketResult><Contents><Key>");
	for (int i = 0; i < 1025; i++)
		buf_append_char(&long_key, 'k');
	buf_append_str(&long_key, "</Key></Contents></ListBucketResult>");
	assert_int_equal(read_listing(&page, long_key.data), ERR_CORRUPT);
	buf_release(&long_key);
}

static void test_times(void **state)
{
	static const char *const bad[] = {
		"",
		"2009-10-12",
		"2009-10-12T17:50:30",
		"2009-10-12T17:50:30.000",
		"2009-10-12T17:50:30.000Zx",
		"2009-10-12T17:50:30.x",
		"2009-13-12T17:50:30Z",
		"2009-00-12T17:50:30Z",
		"2009-10-32T17:50:30Z",
		"2009-10-12T24:50:30Z",
		"2009-10-12T17:60:30Z",
		"1969-10-12T17:50:30Z",
		"09-10-12T17:50:30Z",
	};

	assert_int_equal(s3_answer_time("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(s3_answer_time("2009-10-12T17:50:30Z"), 1255369830);
	assert_int_equal(s3_answer_time("2009-10-12T17:50:30.123456Z"),
			 1255369830);
	for (size_t i = 0; i < ARRAY_NR(bad); i++)
		assert_int_equal(s3_answer_time(bad[i]), -1);
}

static void test_errors(void **state)
{
	struct s3_error e;
	const char *text = "<?xml version=\"1.0\"?><Error><Code>SlowDown</Code>"
			   "<Message>Please reduce\nyour request rate~."
			   "</Message><RequestId>1</RequestId></Error>";

	s3_answer_error(&e, text, strlen(text));
	assert_string_equal(e.code, "SlowDown");
	assert_string_equal(e.message, "Please reduce?your request rate~.");
	s3_answer_error(&e, text, strlen(text) - 1);
	assert_string_equal(e.code, "");
	assert_string_equal(e.message, "");
	s3_answer_error(&e, "<html>", 6);
	assert_string_equal(e.code, "");
}

static void test_uploads(void **state)
{
	const char *begun = "<InitiateMultipartUploadResult><Bucket>b</Bucket>"
			    "<UploadId>VXBsb2Fk</UploadId>"
			    "</InitiateMultipartUploadResult>";
	const char *done = "<CompleteMultipartUploadResult><ETag>"
			   "&#34;3858-2&#34;</ETag>"
			   "</CompleteMultipartUploadResult>";
	const char *failed = "<Error><Code>InternalError</Code></Error>";
	char etag[STORE_ETAG_MAX + 1];
	struct buf id = BUF_INIT;
	struct s3_error e;

	assert_int_equal(s3_answer_upload(&id, begun, strlen(begun), NULL), 0);
	assert_string_equal(id.data, "VXBsb2Fk");
	assert_int_equal(s3_answer_upload(&id, done, strlen(done), NULL),
			 ERR_CORRUPT);
	assert_int_equal(s3_answer_upload(&id, begun, 20, NULL), ERR_CORRUPT);
	buf_release(&id);
	assert_int_equal(s3_answer_complete(etag, &e, done, strlen(done), NULL),
			 0);
	assert_string_equal(etag, "\"3858-2\"");
	assert_int_equal(
		s3_answer_complete(etag, &e, failed, strlen(failed), NULL), 1);
	assert_string_equal(e.code, "InternalError");
	assert_int_equal(
		s3_answer_complete(etag, &e, begun, strlen(begun), NULL),
		ERR_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_bad_listings),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_uploads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
