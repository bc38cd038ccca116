/* SPDX-License-Identifier: MIT */
/*
 * Whether some named paths differ between two trees, by a look at nothing but
 * the entries of these names.
 *
 * For trees here and there in a history, as changed-path filters leave them:
 * what is in between is read as bytes, and nothing is kept but a reader's
 * cache. For one tree after the other, path-changes.h is faster.
 */
#ifndef SIMPLIFY_PATH_LOOK_H
#define SIMPLIFY_PATH_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "names/pathspec.h"
#include "walk/objspace.h"

struct path_look;

/* Whether all patterns are plain names. */
bool path_look_fits(const struct pathspec *paths);

/*
 * `paths` is borrowed, and path_look_fits() accepts it. `cache_limit` is as for
 * odb_reader_new(). Returns NULL if memory runs out.
 */
struct path_look *path_look_new(struct objspace *space,
				const struct pathspec *paths,
				size_t cache_limit);
void path_look_free(struct path_look *l);

/*
 * Compare trees (obj_pos, or PATH_CHANGES_NO_TREE for one without entries) as
 * path_changes_run() does: 1 when anything that the patterns take differs, else
 * 0, or a negative error.
 */
int path_look_differs(struct path_look *l, uint32_t new_tree, uint32_t old_tree,
		      struct error *err);

#endif
