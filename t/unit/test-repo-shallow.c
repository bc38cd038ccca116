/* SPDX-License-Identifier: MIT */
/*
 * Tests of repo/shallow.c, the file `shallow`: ids are read, added and removed,
 * and wrong files are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repo/shallow.h"
#include "t/unit/tmprepo.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static int append_byte(void *ctx, const struct oid *oid)
{
	return buf_printf(ctx, "%02x ", oid->bytes[0]);
}

static void expect(const struct tmprepo *t, const char *expected)
{
	struct buf out = BUF_INIT;

	assert_int_equal(repo_shallow_each(&t->repo, append_byte, &out, NULL),
			 0);
	assert_string_equal(out.data, expected);
	buf_release(&out);
}

static void test_each(void **state)
{
	static const char *const bad[] = {"x", HEX_A "x\n", HEX_A "\n\n",
					  "\n" HEX_A "\n"};
	struct buf out = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	expect(&t, "");
	tmprepo_write(&t, "shallow", HEX_B "\n" HEX_A "\n");
	expect(&t, "bb aa ");
	/* The last line of the file may lack its line feed. */
	tmprepo_write(&t, "shallow", HEX_B);
	expect(&t, "bb ");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tmprepo_write(&t, "shallow", bad[i]);
		assert_int_equal(
			repo_shallow_each(&t.repo, append_byte, &out, NULL),
			ERR_CORRUPT);
	}
	buf_release(&out);
	tmprepo_release(&t);
}

static void test_add(void **state)
{
	struct tmprepo t;
	struct oid oids[2];

	tmprepo_init(&t, HASH_SHA1);
	assert_true(oid_from_hex(&oids[0], HEX_A, 40, HASH_SHA1));
	assert_true(oid_from_hex(&oids[1], HEX_B, 40, HASH_SHA1));
	assert_int_equal(repo_shallow_add(&t.repo, &oids[1], 1, NULL), 0);
	expect(&t, "bb ");
	assert_int_equal(repo_shallow_add(&t.repo, oids, 2, NULL), 0);
	expect(&t, "bb aa ");
	tmprepo_write(&t, "shallow.lock", "");
	assert_int_equal(repo_shallow_add(&t.repo, oids, 1, NULL), ERR_DENIED);
	expect(&t, "bb aa ");
	tmprepo_release(&t);
}

static bool is_first(void *ctx, const struct oid *oid)
{
	return oid->bytes[0] == *(const uint8_t *)ctx;
}

static int retain(const struct tmprepo *t, uint8_t first)
{
	struct repo_shallow_stamp stamp;

	assert_int_equal(repo_shallow_stamp_take(&stamp, &t->repo, NULL), 0);
	return repo_shallow_retain(&t->repo, &stamp, is_first, &first, NULL);
}

static void test_retain(void **state)
{
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(retain(&t, 0xaa), 0);
	tmprepo_write(&t, "shallow", HEX_B "\n" HEX_A "\n");
	tmprepo_write(&t, "shallow.lock", "");
	assert_int_equal(retain(&t, 0xaa), ERR_DENIED);
	expect(&t, "bb aa ");
	tmprepo_remove(&t, "shallow.lock");
	assert_int_equal(retain(&t, 0xaa), 0);
	expect(&t, "aa ");
	assert_int_equal(retain(&t, 0xbb), 0);
	expect(&t, "");
	tmprepo_release(&t);
}

/*
 * Another process replaces the file after the stamp was taken. Nothing is
 * removed, also if the new file has the same bytes.
 */
static void test_retain_changed(void **state)
{
	uint8_t first = 0xaa;
	struct repo_shallow_stamp stamp;
	struct tmprepo t;
	struct oid b;

	tmprepo_init(&t, HASH_SHA1);
	assert_true(oid_from_hex(&b, HEX_B, 40, HASH_SHA1));
	assert_int_equal(repo_shallow_stamp_take(&stamp, &t.repo, NULL), 0);
	assert_false(stamp.exists);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(repo_shallow_add(&t.repo, &b, 1, NULL), 0);
		assert_int_equal(repo_shallow_retain(&t.repo, &stamp, is_first,
						     &first, NULL),
				 0);
		expect(&t, "bb ");
		assert_int_equal(repo_shallow_stamp_take(&stamp, &t.repo, NULL),
				 0);
		assert_true(stamp.exists);
	}
	assert_int_equal(
		repo_shallow_retain(&t.repo, &stamp, is_first, &first, NULL),
		0);
	expect(&t, "");
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_retain),
		cmocka_unit_test(test_retain_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
