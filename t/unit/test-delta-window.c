/* SPDX-License-Identifier: MIT */
/*
 * Tests of deltas/delta-window.c, the window of candidates in a delta search.
 * They prove that the best delta base is chosen, and that the right objects
 * stay in the window.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "deltas/delta-search.h"
#include "t/unit/deltalist.h"

struct fixture {
	struct deltalist d;
	struct odb_reader *reader;
	struct delta_window *w;
	uint16_t heights[DELTALIST_MAX];
	struct delta_search_options options;
	char text[TEXT_LINES * TEXT_LINE_LEN]; /* the base of all versions */
	uint64_t seed;
};

static void setup(struct fixture *f, unsigned window, unsigned depth)
{
	memset(f, 0, sizeof(*f));
	deltalist_init(&f->d);
	f->options = deltalist_options;
	f->options.window = window;
	f->options.depth = depth;
	f->options.retry_same_pack = true;
	f->reader = odb_reader_new(f->d.odb, 0);
	assert_non_null(f->reader);
	f->w = delta_window_new(&f->d.list, &f->options, f->heights, NULL,
				f->reader);
	assert_non_null(f->w);
	f->seed = random_seed();
	text_make(f->text, sizeof(f->text), &f->seed);
}

static void teardown(struct fixture *f)
{
	delta_window_free(f->w);
	odb_reader_free(f->reader);
	deltalist_release(&f->d);
}

/* Add a new item: the common text with `edits` changed lines. */
static void add_version(struct fixture *f, unsigned edits)
{
	char text[sizeof(f->text)];

	memcpy(text, f->text, sizeof(text));
	text_edit(text, sizeof(text), edits, &f->seed);
	deltalist_add(&f->d, OBJ_BLOB, 1, text, sizeof(text));
}

static void add_other(struct fixture *f)
{
	char text[sizeof(f->text)];

	text_make(text, sizeof(text), &f->seed);
	deltalist_add(&f->d, OBJ_BLOB, 1, text, sizeof(text));
}

/*
 * Slide the window to the next item. Returns the base that was chosen for the
 * item.
 */
static uint32_t slide(struct fixture *f, uint32_t item)
{
	struct delta_found found;

	assert_int_equal(delta_window_slide(f->w, item, true, &found, NULL), 0);
	assert_int_equal(!found.delta, found.base == PACKING_NO_ITEM);
	free(found.delta);
	return found.base;
}

static void the_smallest_delta(void **state)
{
	struct fixture f;

	setup(&f, 10, 50);
	add_version(&f, 12);
	add_version(&f, 0);
	add_other(&f);
	add_version(&f, 12);
	add_version(&f, 1);
	assert_int_equal(slide(&f, 0), PACKING_NO_ITEM);
	assert_int_equal(slide(&f, 1), 0);
	assert_int_equal(slide(&f, 2), PACKING_NO_ITEM);
	slide(&f, 3);
	assert_int_equal(slide(&f, 4), 1);
	teardown(&f);
}

static void a_base_stays_longer(void **state)
{
	struct fixture f;

	setup(&f, 2, 50);
	add_version(&f, 0);
	add_other(&f);
	add_version(&f, 1);
	add_other(&f);
	add_version(&f, 1);
	assert_int_equal(slide(&f, 0), PACKING_NO_ITEM);
	assert_int_equal(slide(&f, 1), PACKING_NO_ITEM);
	/*
	 * Item 0 becomes the base of item 2. So item 0 moves to the newest
	 * place of the window, and is not the next item to leave.
	 */
	assert_int_equal(slide(&f, 2), 0);
	assert_int_equal(slide(&f, 3), PACKING_NO_ITEM);
	/*
	 * Items 0, 2 and 3 were in the window. Item 0 was the oldest and has
	 * left.
	 */
	assert_int_equal(slide(&f, 4), 2);
	delta_window_reset(f.w);
	assert_int_equal(slide(&f, 2), PACKING_NO_ITEM);
	teardown(&f);
}

static void depth_ends_chains(void **state)
{
	struct fixture f;

	setup(&f, 1, 2);
	for (unsigned i = 0; i < 6; i++)
		add_version(&f, 1);
	assert_int_equal(slide(&f, 0), PACKING_NO_ITEM);
	assert_int_equal(slide(&f, 1), 0);
	/*
	 * Item 2 has the maximum depth, so it cannot be a base. It does not
	 * enter the window, and item 1 stays.
	 */
	assert_int_equal(slide(&f, 2), 1);
	assert_int_equal(slide(&f, 3), 1);
	/*
	 * A delta whose base is item 4 was copied from a pack. If item 4 became
	 * a delta, the chain would be too long.
	 */
	f.heights[4] = 1;
	assert_int_equal(slide(&f, 4), PACKING_NO_ITEM);
	f.heights[5] = 1;
	assert_int_equal(slide(&f, 5), 4);
	teardown(&f);
}

/*
 * Items 1 and 2 are edited copies of item 0. Item 2 becomes a delta of item 0,
 * not of item 1, which would make a longer chain.
 */
static void shallow_bases_first(void **state)
{
	struct fixture f;

	setup(&f, 10, 3);
	add_version(&f, 0);
	add_version(&f, 3);
	add_version(&f, 4);
	assert_int_equal(slide(&f, 0), PACKING_NO_ITEM);
	assert_int_equal(slide(&f, 1), 0);
	assert_int_equal(slide(&f, 2), 0);
	teardown(&f);
}

static void who_is_no_target_is_only_a_base(void **state)
{
	struct delta_found found;
	struct fixture f;

	setup(&f, 10, 50);
	add_version(&f, 0);
	add_version(&f, 1);
	assert_int_equal(delta_window_slide(f.w, 0, false, &found, NULL), 0);
	assert_null(found.delta);
	assert_int_equal(slide(&f, 1), 0);
	teardown(&f);
}

static void memory_shrinks_the_window(void **state)
{
	struct fixture f;

	setup(&f, 10, 50);
	f.options.window_memory = 1;
	add_version(&f, 0);
	add_other(&f);
	add_version(&f, 1);
	add_version(&f, 2);
	assert_int_equal(slide(&f, 0), PACKING_NO_ITEM);
	assert_int_equal(slide(&f, 1), PACKING_NO_ITEM);
	assert_int_equal(slide(&f, 2), PACKING_NO_ITEM);
	/*
	 * The newest object stays in the window, even if it alone exceeds the
	 * memory limit.
	 */
	assert_int_equal(slide(&f, 3), 2);
	teardown(&f);
}

static void errors(void **state)
{
	struct error err = ERROR_INIT;
	struct delta_found found;
	struct fixture f;

	setup(&f, 10, 50);
	add_version(&f, 0);
	add_version(&f, 1);
	f.d.list.items[1].size++;
	assert_int_equal(slide(&f, 0), PACKING_NO_ITEM);
	assert_int_equal(delta_window_slide(f.w, 1, true, &found, &err),
			 ERR_CORRUPT);
	assert_null(found.delta);
	f.d.list.items[1].size--;
	assert_int_equal(slide(&f, 1), 0);
	teardown(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_delta),
		cmocka_unit_test(a_base_stays_longer),
		cmocka_unit_test(depth_ends_chains),
		cmocka_unit_test(shallow_bases_first),
		cmocka_unit_test(who_is_no_target_is_only_a_base),
		cmocka_unit_test(memory_shrinks_the_window),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
