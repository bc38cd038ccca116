/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/offer-list.h, the list of published packs (packs that clients
 * download from the store) of a generation (version).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "stored/offer-list.h"

#define FIRST "gitreach published 1\n"
#define HEX "0123456789012345678901234567890123456789"
#define LINE HEX " 12 publish/" HEX ".pack\n"

static int parse(const char *text)
{
	struct stored_offer_list list;
	int ret = stored_offer_list_parse(&list, text, strlen(text), HASH_SHA1,
					  NULL);

	if (ret)
		assert_true(!list.items && !list.nr);
	stored_offer_list_release(&list);
	return ret;
}

static void test_round_trip(void **state)
{
	static const char text[] = FIRST LINE HEX
		" 999999999999999999 objects/pack/pack-a.pack\n";
	struct stored_offer_list list;
	struct buf again = BUF_INIT;

	assert_int_equal(stored_offer_list_parse(&list, text, strlen(text),
						 HASH_SHA1, NULL),
			 0);
	assert_int_equal(list.nr, 2);
	assert_int_equal(list.items[0].len, 12);
	assert_string_equal(list.items[0].path, "publish/" HEX ".pack");
	assert_int_equal(list.items[1].len, UINT64_C(999999999999999999));
	assert_string_equal(list.items[1].path, "objects/pack/pack-a.pack");
	assert_int_equal(stored_offer_list_begin(&again), 0);
	for (size_t i = 0; i < list.nr; i++)
		assert_int_equal(stored_offer_list_append(
					 &again, &list.items[i], HASH_SHA1),
				 0);
	assert_string_equal(again.data, text);
	buf_release(&again);
	stored_offer_list_release(&list);
	assert_int_equal(parse(FIRST), 0);
}

static void test_damage(void **state)
{
	static const char *const texts[] = {
		"",
		"gitreach published 2\n",
		"gitreach published 1",
		FIRST "\n",
		FIRST HEX "\n",
		FIRST HEX " 1\n",
		FIRST HEX " 1 .pack\n",
		FIRST HEX " 0 a.pack\n",
		FIRST HEX " 01 a.pack\n",
		FIRST HEX " -1 a.pack\n",
		FIRST HEX " 1x a.pack\n",
		FIRST HEX " 1000000000000000000 a.pack\n",
		FIRST HEX " 1 a.pack",
		FIRST HEX " 1 a b.pack\n",
		FIRST HEX " 1 a.idx\n",
		FIRST HEX "  1 a.pack\n",
		FIRST "A123456789012345678901234567890123456789 1 a.pack\n",
		FIRST "x123456789012345678901234567890123456789 1 a.pack\n",
	};
	char hex64[] = FIRST HEX "000000000000000000000000 1 a.pack\n";

	for (size_t i = 0; i < ARRAY_NR(texts); i++)
		assert_int_equal(parse(texts[i]), ERR_CORRUPT);
	assert_int_equal(parse(hex64), ERR_CORRUPT);
}

/* A list has at most STORED_OFFER_MAX packs. */
static void test_limit(void **state)
{
	struct buf text = BUF_INIT;

	buf_append_str(&text, FIRST);
	for (int i = 0; i < STORED_OFFER_MAX; i++)
		buf_append_str(&text, HEX " 1 a.pack\n");
	assert_int_equal(parse(text.data), 0);
	buf_append_str(&text, HEX " 1 a.pack\n");
	assert_int_equal(parse(text.data), ERR_CORRUPT);
	buf_release(&text);
}

static void test_remote(void **state)
{
	assert_true(stored_offer_is_remote("publish/a.pack"));
	assert_false(stored_offer_is_remote(STORED_OFFER_LIST));
	assert_false(stored_offer_is_remote("objects/pack/publish/a.pack"));
	assert_false(stored_offer_is_remote("publish"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_remote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
