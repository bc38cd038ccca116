/* SPDX-License-Identifier: MIT */
/*
 * Tests of ewah/ewah.c, the compressed bitmaps. They prove that all operations
 * give the same bits as on arrays of one byte per bit, and that damaged bitmaps
 * are refused.
 */
#include "t/unit/twin.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "base/error.h"
#include "ewah/ewah.h"

#define ROUNDS 1500

/* The example of a serialized bitmap in ewah/ewah.h. */
static const uint8_t dump[] = {
	0x00, 0x00, 0x00, 0xc8, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x00, 0x05, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02,
};

static uint64_t rlw_make(bool bit, uint64_t run, uint64_t literals)
{
	return literals << 33 | run << 1 | bit;
}

/* Returns word `i` of the bits of the slow bitmap `t`. */
static uint64_t twin_word(const struct twin *t, size_t i)
{
	uint64_t word = 0;
	size_t j;

	for (j = 0; j < 64 && i * 64 + j < t->bits; j++)
		word |= (uint64_t)t->bit[i * 64 + j] << j;
	return word;
}

/*
 * Parses bytes that must be one whole bitmap. The bytes must outlive *view.
 * Returns 0 or the error code of the parser.
 */
static int parse(struct ewah_view *view, const void *bytes, size_t len)
{
	struct cursor c = cursor_make(bytes, len);
	int ret = ewah_view_parse(view, &c, NULL);

	if (!ret)
		assert_int_equal(cursor_left(&c), 0);
	else
		assert_ptr_equal(c.p, bytes);
	return ret;
}

/* ---- writers ---- */

static void parse_buf(struct ewah_view *view, const struct buf *b)
{
	assert_int_equal(parse(view, b->data, b->len), 0);
}

/* Encodes the slow bitmap `t` as the functions of ewah/ do. */
static void encode_plainly(struct buf *out, const struct twin *t)
{
	struct bitset set;
	struct ewah e;
	struct ewah_view v;

	ewah_init(&e);
	twin_to_bitset(&set, t);
	assert_int_equal(ewah_from_bitset(&e, &set), 0);
	v = ewah_view_of(&e);
	buf_reset(out);
	assert_int_equal(ewah_view_write(out, &v), 0);
	assert_int_equal(ewah_view_size(&v), out->len);
	ewah_release(&e);
	bitset_release(&set);
}

/*
 * Encodes a bitmap in a valid but unusual way. Run-length words (RLWs) are at
 * any place, and some are empty. Literals replace runs. Random bits follow the
 * last bit, and zeros at the end are left out.
 */
static void encode_wildly(struct buf *out, const struct twin *t, struct rng *r)
{
	uint64_t words[8 * TWIN_MAX / 64], word, noise;
	size_t nr = 0, rlw = 0, i, covered = (t->bits + 63) / 64;

	if (rng_below(r, 2))
		while (covered && !twin_word(t, covered - 1))
			covered--;
	words[nr++] = rlw_make(rng_below(r, 2), 0, 0);
	for (i = 0; i < covered; i++) {
		word = twin_word(t, i);
		noise = rng_below(r, 2) ? UINT64_MAX : rng_next(r);
		if (i == t->bits / 64)
			word |= noise << (t->bits % 64);
		for (; !rng_below(r, 4) && nr < 7 * (i + 1); nr++)
			words[rlw = nr] = rlw_make(rng_below(r, 2), 0, 0);
		if (word + 1 > 1 || rng_below(r, 4) == 0) {
			words[rlw] += rlw_make(0, 0, 1);
			words[nr++] = word;
			continue;
		}
		if (words[rlw] >> 33 || (words[rlw] ^ word) & 1)
			words[rlw = nr++] = word & 1;
		words[rlw] += rlw_make(0, 1, 0);
	}
	buf_reset(out);
	buf_append_be32(out, (uint32_t)t->bits);
	buf_append_be32(out, (uint32_t)nr);
	for (i = 0; i < nr; i++)
		buf_append_be64(out, words[i]);
	buf_append_be32(out, (uint32_t)rlw);
}

