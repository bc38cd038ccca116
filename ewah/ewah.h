/* SPDX-License-Identifier: MIT */
/*
 * EWAH: bitmaps compressed by word-aligned runs.
 *
 * A compressed bitmap is a sequence of 64-bit words: a running-length word
 * (RLW) followed by the literal words it announces, again and again.
 *
 *   RLW   bit 0        value of the run's bits
 *         bits 1..32   run length, in words (at most 2^32 - 1)
 *         bits 33..63  number of literal words that follow (at most 2^31 - 1)
 *
 * On disk (all big-endian), as in gitformat-bitmap(5):
 *
 *   4 bytes   number of bits of the uncompressed bitmap
 *   4 bytes   number of 64-bit words that follow
 *   8 bytes each  the words
 *   4 bytes   index of the last RLW among the words
 *
 * For instance a bitmap of 200 bits of which 0 to 127, 130 and 191 are set:
 *
 *   00 00 00 c8               200 bits
 *   00 00 00 03               3 words
 *   00 00 00 02 00 00 00 05   RLW: 2 words of ones, then 1 literal
 *   80 00 00 00 00 00 00 04   literal: bits 128 + 2 and 128 + 63
 *   00 00 00 00 00 00 00 02   RLW: 1 word of zeros, no literal
 *   00 00 00 02               the last RLW is word 2
 *
 * Writers differ at the end of a bitmap. The size may be rounded up to words
 * or not; words of zeros at the end may be missing, the bits of all missing
 * words are zero; and a last word of which only some bits lie below the size
 * may have others set, which every reader here ignores.
 *
 * Sources: Lemire, Kaser, Aouiche, "Sorting improves word-aligned bitmap
 * indexes" (arXiv:0901.3751); gitformat-bitmap(5).
 *
 * Two forms live here. `struct ewah_view` borrows serialized bytes (for
 * instance of a mapped index file) and is checked once when it is made; all
 * reading operations work on views, so that nothing is copied to be read.
 * `struct ewah` owns words in host order and is built by appending; a view
 * of its words is had with ewah_view_of().
 */
#ifndef EWAH_EWAH_H
#define EWAH_EWAH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "ewah/bitset.h"

/* The largest number of bits a bitmap can have: what its 32-bit field holds. */
#define EWAH_MAX_BITS UINT32_MAX

/*
 * A checked, read-only compressed bitmap. Shareable between threads.
 */
struct ewah_view {
	const uint8_t *words; /* borrowed; unaligned 64-bit words */
	size_t word_nr;
	size_t bits;     /* uncompressed size in bits */
	size_t last_rlw; /* index of the last RLW */
	bool big_endian; /* byte order of `words` */
};

/*
 * Take one serialized bitmap from the front of *c. Checks that all words are
 * there, that the RLWs chain exactly from the first word to the last, and that
 * the runs and literals cover no more than `bits` rounded up to words. A bitmap
 * without any word is taken as all zero. Returns 0 or ERR_CORRUPT (*view
 * zeroed, *c untouched). The view borrows the cursor's bytes. O(number of
 * RLWs).
 */
int ewah_view_parse(struct ewah_view *view, struct cursor *c,
		    struct error *err);

/*
 * Builder and owner of a compressed bitmap. Its words cover exactly `bits`
 * rounded up to words, and no bit at or past `bits` is set. A failed append
 * leaves it as it was.
 */
struct ewah {
	uint64_t *words; /* owned, host order */
	size_t word_nr, word_alloc;
	size_t bits;     /* uncompressed size in bits */
	size_t last_rlw; /* index of the RLW being filled */
};

/* An empty bitmap; holds no memory until appended to. */
void ewah_init(struct ewah *e);
void ewah_release(struct ewah *e);
void ewah_reset(struct ewah *e);

/*
 * Append 64 bits / `nr` words of all-zero or all-one bits, after rounding the
 * size up to words. 0, ERR_NOMEM, or ERR_INVALID when the size would pass
 * EWAH_MAX_BITS.
 */
int ewah_append_word(struct ewah *e, uint64_t word);
int ewah_append_run(struct ewah *e, bool bit, size_t nr);

/*
 * Set bit i, which must be >= e->bits (bits are appended in ascending order);
 * the gap is filled with zeros and the size becomes i + 1. 0, ERR_NOMEM, or
 * ERR_INVALID when i is out of order or not below EWAH_MAX_BITS.
 */
