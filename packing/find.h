/* SPDX-License-Identifier: MIT */
/*
 * Finds the objects that a request asks for: with a bitmap index if one can be
 * used, otherwise by a walk.
 *
 * The result is a set and a list. The bits of the set stand for the objects of
 * the index, or of the largest pack if no index is used. The bits are in the
 * order of the pack, so that runs of that pack can be copied. All other objects
 * are in the list.
 */
#ifndef PACKING_FIND_H
#define PACKING_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "pack-bitmap.h"
#include "deltas/item-index.h"
#include "deltas/items.h"
#include "prepared/kept-deltas.h"
#include "prepared/prepared.h"
#include "packing/packs.h"
#include "packing/send.h"
#include "walk/walk.h"

/* An object to send, and an object at the same path that the receiver has. */
struct found_version {
	/* index, in found->objects, of the object to send */
	size_t object;
	struct walk_item old;
	/*
	 * A kept delta (stored by a repack) of the object against `old`.
	 * kept.stream borrows from found->kept; NULL: there is no kept delta.
	 */
	struct kept_delta kept;
	/*
	 * true: the receiver lacks `old`, but gets it as a part of `packed`. A
	 * delta of the object against `old` makes no cycle: the object is not
	 * in the stored delta chain of `old`.
	 */
	bool base_is_sent;
};

struct found {
	const struct packing_request *request; /* borrowed */
	struct walk walk;
	/*
	 * owned: the bitmap index that was used; NULL: the objects were found
	 * by a walk
	 */
	struct pack_bitmap *pb;
	/*
	 * How the path groups of all objects were computed. A delta search
	 * tries objects of one path group (object/path-group.h) next to each
	 * other. If a bitmap index (`pb`) was used, the value is
	 * PATH_GROUP_NONE, which means no path groups: an index has only Git's
	 * name hash of each object.
	 */
	enum path_grouping grouping;
	/*
	 * The bit space of `packed`: which object of a pack or multi-pack-index
	 * each bit stands for. space.odb is NULL if the repository has no pack.
	 */
	struct bitmap_space space;
	/*
	 * Owned: a table of the bit positions of the objects in `space`; empty
	 * if few objects are requested.
	 */
	struct bitmap_space_table bits;
	/*
	 * indexed by bit_pos: objects to send; empty, without memory, if there
	 * are none
	 */
	struct bitset packed;
	/*
	 * Indexed by bit_pos: objects that the receiver has. Empty, without
	 * memory, if there are none.
	 */
	struct bitset packed_uninteresting;
	/*
	 * true: the walk that found the objects did not compute name hashes and
	 * path hashes
	 */
	bool unnamed;
	/* owned: all objects to send that are not in `packed` */
	struct walk_items objects;
	/*
	 * Owned: objects of `packed`, with their types and names. Which objects
	 * these are depends on how the objects to send were found:
	 * - By a bitmap index (`pb` is set): none.
	 * - With the help of a prepared answer (`near` is set; it is a stored
	 *   response to the request for another commit): only the objects that
	 *   the prepared answer lacks.
	 * - By a walk (`pb` and `near` are NULL): all objects of `packed`.
	 */
	struct walk_items walked;
	/* Owned: the objects in the trees of the commits in `boundary`. */
	struct walk_items boundary_objects;
	/*
	 * Owned: for some of `objects`, a version that the receiver has or
	 * gets, as the delta base. These objects were moved from `packed` to
	 * the end of `objects`, or were in `objects` before.
	 */
	struct found_version *versions;
	size_t version_nr;
	/*
	 * A file of kept deltas: deltas that a repack has stored for later
	 * requests. Empty until found_withhold_versions() or
	 * found_take_copies() opens the file.
	 */
	struct kept_deltas kept;
	/* whether find_kept_open() was called */
	bool tried_kept;
	/* owned: the wanted commits (commit_nr) */
	uint32_t *wants;
	size_t want_nr;
	/*
	 * Owned: the commits to send (commit_nr). Filled in only if there is a
	 * shallow boundary and the commits are few.
	 */
	uint32_t *walked_few;
	size_t walked_few_nr;
	/*
	 * Indexed by obj_pos: trees and blobs that the receiver has. Empty if
	 * the bitmap index `pb` is used.
	 */
	struct bitset uninteresting;
	/* true: `uninteresting` has all objects that the receiver has */
	bool knows_all_uninteresting;
	/* true: boundary_objects was filled in */
	bool has_boundary;
	/* Owned: commits (commit_nr) whose trees the receiver has. */
	uint32_t *boundary;
	size_t boundary_nr;
	/*
	 * Prepared pack content: stored bytes that are sent unchanged, together
	 * with `packed` and `objects`. NULL: none.
	 */
	const struct prepared_content *content;
	const struct odb_pack *content_pack; /* the pack of `content` */
	/*
	 * The file of prepared answers (stored responses), if `content` is one
	 * of them.
	 */
	struct prepared prepared;
	/*
	 * The prepared answer (stored response) to exactly this request; NULL:
	 * there is none.
	 */
	const struct prepared_answer *answer;
	/*
	 * The prepared answer to a similar request, with the help of which
	 * `packed` was found (find_near()); NULL: there is none. It is an
	 * answer of `prepared`.
	 */
	const struct prepared_answer *near;
	/*
	 * true: the receiver was told by request->elsewhere->tell() that no
	 * pack is left out, so no pack may be left out later
	 */
	bool has_told;
	/* The memory that `content` points to if a whole pack is sent. */
	struct prepared_content whole;
	struct prepared_run whole_run;
	/* The following fields are copied to struct packing_report. */
	/*
	 * Why a walk found the objects, and no index was used; a constant
	 * string. NULL: an index was used, or a prepared answer.
	 */
	const char *no_bitmap;
	struct bitmap_plan plan;
	uint32_t bitmaps_used, pseudo_merges_used, commits_walked;
};