static void encode(struct buf *out, const struct twin *t, struct rng *r)
{
	if (rng_below(r, 3))
		encode_wildly(out, t, r);
	else
		encode_plainly(out, t);
}

/* ---- readers ---- */

static void check_spans(const struct twin *t, const struct ewah_view *v)
{
	struct ewah_iter it;
	struct ewah_span span;
	size_t i, word = 0;

	ewah_iter_init(&it, v);
	while (ewah_iter_next(&it, &span)) {
		assert_true(span.nr > 0);
		for (i = 0; i < span.nr; i++, word++) {
			assert_true(word * 64 < t->bits);
			if (span.is_run)
				span.word = span.run_bit ? UINT64_MAX : 0;
			assert_true(span.word == twin_word(t, word));
		}
	}
	for (; word * 64 < t->bits; word++)
		assert_true(twin_word(t, word) == 0);
}

static void check_bits(const struct twin *t, const struct ewah_view *v)
{
	struct ewah_bit_iter it;
	size_t i, bit;

	ewah_bit_iter_init(&it, v);
	for (i = 0; i < t->bits; i++) {
		assert_int_equal(ewah_test(v, i), t->bit[i]);
		if (!t->bit[i])
			continue;
		assert_true(ewah_bit_iter_next(&it, &bit));
		assert_int_equal(bit, i);
	}
	assert_false(ewah_bit_iter_next(&it, &bit));
	assert_false(ewah_test(v, t->bits));
	assert_false(ewah_test(v, SIZE_MAX));
}

static void check_view(const struct twin *t, const struct ewah_view *v)
{
	assert_int_equal(v->bits, t->bits);
	assert_int_equal(ewah_count(v), twin_count(t));
	check_spans(t, v);
	check_bits(t, v);
}

/*
 * Checks a bitmap that is being built: its words cover exactly its size, and
 * the words can be parsed.
 */
static void check_owned(const struct twin *t, const struct ewah *e)
{
	struct ewah_view v = ewah_view_of(e), again;
	struct buf b = BUF_INIT;
	struct ewah_iter it;
	struct ewah_span span;
	size_t covered = 0;

	check_view(t, &v);
	ewah_iter_init(&it, &v);
	while (ewah_iter_next(&it, &span))
		covered += span.nr;
	assert_int_equal(covered, (t->bits + 63) / 64);
	assert_int_equal(ewah_view_write(&b, &v), 0);
	parse_buf(&again, &b);
	check_view(t, &again);
	buf_release(&b);
}

static void test_dump(void **state)
{
	struct twin t = {{0}, 200};
	struct ewah_view v;
	struct ewah e;
	struct buf b = BUF_INIT;
	size_t i;

	memset(t.bit, 1, 128);
	t.bit[130] = t.bit[191] = 1;
	assert_int_equal(parse(&v, dump, sizeof(dump)), 0);
	assert_int_equal(v.word_nr, 3);
	assert_int_equal(v.last_rlw, 2);
	check_view(&t, &v);
	encode_plainly(&b, &t);
	assert_int_equal(b.len, sizeof(dump));
	assert_memory_equal(b.data, dump, sizeof(dump));
	ewah_init(&e);
	for (i = 0; i < t.bits; i++)
		if (t.bit[i])
			assert_int_equal(ewah_set(&e, i), 0);
	t.bits = 192;
	check_owned(&t, &e);
	ewah_release(&e);
	buf_release(&b);
}

static void test_round_trip(void **state)
{
	struct rng r = rng_new();
	struct buf b = BUF_INIT, copy = BUF_INIT;
	struct ewah_view v;
	struct twin t;
	size_t round;

	for (round = 0; round < ROUNDS; round++) {
		twin_random(&t, &r, rng_size(&r));
		encode(&b, &t, &r);
		parse_buf(&v, &b);
		check_view(&t, &v);
		buf_reset(&copy);
		assert_int_equal(ewah_view_write(&copy, &v), 0);
		assert_int_equal(copy.len, b.len);
		assert_memory_equal(copy.data, b.data, b.len);
	}
	buf_release(&copy);
	buf_release(&b);
}

