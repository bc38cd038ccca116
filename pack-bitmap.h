/* SPDX-License-Identifier: MIT */
/*
 * Reachability bitmaps: opens a repository's bitmap index, queries it for
 * reachable objects, and writes a new one.
 *
 * The index belongs to one pack, or to a multi-pack-index. Each bit (`bit_pos`)
 * stands for an object, in the order of the pack or pseudo-pack
 * (bitmap/space.h). By walking from the tips back to the nearest bitmaps, a
 * query also finds objects that are not indexed: newer commits, loose objects,
 * and objects of other packs.
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
	/* which objects the bits stand for; borrows from `odb` */
	struct bitmap_space space;
	/*
	 * owned: the order of the objects of a multi-pack-index (its
	 * pseudo-pack)
	 */
	struct pack_midx_order order;
	bool order_is_proven;
	char *path; /* owned */
	struct sys_map map;
	/*
	 * the mapped .rev file of a multi-pack-index; unused if there is no
	 * such file
	 */
	struct sys_map rev_map;
	/* owned: the bitmap index of the layers below; NULL: none */
	struct pack_bitmap *base;
	/* the parsed bitmap index, which includes the layers below */
	struct bitmap_file file;
};

/*
 * Opens the bitmap index of the snapshot. Bitmap indexes of multi-pack-indexes
 * are tried first, then those of packs. The first bitmap index that has bitmaps
 * of commits is used. If there is none, but there is a bitmap index without
 * bitmaps of commits, this one is used.
 *
 * A bitmap index is unusable if it is malformed or belongs to another pack. An
 * unusable index of a multi-pack-index is skipped. An unusable index of a pack
 * ends the search with an error.
 *
 * Returns 1 with *out owned by the caller. If an index of a multi-pack-index
 * was skipped, *err then has a warning for the user. Returns 0 with *out NULL
 * if there is no bitmap index. Returns a negative error code if the search
 * ended with an error, or if an index was skipped and no other index was found.
 * *out is then NULL, and the caller warns and walks instead.
 *
 * The cost does not depend on the size of the pack. Damage on disk is not
 * detected here; see pack_bitmap_prove().
 */
int pack_bitmap_open(struct pack_bitmap **out, const struct odb *odb,
		     struct error *err);
void pack_bitmap_close(struct pack_bitmap *pb);

/*
 * Works like pack_bitmap_open() for one pack. Returns 0 if the pack has no
 * bitmap index.
 */
int pack_bitmap_open_pack(struct pack_bitmap **out, const struct odb *odb,
			  const struct odb_pack *pack, struct error *err);

/*
 * Works like pack_bitmap_open() for the multi-pack-index of a directory, if
 * there is one. If a layer of a chain has no bitmap index, only the layers
 * below are opened. Objects of this layer and of the layers above it have no
 * bit. Returns the codes of pack_bitmap_open().
 */
int pack_bitmap_open_midx(struct pack_bitmap **out, const struct odb *odb,
			  size_t dir_nr, struct error *err);

/*
 * Opens the bitmap indexes of a snapshot, one at each call. *next must be 0 at
 * the first call. Returns the same codes as pack_bitmap_open_pack(), and 0
 * after the last index.
 */
int pack_bitmap_open_next(struct pack_bitmap **out, const struct odb *odb,
			  size_t *next, struct error *err);

/*
 * Verifies the checksums of the bitmap index's file and of the file with the
 * order of the pack. Without this check, a flipped bit could add or omit an
 * object unnoticed. Both files are read, which takes some milliseconds for a
 * million objects. Returns 0 or ERR_CORRUPT.
 *
 * If there are at most PACK_REV_SMALL_NR objects, each query verifies the
 * checksums itself. For a larger index the caller decides whether to verify,
 * because a query often costs less than the verification. Other implementations
 * of Git never verify.
 */
int pack_bitmap_prove(const struct pack_bitmap *pb, struct error *err);

/* Returns the number of indexed objects. Bits are [0, nr). */
static inline uint32_t pack_bitmap_object_nr(const struct pack_bitmap *pb)
{
	return pb->file.object_nr;
}

/*
 * Finds the bit of an object. Returns false if the index has no bit for the
 * object.
 */
bool pack_bitmap_bit(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t obj_pos, uint32_t *bit_pos);

/*
 * Returns the idx_pos (position in the .idx or multi-pack-index) of the object
 * that a bit stands for.
 */
uint32_t pack_bitmap_idx_pos(const struct pack_bitmap *pb, uint32_t bit_pos);

/*
 * Sets *odb_pos to the number of the object that a bit stands for. Returns 0,
 * or ERR_CORRUPT if a multi-pack-index is wrong about the object.
 */
int pack_bitmap_odb_pos(uint32_t *odb_pos, const struct pack_bitmap *pb,
			uint32_t bit_pos, struct error *err);

/*
 * Returns the type of the object that a bit stands for, from the type bitmaps.
 * O(compressed size).
 */
