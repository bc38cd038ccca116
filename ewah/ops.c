/* SPDX-License-Identifier: MIT */
/*
 * Combines two compressed bitmaps into a compressed one. A step consumes the
 * same number of words from both: as many as the shorter of the two current
 * chunks has. The loop is inlined, and so compiled separately, for each
 * operation.
 *
 * The memory of the output is reserved once: END_WORDS words, plus the smallest
 * of these upper limits of the output:
 * - the words of both operands. A step appends at most one word for each
 *   literal word that it consumes. A step on two runs uses up one of the runs,
 *   which has a word of its own, and appends at most one word.
 * - the words of the uncompressed bitmap.
 * - only for ewah_xor_below(): the words that the merge can append before it
 *   stops at its limit.
 */
#include <string.h>

#include "base/error.h"
#include "ewah/append.h"
#include "ewah/chunk.h"
#include "ewah/ewah.h"

enum merge_op { MERGE_OR, MERGE_AND, MERGE_XOR, MERGE_ANDNOT };

/*
 * Number of words that a result may have in addition to the words of both
 * operands: the first RLW, the zeros at the end, and one word for each operand.
 * An operand needs the extra word if its last, partial word becomes a chunk of
 * its own.
 */
#define END_WORDS 4

/*
 * A merge with a limit stops after the step in which the result reaches `limit`
 * words. A step combines at most `limit` + STEP_WORDS literals of each operand.
 * So the memory to reserve depends on the limit and not on the operands.
 */
#define STEP_WORDS 64

struct operand {
	struct ewah_iter it;
	/* the part of the current chunk that is not consumed yet */
	struct ewah_chunk chunk;
	/*
	 * maximum number of literals in one chunk; a longer sequence of
	 * literals is read as several chunks
	 */
	size_t max_literals;
	bool big_endian;
	/*
	 * true: the operand has no more words; `chunk` is an endless run of
	 * zeros
	 */
	bool ended;
};

EWAH_INLINE uint64_t apply(enum merge_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case MERGE_OR:
		return a | b;
	case MERGE_AND:
		return a & b;
	case MERGE_XOR:
		return a ^ b;
	case MERGE_ANDNOT:
		break;
	}
	return a & ~b;
}

EWAH_INLINE void operand_fill(struct operand *o, uint64_t *tail)
{
	if (o->chunk.nr ||
	    ewah_chunk_next(&o->it, &o->chunk, o->max_literals, tail))
		return;
	o->chunk.literals = NULL;
	o->chunk.run_bit = false;
	o->chunk.nr = SIZE_MAX;
	o->ended = true;
}

EWAH_INLINE void operand_consume(struct operand *o, size_t nr)
{
	o->chunk.nr -= nr;
	if (o->chunk.literals)
		o->chunk.literals += 8 * nr;
}

EWAH_INLINE void operand_init(struct operand *o, const struct ewah_view *v,
			      size_t max_literals, uint64_t *tail)
{
	ewah_chunk_start(&o->it, v);
	o->chunk.nr = 0;
	o->max_literals = max_literals;
	o->big_endian = v->big_endian;
	o->ended = false;
	operand_fill(o, tail);
}

/*
 * The literals of both operands that one step combines. The flags say which
 * words must be swapped because of their byte order.
 */
struct pair {
	const uint8_t *a, *b;
	size_t nr;
	/* a and b have different byte orders, so each word of b is swapped */
	bool swap_b;
	/* a is not in the byte order of the host, so each result is swapped */
	bool swap_out;
};

EWAH_INLINE uint64_t pair_word(const struct pair *p, enum merge_op op, size_t i)
{
	uint64_t a = ewah_load(p->a + 8 * i, false);
	uint64_t b = ewah_load(p->b + 8 * i, p->swap_b);
	uint64_t word = apply(op, a, b);

	return p->swap_out ? __builtin_bswap64(word) : word;
}

/*
 * Combines words i to i + 3 of both operands and stores the results at `to`.
 * Returns false if one of the four results is all zeros or all ones, otherwise
 * true.
 */
EWAH_INLINE bool pair_store_4(const struct pair *p, enum merge_op op, size_t i,
			      uint64_t *to)
{
	unsigned runs = 0;

	for (size_t k = 0; k < 4; k++) {
		to[k] = pair_word(p, op, i + k);
		runs |= ewah_is_run_word(to[k]);
	}
	return !runs;
}

/*
 * Appends the literals of the result from word i on. Returns the index of the
 * word after the last literal. Up to four words after the last literal may be
 * overwritten; they are inside the reserved memory.
 */
EWAH_INLINE size_t emit_pair_literals(struct ewah *out, const struct pair *p,
				      enum merge_op op, size_t i)
{
	uint64_t *start = out->words + out->word_nr, *to = start;

	while (p->nr - i >= 4 && pair_store_4(p, op, i, to)) {
		to += 4;
		i += 4;
	}
	for (; i < p->nr; i++) {
		*to = pair_word(p, op, i);
		if (ewah_is_run_word(*to))
			break;
		to++;
	}
	ewah_push_literals(out, (size_t)(to - start));
	return i;
}

/*
 * Combines literals of one operand with literals of the other. The result may
 * contain runs. The counts in the RLW are updated once per sequence, not per
 * word.
 */
EWAH_INLINE void emit_pair(struct ewah *out, const struct pair *p,
			   enum merge_op op)
{
	size_t i = 0, start;
	uint64_t word;

	for (;;) {
		i = emit_pair_literals(out, p, op, i);
		if (i == p->nr)
			break;
		word = pair_word(p, op, i);
		for (start = i++; i < p->nr; i++)
			if (pair_word(p, op, i) != word)
				break;
		ewah_push_run(out, word & 1, i - start);
		if (i == p->nr)
			break;
	}
}

