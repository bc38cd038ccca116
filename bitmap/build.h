/* SPDX-License-Identifier: MIT */
/*
 * Builds the bitmaps of selected commits from the objects that each commit
 * adds.
 *
 * The bitmap of a commit is the union of new(a) over its ancestors a: the
 * new-object lists of walk/newobj.h. To build the bitmap of a commit, the code
 * walks back from it to the nearest commits that have a bitmap already, and ORs
 * their bitmaps. For each commit on the way, it sets the bits of the objects in
 * the commit's list. No tree is read here.
 *
 * Pseudo-merges are built in the same way, from all their commits at once.
 *
 * If the XOR of a bitmap and an earlier one is smaller than the bitmap, the XOR
 * is stored instead of the bitmap.
 */
#ifndef BITMAP_BUILD_H
#define BITMAP_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "ewah/ewah.h"
#include "sys/progress.h"
#include "walk/history.h"
#include "walk/newobj.h"

/*
 * Limits of an XOR chain, which a query decodes as a whole. A chain has at most
 * BITMAP_CHAIN_LINKS links. It has at most BITMAP_CHAIN_WORDS words, plus
 * BITMAP_CHAIN_FACTOR times the words of an uncompressed bitmap. Decoding a
 * chain of that size takes about 0.2 ms for a million objects.
 */
#define BITMAP_CHAIN_LINKS 1000
#define BITMAP_CHAIN_WORDS 16384
#define BITMAP_CHAIN_FACTOR 16

/* A pseudo-merge that is to be built: its commits. */
struct bitmap_group {
	uint32_t *commits; /* commit_nr, in any order */
	size_t nr;
};

struct bitmap_built;

/* The input for building bitmaps. All pointers are borrowed for the call. */
struct bitmap_build_input {
	const struct history *history;
	/*
	 * array of commit_nr, parents first: the selected commits and their
	 * ancestors. The array may lack commits with a bitmap in `old` or
	 * `below`, and commits that only these commits reach.
	 */
	const uint32_t *commits;
	size_t commit_nr;
	/* the new-object list of each commit, in the order of `commits` */
	const struct newobj_set *lists;
	/*
	 * indexed by obj_pos: bit of each object; UINT32_MAX: the pack does not
	 * have the object
	 */
	const uint32_t *bit_pos;
	/*
	 * number of bits of each bitmap, which is the number of objects in the
	 * pack
	 */
	size_t bits;
	const uint32_t *selected; /* commit_nr, in any order */
	size_t selected_nr;
	/*
	 * Bitmaps of an older index, which are stored unchanged before the new
	 * ones. The build takes over their memory, and leaves the caller's
	 * elements empty.
	 */
	struct bitmap_built *old;
	size_t old_nr;
	/*
	 * The bitmap file of the layers below the new layer, or of the layers
	 * that are combined into the new layer; NULL: none. Each bit of the
	 * file stands for the same object as in the new index. The file's
	 * bitmaps are ORed into new ones. Only the bitmaps of `selected` and
	 * `groups` are stored.
	 */
	const struct bitmap_file *below;
	const struct bitmap_space *space; /* the bits of `below` */
	/*
	 * true: store each bitmap whole; false: store XORs where they are
	 * smaller
	 */
	bool whole;
	/*
	 * Limit in bytes of the memory for copies of whole bitmaps. A copy is
	 * kept for each entry that is stored as an XOR (bitmap_complete_put()).
	 * 0: no limit. The copies for the newest entries are kept even if they
	 * exceed the limit.
	 */
	size_t memory_limit;
	const struct bitmap_group *groups; /* pseudo-merges to build */
	size_t group_nr;
	const struct progress_out *progress; /* may be NULL */
};

/* The bitmap of a commit as it is stored: whole, or as an XOR. */
struct bitmap_built {
	uint32_t commit_nr;
	/*
	 * 0: the bitmap is stored whole; n > 0: it is XORed with the bitmap of
	 * the n-th entry before this one
	 */
	uint8_t xor_offset;
	struct ewah bitmap;
};

