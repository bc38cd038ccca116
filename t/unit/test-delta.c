/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/delta.c and delta-create.c, which apply and make deltas. They
 * prove that a delta gives back its target, that similar texts give small
 * deltas, and that invalid deltas are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack/delta.h"
#include "t/unit/nomem.h"
#include "t/unit/random.h"

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__})

static void sizes_are_read(void **state)
{
	uint64_t base, result;
	size_t len;

	assert_int_equal(delta_sizes(BYTES(0x90, 0x01, 0x05, 9), 4, &base,
				     &result, &len),
			 0);
	assert_int_equal(base, 144);
	assert_int_equal(result, 5);
	assert_int_equal(len, 3);
}

static void sizes_past_64_bits_are_refused(void **state)
{
	uint8_t delta[12];
	uint64_t base = 7, result = 8;

	memset(delta, 0xff, sizeof(delta));
	delta[9] = 1;
	delta[10] = 0;
	assert_int_equal(delta_sizes(delta, 11, &base, &result, NULL), 0);
	assert_true(base == UINT64_MAX);
	for (size_t len = 0; len < 11; len++)
		assert_int_equal(delta_sizes(delta, len, &base, &result, NULL),
				 ERR_CORRUPT);
	delta[9] = 2;
	assert_int_equal(delta_sizes(delta, 11, &base, &result, NULL),
			 ERR_CORRUPT);
	delta[9] = 0x81;
	assert_int_equal(delta_sizes(delta, 12, &base, &result, NULL),
			 ERR_CORRUPT);
}

static void lengths_limit_a_result(void **state)
{
	assert_true(delta_can_make(0, 2, 0));
	assert_true(delta_can_make(7, 7, 0));
	assert_false(delta_can_make(8, 7, 0));
	assert_true(delta_can_make(79, 7, 10));
	assert_false(delta_can_make(80, 7, 10));
	assert_true(delta_can_make(UINT64_C(0xffffff) * 8 - 1, 7, SIZE_MAX));
	assert_false(delta_can_make(UINT64_C(0xffffff) * 8, 7, SIZE_MAX));
}

static void apply_knows_every_instruction(void **state)
{
	char base[] = "0123456789";
	char out[11] = "";

	/*
	 * Instructions of the delta: copy [2, 5); insert "ab"; copy [0, 5),
	 * with zero bytes written explicitly.
	 */
	assert_int_equal(delta_apply(out, 10, base, 10,
				     BYTES(10, 10, 0x91, 2, 3, 2, 'a', 'b',
					   0xff, 0, 0, 0, 0, 5, 0, 0),
				     16),
			 0);
	assert_string_equal(out, "234ab01234");
}

static void size_zero_copies_64k(void **state)
{
	size_t len = 0x10000;
	uint8_t *base = mem_alloc(len + 1, 1), *out = mem_calloc(len, 1);
	uint8_t delta[] = {0x81, 0x80, 4, 0x80, 0x80, 4, 0x81, 1};

	assert_true(base && out);
	for (size_t i = 0; i <= len; i++)
		base[i] = (uint8_t)(i * 7 >> 3);
	assert_int_equal(
		delta_apply(out, len, base, len + 1, delta, sizeof(delta)), 0);
	assert_memory_equal(out, base + 1, len);
	free(base);
	free(out);
}

struct bad_delta {
	const char *what;
	uint8_t bytes[8];
	size_t len;
};

static void apply_refuses_what_is_wrong(void **state)
{
	static const struct bad_delta bad[] = {
		{"empty", {0}, 0},
		{"no result size", {4}, 1},
		{"other base size", {5, 2, 0x90, 2}, 4},
		{"other result size", {4, 3, 0x90, 3}, 4},
		{"reserved instruction", {4, 2, 0, 0x90, 2}, 5},
		{"too little", {4, 2, 0x90, 1}, 4},
		{"too much", {4, 2, 0x90, 3}, 4},
		{"insert too much", {4, 2, 3, 'a', 'b', 'c'}, 6},
		{"insert cut short", {4, 2, 2, 'a'}, 4},
		{"copy past the end", {4, 2, 0x91, 3, 2}, 5},
		{"copy from past the end", {4, 2, 0x91, 5, 2}, 5},
		{"copy from far away", {4, 2, 0x98, 0xff, 2}, 5},
		{"copy without its operand", {4, 2, 0x91, 1}, 4},
		{"64 KiB from a small base", {4, 2, 0x80}, 3},
	};
	uint8_t out[2];

	for (size_t i = 0; i < ARRAY_NR(bad); i++)
		if (delta_apply(out, 2, "base", 4, bad[i].bytes, bad[i].len) !=
		    ERR_CORRUPT)
			fail_msg("%s", bad[i].what);
}