/* ---- builder ---- */

static void append_at_random(struct ewah *e, struct twin *t, struct rng *r)
{
	size_t nr = 1 + rng_below(r, 4), i, j, bit;
	uint64_t word = rng_next(r);

	if (t->bits + 64 * 6 > TWIN_MAX)
		return;
	if (rng_below(r, 2)) {
		bit = t->bits + rng_below(r, rng_below(r, 2) ? 2 : 200);
		assert_int_equal(ewah_set(e, bit), 0);
		t->bit[bit] = 1;
		t->bits = bit + 1;
		assert_int_equal(ewah_set(e, bit), ERR_INVALID);
		return;
	}
	t->bits = (t->bits + 63) / 64 * 64;
	switch (rng_below(r, 3)) {
	case 0:
		assert_int_equal(ewah_append_run(e, word & 1, nr), 0);
		word = word & 1 ? UINT64_MAX : 0;
		break;
	case 1:
		word = rng_below(r, 2) ? UINT64_MAX : 0;
		/* fallthrough */
	default:
		nr = 1;
		assert_int_equal(ewah_append_word(e, word), 0);
	}
	for (i = 0; i < nr; i++)
		for (j = 0; j < 64; j++)
			t->bit[t->bits++] = word >> j & 1;
}

static void test_append(void **state)
{
	struct rng r = rng_new();
	struct ewah e;
	struct twin t;
	size_t round, i, steps;

	ewah_init(&e);
	for (round = 0; round < ROUNDS; round++) {
		memset(&t, 0, sizeof(t));
		ewah_reset(&e);
		steps = rng_below(&r, 100);
		for (i = 0; i < steps; i++)
			append_at_random(&e, &t, &r);
		check_owned(&t, &e);
	}
	ewah_release(&e);
}

/*
 * If each bit of a long range is set, the range is stored as a run, not as
 * literals.
 */
static void test_set_makes_runs(void **state)
{
	struct ewah e;
	size_t i;

	ewah_init(&e);
	assert_int_equal(ewah_set(&e, 3), 0);
	for (i = 64; i < 6400; i++)
		assert_int_equal(ewah_set(&e, i), 0);
	assert_int_equal(e.word_nr, 3);
	assert_true(e.words[0] == rlw_make(0, 0, 1));
	assert_true(e.words[2] == rlw_make(1, 99, 0));
	ewah_release(&e);
}

/* Sets a bit in the last word while this word is part of a run of zeros. */
static void test_set_in_run(void **state)
{
	for (size_t words = 1; words < 4; words++) {
		struct twin t = {{0}, 64 * words - 60};
		struct bitset set;
		struct ewah e;

		ewah_init(&e);
		twin_to_bitset(&set, &t);
		assert_int_equal(ewah_from_bitset(&e, &set), 0);
		for (size_t bit = 64 * words - 30; bit < 64 * words; bit += 7) {
			assert_int_equal(ewah_set(&e, bit), 0);
			t.bit[bit] = 1;
			t.bits = bit + 1;
			check_owned(&t, &e);
		}
		assert_int_equal(e.word_nr, 2);
		bitset_release(&set);
		ewah_release(&e);
	}
}

/*
 * Calls append(), which appends a word, until the memory has grown several
 * times.
 */
static void check_growth(int (*append)(struct ewah *e, size_t i))
{
	struct ewah e;

	ewah_init(&e);
	for (size_t i = 0; i < 500; i++) {
		assert_int_equal(append(&e, i), 0);
		assert_true(e.word_nr <= e.word_alloc);
	}
	ewah_release(&e);
}

