/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/verify.c: tables written by this program are valid, and
 * tables with one changed bit are read safely.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reftable/table.h"
#include "sys/map.h"
#include "t/unit/reftables.h"

/*
 * Asserts that `names` has the first and the last symbolic ref of the array
 * `twin`.
 */
static void check_symbolic(const struct reftable_names *names,
			   const struct twin *twin)
{
	const char *first = "", *last = "";

	for (size_t i = 0; i < twin->nr; i++) {
		if (twin->refs[i].ref.value != REFTABLE_SYMBOLIC)
			continue;
		last = twin->refs[i].name;
		first = *first ? first : last;
	}
	assert_string_equal(names->first.data, first);
	assert_string_equal(names->last.data, last);
}

static void test_sound(void **state)
{
	static const struct {
		size_t nr, log_nr;
		uint32_t block_size;
	} cases[] = {{0, 0, 0},     {3, 0, 0},      {3, 2, 0},
		     {900, 0, 256}, {900, 3, 4096}, {2000, 2, 200}};
	uint64_t seed = random_seed();
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reftable_writer_options options = {
			.algo = HASH_SHA1,
			.min_index = 1,
			.max_index = 7,
			.block_size = cases[i].block_size,
		};
		struct error err = ERROR_INIT;
		struct reftable_names symbolic = REFTABLE_NAMES_INIT;
		struct reftable *table;
		struct twin twin;

		twin_init(&twin, cases[i].nr, &seed, HASH_SHA1, 4);
		twin_write(&twin, cases[i].log_nr, &options, t.dir, "a.ref");
		assert_int_equal(
			reftable_open(&table, t.dir, "a.ref", HASH_SHA1, NULL),
			0);
		if (reftable_verify(table, &symbolic, &err) < 0)
			fail_msg("%zu: %s", i, err.msg);
		check_symbolic(&symbolic, &twin);
		reftable_names_release(&symbolic);
		reftable_close(table);
		twin_release(&twin);
	}
	tmprepo_release(&t);
}

static size_t count_refs(const struct reftable *table, const struct twin *twin)
{
	struct reftable_iter it;
	size_t same = 0, nr = 0;

	reftable_iter_init(&it);
	if (!reftable_iter_seek(&it, table, REFTABLE_REFS, "", 0, NULL))
		while (reftable_iter_next(&it, NULL) > 0 && nr < twin->nr) {
			const struct reftable_ref *ref = &twin->refs[nr++].ref;

			same += ref->name_len == it.ref.name_len &&
				!strcmp(ref->name, it.ref.name);
		}
	reftable_iter_release(&it);
	return same;
}

/*
 * Verifying may miss a changed bit. Then at most one value may be wrong, or at
 * most 16 refs may be lost: those before the next restart point of the block.
 */
static void test_damaged(void **state)
{
	struct reftable_writer_options options = {
		.algo = HASH_SHA1,
		.min_index = 1,
		.max_index = 7,
		.block_size = 256,
	};
	uint64_t seed = random_seed();
	size_t caught = 0;
	struct buf bytes = BUF_INIT, path = BUF_INIT;
	struct tmprepo t;
	struct twin twin;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	twin_init(&twin, 100, &seed, HASH_SHA1, 4);
	twin_write(&twin, 1, &options, t.dir, "a.ref");
	buf_printf(&path, "%s/a.ref", t.dir);
	assert_int_equal(sys_read_file(&bytes, path.data, NULL), 0);
	for (int i = 0; i < 2000; i++) {
		size_t at = 24 + random_next(&seed) % (bytes.len - 24 - 68);
		char old = bytes.data[at];
		struct reftable *table;

		bytes.data[at] ^= (char)(1u << random_next(&seed) % 8);
		assert_int_equal(reftable_parse(&table, bytes.data, bytes.len,
						HASH_SHA1, "a", NULL),
				 0);
		if (reftable_verify(table, NULL, NULL) < 0)
			caught++;
		else
			assert_in_range(count_refs(table, &twin), twin.nr - 16,
					twin.nr);
		reftable_close(table);
		bytes.data[at] = old;
	}
	assert_in_range(caught, 500, 2000);
	buf_release(&bytes);
	buf_release(&path);
	twin_release(&twin);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
