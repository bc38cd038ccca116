/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/table.c, which reads reftables: the records of a written
 * table are found, with any block size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reftable/table.h"
#include "t/unit/reftables.h"

#define ROUNDS 40
#define LOG_NR 7

static void check_all(const struct reftable *table, const struct twin *twin)
{
	struct reftable_iter it;

	reftable_iter_init(&it);
	assert_int_equal(
		reftable_iter_seek(&it, table, REFTABLE_REFS, "", 0, NULL), 0);
	for (size_t i = 0; i < twin->nr; i++) {
		assert_int_equal(reftable_iter_next(&it, NULL), 1);
		assert_same_ref(&it.ref, &twin->refs[i].ref);
	}
	assert_int_equal(reftable_iter_next(&it, NULL), 0);
	assert_int_equal(reftable_iter_next(&it, NULL), 0);
	reftable_iter_release(&it);
}

/*
 * Searches names in the table: existing names, other names, and prefixes of
 * names.
 */
static void check_seeks(const struct reftable *table, const struct twin *twin,
			uint64_t *seed)
{
	struct reftable_iter it;

	reftable_iter_init(&it);
	for (int n = 0; n < 60 && twin->nr; n++) {
		const char *some =
			twin->refs[random_next(seed) % twin->nr].name;
		size_t len = strlen(some), i = 0;
		char key[110];

		memcpy(key, some, len + 1);
		if (n % 3 == 1)
			len -= random_next(seed) % 8;
		if (n % 3 == 2)
			key[len - 1] ^= 1;
		key[len] = '\0';
		while (i < twin->nr && strcmp(twin->refs[i].name, key) < 0)
			i++;
		assert_int_equal(reftable_iter_seek(&it, table, REFTABLE_REFS,
						    key, len, NULL),
				 0);
		for (; i < twin->nr && n % 2; i++) {
			assert_int_equal(reftable_iter_next(&it, NULL), 1);
			assert_same_ref(&it.ref, &twin->refs[i].ref);
		}
		assert_int_equal(reftable_iter_next(&it, NULL), i < twin->nr);
		if (i < twin->nr)
			assert_same_ref(&it.ref, &twin->refs[i].ref);
	}
	reftable_iter_release(&it);
}

static void check_logs(const struct reftable *table, const struct twin *twin,
		       size_t log_nr, uint64_t *seed)
{
	size_t from = log_nr ? random_next(seed) % (twin->nr + 1) & ~1u : 0;
	const char *name = from < twin->nr ? twin->refs[from].name : "s";
	struct reftable_iter it;

	reftable_iter_init(&it);
	assert_int_equal(reftable_iter_seek(&it, table, REFTABLE_LOGS, name,
					    strlen(name), NULL),
			 0);
	for (size_t i = from; i < twin->nr && log_nr; i += 2)
		for (uint64_t index = log_nr; index; index--) {
			struct reftable_log log = twin_log(twin->refs[i].name,
							   index);

			log.is_deleted = index % 5 == 4;
			assert_int_equal(reftable_iter_next(&it, NULL), 1);
			assert_same_log(&it.log, &log);
		}
	assert_int_equal(reftable_iter_next(&it, NULL), 0);
	reftable_iter_release(&it);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();
	static const uint32_t sizes[] = {0, 200, 256, 600, 4096, 65536};

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		enum hash_algo algo = i % 2 ? HASH_SHA1 : HASH_SHA256;
		struct reftable_writer_options options = {
			.algo = algo,
			.min_index = 3,
			.max_index = 9,
			.block_size = sizes[random_next(&seed) % 6],
			.restart_interval = (unsigned)(random_next(&seed) % 20),
			.no_objects = random_next(&seed) % 2,
		};
		size_t nr = random_next(&seed) % (i % 4 ? 40 : 2000);
		size_t log_nr = random_next(&seed) % 2 ? LOG_NR : 0;
		struct reftable *table;
		struct tmprepo t;
		struct twin twin;

		tmprepo_init(&t, algo);
		twin_init(&twin, nr, &seed, algo, 5);
		twin_write(&twin, log_nr, &options, t.dir, "a.ref");
		assert_int_equal(
			reftable_open(&table, t.dir, "a.ref", algo, NULL), 0);
		check_all(table, &twin);
		check_seeks(table, &twin, &seed);
		check_logs(table, &twin, log_nr, &seed);
		reftable_close(table);
		twin_release(&twin);
		tmprepo_release(&t);
	}
}

static void test_wide_index(void **state)
{
	uint64_t seed = random_seed();

	(void)state;
	for (int i = 0; i < 4; i++) {
		enum hash_algo algo = i % 2 ? HASH_SHA1 : HASH_SHA256;
		struct reftable_writer_options options = {
			.algo = algo,
			.min_index = 3,
			.max_index = 9,
			.block_size = i < 2 ? 256 : 200,
			.no_objects = true,
		};
		struct buf bytes = BUF_INIT;
		struct reftable *table;
		struct tmprepo t;
		struct twin twin;

		tmprepo_init(&t, algo);
		twin_init(&twin, 2000, &seed, algo, 5);
		twin_write(&twin, 0, &options, t.dir, "a.ref");
		twin_read_wide(&bytes, t.dir, "a.ref", algo);
		assert_int_equal(reftable_parse(&table, bytes.data, bytes.len,
						algo, "a", NULL),
				 0);
		assert_int_equal(reftable_verify(table, NULL, NULL), 0);
		check_all(table, &twin);
		check_seeks(table, &twin, &seed);
		reftable_close(table);
		buf_release(&bytes);
		twin_release(&twin);
		tmprepo_release(&t);
	}
}

static void test_refused(void **state)
{
	struct reftable_writer_options options = {.algo = HASH_SHA1};
	struct twin none = {NULL, 0};
	struct error err = ERROR_INIT;
	struct reftable *table;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(reftable_open(&table, t.dir, "a.ref", HASH_SHA1, NULL),
			 ERR_MISSING);
	twin_write(&none, 0, &options, t.dir, "a.ref");
	assert_int_equal(
		reftable_open(&table, t.dir, "a.ref", HASH_SHA256, &err),
		ERR_CORRUPT);
	assert_string_equal(err.msg, "a.ref: is for sha1, not sha256");
	assert_null(table);
	assert_int_equal(reftable_open(&table, t.dir, "a.ref", HASH_SHA1, NULL),
			 0);
	check_all(table, &none);
	reftable_close(table);
	tmprepo_write(&t, "b.ref", "");
	assert_int_equal(reftable_open(&table, t.dir, "b.ref", HASH_SHA1, NULL),
			 ERR_CORRUPT);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_wide_index),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
