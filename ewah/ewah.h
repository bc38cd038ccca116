/* SPDX-License-Identifier: MIT */
/*
 * EWAH: bitmaps compressed by word-aligned runs.
 *
 * A compressed bitmap is a sequence of 64-bit words: a running-length word
 * (RLW) followed by its literal words, then the next RLW, and so on.
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
 * An example: a bitmap of 200 bits with the bits 0 to 127, 130 and 191 set:
 *
 *   00 00 00 c8               200 bits
 *   00 00 00 03               3 words
 *   00 00 00 02 00 00 00 05   RLW: 2 words of ones, then 1 literal
 *   80 00 00 00 00 00 00 04   literal: bits 128 + 2 and 128 + 63
 *   00 00 00 00 00 00 00 02   RLW: 1 word of zeros, no literal
 *   00 00 00 02               the last RLW is word 2
 *
 * Writers differ at the end of a bitmap. The size may be rounded up to a
 * multiple of 64 bits or not. Words of zeros at the end may be missing: all
 * missing bits are zero. The last word may have bits set at or past the size:
 * every reader here ignores such bits.
 *
 * Sources: Lemire, Kaser, Aouiche, "Sorting improves word-aligned bitmap
 * indexes" (arXiv:0901.3751); gitformat-bitmap(5).
 *
 * There are two forms in memory. `struct ewah_view` borrows serialized bytes,
 * for instance of a mapped index file, and is checked once when it is made. All
 * operations that read work on views, so that no bytes are copied for reading.
 * `struct ewah` owns words in host byte order and is built by appending;
 * ewah_view_of() makes a view of its words.
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

/* The largest size of a bitmap in bits: the size field on disk has 32 bits. */
#define EWAH_MAX_BITS UINT32_MAX

/* A checked, read-only compressed bitmap. Threads may share it. */
struct ewah_view {
	/* borrowed; unaligned 64-bit words */
	const uint8_t *words;
	size_t word_nr;
	/* size of the uncompressed bitmap in bits */
	size_t bits;
	size_t last_rlw; /* index of the last RLW */
	bool big_endian; /* byte order of `words` */
};

/*
 * Takes one serialized bitmap from the front of *c. Verifies that all words
 * exist, and that the RLWs form a chain from the first word to the last.
 * Verifies that the runs and literals cover at most `bits` rounded up to words.
 * A bitmap without words is valid and all zero.
 *
 * Returns 0 or ERR_CORRUPT. After an error, *view is zeroed and *c unchanged.
 * The view borrows the cursor's bytes. O(number of RLWs).
 */
int ewah_view_parse(struct ewah_view *view, struct cursor *c,
		    struct error *err);

/*
 * Builder and owner of a compressed bitmap. The words cover the bits 0 to
 * `bits` - 1, rounded up to whole words; bits from `bits` on are zero. A failed
 * append leaves the bitmap unchanged.
 */
struct ewah {
	uint64_t *words; /* owned, host order */
	size_t word_nr, word_alloc;
	/* size of the uncompressed bitmap in bits */
	size_t bits;
	/* index of the last RLW, whose counts grow when words are appended */
	size_t last_rlw;
};

/* Makes an empty bitmap. No memory is allocated until words are appended. */
void ewah_init(struct ewah *e);
void ewah_release(struct ewah *e);
void ewah_reset(struct ewah *e);

/*
 * Append one word, or `nr` words whose bits all equal `bit`. If the size of the
 * bitmap is no multiple of 64 bits, it is first rounded up. Return 0,
 * ERR_NOMEM, or ERR_INVALID if the size would exceed EWAH_MAX_BITS.
 */
int ewah_append_word(struct ewah *e, uint64_t word);
int ewah_append_run(struct ewah *e, bool bit, size_t nr);

/*
 * Sets bit i. Bits are set in ascending order, so i must be >= e->bits. Bits
 * between the old size and i are zero, and the size becomes i + 1. Returns 0,
 * ERR_NOMEM, or ERR_INVALID if i is out of order or not below EWAH_MAX_BITS.
 */
int ewah_set(struct ewah *e, size_t i);

/*
 * Replaces the content of *e by the compressed form of a plain set. The size
 * becomes set->bits. Returns 0, ERR_NOMEM, or ERR_INVALID if the set is larger
 * than EWAH_MAX_BITS. After an error *e is empty.
 */