/*
 * Find all objects of a request. request->elsewhere may offer whole packs that
 * the client can get from another place, such as a web server. Only a prepared
 * answer (stored response) can leave out such a pack. If no prepared answer is
 * used, request->elsewhere->tell() is called before the search. This call tells
 * the client that no pack is left out. If a bitmap index is broken, *warning
 * says so, and the objects are found by a walk. Returns 0 or a negative error
 * code. After an error, *found is released.
 */
int found_open(struct found *found, const struct odb *odb,
	       const struct packing_request *request,
	       const struct packing_send_options *options,
	       struct error *warning, struct error *err);
void found_close(struct found *found);

/*
 * Call fn for each object in a subset of `packed`, in no particular order. fn
 * returns 0, or ERR_NOMEM to stop. Returns 0, ERR_NOMEM, or ERR_CORRUPT if a
 * multi-pack-index contradicts its packs.
 */
int found_each_packed(const struct found *found, const struct bitset *subset,
		      int (*fn)(void *ctx, const struct walk_item *object),
		      void *ctx, struct error *err);

/*
 * Find the bit of an object in `packed`. `odb_pos` may be that of any copy of
 * the object. Returns false if the object has no bit. Threads may call this
 * function at the same time.
 */
bool found_bit(const struct found *found, uint32_t odb_pos, uint32_t *bit_pos);

/*
 * Returns whether an object is written to the pack: it is an item of the list
 * `items`, but not an external item (an item that is only a delta base and is
 * not written). `obj_pos` may be that of any copy of the object. `item_of` is
 * an index of the items.
 *
 * If this function returns true, the caller must not append an external item
 * for the same object, even if the receiver has the object. The reason: the
 * object would then have two items. A delta of one item could have a base that
 * is itself a delta of the other item. So the objects could form a cycle of
 * delta bases.
 */
bool found_is_item(const struct found *found, const struct packing_items *items,
		   const struct item_index *item_of, uint32_t obj_pos);

/*
 * Returns whether an object (by odb_pos) is sent as part of found->content, the
 * prepared pack content. Returns false if there is no content.
 */
bool found_is_prepared(const struct found *found, uint32_t odb_pos);

/*
 * Returns whether the receiver can get, from another place
 * (request->elsewhere), a pack with exactly the bytes of `content`.
 */
bool found_is_elsewhere(const struct found *found,
			const struct prepared_content *content);

/*
 * If the request includes tags, add the tags whose final target is sent. If a
 * tag refers to its target through other tags, add the other tags too. Returns
 * 0 or a negative error code: ERR_MISSING if a tag is missing. Cost: each tag
 * is visited; if many objects are sent, each visit is a few look-ups.
 */
int found_include_tags(struct found *found, struct error *err);

/*
 * Look for stored content that has exactly the objects to send: a whole pack,
 * or a prepared answer (a stored response). If there is one, found->content is
 * set to the stored content, and found->packed, the set of objects to send from
 * packs, becomes empty. A small set of objects is not compared with prepared
 * answers. Call this function only if stored bytes may be copied and the
 * receiver reads OFS_DELTA. A corrupt file of prepared answers is ignored.
 * Returns 0 or a negative error code.
 */
int found_look_for_stored(struct found *found, bool use_prepared,
			  struct error *err);

/*
 * Leave out objects that the receiver gets from another place, such as a web
 * server. left_out[i] becomes true if oids[i] would have been sent and is now
 * left out. Otherwise left_out[i] becomes false. If an id is listed several
 * times, only one of its elements becomes true. Call this function before
 * found_withhold_versions(). Returns 0 or ERR_NOMEM. Cost: each listed object
 * is visited.
 */
int found_leave_out(struct found *found, const struct oid *oids, size_t nr,
		    bool *left_out, struct error *err);

