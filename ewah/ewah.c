/* SPDX-License-Identifier: MIT */
/*
 * Builds compressed bitmaps by appending. Every public append first reserves
 * memory for its worst case, so that a failed allocation changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "ewah/append.h"
#include "ewah/ewah.h"

void ewah_init(struct ewah *e)
{
	struct ewah empty = {NULL, 0, 0, 0, 0};

	*e = empty;
}

void ewah_release(struct ewah *e)
{
	free(e->words);
	ewah_init(e);
}

void ewah_reset(struct ewah *e)
{
	e->word_nr = 0;
	e->bits = 0;
	e->last_rlw = 0;
}

int ewah_copy(struct ewah *out, const struct ewah *e)
{
	uint64_t *words = mem_alloc(e->word_nr, sizeof(*words));

	ewah_init(out);
	if (!words)
		return ERR_NOMEM;
	if (e->word_nr)
		memcpy(words, e->words, e->word_nr * sizeof(*words));
	*out = *e;
	out->words = words;
	out->word_alloc = e->word_nr;
	return 0;
}

int ewah_append_reserve(struct ewah *e, size_t nr)
{
	size_t need;

	if (!mem_add(&need, e->word_nr, nr))
		return ERR_NOMEM;
	return mem_grow(&e->words, &e->word_alloc, need, sizeof(*e->words));
}

int ewah_append_run(struct ewah *e, bool bit, size_t nr)
{
	size_t covered = ewah_words_of(e->bits);

	if (!nr)
		return 0;
	/*
	 * The limit is no multiple of 64 bits. So `covered` may be one more
	 * than the number of whole words in the limit.
	 */
	if (covered >= EWAH_MAX_BITS / 64 || nr > EWAH_MAX_BITS / 64 - covered)
		return ERR_INVALID;
	if (ewah_append_reserve(e, 1) < 0)
		return ERR_NOMEM;
	ewah_push_start(e);
	ewah_push_run(e, bit, nr);
	e->bits = (covered + nr) * 64;
	return 0;
}

int ewah_append_word(struct ewah *e, uint64_t word)
{
	size_t covered = ewah_words_of(e->bits);

	if (covered >= EWAH_MAX_BITS / 64)
		return ERR_INVALID;
	if (ewah_append_reserve(e, 2) < 0)
		return ERR_NOMEM;
	ewah_push_start(e);
	ewah_push_word(e, word);
	e->bits = (covered + 1) * 64;
	return 0;
}

/*
 * Sets a bit in the last word of the bitmap. Higher bits of this word must be
 * clear. If the word becomes all ones, it is moved into a run.
 */
static void set_in_last_word(struct ewah *e, uint64_t bit)
{
	uint64_t *rlw = &e->words[e->last_rlw];
	uint64_t word;

	if (!ewah_rlw_literals(*rlw)) {
		*rlw -= UINT64_C(1) << 1;
		ewah_push_word(e, bit);
		return;
	}
	word = e->words[e->word_nr - 1] |= bit;
	if (word != UINT64_MAX)
		return;
	*rlw -= EWAH_RLW_LITERAL_ONE;
	e->word_nr--;
	ewah_push_run(e, true, 1);
}

int ewah_set(struct ewah *e, size_t i)
{
	size_t covered = ewah_words_of(e->bits);
	uint64_t bit = UINT64_C(1) << (i % 64);

	if (i < e->bits || i >= EWAH_MAX_BITS)
		return ERR_INVALID;
	if (ewah_append_reserve(e, 2) < 0)
		return ERR_NOMEM;
	ewah_push_start(e);
	if (i / 64 > covered)
		ewah_push_run(e, false, i / 64 - covered);
	if (i / 64 >= covered)
		ewah_push_word(e, bit);
	else
		set_in_last_word(e, bit);
	e->bits = i + 1;
	return 0;
}

/*
 * Appends a run: words[0], which is all zeros or all ones, and the words
 * directly after it, as long as they equal words[0]. Sets *taken to the number
 * of words appended. Returns 0 or ERR_NOMEM.
 */
static int append_equal_words(struct ewah *e, const uint64_t *words, size_t nr,
			      size_t *taken)
{
	size_t i = 1;

	while (i < nr && words[i] == words[0])
		i++;
	*taken = i;
	if (ewah_append_reserve(e, 1) < 0)
		return ERR_NOMEM;
	ewah_push_run(e, words[0] & 1, i);
	return 0;
}

/*
 * Appends literals: the words from words[0] on, up to the next word that is all
 * zeros or all ones. Sets *taken to the number of words appended. Returns 0 or
 * ERR_NOMEM.
 */
static int append_literals(struct ewah *e, const uint64_t *words, size_t nr,
			   size_t *taken)
{
	size_t i = 1;

	while (i < nr && !ewah_is_run_word(words[i]))
		i++;
	*taken = i;
	if (ewah_append_reserve(e, i) < 0)
		return ERR_NOMEM;
	memcpy(e->words + e->word_nr, words, i * sizeof(*words));
	ewah_push_literals(e, i);
	return 0;
}

int ewah_from_bitset(struct ewah *e, const struct bitset *set)
{
	size_t i, taken;
	int ret;

	ewah_reset(e);
	if (set->bits > EWAH_MAX_BITS)
		return ERR_INVALID;
	if (ewah_append_reserve(e, 1) < 0)
		return ERR_NOMEM;
	ewah_push_start(e);
	for (i = 0; i < set->word_nr; i += taken) {
		if (ewah_is_run_word(set->words[i]))
			ret = append_equal_words(e, set->words + i,
						 set->word_nr - i, &taken);
		else
			ret = append_literals(e, set->words + i,
					      set->word_nr - i, &taken);
		if (ret < 0) {
			ewah_reset(e);
			return ret;
		}
	}
	e->bits = set->bits;
	return 0;
}
