/* SPDX-License-Identifier: MIT */
/*
 * Two trees, path by path: what stands at the same place in both and differs,
 * that is versions of one file or directory. Reads only directories that
 * differ.
 */
#ifndef WALK_TREEPAIR_H
#define WALK_TREEPAIR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "walk/objspace.h"

/*
 * Receives two versions of a file or directory; `path` is relative to the
 * roots ("" for these), valid during the call. A nonzero return ends the
 * comparison and is returned.
 */
typedef int (*treepair_fn)(void *ctx, uint32_t new_pos, uint32_t old_pos,
			   enum object_type type, const char *path,
			   size_t path_len, struct error *err);

/*
 * Compare two trees. Of a directory that cannot be read on either side nothing
 * is said. 0, ERR_NOMEM, or what `fn` returned.
 */
int treepair_run(struct objspace *space, struct odb_reader *reader,
		 uint32_t new_tree, uint32_t old_tree, treepair_fn fn,
		 void *ctx, struct error *err);

#endif