/*
 * A pseudo-merge as it is stored: a set of commits, and their closure. Both
 * sets are indexed by bit_pos.
 */
struct bitmap_built_group {
	struct ewah commits, objects;
};

/* The result of a build. */
struct bitmap_build_result {
	/*
	 * owned: first the bitmaps of the older index, then the new bitmaps;
	 * among the new ones, a commit's bitmap comes after those of its
	 * ancestors
	 */
	struct bitmap_built *entries;
	size_t entry_nr;
	/* owned: the pseudo-merges, in the order of the input */
	struct bitmap_built_group *groups;
	size_t group_nr;
};

/*
 * Builds the bitmaps. Returns 0, or a negative error code. ERR_MISSING means
 * that a reachable object has no bit: the pack is not closed under
 * reachability. The caller releases *out in any case.
 */
int bitmap_build(struct bitmap_build_result *out,
		 const struct bitmap_build_input *input, struct error *err);
void bitmap_build_result_release(struct bitmap_build_result *result);

/*
 * Keeps whole bitmaps of entries that are stored as XORs, up to a limit of
 * memory.
 *
 * While an index is built, the bitmap of an entry is ORed into bitmaps of
 * descendants, and later bitmaps are XORed with it. Both need the whole bitmap.
 * If the entry is stored whole, the stored bitmap serves. For any other entry a
 * copy of the whole bitmap is kept here.
 *
 * If the bitmaps exceed the limit, some are dropped by the clock algorithm. A
 * pointer goes round all entries, and drops those that were not used since its
 * last visit. A dropped bitmap is made again by decoding its XOR chain, up to
 * the first whole bitmap. The newest bitmaps are never dropped.
 */

struct bitmap_built;

/*
 * Number of newest entries whose whole bitmaps (not XORs) always stay in
 * memory: the next entry may be XORed with any of them.
 */
#define BITMAP_COMPLETE_NEWEST BITMAP_WRITE_XOR_OFFSET

struct bitmap_complete {
	const struct bitmap_built *entries; /* borrowed */
	/*
	 * number of elements of `kept` and `state`, which is the number of
	 * entries that the finished index will have at most
	 */
	size_t nr;
	struct ewah *kept; /* owned, indexed by entry */
	/*
	 * owned array, indexed by entry: the state of the entry's whole bitmap
	 * (the bitmap itself, not its XOR with another one). There are three
	 * states: not kept in memory; kept; kept, and used since the last visit
	 * of the clock algorithm
	 */
	uint8_t *state;
	/*
	 * `bytes`: total size of the kept bitmaps; `limit`: the maximum of
	 * `bytes`, or 0 if there is none
	 */
	size_t bytes, limit;
	/* number of entries that exist so far, with or without a kept bitmap */
	size_t end;
	/* index of the entry that the clock algorithm visits next */
	size_t turn;
	/* borrowed: scratch memory with as many bits as a bitmap has */
	struct bitset *scratch;
};

/*
 * Initialises *c. Returns 0 or ERR_NOMEM. The caller releases *c in any case.
 */
int bitmap_complete_init(struct bitmap_complete *c,
			 const struct bitmap_built *entries, size_t nr,
			 size_t limit, struct bitset *scratch);
void bitmap_complete_release(struct bitmap_complete *c);

/*
 * Keeps the whole bitmap of an entry that is stored as an XOR. The entry must
 * be the newest one. Takes over *bitmap.
 */
void bitmap_complete_put(struct bitmap_complete *c, size_t entry,
			 struct ewah *bitmap);

/*
 * Sets *view to the whole bitmap of an entry, valid until the next call. May
 * overwrite *c->scratch. Returns 0 or ERR_NOMEM.
 */
int bitmap_complete_get(struct bitmap_complete *c, size_t entry,
			struct ewah_view *view);

#endif