static void append_noise(struct buf *b, size_t len, unsigned letters,
			 uint64_t *seed)
{
	while (len--)
		assert_int_equal(
			buf_append_char(
				b, (char)('a' + random_next(seed) % letters)),
			0);
}

/*
 * Makes a delta with delta_create_near(), which does not index the whole base.
 * Applies the delta, and compares the result with the target.
 */
static void check_near(const struct buf *base, const struct buf *target)
{
	uint8_t *out = mem_alloc(target->len, 1);
	void *delta, *limited;
	size_t len, limited_len;

	assert_non_null(out);
	assert_int_equal(delta_create_near(base->data, base->len, target->data,
					   target->len, 0, &delta, &len),
			 0);
	assert_int_equal(delta_apply(out, target->len, base->data, base->len,
				     delta, len),
			 0);
	assert_memory_equal(out, target->data, target->len);
	assert_int_equal(delta_create_near(base->data, base->len, target->data,
					   target->len, len - 1, &limited,
					   &limited_len),
			 1);
	free(delta);
	free(out);
}

/*
 * Makes a delta, applies it, and compares the result with the target. Returns
 * the length of the delta.
 */
static size_t round_trip(const struct buf *base, const struct buf *target)
{
	struct delta_index *index = delta_index_new(base->data, base->len);
	uint8_t *out = mem_alloc(target->len, 1);
	uint64_t base_size, result_size;
	size_t len, limited_len;
	void *delta, *limited;

	assert_true(index && out);
	assert_int_equal(
		delta_create(index, target->data, target->len, 0, &delta, &len),
		0);
	assert_int_equal(
		delta_sizes(delta, len, &base_size, &result_size, NULL), 0);
	assert_int_equal(base_size, base->len);
	assert_int_equal(result_size, target->len);
	assert_int_equal(delta_apply(out, target->len, base->data, base->len,
				     delta, len),
			 0);
	assert_memory_equal(out, target->data, target->len);

	/*
	 * If the limit is the delta's length, the same delta is made. If the
	 * limit is one byte less, no delta is made.
	 */
	if (delta_create(index, target->data, target->len, len, &limited,
			 &limited_len) == 0) {
		assert_int_equal(limited_len, len);
		assert_memory_equal(limited, delta, len);
		free(limited);
	}
	assert_int_equal(delta_create(index, target->data, target->len, len - 1,
				      &limited, &limited_len),
			 1);
	free(delta);
	free(out);
	delta_index_free(index);
	check_near(base, target);
	return len;
}

/*
 * Base and target have a common prefix and a common suffix of any length. In
 * the shorter text, the prefix and the suffix may overlap.
 */
static void near_ones_of_any_middle(void **state)
{
	static const char *const texts[] = {
		"",       "a",    "aa",     "aaa",       "aab",
		"baa",    "aba",  "aabaa",  "aacaa",     "aabbaa",
		"aaXaaa", "aXaa", "XaaaaX", "aaaaXaaaa",
	};

	for (size_t i = 0; i < ARRAY_NR(texts); i++)
		for (size_t k = 0; k < ARRAY_NR(texts); k++) {
			struct buf base = BUF_INIT, target = BUF_INIT;

			assert_false(buf_append_str(&base, texts[i]) ||
				     buf_append_str(&target, texts[k]));
			check_near(&base, &target);
			buf_release(&base);
			buf_release(&target);
		}
}

/*
 * If 20 bytes of a long text change, like one id in a tree, delta_create_near()
 * makes a small delta.
 */
static void near_ones_are_small(void **state)
{
	uint64_t seed = random_seed();
	struct buf base = BUF_INIT, target = BUF_INIT;
	void *delta;
	size_t len;

	append_noise(&base, 150000, 26, &seed);
	assert_int_equal(buf_append(&target, base.data, base.len), 0);
	memset(target.data + 70000, 'X', 20);
	assert_int_equal(delta_create_near(base.data, base.len, target.data,
					   target.len, 100, &delta, &len),
			 0);
	/*
	 * The delta has at most 6 bytes for the sizes, 21 bytes for an insert
	 * instruction, and 4 bytes for each 64 KiB that are copied.
	 */
	assert_true(len <= 6 + 21 + 4 * 7);
	free(delta);
	buf_release(&base);
	buf_release(&target);
}

