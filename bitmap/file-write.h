/* SPDX-License-Identifier: MIT */
/* Writes the bytes of a bitmap index file. See bitmap/file.h for the layout. */
#ifndef BITMAP_FILE_WRITE_H
#define BITMAP_FILE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "bitmap/file.h"
#include "ewah/ewah.h"
#include "object/oid.h"

struct bitmap_write_entry {
	uint32_t idx_pos; /* idx_pos of the commit */
	/*
	 * 0: the bitmap is stored whole; n > 0: it is XORed with the bitmap of
	 * the n-th entry before this one
	 */
	uint8_t xor_offset;
	/*
	 * borrowed: the bitmap as it is stored: whole, or XORed with an earlier
	 * one
	 */
	const struct ewah *bitmap;
};

/* A pseudo-merge: two borrowed sets, indexed by bit_pos. */
struct bitmap_write_pseudo {
	const struct ewah *commits;
	const struct ewah *objects;
};

/*
 * The content of a bitmap index file. All pointers are borrowed for the call.
 */
struct bitmap_write {
	enum hash_algo algo;
	/* number of objects; in a layer, only the layer's own objects */
	uint32_t object_nr;
	struct oid checksum; /* of the pack */
	/* BITMAP_TYPE_NR type bitmaps */
	const struct ewah *types;
	const struct bitmap_write_entry *entries;
	uint32_t entry_nr;
	const struct bitmap_write_pseudo *pseudo;
	/* number of pseudo-merges; 0: the file gets no section for them */
	uint32_t pseudo_nr;
	/* object_nr path hashes, in idx order; NULL: the file gets no cache */
	const uint32_t *hash_cache;
	bool lookup_table;
};

/* Appends a whole bitmap file to *out. Returns 0 or ERR_NOMEM. */
int bitmap_file_write(struct buf *out, const struct bitmap_write *w,
		      struct error *err);

/*
 * Appends the section of `nr` > 0 pseudo-merges to *out. The file begins at
 * offset `base` of *out. Returns 0 or ERR_NOMEM.
 */
int pseudo_merges_write(struct buf *out, size_t base,
			const struct bitmap_write_pseudo *pseudo, uint32_t nr);

#endif
