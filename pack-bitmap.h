/* SPDX-License-Identifier: MIT */
/*
 * Reachability bitmaps: open a repository's bitmap index, ask it which
 * objects are reachable, write a new one.
 *
 * The index belongs to one pack, or to a multi-pack-index. Its bits
 * (`bit_pos`) are the objects of that in the order of the pack, or pseudo-pack
 * (bitmap/space.h); a query also finds what is not indexed: newer commits,
 * loose objects, other packs. Those are found by walking from the tips back to
 * the nearest bitmaps.
 */
#ifndef PACK_BITMAP_H
#define PACK_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/fill.h"
#include "bitmap/previous.h"
#include "bitmap/pseudo-select.h"
#include "bitmap/strategy.h"
#include "bitmap/update.h"
#include "ewah/bitset.h"
#include "odb/odb.h"
#include "sys/progress.h"
#include "walk/walk.h"

/* An open index. Immutable; threads may share it. */
struct pack_bitmap {
	const struct odb *odb;        /* borrowed */
	struct bitmap_space space;    /* what is indexed; borrows from odb */
	struct pack_midx_order order; /* owned: of a multi-pack-index */
	bool order_is_proven;
	char *path; /* owned */
	struct sys_map map;
	struct sys_map rev_map;   /* a multi-pack-index's .rev file, if it has
				     one */
	struct pack_bitmap *base; /* owned: of the layer below; NULL: none */
	struct bitmap_file file;  /* with those of the layers below */
};

/*
 * Open the bitmap index of the snapshot: that of the first multi-pack-index
 * that has one, or else of the first pack; of one that has bitmaps, before one
 * that has none. Returns 1, 0 when there is none, or a negative error when it
 * cannot be used (it is malformed, or belongs to another pack): the caller
 * warns and walks instead. With 1, err->code is not 0 when the index of a
 * multi-pack-index was passed over, and why, which the caller warns of. *out is
 * owned by the caller, NULL unless 1 was returned. Maps and parses: the cost
 * does not grow with a pack. What a damaged disk has changed is found where it
 * matters most, see pack_bitmap_prove().
 */
int pack_bitmap_open(struct pack_bitmap **out, const struct odb *odb,
		     struct error *err);
void pack_bitmap_close(struct pack_bitmap *pb);

/* The same for one pack: 0 when it has none. */
int pack_bitmap_open_pack(struct pack_bitmap **out, const struct odb *odb,
			  const struct odb_pack *pack, struct error *err);

/*
 * The same for the multi-pack-index of a directory, if there is one; of a
 * chain, for the layers up to the first without bitmap index: what is above is
 * not indexed then.
 */
int pack_bitmap_open_midx(struct pack_bitmap **out, const struct odb *odb,
			  size_t dir_nr, struct error *err);

/*
 * All indexes of a snapshot, one after the other: *next is 0 at first. As
 * pack_bitmap_open_pack(); ends with 0 when there are no more.
 */
int pack_bitmap_open_next(struct pack_bitmap **out, const struct odb *odb,
			  size_t *next, struct error *err);

/*
 * Check the file and what gives the order of the pack against their checksums:
 * a bit that has changed would be an object too many or too few, and nobody
 * would notice. Reads both once, some milliseconds for a million objects. A
 * query does it before it answers when the pack has no more than
 * PACK_REV_SMALL_NR objects; for larger ones that is up to who asks: many an
 * answer costs less than the proof, and other implementations never ask for
 * it. 0 or ERR_CORRUPT.
 */
int pack_bitmap_prove(const struct pack_bitmap *pb, struct error *err);

/* Indexed objects: bit positions are [0, nr). */
static inline uint32_t pack_bitmap_object_nr(const struct pack_bitmap *pb)
{
	return pb->file.object_nr;
}

/* The bit of an object; false when it is not indexed. */
bool pack_bitmap_bit(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t obj_pos, uint32_t *bit_pos);

