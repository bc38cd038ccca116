/* SPDX-License-Identifier: MIT */
/*
 * Makes whole copies (prepared/kept-deltas.h) for clones of depth 1 of branches
 * and of the newest tags.
 *
 *     pack     | file of HEAD (whole) | file of v1: delta of HEAD's |
 *     copies   | file of v1 (whole) |
 *
 * HEAD's tree is an island, so a pack stores many files of other branches and
 * tags as deltas against HEAD's files. A clone of depth 1 of v1 does not get
 * HEAD's files. Without a copy, the server would read and deflate v1's file for
 * each such clone.
 *
 * Deflating costs more than all other work of a repack on the same bytes. So
 * one repack makes only a limited number of new copies. The copies of the
 * existing file are copied to the new file.
 */
#ifndef PACKS_KEEP_COPIES_H
#define PACKS_KEEP_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/hash.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "prepared/kept-deltas.h"
#include "refs/refs.h"
#include "walk/walk.h"

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
 * Find the trees of all branches and of the newest tags. The walk of the repack
 * is used, because it has read the history. Returns 0 or a negative error code.
 * Cost: one look-up for each branch and tag.
 */
int keep_tips_find(struct keep_tips *tips, struct walk *w, struct refs *refs,
		   struct error *err);

/* All borrowed. */
struct keep_copies_options {
	const struct keep_tips *tips;
	/* the new pack, in the walk's snapshot */
	const struct odb_pack *pack;
	const struct pack_rev *rev; /* the order of `pack` */
	/* the file of kept deltas (objects/info/deltas) before the repack */
	const struct kept_deltas *old;
	/* maximum bytes of the rows and their zlib streams */
	uint64_t max_len;
	/*
	 * Maximum cost of reading the trees and of making new copies, as a
	 * number of bytes that could be deflated instead. One copy is made in
	 * any case. Once reading the trees has cost twice cost_max, further
	 * tips are skipped.
	 */
	uint64_t cost_max;
	/*
	 * Receives each copy. `made` is the malloc()ed zlib stream of a new
	 * copy; the callback owns the stream if it returns 0. `made` is NULL if
	 * the stream borrows from `old`. Returns 0 or ERR_NOMEM.
	 */
	int (*add)(void *ctx, const struct kept_delta *copy, uint8_t *made);
	void *ctx;
};

/*
 * Add copies for the trees of the tips, tip by tip, until the file has no room
 * for another copy. An object gets a copy if the pack stores it as a delta
 * against an object that is not in the same tip's tree.
 *
 * A copy of the old file is used if there is one; otherwise a new copy is
 * made. Objects of more than cost_max bytes get no new copy, and objects that
 * cannot be read get none. Returns 0 or ERR_NOMEM. Cost: the trees of the tips
 * are read; the copies of the old file are read; new copies are read and
 * deflated.
 */
int keep_copies_make(const struct keep_copies_options *options, struct walk *w);

#endif
