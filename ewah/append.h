/* SPDX-License-Identifier: MIT */
/*
 * Inside of the ewah room: appending to a bitmap whose memory is reserved.
 * None of these looks at word_alloc or changes `bits`: both are the caller's
 * duty. One appended run or literal takes at most one word, and starting an
 * empty bitmap takes one.
 */
#ifndef EWAH_APPEND_H
#define EWAH_APPEND_H

#include "ewah/ewah.h"
#include "ewah/rlw.h"

/* Room for `nr` more words. 0 or ERR_NOMEM with *e untouched. */
int ewah_append_reserve(struct ewah *e, size_t nr);

static inline void ewah_push_rlw(struct ewah *e, uint64_t rlw)
{
	e->last_rlw = e->word_nr;
	e->words[e->word_nr++] = rlw;
}

/* Make sure that there is an RLW to append to. */
static inline void ewah_push_start(struct ewah *e)
{
	if (!e->word_nr)
		ewah_push_rlw(e, 0);
}

/* Append `nr` >= 1 words of equal bits to a started bitmap. */
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

/* Take the `nr` words stored after the last word as literals. */
static inline void ewah_push_literals(struct ewah *e, size_t nr)
{
	e->words[e->last_rlw] += EWAH_RLW_LITERAL_ONE * nr;
	e->word_nr += nr;
}

/* Append one word to a started bitmap, as a run if it is one. */
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
