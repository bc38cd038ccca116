/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/delta-stack.c. They walk over random families of objects. They
 * prove that the bytes of each delta base are in memory when a delta is applied
 * to the base, and that the bytes on the stack do not exceed the limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pack/delta-stack.h"
#include "t/unit/nomem.h"
#include "t/unit/random.h"

enum { NR = 500, LEN = 10, NO_LIMIT = 1 << 30 };

/*
 * A family of deltas. Object 0 consists of `LEN` bytes with the value 0, its
 * number. Any other object consists of the bytes of its base, and then of `LEN`
 * bytes with the value of its own number, modulo 256.
 */
struct family {
	uint32_t base[NR];
	struct delta_stack stack;
	size_t made; /* number of calls of make() */
	int result;  /* result of make() */
};

/* Makes an object from its base, or from nothing. */
static int make(void *ctx, struct delta_frame *frame,
		const struct delta_frame *base, struct error *err)
{
	struct family *f = ctx;
	size_t base_len = base ? base->len : 0;

	f->made++;
	if (f->result)
		return error_set(err, f->result, "no");
	if (base)
		assert_non_null(base->data);
	frame->len = base_len + LEN;
	frame->data = malloc(frame->len);
	if (!frame->data)
		return error_nomem(err);
	if (base)
		memcpy(frame->data, base->data, base_len);
	memset(frame->data + base_len, (int)frame->nr, LEN);
	return 0;
}

/* Asserts that an object has the bytes that make() gives it. */
static void check_bytes(const struct family *f, const struct delta_frame *frame)
{
	uint32_t nr = frame->nr;

	assert_non_null(frame->data);
	for (size_t len = frame->len; len; len -= LEN) {
		for (size_t i = 1; i <= LEN; i++)
			assert_int_equal(frame->data[len - i], (uint8_t)nr);
		nr = f->base[nr];
	}
}

/* Returns the first object from number `nr` on with the base `base`, or NR. */
static uint32_t next_child(const struct family *f, uint32_t base, uint32_t nr)
{
	while (nr < NR && f->base[nr] != base)
		nr++;
	return nr;
}

/* Makes an object that is new to the stack, and pushes it. */
static int enter(struct family *f, uint32_t nr, struct error *err)
{
	struct delta_stack *s = &f->stack;
	struct delta_frame frame = {
		.nr = nr,
		.next = next_child(f, nr, nr + 1),
	};
	int ret = make(f, &frame, nr ? delta_stack_top(s) : NULL, err);

	if (!ret && nr && next_child(f, f->base[nr], nr + 1) == NR)
		delta_stack_finish(s);
	if (!ret)
		ret = delta_stack_push(s, &frame, err);
	return ret;
}

/* Walks over the family. Returns 0 or the first error. */
static int walk(struct family *f, struct error *err)
{
	struct delta_stack *s = &f->stack;
	int ret = enter(f, 0, err);

	while (s->depth && !ret) {
		struct delta_frame *top = delta_stack_top(s);

		if (top->next == NR) {
			delta_stack_pop(s);
		} else {
			uint32_t nr = top->next;

			ret = top->data ? 0 : delta_stack_load(s, err);
			if (ret)
				break;
			check_bytes(f, top);
			top->next = next_child(f, top->nr, nr + 1);
			ret = enter(f, nr, err);
		}
		if (s->depth) {
			delta_stack_trim(s);
			assert_true(s->held <=
				    s->limit + delta_stack_top(s)->len);
		}
	}
	return ret;
}

/* The base of each object is one of the `reach` objects before it. */
static void init(struct family *f, uint32_t reach, uint64_t *seed)
{
	*f = (struct family){.stack = {.make = make, .ctx = f}};
	for (uint32_t i = 1; i < NR; i++)
		f->base[i] = i - 1 -
			     (uint32_t)(random_next(seed) %
					(i < reach ? i : reach));
	f->base[0] = NR;
}

/*
 * With any limit, the walk visits all objects. If the limit suffices, each
 * object is made once.
 */
static void limits_are_kept(void **state)
{
	static const size_t limits[] = {0, 100, 3000, NO_LIMIT};
	static const uint32_t reaches[] = {1, 2, 5, NR};
	uint64_t seed = random_seed();

	for (size_t r = 0; r < 4; r++)
		for (size_t i = 0; i < 4; i++) {
			struct family f;

			init(&f, reaches[r], &seed);
			f.stack.limit = limits[i];
			assert_int_equal(walk(&f, NULL), 0);
			assert_int_equal(f.stack.held, 0);
			assert_true(f.made >= NR);
			if (limits[i] == NO_LIMIT)
				assert_int_equal(f.made, NR);
			delta_stack_release(&f.stack);
		}
}

/* An object that cannot be made again keeps its bytes. */
static void fixed_objects_stay(void **state)
{
	uint64_t seed = random_seed();
	struct delta_frame root = {.nr = 0, .is_fixed = true};
	struct family f;

	init(&f, 1, &seed);
	assert_int_equal(make(&f, &root, NULL, NULL), 0);
	assert_int_equal(delta_stack_push(&f.stack, &root, NULL), 0);
	delta_stack_finish(&f.stack);
	check_bytes(&f, &f.stack.frames[0]);
	assert_int_equal(enter(&f, 1, NULL), 0);
	assert_int_equal(enter(&f, 2, NULL), 0);
	delta_stack_trim(&f.stack);
	check_bytes(&f, &f.stack.frames[0]);
	assert_null(f.stack.frames[1].data);
	assert_true(f.stack.frames[1].is_done);
	delta_stack_release(&f.stack);
}

/* If an object cannot be made again, the error is returned. */
static void errors_are_returned(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t seed = random_seed();
	struct family f;

	init(&f, 1, &seed);
	assert_int_equal(enter(&f, 0, NULL), 0);
	assert_int_equal(enter(&f, 1, NULL), 0);
	delta_stack_finish(&f.stack);
	f.result = ERR_IO;
	assert_int_equal(delta_stack_load(&f.stack, &err), ERR_IO);
	assert_string_equal(err.msg, "no");
	f.result = 0;
	assert_int_equal(delta_stack_load(&f.stack, &err), 0);
	check_bytes(&f, delta_stack_top(&f.stack));
	delta_stack_release(&f.stack);
}

static int walk_again(void *ctx, struct error *err)
{
	struct family *f = ctx;
	int ret;

	f->stack = (struct delta_stack){.limit = 3000, .make = make, .ctx = f};
	ret = walk(f, err);
	delta_stack_release(&f->stack);
	return ret;
}

static void memory_runs_out(void **state)
{
	uint64_t seed = random_seed();
	struct family f;

	init(&f, 5, &seed);
	nomem_each(NULL, walk_again, NULL, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(fixed_objects_stay),
		cmocka_unit_test(errors_are_returned),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
