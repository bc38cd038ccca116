/* SPDX-License-Identifier: MIT */
/*
 * What an object names: a commit its tree and parents, a tree its entries but
 * submodules, a tag its target; a blob nothing.
 */
#ifndef OBJECT_LINKS_H
#define OBJECT_LINKS_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"

/* Gets an id and the type that the object says it has. */
typedef int object_link_fn(void *ctx, const struct oid *to,
			   enum object_type type, struct error *err);

/*
 * Call `fn` for each, in order. A nonzero return stops and is returned. Bytes
 * that are no object of that type are ERR_CORRUPT, for a tree perhaps after
 * some calls.
 */
int object_links_each(enum object_type type, const void *data, size_t len,
		      enum hash_algo algo, object_link_fn *fn, void *ctx,
		      struct error *err);

#endif