/*
 * Appends pieces of the base in another order, with random bytes between them.
 */
static void append_edited(struct buf *out, const struct buf *base,
			  unsigned letters, uint64_t *seed)
{
	size_t edits = random_next(seed) % 20;

	for (size_t i = 0; i < edits; i++) {
		size_t off = random_next(seed) % base->len;
		size_t len = random_next(seed) % (base->len - off + 1);

		assert_int_equal(buf_append(out, base->data + off, len), 0);
		append_noise(out, random_next(seed) % 300, letters, seed);
	}
}

static void random_edits_round_trip(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 300; i++) {
		static const unsigned alphabets[] = {1, 2, 26};
		unsigned letters = alphabets[i % 3];
		size_t max = i % 10 ? 500 : 150000;
		struct buf base = BUF_INIT, target = BUF_INIT;

		append_noise(&base, 1 + random_next(&seed) % max, letters,
			     &seed);
		append_edited(&target, &base, letters, &seed);
		round_trip(&base, &target);
		buf_release(&base);
		buf_release(&target);
	}
}

static void small_changes_make_small_deltas(void **state)
{
	uint64_t seed = random_seed();
	struct buf base = BUF_INIT, target = BUF_INIT;

	append_noise(&base, 20000, 26, &seed);
	assert_int_equal(buf_append(&target, base.data, base.len), 0);
	assert_true(round_trip(&base, &target) <= 10);
	/*
	 * The target is a copy of the base in which 20 bytes of every 40 are
	 * changed, like the ids of a tree. Therefore, few aligned blocks of 16
	 * bytes are equal in both.
	 */
	for (size_t off = 10; off + 60 < 4000; off += 40)
		for (size_t i = 0; i < 20; i++)
			target.data[off + i] ^= 1 + (char)(i & 3);
	assert_true(round_trip(&base, &target) < 20 + 100 * 26);
	buf_release(&base);
	buf_release(&target);
}

/*
 * If a later match covers the range of earlier copies, one copy replaces them.
 */
static void longer_matches_replace_shorter_ones(void **state)
{
	uint64_t seed = random_seed();
	struct buf base = BUF_INIT, target = BUF_INIT, line = BUF_INIT;

	append_noise(&line, 40, 26, &seed);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(buf_append(&base, line.data, line.len), 0);
		append_noise(&base, 25, 26, &seed);
	}
	assert_int_equal(buf_append(&target, base.data + 1300, 1500), 0);
	assert_true(round_trip(&base, &target) <= 12);
	buf_release(&base);
	buf_release(&target);
	buf_release(&line);
}

static void hopeless_targets_are_given_up(void **state)
{
	uint64_t seed = random_seed();
	struct buf base = BUF_INIT, target = BUF_INIT;
	struct delta_index *index;
	size_t len;
	void *delta;

	append_noise(&base, 1000, 26, &seed);
	append_noise(&target, 100000, 26, &seed);
	index = delta_index_new(base.data, base.len);
	assert_non_null(index);
	assert_int_equal(
		delta_create(index, target.data, target.len, 100, &delta, &len),
		1);
	assert_int_equal(
		delta_create(index, base.data, base.len, 7, &delta, &len), 0);
	assert_int_equal(len, 7);
	free(delta);
	delta_index_free(index);
	buf_release(&base);
	buf_release(&target);
}

/*
 * A part in the middle of the target is equal to a part of the base at another
 * offset. This part is copied.
 */
static void a_middle_is_copied(void **state)
{
	uint64_t seed = random_seed();
	struct buf base = BUF_INIT, target = BUF_INIT;

	append_noise(&base, 3000, 26, &seed);
	append_noise(&target, 100, 26, &seed);
	assert_int_equal(buf_append(&target, base.data + 1000, 1500), 0);
	append_noise(&target, 100, 26, &seed);
	assert_true(round_trip(&base, &target) < 220);
	buf_release(&base);
	buf_release(&target);
}

/*
 * The target consists of many short pieces of the base. The delta must copy
 * each of them.
 */
static void short_pieces_are_copied(void **state)
{
	enum { PIECES = 60, LEN = 40 };
	uint64_t seed = random_seed();
	struct buf base = BUF_INIT, target = BUF_INIT;

	append_noise(&base, 3000, 26, &seed);
	for (int i = 0; i < PIECES; i++)
		assert_int_equal(buf_append(&target,
					    base.data + random_next(&seed) %
								(3000 - LEN),
					    LEN),
				 0);
	assert_true(round_trip(&base, &target) < (size_t)PIECES * 6);
	buf_release(&base);
	buf_release(&target);
}

