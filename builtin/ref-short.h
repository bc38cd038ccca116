/* SPDX-License-Identifier: MIT */
/* Short names of refs that gitrevisions(7) expands to the full ones again. */
#ifndef BUILTIN_REF_SHORT_H
#define BUILTIN_REF_SHORT_H

#include "base/buf.h"
#include "builtin/store.h"

/*
 * Append the shortest unambiguous form of a full name: with
 * core.warnAmbiguousRefs (the default) no other ref may match it at all, else
 * none that has precedence. 0 or a negative error.
 */
int ref_short_append(struct buf *out, const struct store *store,
		     const char *name, struct error *err);

/* As above, `strict` as if core.warnAmbiguousRefs were set so. */
int ref_short_append_as(struct buf *out, const struct store *store,
			const char *name, bool strict, struct error *err);

/*
 * How many refs a short name can mean; *ref is the one that has precedence,
 * with strings as of refs_lookup() on its full name.
 */
int ref_short_matches(struct ref *ref, const struct store *store,
		      const char *name);

#endif
