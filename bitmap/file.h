/* SPDX-License-Identifier: MIT */
/*
 * Reads the bytes of a bitmap index file (gitformat-bitmap(5)).
 *
 *   "BITM" | version 1: 2 | flags: 2 | entry count: 4 | pack checksum: hash
 *   | 4 type bitmaps (commits, trees, blobs, tags), EWAH
 *   | entries: { idx_pos of commit: 4, xor offset: 1, flags: 1, EWAH }
 *   | pseudo-merges, if flag 0x20: see bitmap/pseudo-merge.h
 *   | lookup table, if flag 0x10: rows of
 *       { idx_pos: 4, file offset of entry: 8, xor row: 4 }, by idx_pos
 *   | name-hash cache, if flag 0x4: object count x 4, in idx order
 *   | checksum of all bytes before it: hash
 *
 * Bit i of every bitmap stands for the object at position i of the pack:
 * `bit_pos` is pack_pos. The `row` of a commit is its position in the lookup
 * table, which is sorted by idx_pos. If a file has no lookup table, such a
 * table is made in memory.
 *
 * An example: the index of a pack with four objects. They are a commit (bit 0,
 * idx_pos 0), its parent (bit 1, idx_pos 2), their tree (bit 2, idx_pos 1) and
 * the tree's file "b" (bit 3, idx_pos 3):
 *
 *	000  4249544d 0001 0015 00000002    version, flags 0x1 | 0x4 | 0x10,
 *	                                    two entries
 *	00c  77777777 x 5                   checksum of the pack
 *	020  00000004 00000002              commits: 4 bits in 2 words:
 *	028  00000002 00000000              one literal follows,
 *	030  00000000 00000003              bits 0 and 1;
 *	038  00000000                       word 0 is the last RLW
 *	03c  00000004 00000002 00000002 00000000 00000000 00000004 00000000
 *	058  00000004 00000002 00000002 00000000 00000000 00000008 00000000
 *	074  00000004 00000001 00000000 00000002 00000000    no tags
 *	088  00000002 00 00                 the parent, not XORed:
 *	08e  00000004 00000002 00000002 00000000 00000000 0000000e 00000000
 *	0aa  00000000 01 00                 the commit, XORed with one before:
 *	0b0  00000004 00000002 00000002 00000000 00000000 00000001 00000000
 *	0cc  00000000 00000000 000000aa 00000001    row 0: XORed with row 1
 *	0dc  00000002 00000000 00000088 ffffffff    row 1
 *	0ec  00000000 00000000 00000000 62000000    name hash of "b"
 *	0fc  c8650ca8 3545e467 0ee04113 99f0a289 2a807c24
 *
 * In a chain of multi-pack-indexes each layer may have a bitmap file. The bits
 * and idx_pos in the file count from the lowest layer on. The file has types
 * and name hashes of the layer's own objects, and bitmaps of any commits. In
 * this interface, the file of a layer also represents all layers below. Rows
 * count from the lowest layer too, but XORs and lookup tables stay within one
 * file.
 */
#ifndef BITMAP_FILE_H
#define BITMAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/pseudo-merge.h"
#include "ewah/bitset.h"
#include "ewah/ewah.h"
#include "object/oid.h"
#include "object/type.h"

enum {
	BITMAP_FULL_DAG = 0x1,
	BITMAP_HASH_CACHE = 0x4,
	BITMAP_LOOKUP_TABLE = 0x10,
	BITMAP_PSEUDO_MERGES = 0x20,
};

#define BITMAP_VERSION 1
#define BITMAP_NO_XOR UINT32_MAX
#define BITMAP_MAX_XOR_OFFSET 160
/*
 * The largest XOR offset that we write. JGit does not read files with a larger
 * offset.
 */
#define BITMAP_WRITE_XOR_OFFSET 126
#define BITMAP_LOOKUP_ROW_LEN 16 /* bytes */

/* Index of a type bitmap. */
enum bitmap_type {
	BITMAP_COMMITS,
	BITMAP_TREES,
	BITMAP_BLOBS,
	BITMAP_TAGS,
	BITMAP_TYPE_NR,
};

/* Returns the object type to which a type bitmap belongs. */
static inline enum object_type bitmap_object_type(enum bitmap_type type)
{
	static const enum object_type types[BITMAP_TYPE_NR] = {
		OBJ_COMMIT,
		OBJ_TREE,
		OBJ_BLOB,
		OBJ_TAG,
	};

	return types[type];
}

struct bitmap_row {
	uint32_t idx_pos; /* idx_pos of the commit */
	/*
	 * number of the row whose bitmap is XORed with this one, or
	 * BITMAP_NO_XOR
	 */
	uint32_t xor_row;
	/* offset of the row's entry in the file */
	uint64_t off;
};

