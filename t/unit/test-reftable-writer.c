/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/writer.c: invalid input, and which sections a table has.
 * test-table.c tests the contents of the sections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "reftable/writer.h"
#include "t/unit/reftables.h"

static struct reftable_writer *begin(const struct tmprepo *t,
				     struct sys_tempfile *file,
				     uint32_t block_size)
{
	struct reftable_writer_options options = {
		.algo = HASH_SHA1,
		.min_index = 1,
		.max_index = 1,
		.block_size = block_size,
	};
	struct reftable_writer *w;

	assert_int_equal(sys_tempfile_create(file, t->dir, "tmp_", 0666, NULL),
			 0);
	assert_int_equal(reftable_writer_new(&w, file, &options, NULL), 0);
	assert_true(reftable_writer_is_empty(w));
	return w;
}

static int add(struct reftable_writer *w, const char *name)
{
	struct reftable_ref ref = {
		.name = name,
		.name_len = strlen(name),
		.update_index = 1,
	};

	return reftable_writer_add_ref(w, &ref, NULL);
}

static void test_refused(void **state)
{
	char name[300];
	struct reftable_writer_options options = {.algo = HASH_SHA1,
						  .block_size = 1 << 24};
	struct sys_tempfile file;
	struct reftable_writer *w;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	w = begin(&t, &file, 256);
	assert_int_equal(add(w, "refs/b"), 0);
	assert_false(reftable_writer_is_empty(w));
	assert_int_equal(add(w, "refs/b"), ERR_INVALID);
	reftable_writer_free(w);
	sys_tempfile_abort(&file);

	w = begin(&t, &file, 256);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(add(w, name), ERR_INVALID);
	reftable_writer_free(w);
	assert_int_equal(reftable_writer_new(&w, &file, &options, NULL),
			 ERR_INVALID);
	sys_tempfile_abort(&file);
	tmprepo_release(&t);
}

/* Adds one ref to a new table with the block size `block_size`. */
static int add_alone(const struct tmprepo *t, enum hash_algo algo,
		     uint32_t block_size, const struct reftable_ref *ref)
{
	const struct reftable_writer_options options = {
		.algo = algo,
		.max_index = UINT64_MAX,
		.block_size = block_size,
	};
	struct sys_tempfile file;
	struct reftable_writer *w;
	int ret;

	assert_int_equal(sys_tempfile_create(&file, t->dir, "tmp_", 0666, NULL),
			 0);
	assert_int_equal(reftable_writer_new(&w, &file, &options, NULL), 0);
	ret = reftable_writer_add_ref(w, ref, NULL);
	reftable_writer_free(w);
	sys_tempfile_abort(&file);
	return ret;
}

/*
 * reftable_writer_ref_size() returns the exact size of a ref with the longest
 * kind of value. For the other kinds, the returned size may be larger than
 * needed.
 */
static void test_ref_size(void **state)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};
	static const size_t lens[] = {1, 15, 16, 300, 2063, 2064, 4096};
	static const size_t target_lens[] = {0, 127, 128, 4096};
	static char text[5000];
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0;
	     i < ARRAY_NR(algos) * ARRAY_NR(lens) * ARRAY_NR(target_lens);
	     i++) {
		enum hash_algo algo = algos[i % 2];
		size_t len = lens[i / 2 % ARRAY_NR(lens)];
		size_t target_len = target_lens[i / 2 / ARRAY_NR(lens)];
		struct reftable_ref ref = {
			.name = text,
			.name_len = len,
			.update_index = UINT64_MAX,
			.target = text,
			.target_len = target_len,
		};
		uint32_t size = (uint32_t)reftable_writer_ref_size(
			len, target_len, algo);

		for (unsigned v = REFTABLE_DELETED; v <= REFTABLE_SYMBOLIC;
		     v++) {
			ref.value = v;
			assert_int_equal(add_alone(&t, algo, size, &ref), 0);
		}
		ref.value = target_len ? REFTABLE_SYMBOLIC : REFTABLE_TAG;
		assert_int_equal(add_alone(&t, algo, size - 1, &ref),
				 ERR_INVALID);
	}
	tmprepo_release(&t);
}

static void test_sections(void **state)
{
	static const struct {
		size_t nr, log_nr;
		bool no_objects, has_index, has_objects, has_log, log_index;
	} cases[] = {
		{0, 0, false, false, false, false, false},
		{5, 0, false, false, false, false, false},
		{5, 1, false, false, false, true, false},
		{500, 0, false, true, true, false, false},
		{500, 0, true, true, false, false, false},
		{500, 3, false, true, true, true, true},
	};
	uint64_t seed = random_seed();
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reftable_writer_options options = {
			.algo = HASH_SHA1,
			.min_index = 1,
			.max_index = 1,
			.no_objects = cases[i].no_objects,
		};
		const struct reftable_footer *f;
		struct reftable *table;
		struct twin twin;
		uint64_t off;

		twin_init(&twin, cases[i].nr, &seed, HASH_SHA1, 1);
		twin_write(&twin, cases[i].log_nr, &options, t.dir, "a.ref");
		assert_int_equal(
			reftable_open(&table, t.dir, "a.ref", HASH_SHA1, NULL),
			0);
		f = &table->file.footer;
		assert_int_equal(f->ref_index_off != 0, cases[i].has_index);
		assert_int_equal(f->obj_off != 0, cases[i].has_objects);
		assert_int_equal(f->log_off != 0, cases[i].has_log);
		assert_int_equal(f->log_index_off != 0, cases[i].log_index);
		assert_int_equal(reftable_section(table, REFTABLE_REFS, &off),
				 cases[i].nr != 0);
		/*
		 * All sections but the reflogs begin at multiples of the block
		 * size.
		 */
		assert_int_equal(f->ref_index_off % 4096, 0);
		assert_int_equal(f->obj_off % 4096, 0);
		reftable_close(table);
		twin_release(&twin);
	}
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_ref_size),
		cmocka_unit_test(test_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