static int append_run(struct ewah *e, size_t i)
{
	return ewah_append_run(e, i % 2, 1 + i % 3);
}

static int append_word(struct ewah *e, size_t i)
{
	return ewah_append_word(e, i % 3 ? 5 : 0);
}

/*
 * Sets bit i * 200. To reach this bit, the bitmap gets a run of zeros and a
 * literal word.
 */
static int set_far(struct ewah *e, size_t i)
{
	return ewah_set(e, i * 200);
}

/*
 * For even `i`, appends 63 ones. For odd `i`, appends one more. The word of 64
 * bits then has only ones, and becomes a part of a run.
 */
static int set_full(struct ewah *e, size_t i)
{
	int ret;

	if (i % 2)
		return ewah_set(e, e->bits);
	ret = ewah_append_word(e, UINT64_MAX >> 1);
	e->bits--;
	return ret;
}

/* Each append must reserve memory for the words that it stores. */
static void test_growth(void **state)
{
	check_growth(append_run);
	check_growth(append_word);
	check_growth(set_far);
	check_growth(set_full);
}

/* A copied bitmap has no spare memory. Emptying a bitmap keeps its memory. */
static void test_little_memory(void **state)
{
	struct ewah e, copy;

	ewah_init(&e);
	assert_int_equal(ewah_append_run(&e, true, 1), 0);
	assert_int_equal(ewah_copy(&copy, &e), 0);
	assert_int_equal(copy.word_alloc, 1);
	ewah_reset(&copy);
	assert_int_equal(ewah_append_word(&copy, 5), 0);
	assert_int_equal(copy.word_nr, 2);
	assert_true(copy.word_alloc >= 2);
	assert_int_equal(ewah_append_run(&copy, true, 0), 0);
	assert_int_equal(copy.bits, 64);
	ewah_release(&copy);
	ewah_release(&e);
}

static void test_size_limit(void **state)
{
	struct ewah e;
	struct ewah_view v;
	size_t words = EWAH_MAX_BITS / 64;

	ewah_init(&e);
	assert_int_equal(ewah_append_run(&e, true, words + 1), ERR_INVALID);
	assert_int_equal(ewah_append_run(&e, true, SIZE_MAX), ERR_INVALID);
	assert_int_equal(ewah_set(&e, EWAH_MAX_BITS), ERR_INVALID);
	assert_int_equal(e.bits, 0);
	assert_int_equal(ewah_append_run(&e, true, words), 0);
	assert_int_equal(ewah_append_run(&e, true, 1), ERR_INVALID);
	assert_int_equal(ewah_append_word(&e, 1), ERR_INVALID);
	assert_int_equal(ewah_set(&e, EWAH_MAX_BITS - 1), 0);
	assert_int_equal(e.bits, EWAH_MAX_BITS);
	assert_int_equal(e.word_nr, 2);
	assert_int_equal(ewah_append_word(&e, 1), ERR_INVALID);
	assert_int_equal(ewah_append_run(&e, false, 1), ERR_INVALID);
	assert_int_equal(ewah_append_run(&e, true, words), ERR_INVALID);
	assert_int_equal(e.bits, EWAH_MAX_BITS);
	v = ewah_view_of(&e);
	assert_int_equal(ewah_count(&v), words * 64 + 1);
	assert_true(ewah_test(&v, EWAH_MAX_BITS - 1));
	assert_false(ewah_test(&v, EWAH_MAX_BITS - 2));
	ewah_reset(&e);
	assert_int_equal(ewah_append_run(&e, true, words - 1), 0);
	assert_int_equal(ewah_append_word(&e, 1), 0);
	assert_int_equal(e.bits, words * 64);
	assert_int_equal(ewah_append_word(&e, 1), ERR_INVALID);
	ewah_release(&e);
}

