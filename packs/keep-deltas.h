/* SPDX-License-Identifier: MIT */
/*
 * Makes the file of kept deltas (prepared/kept-deltas.h): deltas of HEAD's
 * newest files and directories against older versions. The older versions are
 * those of 2, 8, 32, 128 and 512 first-parent commits before HEAD. A client
 * with the older version gets the delta instead of the whole object.
 *
 * Only objects that the new pack stores whole get deltas. Making a delta costs
 * more than copying stored bytes, so one repack makes only a limited number of
 * deltas. Deltas of the existing file are copied, and so are stored deltas that
 * the repack drops (packs/dropped-deltas.h). Copying costs next to nothing.
 *
 * The file also gets whole copies of objects of other branches and of tags
 * (packs/keep-copies.h).
 */
#ifndef PACKS_KEEP_DELTAS_H
#define PACKS_KEEP_DELTAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "packs/dropped-deltas.h"
#include "packs/keep-copies.h"
#include "refs/refs.h"
#include "repo/repo.h"
#include "walk/walk.h"

/*
 * A step is the distance of an older tree from HEAD, in first-parent commits.
 * The first step is KEEP_STEP_MIN. Each further step is KEEP_STEP_FACTOR times
 * the step before, up to KEEP_STEP_MAX. Twice as many steps would make the
 * packs of fetches only 1% smaller, and making the deltas would take 1.5 times
 * as long.
 */
#define KEEP_STEP_MIN 2
#define KEEP_STEP_FACTOR 4
#define KEEP_STEP_MAX 512

/*
 * The maximum number of trees: HEAD's tree, and the trees of 2, 8, 32, 128 and
 * 512 commits before HEAD. A client that is more than 512 commits behind HEAD
 * gets mostly old versions of files, which are stored as deltas.
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
 * Find the trees of HEAD and of older commits. The walk of the repack is used,
 * because it has read the history. If HEAD is no commit, there are no trees.
 * Returns 0 or a negative error code.
 */
int keep_trees_find(struct keep_trees *trees, struct walk *w, struct refs *refs,
		    struct error *err);

struct keep_options {
	/*
	 * The checksum of the new pack. Objects that it stores whole get
	 * deltas.
	 */
	const struct oid *checksum;
	const struct keep_trees *trees;       /* borrowed */
	const struct dropped_deltas *dropped; /* borrowed */
	const struct keep_tips *tips;         /* borrowed */
	/*
	 * Make all whole copies at once. Set for a repack that copies no stored
	 * deltas: its delta search costs much more than all copies.
	 */
	bool all_copies;
};

/*
 * Write objects/info/deltas. If repack.keptDeltas is 0, or there are no deltas,
 * the file is removed. Returns 0 or a negative error code. Cost: the
 * directories of HEAD that differ from older ones are read. New deltas are made
 * for a limited number of bytes, which depends on the number of objects in the
 * pack.
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

#endif
