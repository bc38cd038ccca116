/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/bundle.c, which parses and writes headers of bundles. They
 * prove that a written header can be parsed again, and that incomplete and
 * invalid headers are noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pack/bundle.h"

#define A "2f4045abf1af51f49ecff8034da3bca195a47c77"
#define B "6949608296cf6f325502708aa42097b5c5144209"
#define V2 "# v2 git bundle\n"
#define V3 "# v3 git bundle\n"

static int parse(struct bundle_header *h, size_t *len, const char *text,
		 bool is_all, struct error *err)
{
	return bundle_header_parse(h, len, text, strlen(text), is_all, "x",
				   err);
}

/*
 * Parses a header. Asserts that the header is complete, and that writing it
 * gives the same text.
 */
static void check_whole(const char *text)
{
	struct bundle_header h;
	struct buf again = BUF_INIT;
	size_t len;

	assert_int_equal(parse(&h, &len, text, false, NULL), 1);
	assert_int_equal(len, strlen(text));
	assert_int_equal(bundle_header_format(&again, &h), 0);
	assert_string_equal(again.data, text);
	buf_release(&again);
	bundle_header_release(&h);
}

static void test_there_and_back(void **state)
{
	check_whole(V2 "\n");
	check_whole(V2 "-" A " why not\n" B " refs/heads/x\n" A " HEAD\n\n");
	check_whole(V3 "@object-format=sha1\n@filter=blob:none\n" A " HEAD\n"
		       "\n");
	check_whole(V3 "@object-format=sha1\n@filter=\n" A " HEAD\n\n");
	check_whole(V3 "@object-format=sha256\n" A
		       "0123456789abcdef01234567 HEAD\n\n");
}

/*
 * A header that was not parsed but made by bundle_header_init() has version 2.
 */
static void test_made(void **state)
{
	struct bundle_header h;
	struct buf text = BUF_INIT;
	struct oid oid;

	bundle_header_init(&h, HASH_SHA1);
	assert_true(oid_from_hex(&oid, A, strlen(A), HASH_SHA1));
	assert_int_equal(bundle_items_add(&h.refs, &oid, "HEADx", 4), 0);
	assert_int_equal(bundle_header_format(&text, &h), 0);
	assert_string_equal(text.data, V2 A " HEAD\n\n");
	bundle_header_release(&h);
	/* Items can be added to a header that was released. */
	assert_int_equal(bundle_items_add(&h.refs, &oid, "HEAD", 4), 0);
	assert_int_equal(h.refs.nr, 1);
	bundle_header_release(&h);
	buf_release(&text);
}

static void test_parts(void **state)
{
	struct bundle_header h;
	char hex[OID_MAX_HEX_LEN + 1];
	size_t len;

	assert_int_equal(parse(&h, &len,
			       V2 "-" A "\n-" B " a b\n" A " HEAD\n\nPACK",
			       false, NULL),
			 1);
	assert_int_equal(len, strlen(V2) + 42 + 46 + 46 + 1);
	assert_int_equal(h.version, 2);
	assert_int_equal(h.algo, HASH_SHA1);
	assert_null(h.filter);
	assert_int_equal(h.prerequisites.nr, 2);
	assert_string_equal(h.prerequisites.items[0].text, "");
	assert_string_equal(h.prerequisites.items[1].text, "a b");
	assert_string_equal(
		oid_to_hex(hex, &h.prerequisites.items[1].oid, h.algo), B);
	assert_int_equal(h.refs.nr, 1);
	assert_string_equal(h.refs.items[0].text, "HEAD");
	bundle_header_release(&h);
}

/*
 * Parses each prefix of a header. If more input may come, the parser asks for
 * more bytes. At the end of the input, the prefix is either a complete header
 * or invalid.
 */
static void test_cut_short(void **state)
{
	static const char text[] = V3 "@object-format=sha1\n-" A " x\n" B
				      " refs/heads/x\n\n";
	struct bundle_header h;
	size_t len;

	for (size_t nr = 0; nr < sizeof(text) - 1; nr++) {
		char *exact = malloc(nr + 1);
		int ret;

		assert_non_null(exact);
		memcpy(exact, text, nr);
		assert_int_equal(bundle_header_parse(&h, &len, exact, nr, false,
						     "x", NULL),
				 0);
		bundle_header_release(&h);
		ret = bundle_header_parse(&h, &len, exact, nr, true, "x", NULL);
		assert_true(ret == ERR_CORRUPT || (ret == 1 && len == nr));
		bundle_header_release(&h);
		free(exact);
	}
}

static void check_wrong(const char *text, const char *message)
{
	struct error err = ERROR_INIT;
	struct bundle_header h;
	size_t len;

	assert_int_equal(parse(&h, &len, text, true, &err), ERR_CORRUPT);
	assert_string_equal(err.msg, message);
	bundle_header_release(&h);
}

static void test_wrong(void **state)
{
	static const char none[] =
		"'x' does not look like a v2 or v3 bundle file";

	check_wrong("", none);
	check_wrong("PACK", none);
	check_wrong("# v4 git bundle\n\n", none);
	check_wrong(V2 "xyz\n\n", "unrecognized header: xyz (3)");
	check_wrong(V2 A "\n\n", "unrecognized header: " A " (40)");
	check_wrong(V2 "@object-format=sha1\n\n",
		    "unrecognized header: @object-format=sha1 (19)");
	check_wrong(V3 "@x\n\n", "unknown capability 'x'");
	check_wrong(V3 "@filter\n\n", "unknown capability 'filter'");
	check_wrong(V3 "@object-format=sha1x\n\n",
		    "unrecognized bundle hash algorithm: sha1x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
