/* SPDX-License-Identifier: MIT */
/*
 * Tests of ewah/bitset.c, a plain bit set. They prove that each operation gives
 * the same bits as on an array with one byte per bit.
 */
#include "t/unit/twin.h"

#include "base/error.h"

#define ROUNDS 2000

static void test_edges(void **state)
{
	struct bitset set = BITSET_INIT;

	assert_int_equal(bitset_count(&set), 0);
	assert_true(bitset_is_empty(&set));
	assert_int_equal(bitset_next(&set, 0), 0);
	assert_false(bitset_get(&set, 0));
	bitset_clear(&set);
	assert_int_equal(bitset_init(&set, 0), 0);
	assert_int_equal(set.word_nr, 0);
	assert_int_equal(bitset_grow(&set, 64), 0);
	assert_int_equal(set.word_nr, 1);
	assert_int_equal(bitset_grow(&set, 65), 0);
	assert_int_equal(set.word_nr, 2);
	assert_int_equal(bitset_next_unset(&set, 64), 64);
	bitset_set_range(&set, 0, 65);
	assert_int_equal(bitset_next_unset(&set, 0), 65);
	assert_int_equal(bitset_count(&set), 65);
	bitset_unset(&set, 64);
	assert_true(bitset_claim(&set, 64));
	assert_false(bitset_claim(&set, 64));
	assert_true(bitset_test_shared(&set, 64));
	bitset_unset(&set, 64);
	assert_false(bitset_test_shared(&set, 64));
	assert_int_equal(bitset_next(&set, 64), 65);
	bitset_release(&set);
	assert_null(set.words);
}

/* Makes AddressSanitizer return NULL for huge allocations, as malloc() does. */
const char *__asan_default_options(void) __attribute__((visibility("default")));

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void test_too_large(void **state)
{
	struct bitset set = BITSET_INIT;

	assert_int_equal(bitset_init(&set, 100), 0);
	bitset_set(&set, 99);
	assert_int_equal(bitset_grow(&set, SIZE_MAX), ERR_NOMEM);
	assert_int_equal(set.bits, 100);
	assert_true(bitset_test(&set, 99));
	bitset_release(&set);
	assert_int_equal(bitset_init(&set, SIZE_MAX), ERR_NOMEM);
	assert_null(set.words);
	assert_int_equal(set.bits, 0);
}

static void check_range(struct rng *r, const struct twin *t,
			const struct bitset *set)
{
	struct bitset copy = BITSET_INIT;
	struct twin wanted = *t;
	size_t from = rng_below(r, t->bits + 1);
	size_t to = rng_below(r, t->bits + 1);
	size_t i, count = 0;

	assert_int_equal(bitset_copy(&copy, set), 0);
	bitset_set_range(&copy, from, to);
	for (i = from; i < to; i++) {
		count += t->bit[i];
		wanted.bit[i] = 1;
	}
	assert_int_equal(bitset_count_range(set, from, to), count);
	twin_check_bitset(&wanted, &copy);
	bitset_release(&copy);
}

static void check_next(const struct twin *t, const struct bitset *set)
{
	size_t i, next = t->bits, unset = t->bits;

	for (i = t->bits + 1; i-- > 0;) {
		if (i < t->bits && t->bit[i])
			next = i;
		if (i < t->bits && !t->bit[i])
			unset = i;
		assert_int_equal(bitset_next(set, i), next);
		assert_int_equal(bitset_next_unset(set, i), unset);
	}
	assert_int_equal(bitset_next(set, t->bits + 1000), t->bits);
	assert_false(bitset_get(set, t->bits));
}

static void test_one_set(void **state)
{
	struct rng r = rng_new();
	struct bitset set;
	struct twin t;
	size_t round, bits;

	for (round = 0; round < ROUNDS; round++) {
		twin_random(&t, &r, rng_size(&r));
		twin_to_bitset(&set, &t);
		twin_check_bitset(&t, &set);
		assert_int_equal(bitset_count(&set), twin_count(&t));
		assert_int_equal(bitset_is_empty(&set), !twin_count(&t));
		check_range(&r, &t, &set);
		check_next(&t, &set);
		bits = rng_size(&r);
		assert_int_equal(bitset_grow(&set, bits), 0);
		if (bits > t.bits)
			t.bits = bits;
		twin_check_bitset(&t, &set);
		bitset_clear(&set);
		assert_true(bitset_is_empty(&set));
		assert_int_equal(set.bits, t.bits);
		bitset_release(&set);
	}
}

static void check_op(const struct twin *a, const struct twin *b,
		     enum twin_op op)
{
	static void (*const ops[])(struct bitset *, const struct bitset *) = {
		[TWIN_OR] = bitset_or,
		[TWIN_AND] = bitset_and,
		[TWIN_ANDNOT] = bitset_andnot,
		[TWIN_XOR] = bitset_xor,
	};
	struct bitset dst, src;
	struct twin wanted;

	twin_to_bitset(&dst, a);
	twin_to_bitset(&src, b);
	twin_apply(&wanted, a, b, op, a->bits);
	ops[op](&dst, &src);
	twin_check_bitset(&wanted, &dst);
	twin_check_bitset(b, &src);
	bitset_release(&src);
	bitset_release(&dst);
}

static void check_compare(const struct twin *a, const struct twin *b)
{
	size_t bits = a->bits > b->bits ? a->bits : b->bits;
	struct twin both, differ, extra;
	struct bitset x, y;

	twin_apply(&both, a, b, TWIN_AND, bits);
	twin_apply(&differ, a, b, TWIN_XOR, bits);
	twin_apply(&extra, b, a, TWIN_ANDNOT, bits);
	twin_to_bitset(&x, a);
	twin_to_bitset(&y, b);
	assert_int_equal(bitset_count_and(&x, &y), twin_count(&both));
	assert_int_equal(bitset_equal(&x, &y), !twin_count(&differ));
	assert_int_equal(bitset_contains(&x, &y), !twin_count(&extra));
	assert_int_equal(bitset_copy(&x, &y), 0);
	twin_check_bitset(b, &x);
	assert_true(bitset_equal(&x, &y));
	bitset_release(&x);
	bitset_release(&y);
}

static void test_two_sets(void **state)
{
	struct rng r = rng_new();
	struct twin a, b;
	size_t round;

	for (round = 0; round < ROUNDS; round++) {
		twin_random(&a, &r, rng_size(&r));
		if (rng_below(&r, 4)) {
			twin_random(&b, &r, rng_size(&r));
		} else {
			b = a;
			b.bits += rng_below(&r, TWIN_MAX - a.bits);
		}
		check_op(&a, &b, TWIN_OR);
		check_op(&a, &b, TWIN_AND);
		check_op(&a, &b, TWIN_ANDNOT);
		check_op(&a, &b, TWIN_XOR);
		check_compare(&a, &b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_one_set),
		cmocka_unit_test(test_two_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
