/* SPDX-License-Identifier: MIT */
/*
 * A file with a snapshot of the tips of references, one per line:
 *
 *  <id>     a tip
 *  +<id>    a tip that should get a bitmap (pack.preferBitmapTips)
 *
 * The file is written before packs are made. So references that change later
 * have no effect (git-multi-pack-index(1), --refs-snapshot).
 */
#ifndef PACKS_SNAPSHOT_H
#define PACKS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "walk/walk.h"

struct snapshot_tip {
	struct oid oid;
	bool is_preferred;
};

struct snapshot {
	/* owned: tips in the order of the file; a tip may be listed twice */
	struct snapshot_tip *tips;
	size_t nr, alloc;
};

/*
 * Parse the lines of a file with tips. Release *snapshot in any case. Returns
 * 0, ERR_INVALID if a line is not an id, or ERR_NOMEM.
 */
int snapshot_parse(struct snapshot *snapshot, const void *bytes, size_t len,
		   enum hash_algo algo, struct error *err);

/*
 * Read and parse a file with tips. Release *snapshot in any case. Returns the
 * codes of snapshot_parse(), or ERR_IO ("could not open '<path>' for reading:
 * <why>").
 */
int snapshot_load(struct snapshot *snapshot, const char *path,
		  enum hash_algo algo, struct error *err);
void snapshot_release(struct snapshot *snapshot);

/*
 * Add the tips of the file to `tips`: all tips, or with `only_preferred` the
 * tips that are marked with "+". Returns 0 or a negative error code. A tip that
 * does not exist is ERR_CORRUPT ("unable to parse object: <id>").
 */
int snapshot_add_tips(const struct snapshot *snapshot, struct walk *w,
		      struct walk_tips *tips, bool only_preferred,
		      struct error *err);

#endif
