/* SPDX-License-Identifier: MIT */
/*
 * Applies a view to a plain set: set = set op view. A view (struct ewah_view)
 * is a compressed bitmap that is read where its bytes are, often in a mapped
 * file. A plain set (struct bitset) is not compressed. Inlining compiles one
 * loop for each operation and byte order. A run of equal bits in the view needs
 * one memset() or no work at all. There is one exception: for XOR, a run of
 * ones inverts each word of the set.
 */
#include <string.h>

#include "ewah/chunk.h"
#include "ewah/ewah.h"

enum into_op { INTO_OR, INTO_AND, INTO_ANDNOT, INTO_XOR };

/*
 * Returns a op b, where `a` is a word of the plain set and `b` a word of the
 * view.
 */
EWAH_INLINE uint64_t apply(enum into_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case INTO_OR:
		return a | b;
	case INTO_AND:
		return a & b;
	case INTO_ANDNOT:
		return a & ~b;
	case INTO_XOR:
		break;
	}
	return a ^ b;
}

EWAH_INLINE void into_literals(uint64_t *words, const uint8_t *p, size_t nr,
			       enum into_op op, bool big_endian)
{
	size_t i;

	for (i = 0; i < nr; i++)
		words[i] = apply(op, words[i],
				 ewah_load(p + 8 * i, big_endian));
}

EWAH_INLINE void into_run(uint64_t *words, bool bit, size_t nr, enum into_op op)
{
	uint64_t run = bit ? UINT64_MAX : 0;
	uint64_t if_clear = apply(op, 0, run);
	uint64_t if_set = apply(op, UINT64_MAX, run);
	size_t i;

	if (if_clear == if_set)
		memset(words, (int)(if_set & 0xff), nr * sizeof(*words));
	else if (if_clear)
		for (i = 0; i < nr; i++)
			words[i] = ~words[i];
}

EWAH_INLINE void into_words(struct bitset *set, const struct ewah_view *v,
			    enum into_op op, bool big_endian)
{
	struct ewah_iter it;
	struct ewah_chunk chunk;
	uint64_t tail;
	size_t i = 0, nr;

	ewah_chunk_start(&it, v);
	while (i < set->word_nr &&
	       ewah_chunk_next(&it, &chunk, SIZE_MAX, &tail)) {
		nr = chunk.nr;
		if (nr > set->word_nr - i)
			nr = set->word_nr - i;
		if (chunk.literals)
			into_literals(set->words + i, chunk.literals, nr, op,
				      big_endian);
		else
			into_run(set->words + i, chunk.run_bit, nr, op);
		i += nr;
	}
	if (i < set->word_nr)
		into_run(set->words + i, false, set->word_nr - i, op);
	if (set->bits % 64)
		set->words[set->word_nr - 1] &= ewah_mask_below(set->bits % 64);
}

EWAH_INLINE void into(struct bitset *set, const struct ewah_view *v,
		      enum into_op op)
{
	if (v->big_endian)
		into_words(set, v, op, true);
	else
		into_words(set, v, op, false);
}

void ewah_or_into(struct bitset *set, const struct ewah_view *v)
{
	into(set, v, INTO_OR);
}

void ewah_and_into(struct bitset *set, const struct ewah_view *v)
{
	into(set, v, INTO_AND);
}

void ewah_andnot_into(struct bitset *set, const struct ewah_view *v)
{
	into(set, v, INTO_ANDNOT);
}

void ewah_xor_into(struct bitset *set, const struct ewah_view *v)
{
	into(set, v, INTO_XOR);
}
