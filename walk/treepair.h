/* SPDX-License-Identifier: MIT */
/*
 * Compares two trees path by path and reports the pairs of objects that differ
 * at the same path: two versions of one file or directory. Reads only
 * directories that differ.
 */
#ifndef WALK_TREEPAIR_H
#define WALK_TREEPAIR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "walk/objspace.h"

/*
 * Receives two versions of a file or directory. `path` is relative to the roots
 * ("" for the roots themselves), and valid during the call. A nonzero return
 * ends the comparison and is returned.
 */
typedef int (*treepair_fn)(void *ctx, uint32_t new_pos, uint32_t old_pos,
			   enum object_type type, const char *path,
			   size_t path_len, struct error *err);

/*
 * Compares two trees. The entries of a directory are skipped if one of its
 * versions cannot be read. Returns 0, ERR_NOMEM, or the nonzero value that `fn`
 * returned.
 */
int treepair_run(struct objspace *space, struct odb_reader *reader,
		 uint32_t new_tree, uint32_t old_tree, treepair_fn fn,
		 void *ctx, struct error *err);

#endif