/*
 * A parsed file. Immutable; threads may share it. The file's bytes are
 * borrowed.
 */
struct bitmap_file {
	const uint8_t *bytes;
	size_t len;
	const char *name; /* borrowed, for messages */
	enum hash_algo algo;
	unsigned flags;
	/* borrowed: the file of the layer below; NULL: none */
	const struct bitmap_file *base;
	/*
	 * Numbers of objects and of rows. Both count this layer and all layers
	 * below.
	 */
	uint32_t object_nr;
	uint32_t row_nr;
	uint32_t base_row_nr; /* rows of the layers below */
	/* checksum of the pack; points into `bytes` */
	const uint8_t *checksum;
	/*
	 * type bitmaps of the objects of this file; the objects of layers below
	 * are not in them
	 */
	struct ewah_view types[BITMAP_TYPE_NR];
	/*
	 * Lookup table of this file; its first row has the number base_row_nr.
	 * Points into `bytes`. NULL if the file has no lookup table.
	 */
	const uint8_t *lookup;
	/* owned: the rows of a file without lookup table; else NULL */
	struct bitmap_row *rows;
	/*
	 * One be32 for each object of this file: its path hash. Points into
	 * `bytes`. NULL: the file has no path hashes.
	 */
	const uint8_t *hash_cache;
	/*
	 * Pseudo-merges of this file; if this file has none, those of `base`.
	 * All fields are zero if neither file has any.
	 */
	struct pseudo_merges pseudo;
	/* offset in the file at which the last entry ends */
	size_t entries_end;
};

/*
 * Parses a file whose pack has `object_nr` objects. Verifies all sizes, flags
 * and the type bitmaps. Entries are verified later, when they are loaded. The
 * checksum is verified by bitmap_file_verify() only. For a file with a lookup
 * table, the cost does not depend on the number of entries.
 *
 * Returns 0 or a negative error code: ERR_CORRUPT, ERR_UNSUPPORTED (unknown
 * version or flag) or ERR_NOMEM. After an error, *f is zeroed.
 */
int bitmap_file_parse(struct bitmap_file *f, const void *bytes, size_t len,
		      uint32_t object_nr, enum hash_algo algo, const char *name,
		      struct error *err);
void bitmap_file_release(struct bitmap_file *f);

/*
 * Works like bitmap_file_parse() for a layer on top of `base`, which is
 * borrowed until release (NULL: this is the lowest layer). `object_nr` includes
 * the objects of all layers below. Returns the codes of bitmap_file_parse().
 */
int bitmap_file_parse_layer(struct bitmap_file *f, const void *bytes,
			    size_t len, uint32_t object_nr,
			    const struct bitmap_file *base, enum hash_algo algo,
			    const char *name, struct error *err);

/*
 * Verifies the checksums of the file and of the files of all layers below.
 * Reads these files completely. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int bitmap_file_verify(const struct bitmap_file *f, struct error *err);

/*
 * Returns the total size in bytes of the file and of the files of all layers
 * below.
 */
uint64_t bitmap_file_len(const struct bitmap_file *f);

/* Adds all objects of a type to `set`, which has at least object_nr bits. */
void bitmap_file_or_type(struct bitset *set, const struct bitmap_file *f,
			 enum bitmap_type type);

/* Removes all objects of a type from the set `set`. */
void bitmap_file_andnot_type(struct bitset *set, const struct bitmap_file *f,
			     enum bitmap_type type);

/*
 * Return numbers of objects of one type. bitmap_file_count_type() counts all
 * objects of the file. bitmap_file_count_type_in() counts only those in `set`.
 */
size_t bitmap_file_count_type(const struct bitmap_file *f,
			      enum bitmap_type type);
size_t bitmap_file_count_type_in(const struct bitmap_file *f,
				 enum bitmap_type type,
				 const struct bitset *set);

/* Returns whether an object is of a type. O(words of the type bitmap). */
bool bitmap_file_is_type(const struct bitmap_file *f, enum bitmap_type type,
			 uint32_t bit_pos);

/*
 * Returns a row; `row` must be < row_nr. The result's xor_row is a row of the
 * same layer, or an invalid row if the file is corrupt. The result's offset
 * counts from the start of the layer's file.
 */
struct bitmap_row bitmap_file_row(const struct bitmap_file *f, uint32_t row);

/*
 * Lists the numbers of all rows. A row describes the bitmap of one commit; the
 * bitmap itself is an entry at the offset row.off of the file. The rows of
 * lower layers come first. Within a layer, rows are in the order of these
 * offsets. `rows` has space for row_nr numbers. Returns 0 or ERR_NOMEM.
 */