int ewah_set(struct ewah *e, size_t i);

/*
 * Compress a plain set; the size is set->bits. *e is overwritten. 0; or
 * ERR_NOMEM, or ERR_INVALID when the set is larger than EWAH_MAX_BITS, with *e
 * empty.
 */
int ewah_from_bitset(struct ewah *e, const struct bitset *set);

/*
 * Copy, into memory of just that size. *out is overwritten, and what it held
 * lost: an empty one. 0, or ERR_NOMEM with *out empty.
 */
int ewah_copy(struct ewah *out, const struct ewah *e);

/* A view of an owned bitmap; valid until *e changes. */
struct ewah_view ewah_view_of(const struct ewah *e);

/*
 * Append the serialized form to *out; it has at least one RLW, as other
 * readers expect. 0 or ERR_NOMEM with *out untouched.
 */
int ewah_view_write(struct buf *out, const struct ewah_view *v);

/* Bytes that ewah_view_write() appends. */
size_t ewah_view_size(const struct ewah_view *v);

/*
 * Plain set op= compressed, word by word without unpacking; bits of the view
 * past set->bits are dropped. For AND, bits the view does not have count as
 * zero.
 */
void ewah_or_into(struct bitset *set, const struct ewah_view *v);
void ewah_and_into(struct bitset *set, const struct ewah_view *v);
void ewah_andnot_into(struct bitset *set, const struct ewah_view *v);
void ewah_xor_into(struct bitset *set, const struct ewah_view *v);

/*
 * *out = a op b, compressed to compressed; the size is the larger of the two.
 * *out is overwritten (ewah_reset first); it must not be an operand. 0, or
 * ERR_NOMEM with *out empty. O(words of both operands).
 */
int ewah_or(struct ewah *out, const struct ewah_view *a,
	    const struct ewah_view *b);
int ewah_and(struct ewah *out, const struct ewah_view *a,
	     const struct ewah_view *b);
int ewah_xor(struct ewah *out, const struct ewah_view *a,
	     const struct ewah_view *b);
int ewah_andnot(struct ewah *out, const struct ewah_view *a,
		const struct ewah_view *b);

/*
 * As ewah_xor(), if the result has fewer than `limit` words: else 1, with *out
 * empty, as soon as it has so many.
 */
int ewah_xor_below(struct ewah *out, const struct ewah_view *a,
		   const struct ewah_view *b, size_t limit);

/* Number of set bits; of bits set in the plain set as well. */
size_t ewah_count(const struct ewah_view *v);
size_t ewah_count_and(const struct ewah_view *v, const struct bitset *set);

/* Whether bit i is set. O(number of RLWs up to it). */
bool ewah_test(const struct ewah_view *v, size_t i);

/*
 * A span of equal words, as iteration delivers it: either `nr` words of all
 * bits equal to `run_bit`, or one literal word. Spans follow each other without
 * gaps and may end before the size does: the rest is zero. No span has a bit
 * set at or past the size.
 */
struct ewah_span {
	bool is_run;
	bool run_bit;
	uint64_t word; /* the literal when !is_run */
	size_t nr;     /* words; 1 for a literal */
};

struct ewah_iter {
	const struct ewah_view *view; /* borrowed */
	size_t next;                  /* index of the next unread word */
	size_t run;                   /* run words left of the current RLW */
	size_t literals;   /* literal words left of the current RLW */
	size_t full_words; /* words left that lie wholly below view->bits */
	bool run_bit;      /* value of the current RLW's run */
};

void ewah_iter_init(struct ewah_iter *it, const struct ewah_view *v);

/* The next span (empty runs are skipped); false at the end. */
bool ewah_iter_next(struct ewah_iter *it, struct ewah_span *span);

/* Iterator over the numbers of set bits, ascending. */
struct ewah_bit_iter {
	struct ewah_iter spans;
	uint64_t word;    /* bits of the current word not yet delivered */
	size_t word_base; /* bit number of that word's bit 0 */
	size_t next_base; /* bit number after the current span */
	size_t run_left;  /* all-one words left of the current run */
};

void ewah_bit_iter_init(struct ewah_bit_iter *it, const struct ewah_view *v);
bool ewah_bit_iter_next(struct ewah_bit_iter *it, size_t *bit);

#endif
