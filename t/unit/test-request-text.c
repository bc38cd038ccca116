/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/request-text.c, the text form of a fetch request (for logs): it
 * is printed and parsed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "t/unit/random.h"
#include "wire/request-text.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void check_same(const char *text)
{
	struct request_text *request = malloc(sizeof(*request));
	struct buf out = BUF_INIT;

	assert_int_equal(request_text_parse(request, text, HASH_SHA1, NULL), 0);
	assert_int_equal(request_text_print(&out, request, HASH_SHA1), 0);
	assert_string_equal(out.data, text);
	buf_release(&out);
	free(request);
}

static void test_texts(void **state)
{
	check_same("want=" A);
	check_same("want=" A "," B " have=" B " thin ofs-delta");
	check_same("want=" A ",+1 have=" B ",+18446744073709551615 shallow=" B
		   " include-tag filter=blob:none");
	check_same("want=" A " filter=sparse:oid=main:a b thin");
	check_same("want=" A " filter=");
}

static void test_invalid(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"thin",
		"have=" A,
		"want=",
		"want=" A ",",
		"want=," A,
		"want=" A ",+0",
		"want=" A ",+",
		"want=" A ",+1x",
		"want=" A ",+1," B,
		"want=" A ",+99999999999999999999",
		"want=+1",
		"want=" A "a",
		"want=" A " want=" B,
		"want=" A "  thin",
		"want=" A " thin thin",
		"want=" A " ",
		"want=" A " Thin",
		"want=" A " thinner",
		"want=" A " thin=1",
		"want=aaaa",
	};
	struct request_text *request = malloc(sizeof(*request));

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (request_text_parse(request, texts[i], HASH_SHA1, NULL) !=
		    ERR_INVALID)
			fail_msg("accepted: %s", texts[i]);
	assert_int_equal(
		request_text_parse(request, "want=" A, HASH_SHA256, NULL),
		ERR_INVALID);
	free(request);
}

/*
 * The text of a request with many ids lists only the first ids, and says how
 * many more there are.
 */
static void test_cut(void **state)
{
	static const size_t lengths[] = {1, REQUEST_TEXT_IDS_MAX,
					 REQUEST_TEXT_IDS_MAX + 1, 1000};
	struct request_text *request = malloc(sizeof(*request));
	struct oid oids[1000];
	uint64_t seed = random_seed();

	for (size_t i = 0; i < 1000; i++) {
		oids[i] = (struct oid)OID_ZERO_INIT;
		for (size_t k = 0; k < 20; k += 4)
			store_be32(oids[i].bytes + k,
				   (uint32_t)random_next(&seed));
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t nr = lengths[i], kept;
		struct buf out = BUF_INIT;

		kept = nr < REQUEST_TEXT_IDS_MAX ? nr : REQUEST_TEXT_IDS_MAX;
		*request = (struct request_text){0};
		request_text_ids_set(&request->wants, oids, nr);
		assert_int_equal(request_text_print(&out, request, HASH_SHA1),
				 0);
		assert_int_equal(
			request_text_parse(request, out.data, HASH_SHA1, NULL),
			0);
		assert_int_equal(request->wants.nr, kept);
		assert_int_equal(request->wants.more, nr - kept);
		for (size_t k = 0; k < kept; k++)
			assert_true(
				oid_equal(&request->wants.oids[k], &oids[k]));
		assert_true(out.len < 41 * REQUEST_TEXT_IDS_MAX + 20);
		buf_release(&out);
	}
	free(request);
}

/* A text with more ids than the maximum is refused. */
static void test_too_many(void **state)
{
	struct request_text *request = malloc(sizeof(*request));
	struct buf text = BUF_INIT;

	assert_int_equal(buf_append_str(&text, "want=" A), 0);
	for (int i = 0; i < REQUEST_TEXT_IDS_MAX; i++)
		assert_int_equal(buf_append_str(&text, "," B), 0);
	assert_int_equal(
		request_text_parse(request, text.data, HASH_SHA1, NULL),
		ERR_INVALID);
	buf_release(&text);
	free(request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
