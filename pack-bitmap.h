/* SPDX-License-Identifier: MIT */
/*
 * Reachability bitmaps: opens a repository's bitmap index, queries it for
 * reachable objects, and writes a new one.
 *
 * The index belongs to one pack, or to a multi-pack-index. Its bits (`bit_pos`)
 * are the objects in the order of the pack or pseudo-pack (bitmap/space.h). A
 * query also finds objects that are not indexed: newer commits, loose objects,
 * other packs. It finds them by walking from the tips back to the nearest
 * bitmaps.
 */
#ifndef PACK_BITMAP_H
#define PACK_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/choose.h"
#include "bitmap/file.h"
#include "bitmap/fill.h"
#include "bitmap/previous.h"
#include "bitmap/pseudo-select.h"
#include "bitmap/strategy.h"
#include "ewah/bitset.h"
#include "odb/odb.h"
#include "sys/progress.h"
#include "walk/walk.h"

/* An open index. Immutable; threads may share it. */
struct pack_bitmap {
	const struct odb *odb; /* borrowed */
	/* the indexed objects; borrows from odb */
	struct bitmap_space space;
	/* owned: of a multi-pack-index */
	struct pack_midx_order order;
	bool order_is_proven;
	char *path; /* owned */
	struct sys_map map;
	/* .rev file of a multi-pack-index, if any */
	struct sys_map rev_map;
	/* owned: of the layer below; NULL: none */
	struct pack_bitmap *base;
	/* includes those of the layers below */
	struct bitmap_file file;
};

/*
 * Opens the bitmap index of the snapshot. This is that of the first
 * multi-pack-index that has one, or else of the first pack. An index with
 * bitmaps is preferred to one without.
 *
 * Returns 1 with *out owned by the caller. Returns 0 with *out NULL if there is
 * none. Returns a negative error code with *out NULL if it is unusable
 * (malformed, or of another pack): the caller warns and walks instead. If the
 * index of a multi-pack-index was unusable and another index was opened, the
 * result is 1 and *err describes the problem, of which the caller warns.
 *
 * The cost does not depend on the size of the pack. Damage on disk is not
 * detected here; see pack_bitmap_prove().
 */
int pack_bitmap_open(struct pack_bitmap **out, const struct odb *odb,
		     struct error *err);
void pack_bitmap_close(struct pack_bitmap *pb);

/* Works like pack_bitmap_open() for one pack. Returns 0 if it has no index. */
int pack_bitmap_open_pack(struct pack_bitmap **out, const struct odb *odb,
			  const struct odb_pack *pack, struct error *err);

/*
 * Works like pack_bitmap_open() for the multi-pack-index of a directory, if
 * there is one. In a chain it opens the layers up to the first without bitmap
 * index; objects of the layers above are then not indexed.
 */
int pack_bitmap_open_midx(struct pack_bitmap **out, const struct odb *odb,
			  size_t dir_nr, struct error *err);

/*
 * Opens all indexes of a snapshot, one per call. *next is 0 at first. Returns
 * the same as pack_bitmap_open_pack(), and 0 if there are no more.
 */
int pack_bitmap_open_next(struct pack_bitmap **out, const struct odb *odb,
			  size_t *next, struct error *err);

/*
 * Verifies the checksums of the index file and of the file with the order of
 * the pack. A flipped bit would silently add or omit an object. This reads both
 * files, which takes some milliseconds for a million objects. Returns 0 or
 * ERR_CORRUPT.
 *
 * A query does this before it returns if there are at most PACK_REV_SMALL_NR
 * objects. For a larger index the caller decides: many queries cost less than
 * this, and other implementations never verify.
 */
int pack_bitmap_prove(const struct pack_bitmap *pb, struct error *err);

/* Returns the number of indexed objects. Bits are [0, nr). */
static inline uint32_t pack_bitmap_object_nr(const struct pack_bitmap *pb)
{
	return pb->file.object_nr;
}

/* Finds the bit of an object. Returns false if it is not indexed. */
bool pack_bitmap_bit(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t obj_pos, uint32_t *bit_pos);

