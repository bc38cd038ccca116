/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for one or two serialized EWAH bitmaps. A bitmap that can be
 * parsed goes through all readers and operations, whose results must agree.
 * Only the first BITS_MAX bits are copied to plain sets, because a few bytes
 * can describe 2^32 bits. Only the first LIST_MAX bits are listed one by one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "ewah/ewah.h"
#include "t/fuzz/fuzz.h"

#define BITS_MAX (1 << 16)
#define LIST_MAX (1 << 11)

/* Set *set to the first BITS_MAX bits of the compressed bitmap. */
static void unpack(struct bitset *set, const struct ewah_view *v)
{
	size_t bits = v->bits < BITS_MAX ? v->bits : BITS_MAX;

	require(bitset_init(set, bits) == 0);
	ewah_or_into(set, v);
}

/*
 * Write the parsed bitmap. The written bytes must equal the input, unless the
 * input has no words: then the writer adds an empty word.
 */
static void check_write(const struct ewah_view *v, const uint8_t *bytes,
			size_t len)
{
	struct buf b = BUF_INIT;

	require(ewah_view_write(&b, v) == 0);
	require(b.len == ewah_view_size(v));
	if (v->word_nr)
		require(b.len == len && !memcmp(b.data, bytes, len));
	buf_release(&b);
}

static void check_readers(const struct ewah_view *v)
{
	struct bitset set;
	struct ewah_bit_iter it;
	struct ewah_iter spans;
	struct ewah_span span;
	size_t bit, want, covered = 0;

	unpack(&set, v);
	ewah_bit_iter_init(&it, v);
	for (want = bitset_next(&set, 0); want < set.bits && want < LIST_MAX;
	     want = bitset_next(&set, want + 1))
		require(ewah_bit_iter_next(&it, &bit) && bit == want);
	ewah_iter_init(&spans, v);
	while (ewah_iter_next(&spans, &span))
		covered += span.nr;
	require(covered <= v->bits / 64 + 1);
	require(ewah_count_and(v, &set) == bitset_count(&set));
	require(ewah_count(v) >= bitset_count(&set));
	if (set.bits)
		require(ewah_test(v, set.bits - 1) ==
			bitset_test(&set, set.bits - 1));
	bitset_release(&set);
}

typedef int merge_fn(struct ewah *, const struct ewah_view *,
		     const struct ewah_view *);
typedef void into_fn(struct bitset *, const struct ewah_view *);

static void check_op(const struct ewah_view *a, const struct ewah_view *b,
		     merge_fn *merge, into_fn *into)
{
	struct bitset plain, merged;
	struct ewah out;
	struct ewah_view v;

	ewah_init(&out);
	require(merge(&out, a, b) == 0);
	v = ewah_view_of(&out);
	require(v.bits == (a->bits > b->bits ? a->bits : b->bits));
	check_readers(&v);
	unpack(&plain, a);
	require(bitset_grow(&plain, v.bits < BITS_MAX ? v.bits : BITS_MAX) ==
		0);
	into(&plain, b);
	unpack(&merged, &v);
	require(bitset_equal(&plain, &merged));
	bitset_release(&merged);
	bitset_release(&plain);
	ewah_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct cursor c = cursor_make(bytes, len);
	struct ewah_view a, b;

	if (ewah_view_parse(&a, &c, NULL) < 0)
		return 0;
	check_write(&a, bytes, (size_t)(c.p - bytes));
	check_readers(&a);
	if (ewah_view_parse(&b, &c, NULL) < 0)
		b = a;
	check_op(&a, &b, ewah_or, ewah_or_into);
	check_op(&a, &b, ewah_and, ewah_and_into);
	check_op(&a, &b, ewah_xor, ewah_xor_into);
	check_op(&a, &b, ewah_andnot, ewah_andnot_into);
	return 0;
}