static void test_empty(void **state)
{
	static const uint8_t no_words[12] = {0, 0, 0, 100};
	struct twin none = {{0}, 0}, zeros = {{0}, 100};
	struct buf b = BUF_INIT;
	struct ewah e;
	struct ewah_view v;

	ewah_init(&e);
	assert_null(e.words);
	check_owned(&none, &e);
	v = ewah_view_of(&e);
	assert_int_equal(ewah_view_write(&b, &v), 0);
	assert_int_equal(b.len, 20);
	assert_int_equal(b.data[7], 1);
	assert_int_equal(parse(&v, no_words, sizeof(no_words)), 0);
	check_view(&zeros, &v);
	buf_release(&b);
	ewah_release(&e);
}

/* ---- operations ---- */

static void check_into(const struct twin *a, const struct twin *b,
		       const struct ewah_view *v, enum twin_op op)
{
	static void (*const ops[])(struct bitset *,
				   const struct ewah_view *) = {
		[TWIN_OR] = ewah_or_into,
		[TWIN_AND] = ewah_and_into,
		[TWIN_ANDNOT] = ewah_andnot_into,
		[TWIN_XOR] = ewah_xor_into,
	};
	struct twin wanted;
	struct bitset set;

	twin_to_bitset(&set, a);
	twin_apply(&wanted, a, b, op, a->bits);
	ops[op](&set, v);
	twin_check_bitset(&wanted, &set);
	bitset_release(&set);
}

static void test_into(void **state)
{
	struct rng r = rng_new();
	struct buf b = BUF_INIT;
	struct twin set, other, both;
	struct bitset plain;
	struct ewah_view v;
	size_t round;

	for (round = 0; round < ROUNDS; round++) {
		twin_random(&set, &r, rng_size(&r));
		twin_random(&other, &r, rng_size(&r));
		encode(&b, &other, &r);
		parse_buf(&v, &b);
		check_into(&set, &other, &v, TWIN_OR);
		check_into(&set, &other, &v, TWIN_AND);
		check_into(&set, &other, &v, TWIN_ANDNOT);
		check_into(&set, &other, &v, TWIN_XOR);
		twin_to_bitset(&plain, &set);
		twin_apply(&both, &set, &other, TWIN_AND, set.bits);
		assert_int_equal(ewah_count_and(&v, &plain), twin_count(&both));
		bitset_release(&plain);
	}
	buf_release(&b);
}

/*
 * Merges two bitmaps into a new one. If the result has more than 16 words, its
 * memory has exactly the size that the merge estimated. So AddressSanitizer
 * reports an estimate that is too small.
 */
static void check_merge(const struct twin *a, const struct ewah_view *va,
			const struct twin *b, const struct ewah_view *vb,
			enum twin_op op)
{
	static int (*const ops[])(struct ewah *, const struct ewah_view *,
				  const struct ewah_view *) = {
		[TWIN_OR] = ewah_or,
		[TWIN_AND] = ewah_and,
		[TWIN_ANDNOT] = ewah_andnot,
		[TWIN_XOR] = ewah_xor,
	};
	struct twin wanted;
	struct ewah out;

	twin_apply(&wanted, a, b, op, a->bits > b->bits ? a->bits : b->bits);
	ewah_init(&out);
	assert_int_equal(ops[op](&out, va, vb), 0);
	check_owned(&wanted, &out);
	ewah_release(&out);
}

/*
 * Makes a bitmap for a merge, either in memory or as bytes in big-endian order.
 * The returned view borrows `owned` or `bytes`.
 */
static struct ewah_view make_operand(const struct twin *t, struct ewah *owned,
				     struct buf *bytes, struct rng *r)
{
	struct ewah_view v;
	struct bitset set;

	if (rng_below(r, 2)) {
		encode(bytes, t, r);
		parse_buf(&v, bytes);
		return v;
	}
	twin_to_bitset(&set, t);
	assert_int_equal(ewah_from_bitset(owned, &set), 0);
	bitset_release(&set);
	return ewah_view_of(owned);
}