enum object_type pack_bitmap_type(const struct pack_bitmap *pb,
				  uint32_t bit_pos);

/* Makes a plain set of the bits of one type. Returns 0 or ERR_NOMEM. */
int pack_bitmap_type_set(struct bitset *set, const struct pack_bitmap *pb,
			 enum bitmap_type type);

/* Statistics about one side of a query: the haves or the wants. */
struct pack_bitmap_phase {
	uint32_t bitmaps_used, pseudo_merges_used, commits_walked;
	/*
	 * number of objects that this side of the query has added, before any
	 * filter
	 */
	uint64_t objects;
	/*
	 * number of objects that this side of the query has added without a
	 * bitmap
	 */
	uint64_t objects_walked;
	uint64_t ns;
};

/* Statistics of a query. The caller sets all fields to zero before. */
struct pack_bitmap_trace {
	/*
	 * the bitmaps that the query used: first those for the haves, then
	 * those for the wants
	 */
	struct bitmap_trace used;
	struct pack_bitmap_phase haves, wants;
};

/* The result of a query. */
struct pack_bitmap_result {
	/*
	 * indexed by bit_pos: the indexed objects that the wants reach and the
	 * haves do not
	 */
	struct bitset packed;
	/*
	 * the objects that the wants reach, the haves do not reach, and the
	 * index lacks
	 */
	struct walk_items others;
	/*
	 * indexed by bit_pos: objects that the haves reach; empty (no words)
	 * without haves
	 */
	struct bitset uninteresting;
	/* number of commit bitmaps that were ORed */
	uint32_t bitmaps_used;
	uint32_t pseudo_merges_used;
	/* number of walked commits without a bitmap */
	uint32_t commits_walked;
	/* borrowed, set by the caller: receives statistics; may be NULL */
	struct pack_bitmap_trace *trace;
};

#define PACK_BITMAP_RESULT_INIT                                                \
	{                                                                      \
		BITSET_INIT, {NULL, 0, 0}, BITSET_INIT, 0, 0, 0, NULL          \
	}

void pack_bitmap_result_release(struct pack_bitmap_result *result);

/*
 * Options of a query. If all are zero, the result is exact, and the index is
 * used in any case.
 */
struct pack_bitmap_query {
	/*
	 * Borrowed: the result has only objects that pass this filter. The
	 * wants themselves pass, unless `filter_wants` is set.
	 * bitmap_filter_can() must be true for the filter. NULL: no filter.
	 */
	const struct filter *filter;
	bool filter_wants;
	/*
	 * Use a boundary traversal (bitmap/fill.h), which is faster but not
	 * exact. The result has all objects that the client lacks. It may also
	 * have some objects that the client has. The traversal does not read
	 * the tree of a commit that only the haves reach. So if the haves reach
	 * an object only through such commits, the traversal may not notice
	 * that the client has it. `uninteresting` may lack such objects.
	 */
	bool inexact;
	/*
	 * true: only commits are needed; the result may have wrong bits for
	 * objects of other types
	 */
	bool commits_only;
	/*
	 * Borrowed; filled in by the query. With BITMAP_STRATEGY_AUTO and
	 * `inexact` the query may decide that a walk costs less. NULL: the
	 * index is always used.
	 */
	struct bitmap_plan *plan;
};

/*
 * Finds the objects that `wants` reach and `haves` do not. The walk *w must not
 * have shallow commits or replaced objects, since bitmaps ignore both. `query`
 * NULL means that all options are zero. With a filter, objects that the
 * receiver may lack because of this filter are not in `uninteresting`. *result
 * must be initialised; the caller releases it in any case.
 *
 * Returns 0 if the result is complete. Returns 1 if the caller should walk
 * instead (see query->plan). Returns ERR_MISSING if a commit or tree that had
 * to be read is missing; blobs are not checked. Returns ERR_CORRUPT for a
 * broken bitmap; the caller should then walk instead.
 */
int pack_bitmap_query(struct pack_bitmap_result *result,
		      const struct pack_bitmap *pb, struct walk *w,
		      const struct walk_tips *wants,
		      const struct walk_tips *haves,
		      const struct pack_bitmap_query *query, struct error *err);

/* Counts the objects of a result by type (enum bitmap_type). */
void pack_bitmap_count(uint64_t counts[BITMAP_TYPE_NR],
		       const struct pack_bitmap *pb,
		       const struct pack_bitmap_result *result);

/*
 * Calls `fn` for each object of a result: first the commits, then trees, blobs
 * and tags. Within a type, packed objects come first, in pack order. If `fn`
 * returns a nonzero value, the loop stops and returns this value.
 */
int pack_bitmap_each(const struct pack_bitmap *pb,
		     const struct pack_bitmap_result *result,
		     int (*fn)(void *ctx, uint32_t obj_pos,
			       enum object_type type),
		     void *ctx, struct error *err);