/*
 * For a thin pack: send some objects as deltas. Without this function, these
 * objects would be sent whole: each is stored whole, or as a delta whose base
 * the receiver neither has nor gets. This function chooses objects of which the
 * receiver has an older version at the same path, or of which there is a kept
 * delta. Chosen objects move from `packed` to `objects`. Returns 0 or a
 * negative error code.
 *
 * A repack stores a kept delta for some of the objects that the pack has
 * whole. If the receiver has or gets the base of the kept delta, the object
 * is usually sent as this delta. For a limited number of the other chosen
 * objects, a new delta against the older version is made. If the file of kept
 * deltas is damaged, *warning is set to the damage, unless there is a warning
 * already.
 */
int found_withhold_versions(struct found *found, struct error *warning,
			    struct error *err);

/*
 * Find items that would be deflated again, and for which a repack has stored a
 * compressed whole copy (prepared/kept-deltas.h). Such an item becomes
 * PACKING_KEPT: the copy is sent. If the file of kept deltas is damaged,
 * *warning is set to the damage, unless there is a warning already. Returns 0
 * or ERR_NOMEM. Cost: a binary search for each of these items, and a pass over
 * the bytes of the copies.
 */
int found_take_copies(struct found *found, struct packing_items *items,
		      struct error *warning, struct error *err);

/*
 * Maximum number of newest commits whose trees are read to find delta bases and
 * older versions. The maximum applies to the wants and to the haves separately.
 */
#define FOUND_NEWEST_MAX 4

/*
 * If the history has a shallow boundary, this limit takes the place of
 * FOUND_NEWEST_MAX (above): the maximum number of commits whose trees are read
 * to find delta bases. This limit is higher, because the trees of the
 * receiver's commits at the boundary have the best bases, and each branch may
 * have its own commit there.
 */
#define FOUND_EDGES_MAX 16

/*
 * Choose the newest parsed commits of a list, at most `max`, sorted newest
 * first. A parent of another listed commit is left out, unless the parent is a
 * root or on the shallow boundary. *out_nr is set to the number of commits.
 * Returns 0 or ERR_NOMEM.
 */
int found_newest(uint32_t *out, size_t *out_nr, size_t max,
		 const struct history *h, const uint32_t *commits, size_t nr,
		 struct error *err);

/*
 * Find name hashes of items (objects to send) that have none, if the delta
 * search needs them. Name hashes come from a bitmap index, or else from the
 * trees among the items. Returns 0 or a negative error code.
 */
int found_name_items(const struct found *found, struct packing_items *items,
		     struct error *err);

/* Returns whether the receiver is known to have an object (by odb_pos). */
bool found_is_uninteresting(const struct found *found, uint32_t odb_pos);

/*
 * For a request that was answered by a walk: find delta bases of items in the
 * bitmap index. Items are objects that are written into the new pack one by
 * one. Some are stored as a delta whose base is neither sent nor known to be
 * with the receiver, so that they would be deflated anew. If a wanted commit
 * reaches the base, the receiver has it already, because it is not sent. Such
 * bases are added to found->uninteresting.
 *
 * All other objects that the receiver needs must be sent. Objects that it gets
 * from another place must not be left out. `packs` must be prepared for the
 * packs of the items. `len`: number of bytes that would be deflated anew. If
 * the index is large compared with them, or damaged, it is not used. Returns 1
 * if a base was added, 0 if not, or ERR_NOMEM.
 *
 * Cost: the index is hashed. For each of the newest wanted commits, a bitmap is
 * decoded, and a part of the history of first parents may be visited to find
 * it.
 */
int found_learn_bases(struct found *found, const struct packing_items *items,
		      const struct packs *packs, uint64_t len,
		      struct error *err);

/*
 * Append external delta bases to `items`, with their sizes. The list `items`
 * has two kinds of items. Ordinary items are objects that are written into the
 * new pack one by one. External delta bases are not written from this list:
 * they only serve as bases of ordinary items. The receiver has an external base
 * already, or the new pack gets it in another way: as part of a range of bytes
 * that is copied from an old pack.
 *
 * This function appends two kinds of external bases:
 * - Older versions of objects to write (found->versions). The older version is
 *   not appended if the object to write has already become a delta.
 * - Trees and blobs of boundary commits. Such an object is appended only if an
 *   object to write has the same type and name hash, and is not written as a
 *   copy of a stored delta.
 *
 * An object that is already an ordinary item of the list is not appended.
 * Returns 0 or a negative error code.
 */
int found_add_bases(struct found *found, struct packing_items *items,
		    struct error *err);

/*
 * Append objects of the newest wanted trees to `items`, as external delta
 * bases: items that only serve as bases, and are not written from the list
 * `items`. The new pack gets these objects in another way: in ranges of bytes
 * that are copied from an old pack. is_sent() says whether an object is in such
 * a range; other objects are not appended. Also, an object is appended only if
 * it has the same type and name hash as an item that will be deflated anew.
 *
 * The bases are meant for other versions of these objects, which other commits
 * have. So the function does nothing if fewer than two commits are sent.
 * Returns 0 or a negative error code.
 */
int found_add_sent(struct found *found, struct packing_items *items,
		   bool (*is_sent)(void *ctx, uint32_t odb_pos), void *ctx,
		   struct error *err);

#endif
