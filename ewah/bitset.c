/* SPDX-License-Identifier: MIT */
/*
 * Plain bit sets: loops over words. A function that writes whole words clears
 * the unused bits of the last word.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "ewah/bitset.h"
#include "ewah/popcount.h"
#include "ewah/rlw.h"

static size_t min_words(const struct bitset *a, const struct bitset *b)
{
	return a->word_nr < b->word_nr ? a->word_nr : b->word_nr;
}

/* Clears the unused bits of the last word after an operation on words. */
static void mask_last_word(struct bitset *set)
{
	if (set->bits % 64)
		set->words[set->word_nr - 1] &= ewah_mask_below(set->bits % 64);
}

int bitset_init(struct bitset *set, size_t bits)
{
	struct bitset fresh = BITSET_INIT;

	*set = fresh;
	fresh.words = mem_calloc(ewah_words_of(bits), sizeof(*fresh.words));
	if (!fresh.words)
		return ERR_NOMEM;
	fresh.bits = bits;
	fresh.word_nr = ewah_words_of(bits);
	*set = fresh;
	return 0;
}

void bitset_release(struct bitset *set)
{
	struct bitset empty = BITSET_INIT;

	free(set->words);
	*set = empty;
}

/*
 * Changes the number of words of a set. New words are not initialised. Returns
 * 0 or ERR_NOMEM.
 */
static int resize_words(struct bitset *set, size_t word_nr)
{
	uint64_t *words;
	size_t bytes;

	if (set->words && word_nr == set->word_nr)
		return 0;
	if (!mem_mul(&bytes, word_nr, sizeof(*words)))
		return ERR_NOMEM;
	words = realloc(set->words, bytes ? bytes : 1);
	if (!words)
		return ERR_NOMEM;
	set->words = words;
	set->word_nr = word_nr;
	return 0;
}

int bitset_grow(struct bitset *set, size_t bits)
{
	size_t old_nr = set->word_nr;

	if (bits <= set->bits)
		return 0;
	if (resize_words(set, ewah_words_of(bits)) < 0)
		return ERR_NOMEM;
	memset(set->words + old_nr, 0,
	       (set->word_nr - old_nr) * sizeof(*set->words));
	set->bits = bits;
	return 0;
}

int bitset_copy(struct bitset *dst, const struct bitset *src)
{
	if (resize_words(dst, src->word_nr) < 0)
		return ERR_NOMEM;
	if (src->word_nr)
		memcpy(dst->words, src->words,
		       src->word_nr * sizeof(*src->words));
	dst->bits = src->bits;
	return 0;
}

void bitset_clear(struct bitset *set)
{
	if (set->word_nr)
		memset(set->words, 0, set->word_nr * sizeof(*set->words));
}

void bitset_set_range(struct bitset *set, size_t from, size_t to)
{
	uint64_t first, last;
	size_t from_word = from / 64, to_word = to / 64;

	if (from >= to)
		return;
	first = ~ewah_mask_below(from % 64);
	last = ewah_mask_below(to % 64);
	if (from_word == to_word) {
		set->words[from_word] |= first & last;
		return;
	}
	set->words[from_word] |= first;
	memset(set->words + from_word + 1, 0xff,
	       (to_word - from_word - 1) * sizeof(*set->words));
	if (last)
		set->words[to_word] |= last;
}

enum set_op { SET_OR, SET_AND, SET_ANDNOT, SET_XOR };

EWAH_INLINE uint64_t apply(enum set_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case SET_OR:
		return a | b;
	case SET_AND:
		return a & b;
	case SET_ANDNOT:
		return a & ~b;
	case SET_XOR:
		break;
	}
	return a ^ b;
}

/*
 * Combines `nr` words of `to` with those of `from` by the operation `op`, and
 * stores the result in `to`. Works on four words at a time. All four words are
 * loaded before the first is stored. Otherwise the compiler would use no vector
 * instructions at -O2, because both arrays might overlap.
 */
EWAH_INLINE void apply_words(uint64_t *to, const uint64_t *from, size_t nr,
			     enum set_op op)
{
	size_t i;
	uint64_t a, b, c, d;