/* Place among the ids of a bit's object. */
uint32_t pack_bitmap_idx_pos(const struct pack_bitmap *pb, uint32_t bit_pos);

/*
 * The odb_pos of a bit's object; ERR_CORRUPT when a multi-pack-index is wrong
 * about it.
 */
int pack_bitmap_odb_pos(uint32_t *odb_pos, const struct pack_bitmap *pb,
			uint32_t bit_pos, struct error *err);

/* Type of the object of a bit, from the type bitmaps. O(compressed size). */
enum object_type pack_bitmap_type(const struct pack_bitmap *pb,
				  uint32_t bit_pos);

/* A plain set of the bits of one type. 0 or ERR_NOMEM. */
int pack_bitmap_type_set(struct bitset *set, const struct pack_bitmap *pb,
			 enum bitmap_type type);

/* What one side of a query, haves or wants, took. */
struct pack_bitmap_phase {
	uint32_t bitmaps_used, pseudo_merges_used, commits_walked;
	uint64_t objects;        /* that this side added, before any filter */
	uint64_t objects_walked; /* of these: found without a bitmap */
	uint64_t ns;
};

/* How an answer came about; all zero before. */
struct pack_bitmap_trace {
	struct bitmap_trace used; /* of both sides, haves first */
	struct pack_bitmap_phase haves, wants;
};

/* What a query found. */
struct pack_bitmap_result {
	struct bitset packed;     /* wanted and not had, by bit_pos */
	struct walk_items others; /* the same of what is not indexed */
	struct bitset had;        /* reached from haves, by bit_pos; empty (no
				     words) without haves */
	uint32_t bitmaps_used;    /* bitmaps of commits ORed in */
	uint32_t pseudo_merges_used;
	uint32_t commits_walked; /* commits without bitmap that were walked */
	struct pack_bitmap_trace *trace; /* borrowed; may be set before, to be
					    filled in. NULL: not wanted */
};

#define PACK_BITMAP_RESULT_INIT                                                \
	{                                                                      \
		BITSET_INIT, {NULL, 0, 0}, BITSET_INIT, 0, 0, 0, NULL          \
	}

void pack_bitmap_result_release(struct pack_bitmap_result *result);

/* How to ask; all zero: exactly, and by the index. */
struct pack_bitmap_query {
	/*
	 * Borrowed; bitmap_filter_can(). What it does not let through is not
	 * looked for, but the wants themselves are found, unless
	 * `filter_wants`. NULL: none.
	 */
	const struct filter *filter;
	bool filter_wants;
	/*
	 * Boundary traversal (bitmap/boundary.h): an object that haves reach
	 * only by commits that wants do not reach may be found, and `had` may
	 * lack what only such commits have. What is not had is always found.
	 */
	bool inexact;
	bool commits_only; /* then other types are of no meaning */
	/*
	 * Borrowed; filled in, and with BITMAP_STRATEGY_AUTO and `inexact` it
	 * may be found that walking costs less. NULL: this is not considered.
	 */
	struct bitmap_plan *plan;
};

/*
 * The objects that `wants` reach and `haves` do not. *w must not have shallow
 * commits: bitmaps do not know the cut. 0; 1 when it is better found by walking
 * (see query->plan); ERR_MISSING for a commit or tree that had to be read and
 * is not there (nobody looks whether a blob is); ERR_CORRUPT for a broken
 * bitmap (the caller walks instead). *result must be initialised; release it in
 * any case. `query` NULL: all zero. Of `had`, what a receiver with this filter
 * may lack is left out.
 */
int pack_bitmap_query(struct pack_bitmap_result *result,
		      const struct pack_bitmap *pb, struct walk *w,
		      const struct walk_tips *wants,
		      const struct walk_tips *haves,
		      const struct pack_bitmap_query *query, struct error *err);

