/* SPDX-License-Identifier: MIT */
/*
 * Internal to the directory ewah/: appends to a bitmap whose memory is
 * reserved.
 *
 * A caller first reserves the memory, then appends, and finally sets e->bits.
 * An appended run or literal takes at most one word. Starting an empty bitmap
 * takes one word.
 */
#ifndef EWAH_APPEND_H
#define EWAH_APPEND_H

#include "ewah/ewah.h"
#include "ewah/rlw.h"

/*
 * Reserves memory for `nr` more words. Returns 0 or ERR_NOMEM. After an error,
 * *e is unchanged.
 */
int ewah_append_reserve(struct ewah *e, size_t nr);

static inline void ewah_push_rlw(struct ewah *e, uint64_t rlw)
{
	e->last_rlw = e->word_nr;
	e->words[e->word_nr++] = rlw;
}

/* Gives an empty bitmap its first running-length word (RLW). */
static inline void ewah_push_start(struct ewah *e)
{
	if (!e->word_nr)
		ewah_push_rlw(e, 0);
}

/*
 * Appends `nr` >= 1 words whose bits all equal `bit`. ewah_push_start() must
 * have been called.
 */
static inline void ewah_push_run(struct ewah *e, bool bit, size_t nr)
{
	uint64_t rlw = e->words[e->last_rlw];
	uint64_t run = (uint64_t)nr << 1;

	if (ewah_rlw_literals(rlw) ||
	    (ewah_rlw_run(rlw) && ewah_rlw_bit(rlw) != bit))
		ewah_push_rlw(e, run | bit);
	else
		e->words[e->last_rlw] = ((rlw & ~UINT64_C(1)) + run) | bit;
}

/*
 * Counts `nr` words as literals in the last running-length word (RLW). The
 * caller has stored these words after the last word of the bitmap.
 */
static inline void ewah_push_literals(struct ewah *e, size_t nr)
{
	e->words[e->last_rlw] += EWAH_RLW_LITERAL_ONE * nr;
	e->word_nr += nr;
}

/*
 * Appends one word, as a run if all its bits are equal. ewah_push_start() must
 * have been called.
 */
static inline void ewah_push_word(struct ewah *e, uint64_t word)
{
	if (ewah_is_run_word(word)) {
		ewah_push_run(e, word & 1, 1);
		return;
	}
	e->words[e->word_nr] = word;
	ewah_push_literals(e, 1);
}

#endif