	for (i = 0; nr - i >= 4; i += 4) {
		a = apply(op, to[i], from[i]);
		b = apply(op, to[i + 1], from[i + 1]);
		c = apply(op, to[i + 2], from[i + 2]);
		d = apply(op, to[i + 3], from[i + 3]);
		to[i] = a;
		to[i + 1] = b;
		to[i + 2] = c;
		to[i + 3] = d;
	}
	for (; i < nr; i++)
		to[i] = apply(op, to[i], from[i]);
}

void bitset_or(struct bitset *dst, const struct bitset *src)
{
	apply_words(dst->words, src->words, min_words(dst, src), SET_OR);
	mask_last_word(dst);
}

void bitset_and(struct bitset *dst, const struct bitset *src)
{
	size_t nr = min_words(dst, src);

	apply_words(dst->words, src->words, nr, SET_AND);
	if (nr < dst->word_nr)
		memset(dst->words + nr, 0,
		       (dst->word_nr - nr) * sizeof(*dst->words));
}

void bitset_andnot(struct bitset *dst, const struct bitset *src)
{
	apply_words(dst->words, src->words, min_words(dst, src), SET_ANDNOT);
}

void bitset_xor(struct bitset *dst, const struct bitset *src)
{
	apply_words(dst->words, src->words, min_words(dst, src), SET_XOR);
	mask_last_word(dst);
}

size_t bitset_count(const struct bitset *set)
{
	return ewah_popcount(set->words, set->word_nr);
}

size_t bitset_count_range(const struct bitset *set, size_t from, size_t to)
{
	size_t first = from / 64, last = to / 64, count;

	if (from >= to)
		return 0;
	count = ewah_popcount(set->words + first, last - first);
	if (from % 64)
		count -= ewah_popcount_word(set->words[first] &
					    ewah_mask_below(from % 64));
	if (to % 64)
		count += ewah_popcount_word(set->words[last] &
					    ewah_mask_below(to % 64));
	return count;
}

size_t bitset_count_and(const struct bitset *a, const struct bitset *b)
{
	return ewah_popcount_and(a->words, b->words, min_words(a, b));
}

static bool words_are_zero(const struct bitset *set, size_t from)
{
	size_t i;

	for (i = from; i < set->word_nr; i++)
		if (set->words[i])
			return false;
	return true;
}

bool bitset_is_empty(const struct bitset *set)
{
	return words_are_zero(set, 0);
}

bool bitset_equal(const struct bitset *a, const struct bitset *b)
{
	size_t nr = min_words(a, b);

	if (nr && memcmp(a->words, b->words, nr * sizeof(*a->words)))
		return false;
	return words_are_zero(a, nr) && words_are_zero(b, nr);
}

bool bitset_contains(const struct bitset *set, const struct bitset *sub)
{
	size_t i, nr = min_words(set, sub);

	for (i = 0; i < nr; i++)
		if (sub->words[i] & ~set->words[i])
			return false;
	return words_are_zero(sub, nr);
}

/*
 * If `flip` is 0, returns the first bit at or after `from` that is set. If
 * `flip` is all ones, returns the first bit that is not set. Returns set->bits
 * if there is none.
 */
static size_t next_unlike(const struct bitset *set, size_t from, uint64_t flip)
{
	size_t i = from / 64, bit;
	uint64_t word;

	if (from >= set->bits)
		return set->bits;
	word = (set->words[i] ^ flip) & ~ewah_mask_below(from % 64);
	while (!word) {
		if (++i >= set->word_nr)
			return set->bits;
		word = set->words[i] ^ flip;
	}
	bit = i * 64 + (size_t)__builtin_ctzll(word);
	return bit < set->bits ? bit : set->bits;
}

size_t bitset_next(const struct bitset *set, size_t from)
{
	return next_unlike(set, from, 0);
}

size_t bitset_next_unset(const struct bitset *set, size_t from)
{
	return next_unlike(set, from, UINT64_MAX);
}
