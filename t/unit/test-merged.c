/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/merged.c, which reads several tables as one. Random tables
 * are compared with an array of the newest records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reftable/stack.h"
#include "t/unit/reftables.h"

#define ROUNDS 60
#define NAME_NR 60
#define TABLE_MAX 6

static void make_table(const struct tmprepo *t, struct twin *newest,
		       uint64_t index, uint64_t *seed)
{
	struct reftable_writer_options options = {
		.algo = HASH_SHA1,
		.min_index = index,
		.max_index = index,
		.block_size = 256,
	};
	struct twin some = {calloc(NAME_NR, sizeof(*some.refs)), 0};
	unsigned one_in = 1 + (unsigned)(random_next(seed) % 8);
	char name[20];

	for (size_t i = 0; i < NAME_NR; i++) {
		struct twin_ref *ref = &newest->refs[i];

		if (random_next(seed) % one_in)
			continue;
		ref->ref = twin_value(seed, ref->name, index, HASH_SHA1, true);
		some.refs[some.nr++] = *ref;
	}
	snprintf(name, sizeof(name), "%u.ref", (unsigned)index);
	twin_write(&some, 0, &options, t->dir, name);
	free(some.refs);
}

static void check(struct reftable *const *tables, size_t nr, bool keeps,
		  const struct twin *newest, size_t from)
{
	const char *key = from < newest->nr ? newest->refs[from].name : "s";
	const struct reftable_iter *it;
	struct reftable_merged m;

	assert_int_equal(reftable_merged_init(&m, tables, nr, keeps, NULL), 0);
	assert_int_equal(
		reftable_merged_seek(&m, REFTABLE_REFS, key, strlen(key), NULL),
		0);
	for (size_t i = from; i < newest->nr; i++) {
		const struct reftable_ref *ref = &newest->refs[i].ref;

		/*
		 * In `newest`, the update index 0 means that no table has the
		 * ref.
		 */
		if (!ref->update_index ||
		    (!keeps && ref->value == REFTABLE_DELETED))
			continue;
		assert_int_equal(reftable_merged_next(&m, &it, NULL), 1);
		assert_same_ref(&it->ref, ref);
	}
	assert_int_equal(reftable_merged_next(&m, &it, NULL), 0);
	assert_int_equal(reftable_merged_next(&m, &it, NULL), 0);
	reftable_merged_release(&m);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		size_t nr = random_next(&seed) % (TABLE_MAX + 1);
		struct reftable *tables[TABLE_MAX];
		struct tmprepo t;
		struct twin newest;

		tmprepo_init(&t, HASH_SHA1);
		twin_init(&newest, NAME_NR, &seed, HASH_SHA1, 0);
		for (size_t n = 0; n < NAME_NR; n++)
			newest.refs[n].ref.update_index = 0;
		for (size_t n = 0; n < nr; n++) {
			char name[20];

			make_table(&t, &newest, n + 1, &seed);
			snprintf(name, sizeof(name), "%zu.ref", n + 1);
			assert_int_equal(reftable_open(&tables[n], t.dir, name,
						       HASH_SHA1, NULL),
					 0);
		}
		check(tables, nr, true, &newest, 0);
		check(tables, nr, false, &newest, 0);
		check(tables, nr, false, &newest,
		      random_next(&seed) % (NAME_NR + 1));
		while (nr)
			reftable_close(tables[--nr]);
		twin_release(&newest);
		tmprepo_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