/* Returns the idx_pos of a bit's object. */
uint32_t pack_bitmap_idx_pos(const struct pack_bitmap *pb, uint32_t bit_pos);

/*
 * Returns the odb_pos of a bit's object. Returns 0, or ERR_CORRUPT if a
 * multi-pack-index is wrong about the object.
 */
int pack_bitmap_odb_pos(uint32_t *odb_pos, const struct pack_bitmap *pb,
			uint32_t bit_pos, struct error *err);

/*
 * Returns the type of a bit's object, from the type bitmaps. O(compressed
 * size).
 */
enum object_type pack_bitmap_type(const struct pack_bitmap *pb,
				  uint32_t bit_pos);

/* Makes a plain set of the bits of one type. Returns 0 or ERR_NOMEM. */
int pack_bitmap_type_set(struct bitset *set, const struct pack_bitmap *pb,
			 enum bitmap_type type);

/* Statistics of one side of a query, haves or wants. */
struct pack_bitmap_phase {
	uint32_t bitmaps_used, pseudo_merges_used, commits_walked;
	/* added by this side, before any filter */
	uint64_t objects;
	/* of these: found without a bitmap */
	uint64_t objects_walked;
	uint64_t ns;
};

/* How an answer was found; all zero at first. */
struct pack_bitmap_trace {
	/* of both sides, haves first */
	struct bitmap_trace used;
	struct pack_bitmap_phase haves, wants;
};

/* The result of a query. */
struct pack_bitmap_result {
	/* wanted and not had, by bit_pos */
	struct bitset packed;
	/* wanted and not had, not indexed */
	struct walk_items others;
	/* reached from haves, by bit_pos; empty (no words) without haves */
	struct bitset had;
	uint32_t bitmaps_used; /* bitmaps of commits ORed */
	uint32_t pseudo_merges_used;
	/* walked commits without bitmap */
	uint32_t commits_walked;
	/* borrowed; set before the query to get statistics; may be NULL */
	struct pack_bitmap_trace *trace;
};

#define PACK_BITMAP_RESULT_INIT                                                \
	{                                                                      \
		BITSET_INIT, {NULL, 0, 0}, BITSET_INIT, 0, 0, 0, NULL          \
	}

void pack_bitmap_result_release(struct pack_bitmap_result *result);

/* Options of a query. All zero: exact, and by the index. */
struct pack_bitmap_query {
	/*
	 * Borrowed; must satisfy bitmap_filter_can(). Objects that do not pass
	 * are not looked for. The wants themselves are found unless
	 * `filter_wants`. NULL: no filter.
	 */
	const struct filter *filter;
	bool filter_wants;
	/*
	 * Boundary traversal (bitmap/fill.h). An object that haves reach
	 * only through commits that wants do not reach may be found although it
	 * is had. `had` may lack objects of such commits. All objects that are
	 * not had are found.
	 */
	bool inexact;
	/* other types in the result are then meaningless */
	bool commits_only;
	/*
	 * Borrowed; filled in. With BITMAP_STRATEGY_AUTO and `inexact` the
	 * query may decide that a walk costs less. NULL: the index is always
	 * used.
	 */
	struct bitmap_plan *plan;
};

/*
 * Finds the objects that `wants` reach and `haves` do not. *w must not have
 * shallow commits, since bitmaps ignore the shallow boundary. `query` NULL
 * means all zero. Objects that a receiver with this filter may lack are not in
 * `had`. *result must be initialised; the caller releases it in any case.
 *
 * Returns 0, or 1 if the index should not be used (walk instead; see
 * query->plan). Returns ERR_MISSING if a commit or tree that had to be read is
 * missing; blobs are not checked. Returns ERR_CORRUPT for a broken bitmap (walk
 * instead).
 */
int pack_bitmap_query(struct pack_bitmap_result *result,
		      const struct pack_bitmap *pb, struct walk *w,
		      const struct walk_tips *wants,
		      const struct walk_tips *haves,
		      const struct pack_bitmap_query *query, struct error *err);