static void test_merge(void **state)
{
	struct rng r = rng_new();
	struct buf bytes[2] = {BUF_INIT, BUF_INIT};
	struct ewah owned[2];
	struct ewah_view v[2];
	struct twin t[2];
	size_t round, i;
	int op;

	ewah_init(&owned[0]);
	ewah_init(&owned[1]);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 2; i++) {
			twin_random(&t[i], &r, rng_size(&r));
			v[i] = make_operand(&t[i], &owned[i], &bytes[i], &r);
		}
		for (op = TWIN_OR; op <= TWIN_XOR; op++) {
			check_merge(&t[0], &v[0], &t[1], &v[1], op);
			check_merge(&t[0], &v[0], &t[0], &v[0], op);
		}
	}
	for (i = 0; i < 2; i++) {
		ewah_release(&owned[i]);
		buf_release(&bytes[i]);
	}
}

/*
 * Checks that ewah_xor_below() fails for a result of `limit` or more words, and
 * otherwise returns the result of ewah_xor().
 */
static void check_below(const struct ewah_view *a, const struct ewah_view *b,
			size_t limit)
{
	struct ewah whole, out, copy;

	ewah_init(&whole);
	ewah_init(&out);
	assert_int_equal(ewah_xor(&whole, a, b), 0);
	if (whole.word_nr >= limit) {
		assert_int_equal(ewah_xor_below(&out, a, b, limit), 1);
		assert_int_equal(out.word_nr, 0);
		assert_true(out.word_alloc <= 2 * (limit + 100));
	} else {
		assert_int_equal(ewah_xor_below(&out, a, b, limit), 0);
		assert_int_equal(out.bits, whole.bits);
		assert_int_equal(ewah_copy(&copy, &out), 0);
		assert_int_equal(copy.word_nr, whole.word_nr);
		assert_int_equal(copy.word_alloc, whole.word_nr);
		assert_int_equal(copy.last_rlw, whole.last_rlw);
		assert_memory_equal(copy.words, whole.words,
				    whole.word_nr * sizeof(*whole.words));
		ewah_release(&copy);
	}
	ewah_release(&whole);
	ewah_release(&out);
}

static void test_xor_below(void **state)
{
	struct rng r = rng_new();
	struct buf bytes[2] = {BUF_INIT, BUF_INIT};
	struct ewah owned[2];
	struct ewah_view v[2];
	struct twin t[2];

	ewah_init(&owned[0]);
	ewah_init(&owned[1]);
	for (size_t round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < 2; i++) {
			twin_random(&t[i], &r, rng_size(&r));
			v[i] = make_operand(&t[i], &owned[i], &bytes[i], &r);
		}
		check_below(&v[0], &v[1], 1);
		check_below(&v[0], &v[1], SIZE_MAX);
		check_below(&v[0], &v[1], 1 + rng_next(&r) % 20);
		check_below(&v[0], &v[1], 1 + rng_next(&r) % 300);
		check_below(&v[0], &v[0], 2);
	}
	for (size_t i = 0; i < 2; i++) {
		ewah_release(&owned[i]);
		buf_release(&bytes[i]);
	}
}

/*
 * The limit of ewah_xor_below() also limits the memory that the function
 * reserves, however large the bitmaps are.
 */
static void test_xor_below_memory(void **state)
{
	struct ewah a, b, out;
	struct ewah_view va, vb;

	ewah_init(&a);
	ewah_init(&b);
	ewah_init(&out);
	for (size_t i = 0; i < 10000; i++) {
		assert_int_equal(ewah_append_word(&a, 5), 0);
		assert_int_equal(ewah_append_word(&b, 9), 0);
	}
	va = ewah_view_of(&a);
	vb = ewah_view_of(&b);
	assert_int_equal(ewah_xor_below(&out, &va, &vb, 100), 1);
	assert_true(out.word_alloc < 1000);
	assert_int_equal(ewah_xor_below(&out, &va, &vb, 10001), 1);
	assert_int_equal(ewah_xor_below(&out, &va, &vb, 10002), 0);
	assert_int_equal(out.word_nr, 10001);
	ewah_release(&a);
	ewah_release(&b);
	ewah_release(&out);
}

