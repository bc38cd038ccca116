/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/record.c: records are written and read, and incomplete
 * records are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/reftables.h"

#define ROUNDS 300

static void check_ref(const struct reftable_ref *ref, uint64_t min_index,
		      enum hash_algo algo)
{
	struct buf bytes = BUF_INIT, key = BUF_INIT;
	struct reftable_ref found;
	struct cursor c;

	buf_append(&key, ref->name, ref->name_len);
	assert_int_equal(reftable_ref_append(&bytes, ref, min_index, algo), 0);
	for (size_t len = 0; len <= bytes.len; len++) {
		bool whole = len == bytes.len;

		c = cursor_make(bytes.data, len);
		assert_int_equal(reftable_ref_take(&c, &found, &key, ref->value,
						   min_index, algo),
				 whole);
		if (whole)
			assert_same_ref(&found, ref);
	}
	c = cursor_make(bytes.data, bytes.len);
	assert_false(reftable_ref_take(&c, &found, &key, 4, min_index, algo));
	buf_release(&bytes);
	buf_release(&key);
}

static void test_refs(void **state)
{
	uint64_t seed = random_seed();
	char name[] = "refs/heads/main";

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		enum hash_algo algo = i % 2 ? HASH_SHA1 : HASH_SHA256;
		struct reftable_ref ref = twin_value(
			&seed, name, 10 + random_next(&seed) % 1000, algo,
			true);

		check_ref(&ref, 10, algo);
	}
}

static void check_log(const struct reftable_log *log, enum hash_algo algo)
{
	struct buf bytes = BUF_INIT, key = BUF_INIT;
	struct reftable_log found;
	struct cursor c;

	assert_int_equal(reftable_log_key(&key, log->name, log->name_len,
					  log->update_index),
			 0);
	assert_int_equal(key.len, log->name_len + REFTABLE_LOG_TAIL_LEN);
	assert_int_equal(reftable_log_append(&bytes, log, algo), 0);
	for (size_t len = 0; len <= bytes.len; len++) {
		bool whole = len == bytes.len;

		c = cursor_make(bytes.data, len);
		assert_int_equal(reftable_log_take(&c, &found, &key,
						   !log->is_deleted, algo),
				 whole);
		if (whole)
			assert_same_log(&found, log);
	}
	c = cursor_make(bytes.data, bytes.len);
	assert_false(reftable_log_take(&c, &found, &key, 2, algo));
	buf_release(&bytes);
	buf_release(&key);
}

static void test_logs(void **state)
{
	struct reftable_log log = twin_log("HEAD", 7);

	(void)state;
	check_log(&log, HASH_SHA1);
	check_log(&log, HASH_SHA256);
	log.zone = 1400;
	log.time = UINT64_MAX;
	log.message.len = 0;
	check_log(&log, HASH_SHA1);
	log.is_deleted = true;
	check_log(&log, HASH_SHA1);
}

/* In the order of records, a newer reflog entry comes before an older one. */
static void test_log_order(void **state)
{
	struct buf old = BUF_INIT, new = BUF_INIT, other = BUF_INIT;

	(void)state;
	reftable_log_key(&old, "refs/a", 6, 255);
	reftable_log_key(&new, "refs/a", 6, 256);
	reftable_log_key(&other, "refs/a-", 7, 1000);
	assert_true(reftable_key_cmp(new.data, new.len, old.data, old.len) < 0);
	assert_true(reftable_key_cmp(old.data, old.len, other.data, other.len) <
		    0);
	buf_release(&old);
	buf_release(&new);
	buf_release(&other);
}

static void test_keys(void **state)
{
	static const char *const names[] = {"refs/heads/a", "refs/heads/ab",
					    "refs/heads/b", "refs/tags/"};
	struct buf bytes = BUF_INIT, key = BUF_INIT;
	const char *last = "";
	struct cursor c;
	unsigned extra;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(reftable_key_append(&bytes, last, strlen(last),
						     names[i], strlen(names[i]),
						     (unsigned)i),
				 0);
		last = names[i];
	}
	c = cursor_make(bytes.data, bytes.len);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(reftable_key_take(&c, &key, &extra), 1);
		assert_string_equal(key.data, names[i]);
		assert_int_equal(extra, i);
	}
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(reftable_key_take(&c, &key, &extra), 0);
	/*
	 * The record states that its key shares one byte with the previous key,
	 * but the previous key is empty.
	 */
	buf_reset(&key);
	c = cursor_make("\1\010x", 3);
	assert_int_equal(reftable_key_take(&c, &key, &extra), 0);
	c = cursor_make("\0\020x", 3);
	assert_int_equal(reftable_key_take(&c, &key, &extra), 0);
	buf_release(&bytes);
	buf_release(&key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_log_order),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
