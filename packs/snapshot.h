/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of references' tips in a file, a line each:
 *
 *	<id>     a tip
 *	+<id>    one that is to have a bitmap (pack.preferBitmapTips)
 *
 * Taken before packs are made, so that nothing counts that came meanwhile
 * (git-multi-pack-index(1), --refs-snapshot). Lines that are no ids are passed
 * over, as in stock Git.
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
	struct snapshot_tip *tips; /* owned; one may be there twice */
	size_t nr, alloc;
};

/* Take lines apart. 0 or ERR_NOMEM; release in any case. */
int snapshot_parse(struct snapshot *snapshot, const void *bytes, size_t len,
		   enum hash_algo algo);

/* The same for a file: "could not open '<path>' for reading: <why>". */
int snapshot_load(struct snapshot *snapshot, const char *path,
		  enum hash_algo algo, struct error *err);
void snapshot_release(struct snapshot *snapshot);

/* Add them, or the preferred ones, to the tips; what is gone is left out. */
int snapshot_add_tips(const struct snapshot *snapshot, struct walk *w,
		      struct walk_tips *tips, bool only_preferred,
		      struct error *err);

#endif