/*
 * A merge reuses the memory of its output. If words of the result are equal
 * (all zeros or all ones), the merge stores them as a run.
 */
static void test_merge_output(void **state)
{
	struct rng r = rng_new();
	struct buf b = BUF_INIT;
	struct ewah out;
	struct ewah_view v;
	struct twin t;

	ewah_init(&out);
	memset(&t, 0, sizeof(t));
	t.bits = TWIN_MAX;
	twin_scatter(&t, &r, 2);
	encode_plainly(&b, &t);
	parse_buf(&v, &b);
	assert_int_equal(ewah_or(&out, &v, &v), 0);
	check_owned(&t, &out);
	assert_int_equal(out.word_nr, 1 + TWIN_MAX / 64);
	assert_int_equal(ewah_xor(&out, &v, &v), 0);
	assert_int_equal(out.word_nr, 1);
	assert_int_equal(out.bits, TWIN_MAX);
	ewah_release(&out);
	buf_release(&b);
}

/* ---- bad bytes ---- */

static void parse_words(int wanted, uint32_t bits, uint32_t last_rlw, size_t nr,
			...)
{
	struct buf b = BUF_INIT;
	struct cursor c;
	struct ewah_view v;
	struct error err = ERROR_INIT;
	va_list ap;
	size_t i;

	buf_append_be32(&b, bits);
	buf_append_be32(&b, (uint32_t)nr);
	va_start(ap, nr);
	for (i = 0; i < nr; i++)
		buf_append_be64(&b, va_arg(ap, uint64_t));
	va_end(ap);
	buf_append_be32(&b, last_rlw);
	c = cursor_make(b.data, b.len);
	assert_int_equal(ewah_view_parse(&v, &c, &err), wanted);
	assert_int_equal(err.code, wanted);
	assert_int_equal(!v.words, wanted != 0);
	if (wanted)
		assert_int_equal(v.word_nr + v.bits + v.last_rlw, 0);
	buf_release(&b);
}

static void test_rejects(void **state)
{
	uint64_t full_run = rlw_make(1, UINT32_MAX, 0);

	/*
	 * The number of covered words must be at most the size in bits, rounded
	 * up to whole words. One word more is refused.
	 */
	parse_words(0, 65, 0, 1, rlw_make(1, 2, 0));
	parse_words(ERR_CORRUPT, 64, 0, 1, rlw_make(1, 2, 0));
	parse_words(ERR_CORRUPT, 0, 0, 1, rlw_make(0, 1, 0));
	parse_words(0, 64, 0, 2, rlw_make(0, 0, 1), UINT64_C(7));
	parse_words(ERR_CORRUPT, 64, 0, 2, rlw_make(0, 1, 1), UINT64_C(7));
	parse_words(0, 6400, 0, 1, rlw_make(0, 0, 0));

	/* A run-length word announces more literals than there are words. */
	parse_words(ERR_CORRUPT, 640, 0, 2, rlw_make(0, 0, 2), UINT64_C(7));
	parse_words(ERR_CORRUPT, 640, 0, 1, rlw_make(0, 0, 0x7fffffff));

	/*
	 * The runs are so long that the sum of their lengths could overflow.
	 * The parser must refuse them.
	 */
	parse_words(ERR_CORRUPT, UINT32_MAX, 1, 2, full_run, full_run);
	parse_words(ERR_CORRUPT, UINT32_MAX, 0, 1, full_run);

	/* The stored position of the last run-length word is wrong. */
	parse_words(ERR_CORRUPT, 64, 1, 2, rlw_make(0, 0, 1), UINT64_C(7));
	parse_words(ERR_CORRUPT, 128, 0, 2, rlw_make(0, 1, 0),
		    rlw_make(1, 1, 0));
	parse_words(0, 128, 1, 2, rlw_make(0, 1, 0), rlw_make(1, 1, 0));
	parse_words(ERR_CORRUPT, 64, UINT32_MAX, 1, rlw_make(0, 1, 0));
	parse_words(ERR_CORRUPT, 64, 1, 0);
}