/*
 * ORs the bitmap of an ancestor of a commit into `set`, which has at least
 * pack_bitmap_object_nr() bits. The ancestor is the first commit with a bitmap
 * on the path of first parents, which begins with the commit itself. At most
 * `most` commits of this path are looked at. The walk *w must not have shallow
 * commits or replaced objects. Small indexes are verified, as by
 * pack_bitmap_query().
 *
 * Whoever has the commit also has all objects of the added bitmap. Returns 1 if
 * a bitmap was added, 0 if none of these commits has one, or a negative error
 * code: ERR_MISSING or ERR_CORRUPT (`set` may then contain some of the bits).
 */
int pack_bitmap_or_ancestor(struct bitset *set, const struct pack_bitmap *pb,
			    struct walk *w, uint32_t commit_nr, size_t most,
			    struct error *err);

/*
 * Compares the bitmap of a commit with a plain walk. Does the same for the
 * pseudo-merges that contain the commit. The walk *w must not have shallow
 * commits or replaced objects. Returns 1 if all these bitmaps are right, 0 if
 * the commit has no bitmap, or ERR_CORRUPT with a message that names the first
 * object that differs.
 */
int pack_bitmap_test(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t commit_nr, struct error *err);

/* Options of pack_bitmap_verify(). */
struct pack_bitmap_verify {
	/*
	 * number of bitmaps to verify, each by a walk of its own; 0: all
	 * bitmaps are built again in one walk, and compared
	 */
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
 * Returns the path "<pack_base>.bitmap", malloc()ed for the caller, or NULL if
 * memory runs out.
 */
char *pack_bitmap_path(const char *pack_base);

/*
 * The input for writing an index. It describes the pack completely, so a pack
 * that was just written need not be opened again. All pointers are borrowed for
 * the call.
 */
struct pack_bitmap_write {
	/* the walk that has loaded the history of the pack's commits */
	struct walk *walk;
	/* all commits of the pack, with lists of new objects */
	const struct walk_result *enumerated;
	/*
	 * For a layer of a chain: the bits of the layer and of the layers
	 * below. In this case `idx_pos` is ignored, and `hash_cache` and
	 * `types` have only the layer's own objects. NULL: the index is no
	 * layer.
	 */
	const struct bitmap_space *space;
	/*
	 * For a layer of a chain: an older bitmap index of the chain. If the
	 * layer is added on top of the chain, `below` is the index of the
	 * layers below it. If layers are merged into this layer, `below` is the
	 * index of the merged layers. In both cases, a bit of the same number
	 * stands for the same object in `below` and in the index that is
	 * written. The bitmaps of `below` are combined by OR into the new
	 * bitmaps. So the history that `below` covers is not read again.
	 */
	const struct pack_bitmap *below;
	/* indexed by bit_pos: the object's position in the .idx */
	const uint32_t *idx_pos;
	/* indexed by obj_pos: the object's bit; UINT32_MAX: not in the pack */
	const uint32_t *bit_pos;
	/*
	 * indexed by idx_pos: path hashes; NULL: the file gets no cache of them
	 */
	const uint32_t *hash_cache;
	/* indexed by bit_pos: the object's type, enum object_type */
	const uint8_t *types;
	/* number of objects; for a layer, without those of the layers below */
	uint32_t object_nr;
	struct oid checksum; /* checksum of the pack */
	/*
	 * indexed by commit_nr: the kind of tip that the commit is (enum
	 * select_tip)
	 */
	const uint8_t *is_tip;
	/* tips that form pseudo-merges; NULL: make no pseudo-merges */
	const struct pseudo_tips *pseudo;
	/*
	 * `previous`: an older index whose bitmaps are kept. `update`: the
	 * bitmaps to add to these. If both are set, `enumerated`, `is_tip` and
	 * `pseudo` are ignored, and `previous` is emptied. For a layer, only
	 * `update` is set. If both are NULL, all bitmaps are chosen and built
	 * from scratch.
	 */
	struct bitmap_previous *previous;
	const struct bitmap_update *update;
	bool lookup_table;
	/*
	 * Memory limit in bytes, for two things: the lists of new objects, and
	 * a cache of decoded bitmaps. Other memory is not counted. 0: no limit.
	 */
	uint64_t memory_limit;
	/*
	 * Limit of the bytes of an index that is made from scratch. Bitmaps of
	 * wanted tips and configured pseudo-merges are stored even beyond the
	 * limit. 0: the default (CHOOSE_OBJECTS_PER_WORD in bitmap/choose.h).
	 */
	uint64_t budget;
	const struct progress_out *progress;
};

/* Numbers of bitmaps and pseudo-merges in the file that was written. */
struct pack_bitmap_written {
	uint32_t bitmap_nr;
	uint32_t pseudo_merge_nr;
	uint64_t file_len; /* bytes */
};

/*
 * Appends the bytes of a bitmap index file to *out. `written` may be NULL.
 * Returns 0, or a negative error code with nothing appended.
 */
int pack_bitmap_write(struct buf *out, const struct pack_bitmap_write *request,
		      struct pack_bitmap_written *written, struct error *err);

#endif
