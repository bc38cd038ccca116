/* SPDX-License-Identifier: MIT */
/*
 * Only for the files of ewah/: reads a view (a serialized bitmap) chunk by
 * chunk. A chunk is a whole run or a whole sequence of literal words. All files
 * of ewah/ that read views use these functions. A writer may have left set bits
 * at or past the size; only the functions of this file mask these bits off.
 *
 * Real bitmaps have many short chunks. So all functions are inlined, and no
 * code takes the address of an iterator or a chunk: both live in registers.
 */
#ifndef EWAH_CHUNK_H
#define EWAH_CHUNK_H

#include "ewah/ewah.h"
#include "ewah/rlw.h"

struct ewah_chunk {
	/*
	 * Points into the view, or to *tail of ewah_chunk_next(). NULL: the
	 * chunk is a run.
	 */
	const uint8_t *literals;
	size_t nr;    /* words, never 0 */
	bool run_bit; /* value of the run's bits */
};

/* Makes an iterator that reads the chunks of a view from its beginning. */
EWAH_INLINE void ewah_chunk_start(struct ewah_iter *it,
				  const struct ewah_view *v)
{
	it->view = v;
	it->next = 0;
	it->run = 0;
	it->literals = 0;
	it->full_words = v->bits / 64;
	it->run_bit = false;
}

/*
 * Advances the iterator to the next RLW that has a run or literals. Returns
 * false at the end of the bitmap.
 */
EWAH_INLINE bool ewah_chunk_start_rlw(struct ewah_iter *it)
{
	const struct ewah_view *v = it->view;
	uint64_t rlw;

	while (!it->run && !it->literals) {
		if (it->next >= v->word_nr)
			return false;
		rlw = ewah_load(v->words + 8 * it->next++, v->big_endian);
		it->run = ewah_rlw_run(rlw);
		it->run_bit = ewah_rlw_bit(rlw);
		it->literals = ewah_rlw_literals(rlw);
	}
	return true;
}

/*
 * Returns the last, partial word of the bitmap as a chunk of one literal. *tail
 * holds the word, in the byte order of the view.
 */
EWAH_INLINE void ewah_chunk_tail(struct ewah_iter *it, struct ewah_chunk *chunk,
				 uint64_t *tail)
{
	const struct ewah_view *v = it->view;
	uint64_t word = it->run_bit ? UINT64_MAX : 0;

	if (it->run) {
		it->run--;
	} else {
		word = ewah_load(v->words + 8 * it->next++, v->big_endian);
		it->literals--;
	}
	word &= ewah_mask_below(v->bits % 64);
	*tail = v->big_endian ? __builtin_bswap64(word) : word;
	chunk->literals = (const uint8_t *)tail;
	chunk->nr = 1;
	chunk->run_bit = false;
}

/*
 * Stores the next chunk in *chunk. A chunk of literals has at most
 * `max_literals` (>= 1) words. They are in the byte order of the serialized
 * bitmap (it->view), and not converted. *tail is memory for the bitmap's last
 * word if that word is partial. It must live as long as the chunk is in use.
 * Returns false at the end of the bitmap, otherwise true.
 */
EWAH_INLINE bool ewah_chunk_next(struct ewah_iter *it, struct ewah_chunk *chunk,
				 size_t max_literals, uint64_t *tail)
{
	size_t nr;

	if (!ewah_chunk_start_rlw(it))
		return false;
	nr = it->run ? it->run : it->literals;
	if (!it->run && nr > max_literals)
		nr = max_literals;
	if (nr > it->full_words)
		nr = it->full_words;
	if (!nr) {
		ewah_chunk_tail(it, chunk, tail);
		return true;
	}
	it->full_words -= nr;
	chunk->nr = nr;
	chunk->run_bit = it->run_bit;
	if (it->run) {
		chunk->literals = NULL;
		it->run -= nr;
	} else {
		chunk->literals = it->view->words + 8 * it->next;
		it->next += nr;
		it->literals -= nr;
	}
	return true;
}

#endif
