/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/append.c and compact.c, which add tables to a stack and
 * merge tables. They prove that a stack agrees with an array after random
 * changes, that locks are respected, and that leftover files are removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "reftable/append.h"
#include "sys/io.h"
#include "t/unit/reftables.h"

#define NAME_NR 50
#define CHANGE_NR 150

static const struct reftable_append_options options = {
	.algo = HASH_SHA1,
	.block_size = 256,
};

/*
 * Adds a table that changes some refs, with one reflog entry for each changed
 * ref. Makes the same changes to the array `twin`.
 */
static void change(const struct tmprepo *t, struct twin *twin, uint64_t *seed)
{
	struct reftable_append a;
	bool changed[NAME_NR] = {false};
	size_t nr = 1 + random_next(seed) % 5;

	assert_int_equal(reftable_append_begin(&a, t->dir, &options, NULL), 0);
	assert_int_equal(reftable_append_start(&a, 1, NULL), 0);
	while (nr--)
		changed[random_next(seed) % NAME_NR] = true;
	for (size_t i = 0; i < NAME_NR; i++) {
		struct twin_ref *ref = &twin->refs[i];

		if (!changed[i])
			continue;
		ref->ref = twin_value(seed, ref->name, a.index, HASH_SHA1,
				      true);
		assert_int_equal(
			reftable_writer_add_ref(a.writer, &ref->ref, NULL), 0);
	}
	for (size_t i = 0; i < NAME_NR; i++)
		if (changed[i]) {
			struct reftable_log log = twin_log(twin->refs[i].name,
							   a.index);

			assert_int_equal(
				reftable_writer_add_log(a.writer, &log, NULL),
				0);
		}
	assert_int_equal(reftable_append_finish(&a, NULL), 0);
	assert_int_equal(reftable_append_commit(&a, NULL), 0);
	reftable_append_release(&a);
}

static void check(const struct tmprepo *t, const struct twin *twin,
		  uint64_t entries, size_t most_tables)
{
	const struct reftable_iter *it;
	struct reftable_stack stack;
	struct reftable_merged m;

	assert_int_equal(reftable_stack_open(&stack, t->dir, HASH_SHA1, NULL),
			 0);
	assert_in_range(stack.nr, 1, most_tables);
	assert_int_equal(
		reftable_merged_init(&m, stack.tables, stack.nr, false, NULL),
		0);
	assert_int_equal(reftable_merged_seek(&m, REFTABLE_REFS, "", 0, NULL),
			 0);
	for (size_t i = 0; i < NAME_NR; i++) {
		const struct reftable_ref *ref = &twin->refs[i].ref;

		if (!ref->update_index || ref->value == REFTABLE_DELETED)
			continue;
		assert_int_equal(reftable_merged_next(&m, &it, NULL), 1);
		assert_same_ref(&it->ref, ref);
	}
	assert_int_equal(reftable_merged_next(&m, &it, NULL), 0);
	assert_int_equal(reftable_merged_seek(&m, REFTABLE_LOGS, "", 0, NULL),
			 0);
	while (reftable_merged_next(&m, &it, NULL) > 0)
		entries--;
	assert_true(!entries);
	reftable_merged_release(&m);
	reftable_stack_release(&stack);
}

static uint64_t count_changes(const struct tmprepo *t)
{
	const struct reftable_iter *it;
	struct reftable_stack stack;
	struct reftable_merged m;
	uint64_t nr = 0;

	assert_int_equal(reftable_stack_open(&stack, t->dir, HASH_SHA1, NULL),
			 0);
	reftable_merged_init(&m, stack.tables, stack.nr, false, NULL);
	reftable_merged_seek(&m, REFTABLE_LOGS, "", 0, NULL);
	while (reftable_merged_next(&m, &it, NULL) > 0)
		nr++;
	reftable_merged_release(&m);
	reftable_stack_release(&stack);
	return nr;
}

