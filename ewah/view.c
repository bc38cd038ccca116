/* SPDX-License-Identifier: MIT */
/*
 * Parses and writes serialized bitmaps. Parsing makes a view (struct
 * ewah_view): a read-only bitmap that borrows the serialized bytes. The bytes
 * are checked once, when they are parsed. Functions that read a view do not
 * check it again.
 */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/error.h"
#include "ewah/ewah.h"
#include "ewah/rlw.h"

/*
 * The bytes of a serialized bitmap besides its words: the size, the number of
 * words and the index of the last RLW.
 */
#define FRAME_LEN 12

/*
 * Verifies the chain of RLWs (run-length words, each followed by its literals).
 * `covered` is the number of words of the uncompressed bitmap so far. It cannot
 * overflow: before each step it is at most 2^26 (the words of 2^32 bits), and a
 * step adds less than 2^33 (a run has less than 2^32 words, and fewer literals
 * follow). Returns 0 or ERR_CORRUPT.
 */
static int check_words(const struct ewah_view *v, struct error *err)
{
	size_t i = 0, last = 0, covered = 0, literals;
	size_t words_max = ewah_words_of(v->bits);
	uint64_t rlw;

	while (i < v->word_nr) {
		rlw = ewah_load(v->words + 8 * i, v->big_endian);
		literals = ewah_rlw_literals(rlw);
		last = i++;
		if (literals > v->word_nr - i)
			return error_set(err, ERR_CORRUPT,
					 "bitmap: literals of word %zu go past "
					 "its %zu words",
					 last, v->word_nr);
		i += literals;
		covered += ewah_rlw_run(rlw) + literals;
		if (covered > words_max)
			return error_set(err, ERR_CORRUPT,
					 "bitmap: words cover more than its "
					 "%zu bits",
					 v->bits);
	}
	if (last != v->last_rlw)
		return error_set(err, ERR_CORRUPT,
				 "bitmap: last run-length word is %zu, not %zu",
				 last, v->last_rlw);
	return 0;
}

/*
 * Takes the fields of a serialized bitmap from the cursor. Returns false if the
 * cursor has too few bytes; nothing else is checked.
 */
static bool take_fields(struct ewah_view *v, struct cursor *c)
{
	uint32_t bits, word_nr, last_rlw;

	if (!cursor_be32(c, &bits) || !cursor_be32(c, &word_nr))
		return false;
	if (word_nr > cursor_left(c) / 8 ||
	    !cursor_bytes(c, &v->words, 8 * (size_t)word_nr) ||
	    !cursor_be32(c, &last_rlw))
		return false;
	v->bits = bits;
	v->word_nr = word_nr;
	v->last_rlw = last_rlw;
	v->big_endian = true;
	return true;
}

int ewah_view_parse(struct ewah_view *view, struct cursor *c, struct error *err)
{
	struct ewah_view none = {NULL, 0, 0, 0, false};
	struct ewah_view v = none;
	struct cursor rest = *c;
	int ret;

	*view = none;
	if (!take_fields(&v, &rest))
		return error_set(err, ERR_CORRUPT, "bitmap: truncated");
	ret = check_words(&v, err);
	if (ret < 0)
		return ret;
	*view = v;
	*c = rest;
	return 0;
}

struct ewah_view ewah_view_of(const struct ewah *e)
{
	struct ewah_view v = {(const uint8_t *)e->words, e->word_nr, e->bits,
			      e->last_rlw, false};

	return v;
}

size_t ewah_view_size(const struct ewah_view *v)
{
	return FRAME_LEN + 8 * (v->word_nr ? v->word_nr : 1);
}

/*
 * Stores all words big-endian. A bitmap without words gets an empty RLW.
 * Returns the end of the stored bytes.
 */
static uint8_t *store_words(uint8_t *p, const struct ewah_view *v)
{
	size_t i;

	if (!v->word_nr) {
		store_be64(p, 0);
		return p + 8;
	}
	if (v->big_endian)
		memcpy(p, v->words, 8 * v->word_nr);
	else
		for (i = 0; i < v->word_nr; i++)
			store_be64(p + 8 * i,
				   ewah_load(v->words + 8 * i, false));
	return p + 8 * v->word_nr;
}

int ewah_view_write(struct buf *out, const struct ewah_view *v)
{
	size_t size = ewah_view_size(v);
	uint8_t *p;

	if (buf_reserve(out, size) < 0)
		return ERR_NOMEM;
	p = (uint8_t *)out->data + out->len;
	store_be32(p, (uint32_t)v->bits);
	store_be32(p + 4, (uint32_t)(v->word_nr ? v->word_nr : 1));
	p = store_words(p + 8, v);
	store_be32(p, (uint32_t)v->last_rlw);
	buf_set_len(out, out->len + size);
	return 0;
}