int bitmap_file_order(uint32_t *rows, const struct bitmap_file *f);

/*
 * Finds the row of the commit at `idx_pos`, among the rows of all layers. If
 * several layers have a bitmap of the commit, returns the row of the highest
 * layer. Returns false if the commit has no bitmap. O(log row_nr) for each
 * layer.
 */
bool bitmap_file_find(const struct bitmap_file *f, uint32_t idx_pos,
		      uint32_t *row);

/*
 * ORs the bitmap of a row into `set`, which has at least object_nr bits.
 * `scratch` is an initialised set that may be grown and overwritten. Decodes
 * the stored bits of the row, and of the rows with which it is XORed. Returns
 * 0, ERR_CORRUPT (`set` may contain some of the bits) or ERR_NOMEM.
 */
int bitmap_file_or(struct bitset *set, const struct bitmap_file *f,
		   uint32_t row, struct bitset *scratch, struct error *err);

/*
 * Facts that a caller knows about a set of bits. With these facts,
 * bitmap_file_or_rest() skips bitmaps that the set already contains.
 * Precondition: if the set contains a commit that has a bitmap, it also
 * contains all objects of that bitmap.
 */
struct bitmap_held {
	bool is_empty; /* the set is empty */
	/*
	 * Returns whether the set contains the commit at idx_pos < object_nr.
	 * If so, and if the commit has a bitmap, the set contains all objects
	 * of this bitmap.
	 */
	bool (*has)(void *ctx, uint32_t idx_pos);
	void *ctx;
};

/*
 * ORs the bitmap of a row into `set`, like bitmap_file_or(), and returns the
 * same codes. `held` describes the bits that are in the set already (NULL:
 * nothing is known).
 *
 * A row may be stored as the XOR of its bitmap with the bitmap of a second row.
 * The second row may be stored as an XOR with a third row, and so on. These
 * rows are the XOR chain of the row. bitmap_file_or() decodes the stored bits
 * of all rows of the chain, and XORs them.
 *
 * This function stops earlier: before a row R of the chain whose bitmap is
 * completely contained in `set`. The bits decoded so far are then the XOR of
 * the wanted bitmap and the bitmap of R. They differ from the wanted bitmap
 * only in bits of R, which `set` has already. So ORing them into `set` gives
 * the right result.
 *
 * If `set` is empty, the bitmap is decoded directly into `set`. After
 * ERR_CORRUPT, `set` may then contain any bits.
 */
int bitmap_file_or_rest(struct bitset *set, const struct bitmap_file *f,
			uint32_t row, const struct bitmap_held *held,
			struct bitset *scratch, struct error *err);

/*
 * Sets *view to the stored words of a row: the bitmap, or its XOR with the
 * bitmap of xor_row. Returns 0 or ERR_CORRUPT.
 */
int bitmap_file_view(struct ewah_view *view, const struct bitmap_file *f,
		     uint32_t row, struct error *err);

/*
 * How much the bitmap of a row takes in the file, and how long its XOR chain
 * is.
 */
struct bitmap_stored {
	/* number of bytes of the row's entry */
	uint64_t len;
	/*
	 * Length of the XOR chain: number of other bitmaps that must be decoded
	 * to get this one.
	 */
	uint32_t depth;
};

/*
 * Sets *stored to the stored size of a row's bitmap and the length of its XOR
 * chain. Reads the entry and the headers of the chain, but decodes no bitmap.
 * Returns 0 or ERR_CORRUPT. O(words of the chain).
 */
int bitmap_file_stored(struct bitmap_stored *stored,
		       const struct bitmap_file *f, uint32_t row,
		       struct error *err);

/*
 * Works like bitmap_file_stored() for all rows. `stored` has space for row_nr
 * items. Returns 0, ERR_CORRUPT or ERR_NOMEM. O(words of the file), for any
 * length of the XOR chains.
 */
int bitmap_file_stored_all(struct bitmap_stored *stored,
			   const struct bitmap_file *f, struct error *err);

/*
 * Number of bytes of each part of the files of all layers. Their sum is
 * bitmap_file_len().
 */
struct bitmap_sections {
	uint64_t header, types, entries, pseudo_merges, lookup_table,
		hash_cache, checksum;
};

void bitmap_file_sections(struct bitmap_sections *s,
			  const struct bitmap_file *f);

/*
 * Returns the path hash of an object, or 0 if the file stores no path hashes.
 */
uint32_t bitmap_file_name_hash(const struct bitmap_file *f, uint32_t idx_pos);

#endif
