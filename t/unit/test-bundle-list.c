/* SPDX-License-Identifier: MIT */
/*
 * Tests of publish/bundle-list.c, which reads and writes the list of published
 * bundles. They prove that a written list can be read again, and that damaged
 * lists are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "publish/bundle-list.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

static void random_oid(struct oid *oid, enum hash_algo algo, uint64_t *seed)
{
	*oid = (struct oid)OID_ZERO_INIT;
	for (size_t i = 0; i < hash_len(algo); i++)
		oid->bytes[i] = (uint8_t)random_next(seed);
}

static void random_list(struct bundle_list *list, uint64_t *seed)
{
	uint64_t token = 0;

	*list = (struct bundle_list){
		.algo = random_next(seed) % 2 ? HASH_SHA1 : HASH_SHA256,
		.nr = 1 + random_next(seed) % BUNDLE_LIST_MAX,
	};
	random_oid(&list->pack, list->algo, seed);
	random_oid(&list->rules, HASH_SHA256, seed);
	for (size_t i = 0; i < list->nr; i++) {
		token += 1 + random_next(seed) % 1000000000;
		random_oid(&list->items[i].hash, list->algo, seed);
		list->items[i].token = token;
	}
}

static void check_same(const struct bundle_list *a, const struct bundle_list *b)
{
	assert_int_equal(a->nr, b->nr);
	assert_true(oid_equal(&a->pack, &b->pack));
	assert_true(oid_equal(&a->rules, &b->rules));
	for (size_t i = 0; i < a->nr; i++) {
		assert_true(oid_equal(&a->items[i].hash, &b->items[i].hash));
		assert_int_equal(a->items[i].token, b->items[i].token);
	}
}

static void written_and_read(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 100; round++) {
		struct bundle_list list, again;
		struct buf text = BUF_INIT;

		random_list(&list, &seed);
		assert_int_equal(bundle_list_format(&text, &list), 0);
		assert_int_equal(bundle_list_parse(&again, text.data, text.len,
						   list.algo, NULL),
				 0);
		check_same(&list, &again);
		/*
		 * Each prefix of a list of bundles either is invalid, or is a
		 * valid list of fewer bundles.
		 */
		for (size_t len = 0; len < text.len; len++)
			if (!bundle_list_parse(&again, text.data, len,
					       list.algo, NULL))
				assert_true(again.nr < list.nr);
		buf_release(&text);
	}
}

#define HEX_A "7d1665144a3a975c05f1f43902ddaf084e784dbe"
#define HEX_RULES                                                              \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define OPTIONS                                                                \
	"[bundle]\n\tversion = 1\n\tmode = all\n\theuristic = creationToken\n"
#define HEAD "# pack " HEX_A "\n# hidden " HEX_RULES "\n" OPTIONS
#define ITEM(id, uri, token)                                                   \
	"[bundle \"" id "\"]\n\turi = " uri "\n\tcreationToken = " token "\n"

static void damaged(void **state)
{
	static const char *const bad[] = {
		"",
		HEAD,
		"# pack " HEX_A "\n" OPTIONS ITEM("1", HEX_A ".bundle", "1"),
		"# pack " HEX_A "\n# hidden " HEX_A
		"\n" OPTIONS ITEM("1", HEX_A ".bundle", "1"),
		HEAD ITEM("1", "../x.bundle", "1"),
		HEAD ITEM("1", HEX_A ".bundle", "2"),
		HEAD ITEM("1", HEX_A ".bundle", "x"),
		HEAD ITEM("x", HEX_A ".bundle", "1"),
		HEAD ITEM("1", HEX_A ".pack", "1"),
		HEAD ITEM("1", HEX_A ".bundle", "1")
			ITEM("1", HEX_A ".bundle", "1"),
		HEAD ITEM("2", HEX_A ".bundle", "2")
			ITEM("1", HEX_A ".bundle", "1"),
		HEAD ITEM("1", HEX_A ".bundle", "1")
			ITEM("2", HEX_A ".bundle", "2")
				ITEM("3", HEX_A ".bundle", "3")
					ITEM("4", HEX_A ".bundle", "4")
						ITEM("5", HEX_A ".bundle", "5"),
		HEAD ITEM("1", HEX_A ".bundle", "1") "x",
		HEAD ITEM("1234567890123456789", HEX_A ".bundle",
			  "1234567890123456789"),
	};
	static const char good[] = HEAD ITEM("1", HEX_A ".bundle", "1");
	struct bundle_list list;

	assert_int_equal(
		bundle_list_parse(&list, good, strlen(good), HASH_SHA1, NULL),
		0);
	assert_int_equal(list.nr, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(bundle_list_parse(&list, bad[i],
						   strlen(bad[i]), HASH_SHA1,
						   NULL),
				 ERR_CORRUPT);
		assert_int_equal(list.nr, 0);
	}
}

static void in_a_place(void **state)
{
	uint64_t seed = random_seed();
	struct bundle_list list, again;
	struct buf text = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	random_list(&list, &seed);
	assert_int_equal(bundle_list_read(&again, t.dir, list.algo, NULL), 0);
	assert_int_equal(again.nr, 0);
	assert_int_equal(bundle_list_format(&text, &list), 0);
	tmprepo_write_len(&t, BUNDLE_LIST_FILE, text.data, text.len);
	assert_int_equal(bundle_list_read(&again, t.dir, list.algo, NULL), 1);
	check_same(&list, &again);
	tmprepo_write_len(&t, BUNDLE_LIST_FILE, text.data, text.len - 1);
	assert_int_equal(bundle_list_read(&again, t.dir, list.algo, NULL),
			 ERR_CORRUPT);
	buf_release(&text);
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_and_read),
		cmocka_unit_test(damaged),
		cmocka_unit_test(in_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
