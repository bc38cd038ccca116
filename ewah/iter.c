/* SPDX-License-Identifier: MIT */
/*
 * Reads compressed bitmaps: visits spans or set bits, tests one bit, counts set
 * bits.
 */
#include "ewah/chunk.h"
#include "ewah/ewah.h"
#include "ewah/popcount.h"

void ewah_iter_init(struct ewah_iter *it, const struct ewah_view *v)
{
	ewah_chunk_start(it, v);
}

bool ewah_iter_next(struct ewah_iter *it, struct ewah_span *span)
{
	struct ewah_chunk chunk;
	uint64_t tail;

	if (!ewah_chunk_next(it, &chunk, 1, &tail))
		return false;
	span->is_run = !chunk.literals;
	span->nr = chunk.nr;
	if (span->is_run) {
		span->run_bit = chunk.run_bit;
		span->word = 0;
	} else {
		span->run_bit = false;
		span->word = ewah_load(chunk.literals, it->view->big_endian);
	}
	return true;
}

void ewah_bit_iter_init(struct ewah_bit_iter *it, const struct ewah_view *v)
{
	ewah_iter_init(&it->spans, v);
	it->word = 0;
	it->word_base = 0;
	it->next_base = 0;
	it->run_left = 0;
}

static void take_word(struct ewah_bit_iter *it, uint64_t word)
{
	it->word = word;
	it->word_base = it->next_base;
	it->next_base += 64;
}

static bool take_span(struct ewah_bit_iter *it)
{
	struct ewah_span span;

	if (!ewah_iter_next(&it->spans, &span))
		return false;
	if (!span.is_run)
		take_word(it, span.word);
	else if (span.run_bit)
		it->run_left = span.nr;
	else
		it->next_base += span.nr * 64;
	return true;
}

bool ewah_bit_iter_next(struct ewah_bit_iter *it, size_t *bit)
{
	while (!it->word) {
		if (it->run_left) {
			it->run_left--;
			take_word(it, UINT64_MAX);
		} else if (!take_span(it)) {
			return false;
		}
	}
	*bit = it->word_base + (size_t)__builtin_ctzll(it->word);
	it->word &= it->word - 1;
	return true;
}

size_t ewah_count(const struct ewah_view *v)
{
	struct ewah_iter it;
	struct ewah_chunk chunk;
	uint64_t tail;
	size_t count = 0;

	ewah_chunk_start(&it, v);
	while (ewah_chunk_next(&it, &chunk, SIZE_MAX, &tail)) {
		if (chunk.literals)
			count += ewah_popcount_bytes(chunk.literals, chunk.nr);
		else if (chunk.run_bit)
			count += chunk.nr * 64;
	}
	return count;
}

size_t ewah_count_and(const struct ewah_view *v, const struct bitset *set)
{
	struct ewah_iter it;
	struct ewah_chunk chunk;
	uint64_t tail;
	size_t i = 0, count = 0, nr;

	ewah_chunk_start(&it, v);
	while (i < set->word_nr &&
	       ewah_chunk_next(&it, &chunk, SIZE_MAX, &tail)) {
		nr = chunk.nr;
		if (nr > set->word_nr - i)
			nr = set->word_nr - i;
		if (chunk.literals)
			count += ewah_popcount_bytes_and(chunk.literals,
							 v->big_endian,
							 set->words + i, nr);
		else if (chunk.run_bit)
			count += ewah_popcount(set->words + i, nr);
		i += nr;
	}
	return count;
}

bool ewah_test(const struct ewah_view *v, size_t i)
{
	struct ewah_iter it;
	struct ewah_chunk chunk;
	uint64_t tail, word;
	size_t skip = i / 64;

	if (i >= v->bits)
		return false;
	ewah_chunk_start(&it, v);
	while (ewah_chunk_next(&it, &chunk, SIZE_MAX, &tail)) {
		if (skip >= chunk.nr) {
			skip -= chunk.nr;
			continue;
		}
		if (!chunk.literals)
			return chunk.run_bit;
		word = ewah_load(chunk.literals + 8 * skip, v->big_endian);
		return word >> (i % 64) & 1;
	}
	return false;
}