int ewah_from_bitset(struct ewah *e, const struct bitset *set);

/*
 * Copies `e` into memory of exactly the needed size. *out must hold no memory,
 * since it is overwritten. Returns 0 or ERR_NOMEM. After an error, *out is
 * empty.
 */
int ewah_copy(struct ewah *out, const struct ewah *e);

/* Returns a view of an owned bitmap. The view is valid until *e changes. */
struct ewah_view ewah_view_of(const struct ewah *e);

/*
 * Appends the serialized form of a bitmap to *out. The serialized form has at
 * least one RLW, as readers of other programs expect. Returns 0 or ERR_NOMEM.
 * After an error, *out is unchanged.
 */
int ewah_view_write(struct buf *out, const struct ewah_view *v);

/* Returns the number of bytes that ewah_view_write() appends. */
size_t ewah_view_size(const struct ewah_view *v);

/*
 * Compute set = set op view, word by word without decompressing the view. Bits
 * of the view past set->bits are ignored. Bits past the end of the view count
 * as zero.
 */
void ewah_or_into(struct bitset *set, const struct ewah_view *v);
void ewah_and_into(struct bitset *set, const struct ewah_view *v);
void ewah_andnot_into(struct bitset *set, const struct ewah_view *v);
void ewah_xor_into(struct bitset *set, const struct ewah_view *v);

/*
 * Compute *out = a op b, all compressed. The size is the larger of both sizes.
 * The old content of *out is replaced. *out must not be an operand. Return 0,
 * or ERR_NOMEM. After an error, *out is empty. O(words of both operands).
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
 * Works like ewah_xor(), but stops if the result gets too large: returns 1 with
 * *out empty if the result has at least `limit` words.
 */
int ewah_xor_below(struct ewah *out, const struct ewah_view *a,
		   const struct ewah_view *b, size_t limit);

/*
 * Return numbers of set bits. ewah_count() counts all set bits of the view.
 * ewah_count_and() counts those that are also set in the plain set.
 */
size_t ewah_count(const struct ewah_view *v);
size_t ewah_count_and(const struct ewah_view *v, const struct bitset *set);

/* Returns whether bit i is set in the view. O(number of RLWs before bit i). */
bool ewah_test(const struct ewah_view *v, size_t i);

/*
 * A span is either a run of `nr` words in which all bits equal `run_bit`, or
 * one literal word. Iteration returns spans without gaps. The last span may end
 * before the end of the bitmap; the remaining bits are zero. No span has a bit
 * set at or past the size.
 */
struct ewah_span {
	bool is_run;
	bool run_bit;
	uint64_t word; /* the literal, if !is_run */
	size_t nr;     /* words; 1 for a literal */
};

struct ewah_iter {
	const struct ewah_view *view; /* borrowed */
	/* index in the view of the next unread word */
	size_t next;
	/*
	 * number of words in the current RLW's run that were not returned yet
	 */
	size_t run;
	/*
	 * number of literal words of the current RLW that were not returned yet
	 */
	size_t literals;
	/* number of words not returned yet that lie wholly below view->bits */
	size_t full_words;
	/* value of the bits in the current RLW's run */
	bool run_bit;
};

void ewah_iter_init(struct ewah_iter *it, const struct ewah_view *v);

/*
 * Stores the next span of the bitmap in *span. Returns false at the end of the
 * bitmap. Empty runs are skipped.
 */
bool ewah_iter_next(struct ewah_iter *it, struct ewah_span *span);

/* Iterates over the numbers of the set bits, in ascending order. */
struct ewah_bit_iter {
	struct ewah_iter spans;
	/* bits of the current word that were not returned yet */
	uint64_t word;
	/* bit number of the lowest bit in `word` */
	size_t word_base;
	/* bit number of the first bit after the current span */
	size_t next_base;
	/*
	 * number of words in the current run of ones whose bits were not
	 * returned yet
	 */
	size_t run_left;
};

void ewah_bit_iter_init(struct ewah_bit_iter *it, const struct ewah_view *v);
bool ewah_bit_iter_next(struct ewah_bit_iter *it, size_t *bit);

#endif
