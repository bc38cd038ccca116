/* SPDX-License-Identifier: MIT */
/*
 * The links of an object: a commit links to its tree and parents, a tree to its
 * entries except submodules, and a tag to its target. A blob has no links.
 */
#ifndef OBJECT_LINKS_H
#define OBJECT_LINKS_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"

/*
 * Called for each link of an object. `to` is the id of the linked object, and
 * `type` is the type that the link states for the linked object.
 */
typedef int object_link_fn(void *ctx, const struct oid *to,
			   enum object_type type, struct error *err);

/*
 * Calls `fn` for each link of an object, in order. A nonzero result of `fn`
 * ends the calls and is returned. Otherwise returns 0, or ERR_CORRUPT if the
 * bytes are not an object of that type. For a corrupt tree some calls may
 * precede the error.
 */
int object_links_each(enum object_type type, const void *data, size_t len,
		      enum hash_algo algo, object_link_fn *fn, void *ctx,
		      struct error *err);

#endif
