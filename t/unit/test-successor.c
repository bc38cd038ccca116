/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/successor.h, which makes the next generation (version) of a
 * stored repository from a changed directory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stored/cache.h"
#include "stored/side.h"
#include "stored/successor.h"
#include "t/unit/storedrepo.h"

static const char other_pack[] = "objects/pack/pack-other.pack";

/*
 * A generation (version) of a repository, as files in the directory <dir>/work.
 * The test changes these files.
 */
struct work {
	struct storedrepo s;
	struct generation base;
	char *dir; /* owned */
	struct stored_written written;
};

static void work_init(struct work *w)
{
	struct stored_cache *cache;

	memset(w, 0, sizeof(*w));
	storedrepo_init(&w->s);
	tmprepo_write(&w->s.n.t, "src/description", "first\n");
	storedrepo_generation(&w->s, &w->base);
	w->dir = storedrepo_dir(&w->s, "work");
	assert_int_equal(
		stored_cache_open(&cache, netrepo_path(&w->s.n, "cache"), NULL),
		0);
	assert_int_equal(stored_cache_lay_out(cache, w->dir, &w->s.place,
					      &w->base, NULL),
			 0);
	stored_cache_close(cache);
}

static void work_release(struct work *w)
{
	generation_release(&w->base);
	free(w->dir);
	storedrepo_release(&w->s);
}

static void describe(struct work *w, const char *text)
{
	tmprepo_write(&w->s.n.t, "work/description", text);
}

static int commit(struct work *w, bool drops_objects)
{
	const struct stored_successor how = {
		.dir = w->dir,
		.node = "node",
		.user = "user",
		.action = "test",
		.drops_objects = drops_objects,
	};

	return stored_successor_commit(&w->written, &w->base, &w->s.place, &how,
				       &w->s.err);
}

/*
 * Another writer adds a pack to the repository, and so makes a new generation
 * (version).
 */
static void push(struct work *w)
{
	struct generation g;

	storedrepo_newest(&w->s, &g);
	storedrepo_add_file(&w->s, &g, other_pack);
	generation_release(&g);
}

static void test_same(void **state)
{
	struct work w;

	(void)state;
	work_init(&w);
	assert_int_equal(commit(&w, false), 0);
	assert_true(w.written.is_same);
	assert_int_equal(w.written.number, 1);
	assert_int_equal(w.written.upload_nr, 0);
	assert_int_equal(w.written.file_nr, w.base.file_nr);
	work_release(&w);
}

static void test_push_is_kept(void **state)
{
	struct work w;
	size_t file_nr;

	(void)state;
	work_init(&w);
	file_nr = w.base.file_nr;
	describe(&w, "second\n");
	push(&w);
	assert_int_equal(commit(&w, false), 0);
	assert_false(w.written.is_same);
	assert_int_equal(w.written.number, 3);
	/*
	 * Two files were uploaded: the description, and the side bundle (all
	 * small files in one file).
	 */
	assert_int_equal(w.written.upload_nr, 2);
	assert_int_equal(
		w.written.upload_bytes,
		7 + generation_find_file(&w.base, STORED_SIDE_PATH)->size);
	assert_int_equal(w.base.number, 3);
	assert_int_equal(w.base.file_nr, file_nr + 1);
	assert_int_equal(generation_find_file(&w.base, "description")->size, 7);
	assert_non_null(generation_find_file(&w.base, other_pack));
	assert_string_equal(w.base.action, "test");
	assert_int_equal(w.base.epoch, 1);
	work_release(&w);
}

static void test_push_is_an_obstacle(void **state)
{
	struct work w;

	(void)state;
	work_init(&w);
	describe(&w, "second\n");
	push(&w);
	assert_int_equal(commit(&w, true), ERR_DENIED);
	assert_non_null(strstr(w.s.err.msg, "was changed in the store"));
	generation_release(&w.base);
	storedrepo_newest(&w.s, &w.base);
	assert_int_equal(w.base.number, 2);
	/*
	 * The directory does not have the pack of the newest generation
	 * (version). So the next generation does not have this pack.
	 */
	assert_int_equal(commit(&w, true), 0);
	assert_int_equal(w.base.number, 3);
	assert_int_equal(w.base.epoch, 3);
	assert_null(generation_find_file(&w.base, other_pack));
	work_release(&w);
}

static void test_same_file_twice(void **state)
{
	struct generation first;
	struct work w;

	(void)state;
	work_init(&w);
	assert_int_equal(generation_copy(&first, &w.base, NULL), 0);
	describe(&w, "second\n");
	assert_int_equal(commit(&w, false), 0);
	generation_release(&w.base);
	w.base = first;
	describe(&w, "third!\n");
	assert_int_equal(commit(&w, false), ERR_DENIED);
	work_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_push_is_kept),
		cmocka_unit_test(test_push_is_an_obstacle),
		cmocka_unit_test(test_same_file_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