/* Counts the objects of a result by type (enum bitmap_type). Returns 0. */
int pack_bitmap_count(uint64_t counts[BITMAP_TYPE_NR],
		      const struct pack_bitmap *pb,
		      const struct pack_bitmap_result *result,
		      struct error *err);

/*
 * Calls `fn` for each object of a result, by type: commits, trees, blobs, tags.
 * Within a type, packed objects come first, in pack order. A nonzero result of
 * `fn` stops and is returned.
 */
int pack_bitmap_each(const struct pack_bitmap *pb,
		     const struct pack_bitmap_result *result,
		     int (*fn)(void *ctx, uint32_t obj_pos,
			       enum object_type type),
		     void *ctx, struct error *err);

/*
 * Compares the bitmap of a commit, and of the pseudo-merges that contain it,
 * with plain walks. Returns 1 if they are equal, 0 if the commit has no bitmap
 * of its own, or ERR_CORRUPT with a message that names the first object that
 * differs.
 */
int pack_bitmap_test(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t commit_nr, struct error *err);

/* Options of a verification. */
struct pack_bitmap_verify {
	/* number of bitmaps to verify by walking; 0: all, in one enumeration */
	uint64_t sample;
	uint64_t seed;                       /* chooses the sample */
	const struct progress_out *progress; /* may be NULL */
};

/*
 * Verifies the checksums, the type bitmaps, and then every bitmap of a commit
 * or pseudo-merge (bitmap/verify-all.c), or a sample of them (bitmap/verify.c).
 * Returns 0, or ERR_CORRUPT with a message about the first error.
 */
int pack_bitmap_verify(const struct pack_bitmap *pb, struct walk *w,
		       const struct pack_bitmap_verify *how, struct error *err);

/*
 * Returns "<pack_base>.bitmap", malloc()ed for the caller, or NULL if memory
 * runs out.
 */
char *pack_bitmap_path(const char *pack_base);

/*
 * The input for writing an index. It describes the pack itself, so that a pack
 * that was just written need not be opened again. All pointers are borrowed for
 * the call.
 */
struct pack_bitmap_write {
	/* its history contains the commits */
	struct walk *walk;
	const struct walk_result *enumerated; /* all commits, with lists */
	/*
	 * In a chain: the bits of the layer and of those below. Then `idx_pos`
	 * is ignored, and `hash_cache` and `types` contain the layer's own
	 * objects. NULL: no layer.
	 */
	const struct bitmap_space *space;
	/* for a layer: bitmaps with the same bits, to build from */
	const struct pack_bitmap *below;
	/* by bit_pos: position in the .idx */
	const uint32_t *idx_pos;
	/* by obj_pos; UINT32_MAX: not packed */
	const uint32_t *bit_pos;
	/* by idx_pos; NULL: no cache */
	const uint32_t *hash_cache;
	/* by bit_pos: enum object_type */
	const uint8_t *types;
	/* in a layer: its own objects */
	uint32_t object_nr;
	struct oid checksum; /* of the pack */
	/* by commit_nr: enum select_tip */
	const uint8_t *is_tip;
	/* tips for pseudo-merges; NULL: make none */
	const struct pseudo_tips *pseudo;
	/*
	 * Bitmaps of an older index, which stay, and additions to them.
	 * `enumerated`, `is_tip` and `pseudo` are then ignored. The bitmaps are
	 * used up. A layer has no `previous`. Both NULL: all is chosen and
	 * built from scratch.
	 */
	struct bitmap_previous *previous;
	const struct bitmap_update *update;
	bool lookup_table;
	/*
	 * limit of bytes for lists and whole bitmaps, as far as they can be
	 * made again; 0: none
	 */
	uint64_t memory_limit;
	const struct progress_out *progress;
};

/* Facts about the written file. */
struct pack_bitmap_written {
	uint32_t bitmap_nr;
	uint32_t pseudo_merge_nr;
	uint64_t file_len; /* bytes */
};

/*
 * Appends a whole bitmap index file to *out. `written` may be NULL. Returns 0,
 * or a negative error code with nothing appended.
 */
int pack_bitmap_write(struct buf *out, const struct pack_bitmap_write *request,
		      struct pack_bitmap_written *written, struct error *err);

#endif
