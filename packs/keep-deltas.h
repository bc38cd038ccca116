/* SPDX-License-Identifier: MIT */
/*
 * Makes the file of kept deltas (prepared/kept-deltas.h): deltas of HEAD's
 * newest files and directories against older versions. The older versions are
 * those of 2, 8, 32, 128 and 512 first-parent commits before HEAD. A client
 * with the older version gets the delta instead of the whole object.
 *
 * Only objects that the new pack stores whole get deltas. Making a delta costs
 * more than copying stored bytes, so one repack makes only a limited number of
 * new deltas. Two kinds of deltas are copied at nearly no cost: those in the
 * old file of kept deltas, and stored deltas that the repack drops
 * (dropped_deltas_find()).
 *
 * The file also gets whole copies of objects of other branches and of tags
 * (keep_copies_make()).
 */
#ifndef PACKS_KEEP_DELTAS_H
#define PACKS_KEEP_DELTAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "islands/islands.h"
#include "object/hash.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "prepared/kept-deltas.h"
#include "refs/refs.h"
#include "repo/repo.h"
#include "walk/walk.h"

/*
 * Kept deltas make files of HEAD's tree from older versions. The older versions
 * come from the trees of a few older commits. The distance of such a commit
 * from HEAD, in first-parent commits, is called a step. The first step is
 * KEEP_STEP_MIN. Each further step is KEEP_STEP_FACTOR times the step before,
 * up to KEEP_STEP_MAX: the steps are 2, 8, 32, 128 and 512.
 *
 * Twice as many steps would make the packs of fetches only 1% smaller, and
 * making the deltas would take 1.5 times as long.
 */
#define KEEP_STEP_MIN 2
#define KEEP_STEP_FACTOR 4
#define KEEP_STEP_MAX 512

/*
 * The maximum number of trees: HEAD's tree, and the trees of 2, 8, 32, 128 and
 * 512 commits before HEAD. Trees of still older commits are not used. If a
 * client is more than 512 commits behind HEAD, most objects that it gets are
 * old versions of files. The pack already stores these as deltas, so kept
 * deltas would save little.
 */
#define KEEP_TREES_MAX 6

/*
 * Ids of root trees: of HEAD, then of the commits 2, 8, 32, 128 and 512
 * first-parent commits before HEAD.
 */
struct keep_trees {
	struct oid trees[KEEP_TREES_MAX];
	size_t nr;
};

/*
 * Find the trees of HEAD and of older commits. `w` is the walk of the repack,
 * which has read the history. If HEAD is no commit, there are no trees. Returns
 * 0 or a negative error code.
 */
int keep_trees_find(struct keep_trees *trees, struct walk *w, struct refs *refs,
		    struct error *err);

struct keep_options {
	/*
	 * The checksum of the new pack. Deltas are kept for objects that this
	 * pack stores whole (not as a delta).
	 */
	const struct oid *checksum;
	const struct keep_trees *trees;       /* borrowed */
	const struct dropped_deltas *dropped; /* borrowed */
	const struct keep_tips *tips;         /* borrowed */
	/*
	 * true: make all whole copies in this repack, whatever they cost. A
	 * whole copy is an object that the file of kept deltas stores complete,
	 * not as a delta. Set if the repack does not reuse stored deltas: then
	 * its delta search costs much more than all copies.
	 */
	bool all_copies;
};

/*
 * Write objects/info/deltas. If repack.keptDeltas is 0, or the file would have
 * no rows, the file is removed. Returns 0 or a negative error code. Cost: reads
 * the directories in which HEAD's tree differs from an older tree, and makes a
 * limited number of new deltas. The limit grows with the number of objects in
 * the pack.
 */
int keep_deltas(const struct repo *repo, const struct keep_options *options,
		struct error *err);

/*
 * Check the kept deltas of object directory `dir_nr`: each delta must make its
 * target from its base. *nr is set to the number of rows, and *checked to the
 * number of rows with a delta whose base exists. Without a file both are 0.
 *
 * Returns 0, ERR_CORRUPT with a message, or another negative error code.
 * Returns 1 with a message if readers do not use the file, because it has
 * another version (err->code is ERR_UNSUPPORTED).
 */
int keep_deltas_verify(size_t *nr, size_t *checked, const struct odb *odb,
		       size_t dir_nr, struct error *err);

/*
 * Finds the stored deltas that a repack drops because of the tip island. The
 * tip island is the set of objects of clones of depth 1 (islands/islands.h). An
 * object of this set must not be stored as a delta of an object outside of the
 * set. Packs of pushes and of stock Git have many such deltas. A fetch of a few
 * commits can use them, so the repack keeps them in the file of kept deltas.
 */

struct dropped_deltas {
	/*
	 * Owned. The deltas that the repack drops from its packs, and keeps in
	 * the file of kept deltas. The field `step` of each of them is 0. (The
	 * other kept deltas in the file have a `step` above 0: the distance in
	 * commits from HEAD to the tree with their base.) The streams of the
	 * deltas borrow from the packs of the walk's snapshot, and from `old`.
	 */
	struct kept_delta *deltas;
	size_t nr, alloc;
	/*
	 * the repository's file of kept deltas (objects/info/deltas) before the
	 * repack
	 */
	struct kept_deltas old;
};