static void test_random(void **state)
{
	uint64_t seed = random_seed(), entries = 0;
	struct reftable_stack old;
	struct tmprepo t;
	struct twin twin;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	twin_init(&twin, NAME_NR, &seed, HASH_SHA1, 0);
	for (size_t i = 0; i < NAME_NR; i++)
		twin.refs[i].ref.update_index = 0;
	change(&t, &twin, &seed);
	assert_int_equal(reftable_stack_open(&old, t.dir, HASH_SHA1, NULL), 0);
	for (int i = 0; i < CHANGE_NR; i++) {
		uint64_t before = count_changes(&t);

		change(&t, &twin, &seed);
		entries = count_changes(&t);
		assert_in_range(entries - before, 1, 5);
		/*
		 * After the merge, each table is at least twice as large as the
		 * next newer one.
		 */
		assert_int_equal(reftable_compact_auto(t.dir, &options, NULL),
				 0);
		check(&t, &twin, entries, 12);
	}
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(reftable_compact_is_due(t.dir, &options, NULL), 0);
	check(&t, &twin, entries, 1);
	/*
	 * A stack is a snapshot: the stack that was opened before the changes
	 * still has its old content.
	 */
	assert_int_equal(old.nr, 1);
	assert_true(reftable_stack_max_index(&old) == 1);
	reftable_stack_release(&old);
	twin_release(&twin);
	tmprepo_release(&t);
}

static size_t count_files(const struct tmprepo *t, const char *tail)
{
	struct buf command = BUF_INIT;
	unsigned nr = 99;
	FILE *f;

	buf_printf(&command, "ls %s | grep -c '%s'", t->dir, tail);
	f = popen(command.data, "r");
	assert_int_equal(fscanf(f, "%u", &nr), 1);
	pclose(f);
	buf_release(&command);
	return nr;
}

static void test_locks(void **state)
{
	uint64_t seed = random_seed();
	struct reftable_append a, b;
	struct reftable_stack stack;
	struct buf lock = BUF_INIT;
	struct tmprepo t;
	struct twin twin;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	twin_init(&twin, NAME_NR, &seed, HASH_SHA1, 0);
	change(&t, &twin, &seed);
	change(&t, &twin, &seed);
	assert_int_equal(reftable_compact_is_due(t.dir, &options, NULL), 1);
	assert_int_equal(reftable_append_begin(&a, t.dir, &options, NULL), 0);
	/* reftable_compact_is_due() takes no lock. */
	assert_int_equal(reftable_compact_is_due(t.dir, &options, NULL), 1);
	assert_int_equal(reftable_append_begin(&b, t.dir, &options, NULL),
			 ERR_DENIED);
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL),
			 ERR_DENIED);
	/*
	 * If an append is released before it takes effect, its temporary files
	 * are removed.
	 */
	assert_int_equal(reftable_append_start(&a, 1, NULL), 0);
	assert_int_equal(reftable_append_finish(&a, NULL), 0);
	reftable_append_release(&a);
	assert_int_equal(count_files(&t, "ref$"), 2);
	assert_int_equal(count_files(&t, "lock$"), 0);
	assert_int_equal(count_files(&t, "^tmp"), 0);

	/*
	 * The lock of the older table is held, as if another process were
	 * merging this table.
	 */
	assert_int_equal(reftable_stack_open(&stack, t.dir, HASH_SHA1, NULL),
			 0);
	buf_printf(&lock, "%s.lock", stack.tables[0]->name);
	tmprepo_write(&t, lock.data, "");
	assert_int_equal(reftable_compact_auto(t.dir, &options, NULL), 0);
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL),
			 ERR_DENIED);
	assert_int_equal(count_files(&t, "ref$"), 2);
	assert_int_equal(count_files(&t, "lock$"), 1);
	tmprepo_remove(&t, lock.data);
	/*
	 * Files that are not valid tables, and temporary files of other
	 * programs, stay.
	 */
	tmprepo_write(&t, "0x01-0x01-00000000.ref", "garbage");
	tmprepo_write(&t, "tmp_other", "");
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(count_files(&t, "ref$"), 2);
	assert_int_equal(count_files(&t, "^tmp"), 1);
	reftable_stack_release(&stack);
	buf_release(&lock);
	twin_release(&twin);
	tmprepo_release(&t);
}