/* Runs all readers over a bitmap. The results of all readers must agree. */
static void read_all(const struct ewah_view *v)
{
	struct bitset set;
	struct ewah out;
	struct ewah_view merged;
	struct ewah_bit_iter it;
	size_t bit, count = 0;

	if (v->bits > 1 << 20)
		return;
	ewah_init(&out);
	assert_int_equal(bitset_init(&set, v->bits), 0);
	ewah_or_into(&set, v);
	assert_int_equal(bitset_count(&set), ewah_count(v));
	assert_int_equal(ewah_count_and(v, &set), ewah_count(v));
	ewah_bit_iter_init(&it, v);
	while (ewah_bit_iter_next(&it, &bit)) {
		assert_true(bitset_get(&set, bit));
		count++;
	}
	assert_int_equal(count, ewah_count(v));
	ewah_xor_into(&set, v);
	assert_true(bitset_is_empty(&set));
	assert_int_equal(ewah_xor(&out, v, v), 0);
	merged = ewah_view_of(&out);
	assert_int_equal(ewah_count(&merged), 0);
	bitset_release(&set);
	ewah_release(&out);
}

/*
 * Parses the bytes in allocated memory of exactly their length, so that
 * AddressSanitizer detects reads past the end. Returns 0 or the error code of
 * the parser.
 */
static int parse_exactly(const char *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct cursor c;
	struct ewah_view v;
	int ret;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	c = cursor_make(copy, len);
	ret = ewah_view_parse(&v, &c, NULL);
	if (ret < 0)
		assert_ptr_equal(c.p, copy);
	else
		read_all(&v);
	free(copy);
	return ret;
}

static void test_corrupted(void **state)
{
	struct rng r = rng_new();
	struct buf b = BUF_INIT;
	struct twin t;
	size_t round, i, rejected = 0;

	for (round = 0; round < 20; round++) {
		twin_random(&t, &r, rng_below(&r, 700));
		encode(&b, &t, &r);
		for (i = 0; i < b.len; i++)
			assert_int_equal(parse_exactly(b.data, i), ERR_CORRUPT);
		for (i = 0; i < b.len * 8; i++) {
			b.data[i / 8] ^= (char)(1 << i % 8);
			rejected += parse_exactly(b.data, b.len) < 0;
			b.data[i / 8] ^= (char)(1 << i % 8);
		}
		assert_int_equal(parse_exactly(b.data, b.len), 0);
	}
	assert_true(rejected > 0);
	buf_release(&b);
}

/*
 * ewah_view_write() appends a bitmap to the bytes of a buffer. An empty bitmap
 * is written as one empty RLW.
 */
static void test_written_behind(void **state)
{
	static const uint8_t empty[20] = {[7] = 1};
	struct ewah none;
	struct buf out = BUF_INIT;
	struct ewah_view view;

	ewah_init(&none);
	assert_int_equal(parse(&view, dump, sizeof(dump)), 0);
	assert_int_equal(ewah_view_write(&out, &view), 0);
	view = ewah_view_of(&none);
	assert_int_equal(ewah_view_write(&out, &view), 0);
	assert_int_equal(out.len, sizeof(dump) + sizeof(empty));
	assert_memory_equal(out.data, dump, sizeof(dump));
	assert_memory_equal(out.data + sizeof(dump), empty, sizeof(empty));
	ewah_release(&none);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_set_makes_runs),
		cmocka_unit_test(test_set_in_run),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_written_behind),
		cmocka_unit_test(test_into),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_xor_below),
		cmocka_unit_test(test_xor_below_memory),
		cmocka_unit_test(test_merge_output),
		cmocka_unit_test(test_rejects),
		cmocka_unit_test(test_corrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