/* The input of delta_create(), and the delta that it made, or NULL. */
struct attempt {
	const struct delta_index *index;
	const struct buf *base, *target;
	void *delta;
	size_t len;
};

static int try_delta(void *ctx, struct error *err)
{
	struct attempt *a = ctx;
	int ret = delta_create(a->index, a->target->data, a->target->len, 0,
			       &a->delta, &a->len);

	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

static void check_attempt(void *ctx)
{
	struct attempt *a = ctx;
	uint8_t *out = mem_alloc(a->target->len, 1);

	assert_non_null(out);
	assert_int_equal(delta_apply(out, a->target->len, a->base->data,
				     a->base->len, a->delta, a->len),
			 0);
	assert_memory_equal(out, a->target->data, a->target->len);
	free(a->delta);
	free(out);
}

/*
 * A delta has more copies than the queue can hold. If memory runs out while the
 * first half of the full queue is encoded, no copy is stored behind the queue.
 * A sanitizer reports such a store.
 */
static void memory_runs_out_with_a_full_queue(void **state)
{
	enum { PIECES = 200, LEN = 40, GAP = 10 };
	uint64_t seed = random_seed();
	struct buf base = BUF_INIT, target = BUF_INIT;
	struct attempt a = {.base = &base, .target = &target};
	struct delta_index *index;

	append_noise(&base, PIECES * LEN, 26, &seed);
	for (size_t i = PIECES; i--;) {
		assert_int_equal(buf_append(&target, base.data + i * LEN, LEN),
				 0);
		append_noise(&target, GAP, 26, &seed);
	}
	index = delta_index_new(base.data, base.len);
	assert_non_null(index);
	a.index = index;
	nomem_each(NULL, try_delta, check_attempt, &a);
	delta_index_free(index);
	buf_release(&base);
	buf_release(&target);
}

/*
 * A delta starts with the sizes of its base and its target. At the tested
 * sizes, the encoding of a size grows from one byte to two, or from two to
 * three.
 */
static void sizes_of_all_lengths(void **state)
{
	static const size_t lens[] = {127, 128, 129, 16383, 16384, 16385};
	uint64_t seed = random_seed();
	struct buf base = BUF_INIT;

	for (size_t i = 0; i < ARRAY_NR(lens); i++) {
		size_t copy_len = lens[i] < 256 ? 2 : 3;
		size_t size_len = lens[i] < 128 ? 1 : lens[i] < 16384 ? 2 : 3;

		buf_reset(&base);
		append_noise(&base, lens[i], 26, &seed);
		assert_true(round_trip(&base, &base) <=
			    2 * size_len + copy_len);
		check_near(&base, &base);
	}
	buf_release(&base);
}

static void edges_of_sizes(void **state)
{
	struct buf base = BUF_INIT, target = BUF_INIT;
	struct delta_index *index;

	assert_null(delta_index_new("", 0));
	assert_int_equal(buf_append_char(&base, 'x'), 0);
	assert_true(round_trip(&base, &target) == 2);
	assert_int_equal(buf_append_str(&target, "x"), 0);
	assert_true(round_trip(&base, &target) == 4);
	index = delta_index_new(base.data, base.len);
	assert_non_null(index);
	assert_true(delta_index_size(index) >= 16);
	delta_index_free(index);
	delta_index_free(NULL);
	buf_release(&base);
	buf_release(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_read),
		cmocka_unit_test(sizes_past_64_bits_are_refused),
		cmocka_unit_test(lengths_limit_a_result),
		cmocka_unit_test(apply_knows_every_instruction),
		cmocka_unit_test(size_zero_copies_64k),
		cmocka_unit_test(apply_refuses_what_is_wrong),
		cmocka_unit_test(random_edits_round_trip),
		cmocka_unit_test(near_ones_of_any_middle),
		cmocka_unit_test(near_ones_are_small),
		cmocka_unit_test(small_changes_make_small_deltas),
		cmocka_unit_test(longer_matches_replace_shorter_ones),
		cmocka_unit_test(hopeless_targets_are_given_up),
		cmocka_unit_test(a_middle_is_copied),
		cmocka_unit_test(short_pieces_are_copied),
		cmocka_unit_test(memory_runs_out_with_a_full_queue),
		cmocka_unit_test(sizes_of_all_lengths),
		cmocka_unit_test(edges_of_sizes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
