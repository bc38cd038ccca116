/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/heap.c, a priority queue. They prove that it agrees with a
 * linear search, and that items with equal keys leave in the order in which
 * they came.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/heap.h"
#include "t/unit/random.h"

static void empty_gives_nothing(void **state)
{
	struct heap h = HEAP_INIT;
	uint32_t value = 7;

	assert_false(heap_pop(&h, &value));
	assert_int_equal(value, 7);
	heap_release(&h);
}

static void equal_keys_leave_as_they_came(void **state)
{
	struct heap h = HEAP_INIT;
	uint32_t value;

	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(heap_push(&h, i % 3, i), 0);
	for (uint32_t key = 3; key-- > 0;)
		for (uint32_t i = key; i < 1000; i += 3) {
			assert_true(heap_peek(&h, &value));
			assert_int_equal(value, i);
			assert_true(heap_pop(&h, &value));
			assert_int_equal(value, i);
		}
	assert_false(heap_peek(&h, &value));
	assert_false(heap_pop(&h, &value));
	heap_release(&h);
}

#define NR 400

/*
 * Returns the value that the heap must return next: the value with the largest
 * key. Of values with equal keys, this is the one that was added first.
 */
static int slow_pop(const uint64_t *keys, const uint8_t *in)
{
	int best = -1;

	for (int i = 0; i < NR; i++)
		if (in[i] && (best < 0 || keys[i] > keys[best]))
			best = i;
	return best;
}

static void agrees_with_a_search(void **state)
{
	struct heap h = HEAP_INIT;
	uint64_t keys[NR], random = random_seed();
	uint8_t in[NR] = {0};
	uint32_t pushed = 0, value;

	while (pushed < NR || h.nr) {
		if (pushed < NR && random_next(&random) % 3) {
			keys[pushed] = random_next(&random) % 50;
			in[pushed] = 1;
			assert_int_equal(heap_push(&h, keys[pushed], pushed),
					 0);
			pushed++;
			continue;
		}
		if (!heap_pop(&h, &value)) {
			assert_int_equal(slow_pop(keys, in), -1);
			continue;
		}
		assert_int_equal(value, slow_pop(keys, in));
		in[value] = 0;
	}
	heap_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_gives_nothing),
		cmocka_unit_test(equal_keys_leave_as_they_came),
		cmocka_unit_test(agrees_with_a_search),
	};

	return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