#define DROPPED_DELTAS_INIT                                                    \
	{                                                                      \
		.old = KEPT_DELTAS_INIT                                        \
	}

/*
 * List the deltas whose target is in the tip island (the objects that clones of
 * depth 1 get, see islands/islands.h), and whose base is outside of the tip
 * island. The list has, for each target:
 * - first the delta that a pack stores now. The repack is about to drop it;
 * - then deltas that earlier repacks have dropped. They come from d->old, the
 *   file of kept deltas before this repack. In this file, the field `step` of
 *   such a delta is 0, which says that it was copied from a pack. Deltas that
 *   were made between HEAD's tree and older trees have another `step`, and are
 *   not listed.
 *
 * If a pack and the old file have a delta of the same target and base, only the
 * delta of the pack is listed. A delta with a wrong CRC is left out. Release *d
 * in any case. Returns 0 or ERR_NOMEM. Cost: one look at the pack entry of each
 * object in the tip island.
 */
int dropped_deltas_find(struct dropped_deltas *d, const struct walk *w,
			const struct islands *islands, struct error *err);
void dropped_deltas_release(struct dropped_deltas *d);

/*
 * The functions below make whole copies (prepared/kept-deltas.h) for clones of
 * depth 1 of branches and of the newest tags. A whole copy is an object that is
 * deflated, but not stored as a delta.
 *
 *      pack     | file of HEAD (whole) | file of v1: delta of HEAD's |
 *      copies   | file of v1 (whole) |
 *
 * The pack stores many files of other branches and tags as deltas against
 * HEAD's files. A clone of depth 1 of v1 does not get HEAD's files. Without a
 * copy, the server would have to read and deflate v1's file for each such
 * clone.
 *
 * Deflating costs more than all other work of a repack on the same bytes. So
 * one repack makes only a limited number of new copies. It also takes over
 * copies from the file of kept deltas that it replaces.
 */

/* Maximum number of tags whose trees get copies: the newest tags. */
#define KEEP_TAGS_MAX 20

/*
 * Maximum number of root trees that get copies: the root trees of the newest
 * commits.
 */
#define KEEP_TIPS_MAX 64

/*
 * Returns the number of bytes of a row in the file of kept deltas
 * (objects/info/deltas).
 */
static inline size_t keep_row_len(enum hash_algo algo)
{
	return 2 * hash_len(algo) + 24;
}

/*
 * Ids of root trees, each once; the root trees of the newest commits come
 * first.
 */
struct keep_tips {
	struct oid trees[KEEP_TIPS_MAX];
	size_t nr;
};

/*
 * Find the trees of all branches and of the newest tags. `w` is the walk of the
 * repack, which has read the history. Returns 0 or a negative error code. Cost:
 * one look-up for each branch and tag.
 */
int keep_tips_find(struct keep_tips *tips, struct walk *w, struct refs *refs,
		   struct error *err);

/* All borrowed. */
struct keep_copies_options {
	const struct keep_tips *tips;
	/* the new pack, in the walk's snapshot */
	const struct odb_pack *pack;
	/* the file of kept deltas (objects/info/deltas) before the repack */
	const struct kept_deltas *old;
	/* maximum bytes of the rows of the new file, with their zlib streams */
	uint64_t max_len;
	/*
	 * Limit of the cost. The unit is the cost of deflating one byte. Two
	 * kinds of work count: reading trees, and making new copies. If a new
	 * copy would bring the sum above cost_max, it is not made; but the
	 * first new copy is made in any case, so that each repack makes one. A
	 * small fixed minimum is used in place of a smaller cost_max.
	 *
	 * When no further new copy can be made, the trees of the remaining tips
	 * are still read while the file `old` has copies that were not taken
	 * over yet. The reason: objects in these trees may have such copies,
	 * which need not be made again. But when reading trees alone has cost
	 * twice cost_max, the remaining tips are skipped.
	 */
	uint64_t cost_max;
	/*
	 * Receives each copy. If the copy is new, `made` is its malloc()ed zlib
	 * stream, which the callback owns if it returns 0. If the copy is from
	 * the file `old`, `made` is NULL, and copy->stream points into this
	 * file. Returns 0 or ERR_NOMEM.
	 */
	int (*add)(void *ctx, const struct kept_delta *copy, uint8_t *made);
	void *ctx;
};

/*
 * Add whole copies of objects in the trees of the tips, tip by tip, until the
 * file of kept deltas has no room for another copy. An object of a tip's tree
 * gets a copy if the pack stores it as a delta whose base is not in that tree.
 *
 * If the old file of kept deltas has a copy of the object, this copy is used;
 * otherwise a new copy is made. Objects of more than cost_max bytes get no new
 * copy, and objects that cannot be read get none. Returns 0 or ERR_NOMEM. Cost:
 * the trees of the tips and the copies in the old file are read; objects with
 * new copies are read and deflated.
 */
int keep_copies_make(const struct keep_copies_options *options, struct walk *w);

#endif