/* Number of objects found, by type (indexed by enum bitmap_type). */
int pack_bitmap_count(uint64_t counts[BITMAP_TYPE_NR],
		      const struct pack_bitmap *pb,
		      const struct pack_bitmap_result *result,
		      struct error *err);

/*
 * Visit what was found, by type: commits, trees, blobs, tags; of each type
 * packed objects in pack order, then others. A nonzero return stops and is
 * returned.
 */
int pack_bitmap_each(const struct pack_bitmap *pb,
		     const struct pack_bitmap_result *result,
		     int (*fn)(void *ctx, uint32_t obj_pos,
			       enum object_type type),
		     void *ctx, struct error *err);

/*
 * Compare the bitmap of a commit, and of pseudo-merges that it is in, with
 * plain walks. Returns 1 when they are equal, 0 when the commit has no bitmap
 * of its own, or ERR_CORRUPT with a message that names the first object on
 * which they differ.
 */
int pack_bitmap_test(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t commit_nr, struct error *err);

/* How to verify an index. */
struct pack_bitmap_verify {
	uint64_t sample; /* bitmaps to walk, one by one; 0: all, at once */
	uint64_t seed;   /* which ones */
	const struct progress_out *progress; /* NULL: none */
};

/*
 * Prove the index, check the type bitmaps, then every bitmap of a commit or
 * pseudo-merge (bitmap/verify-all.h), or with a sample some (bitmap/verify.h).
 * 0, or ERR_CORRUPT with a message that says what is wrong first.
 */
int pack_bitmap_verify(const struct pack_bitmap *pb, struct walk *w,
		       const struct pack_bitmap_verify *how, struct error *err);

/* "<pack_base>.bitmap", malloc()ed for the caller; NULL: out of memory. */
char *pack_bitmap_path(const char *pack_base);

/*
 * Writing. The pack is described in its own terms, so that a pack that was
 * just written needs not be opened again. All borrowed for the call.
 */
struct pack_bitmap_write {
	struct walk *walk; /* commits are loaded in its history */
	const struct walk_result *enumerated; /* with lists: all commits */
	/*
	 * In a chain: the bits of the layer and of those below; `idx_pos` is
	 * not looked at then, and `hash_cache` and `types` are of the layer's
	 * own. NULL: no layer.
	 */
	const struct bitmap_space *space;
	const struct pack_bitmap *below; /* of a layer: bitmaps to build from,
					    whose bits are the same */
	const uint32_t *idx_pos;         /* by bit_pos: position in the .idx */
	const uint32_t *bit_pos;    /* by obj_pos; UINT32_MAX: not packed */
	const uint32_t *hash_cache; /* by idx_pos; NULL: no cache */
	const uint8_t *types;       /* by bit_pos: enum object_type */
	uint32_t object_nr;         /* of a layer: its own */
	struct oid checksum;        /* of the pack */
	const uint8_t *is_tip;      /* by commit_nr: enum select_tip */
	const struct pseudo_tips *pseudo; /* tips for pseudo-merges; NULL:
					     none are made */
	/*
	 * Bitmaps of an older index, which stay, and what is added to them;
	 * `enumerated`, `is_tip` and `pseudo` are not looked at then. The
	 * former are used up; of a layer there are none. Both NULL: all is
	 * chosen and built anew.
	 */
	struct bitmap_previous *previous;
	const struct bitmap_update *update;
	bool lookup_table;
	uint64_t memory_limit; /* bytes of lists and complete bitmaps, as far as
				  they can be done without; 0: none */
	const struct progress_out *progress;
};

/* What was written. */
struct pack_bitmap_written {
	uint32_t bitmap_nr;
	uint32_t pseudo_merge_nr;
	uint64_t file_len; /* bytes */
};

/*
 * Append a whole bitmap index file to *out. `written` may be NULL. Nothing is
 * appended on failure.
 */
int pack_bitmap_write(struct buf *out, const struct pack_bitmap_write *request,
		      struct pack_bitmap_written *written, struct error *err);

#endif