EWAH_INLINE void emit_literals(struct ewah *out, const struct operand *a,
			       const struct operand *b, size_t nr,
			       enum merge_op op)
{
	struct pair p = {a->chunk.literals, b->chunk.literals, nr, false,
			 false};

	p.swap_out = a->big_endian;
	if (a->big_endian != b->big_endian)
		p.swap_b = true;
	emit_pair(out, &p, op);
}

/*
 * Appends literals of one operand, each XORed with `flip` (all zeros or all
 * ones).
 */
static void emit_copy(struct ewah *out, const uint8_t *p, bool big_endian,
		      size_t nr, uint64_t flip)
{
	uint64_t *to = out->words + out->word_nr;
	size_t i;

	if (big_endian)
		for (i = 0; i < nr; i++)
			to[i] = ewah_load(p + 8 * i, true) ^ flip;
	else
		for (i = 0; i < nr; i++)
			to[i] = ewah_load(p + 8 * i, false) ^ flip;
	ewah_push_literals(out, nr);
}

/*
 * Combines a run of one operand with a chunk of `o`, the other operand. Where a
 * bit of `o` is clear, the result has the bit of `if_clear`; where it is set,
 * the bit of `if_set`. If `if_clear` equals `if_set`, the result is a run.
 */
EWAH_INLINE void emit_half(struct ewah *out, const struct operand *o, size_t nr,
			   uint64_t if_clear, uint64_t if_set)
{
	if (if_clear == if_set)
		ewah_push_run(out, if_set & 1, nr);
	else if (!o->chunk.literals)
		ewah_push_run(out, (o->chunk.run_bit ? if_set : if_clear) & 1,
			      nr);
	else
		emit_copy(out, o->chunk.literals, o->big_endian, nr, if_clear);
}

EWAH_INLINE void emit_step(struct ewah *out, const struct operand *a,
			   const struct operand *b, size_t nr, enum merge_op op)
{
	uint64_t run;

	if (a->chunk.literals && b->chunk.literals) {
		emit_literals(out, a, b, nr, op);
	} else if (a->chunk.literals) {
		run = b->chunk.run_bit ? UINT64_MAX : 0;
		emit_half(out, a, nr, apply(op, 0, run),
			  apply(op, UINT64_MAX, run));
	} else {
		run = a->chunk.run_bit ? UINT64_MAX : 0;
		emit_half(out, b, nr, apply(op, run, 0),
			  apply(op, run, UINT64_MAX));
	}
}

/*
 * Reserves memory for the result of combining two bitmaps. `most` is the
 * largest number of words that the merge can store before it stops at its
 * limit.
 */
static int reserve(struct ewah *out, size_t bits, const struct ewah_view *a,
		   const struct ewah_view *b, size_t most)
{
	size_t nr = a->word_nr + b->word_nr;

	if (nr > ewah_words_of(bits))
		nr = ewah_words_of(bits);
	if (nr > most)
		nr = most;
	return ewah_append_reserve(out, nr + END_WORDS);
}

/*
 * Combines two bitmaps into *out. Returns 0 with the result, 1 if the result
 * has at least `limit` words, or ERR_NOMEM. In the last two cases *out is
 * empty.
 */
EWAH_INLINE int merge(struct ewah *out, const struct ewah_view *va,
		      const struct ewah_view *vb, enum merge_op op,
		      size_t limit)
{
	size_t bits = va->bits > vb->bits ? va->bits : vb->bits;
	size_t words = ewah_words_of(bits), covered = 0, nr;
	size_t step = limit < words ? limit + STEP_WORDS : SIZE_MAX;
	struct operand a, b;
	uint64_t tail_a, tail_b;

	ewah_reset(out);
	if (reserve(out, bits, va, vb, limit < words ? limit + step : words) <
	    0)
		return ERR_NOMEM;
	ewah_push_start(out);
	operand_init(&a, va, step, &tail_a);
	operand_init(&b, vb, step, &tail_b);
	while ((!a.ended || !b.ended) && out->word_nr < limit) {
		nr = a.chunk.nr < b.chunk.nr ? a.chunk.nr : b.chunk.nr;
		emit_step(out, &a, &b, nr, op);
		covered += nr;
		operand_consume(&a, nr);
		operand_consume(&b, nr);
		operand_fill(&a, &tail_a);
		operand_fill(&b, &tail_b);
	}
	if (covered < words)
		ewah_push_run(out, false, words - covered);
	if (out->word_nr >= limit) {
		ewah_reset(out);
		return 1;
	}
	out->bits = bits;
	return 0;
}

int ewah_or(struct ewah *out, const struct ewah_view *a,
	    const struct ewah_view *b)
{
	return merge(out, a, b, MERGE_OR, SIZE_MAX);
}

int ewah_and(struct ewah *out, const struct ewah_view *a,
	     const struct ewah_view *b)
{
	return merge(out, a, b, MERGE_AND, SIZE_MAX);
}

int ewah_xor(struct ewah *out, const struct ewah_view *a,
	     const struct ewah_view *b)
{
	return merge(out, a, b, MERGE_XOR, SIZE_MAX);
}

int ewah_xor_below(struct ewah *out, const struct ewah_view *a,
		   const struct ewah_view *b, size_t limit)
{
	return merge(out, a, b, MERGE_XOR, limit);
}

int ewah_andnot(struct ewah *out, const struct ewah_view *a,
		const struct ewah_view *b)
{
	return merge(out, a, b, MERGE_ANDNOT, SIZE_MAX);
}