static void run(const struct tmprepo *t, const char *command)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "cd %s && %s", t->dir, command);
	assert_int_equal(system(text.data), 0);
	buf_release(&text);
}

/*
 * A merge removes a table that tables.list does not name, if the listed tables
 * cover its update indexes. It keeps all other tables: if the list was lost,
 * they are the only copy of refs.
 */
static void test_unlisted(void **state)
{
	uint64_t seed = random_seed();
	struct tmprepo t;
	struct twin twin;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	twin_init(&twin, NAME_NR, &seed, HASH_SHA1, 0);
	for (size_t i = 0; i < NAME_NR; i++)
		twin.refs[i].ref.update_index = 0;
	for (int i = 0; i < 3; i++)
		change(&t, &twin, &seed);

	/* The list has lost the newest table, or the oldest one, or all. */
	run(&t, "cp tables.list all && sed 3d all >tables.list");
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(count_files(&t, "^0x.*1-0x.*2-.*ref$"), 1);
	assert_int_equal(count_files(&t, "ref$"), 2);
	run(&t, "cp tables.list all && ls | grep 3-0x.*3- >tables.list");
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(count_files(&t, "ref$"), 2);
	run(&t, ": >tables.list");
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(count_files(&t, "ref$"), 2);

	/*
	 * New tables get update indexes above those of the tables that a
	 * missing list has lost. So the new tables never cover the lost tables.
	 */
	run(&t, "rm tables.list");
	for (int i = 0; i < 5; i++)
		change(&t, &twin, &seed);
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(count_files(&t, "ref$"), 3);
	assert_int_equal(count_files(&t, "4-0x.*8-.*ref$"), 1);

	/*
	 * The list is restored, and all tables are merged into one. Then the
	 * old tables are put back, as a killed merge would leave them. The next
	 * merge removes them.
	 */
	run(&t, "ls | grep 1-0x.*2- >tables.list && "
		"ls | grep 3-0x.*3- >>tables.list && "
		"ls | grep 4-0x.*8- >>tables.list && "
		"mkdir old && cp *.ref old");
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(count_files(&t, "ref$"), 1);
	run(&t, "cp old/* .");
	assert_int_equal(count_files(&t, "ref$"), 4);
	assert_int_equal(reftable_compact_all(t.dir, &options, NULL), 0);
	assert_int_equal(count_files(&t, "ref$"), 1);
	run(&t, "rm -r old all");
	twin_release(&twin);
	tmprepo_release(&t);
}

static void test_compact_from(void **state)
{
	static const struct {
		uint64_t sizes[5];
		size_t nr;
		unsigned factor;
		size_t from;
	} cases[] = {
		{{0}, 0, 2, 0},
		{{7}, 1, 2, 1},
		{{10, 5}, 2, 2, 2},
		{{9, 5}, 2, 2, 0},
		{{100, 10, 5, 1}, 4, 2, 4},
		{{100, 10, 5, 5}, 4, 2, 1},
		{{40, 10, 5, 5}, 4, 2, 1},
		{{39, 10, 5, 5}, 4, 2, 0},
		{{1000, 100, 10}, 3, 11, 0},
		{{1000, 3, 2, 1}, 4, 2, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_NR(cases); i++)
		assert_int_equal(reftable_compact_from(cases[i].sizes,
						       cases[i].nr,
						       cases[i].factor),
				 cases[i].from);
}

static void test_missing_directory(void **state)
{
	struct reftable_append a;
	struct buf dir = BUF_INIT;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&dir, "%s/missing", t.dir);
	assert_int_equal(reftable_append_begin(&a, dir.data, &options, NULL),
			 ERR_IO);
	assert_false(sys_exists(dir.data));
	buf_release(&dir);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_missing_directory),
		cmocka_unit_test(test_unlisted),
		cmocka_unit_test(test_compact_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
