/* SPDX-License-Identifier: MIT */
/* Short names of refs, which gitrevisions(7) expands to the full names. */
#ifndef BUILTIN_REF_SHORT_H
#define BUILTIN_REF_SHORT_H

#include "base/buf.h"
#include "builtin/store.h"

/*
 * Append the shortest unambiguous form of a full name. With
 * core.warnAmbiguousRefs (the default), no other ref may match the short name;
 * otherwise, no ref of higher precedence may. Returns 0 or a negative error
 * code.
 */
int ref_short_append(struct buf *out, const struct store *store,
		     const char *name, struct error *err);

/* As ref_short_append(), with `strict` instead of core.warnAmbiguousRefs. */
int ref_short_append_as(struct buf *out, const struct store *store,
			const char *name, bool strict, struct error *err);

/*
 * Returns how many refs a short name may mean. *ref is the one of highest
 * precedence; its strings are those of refs_lookup() on its full name.
 */
int ref_short_matches(struct ref *ref, const struct store *store,
		      const char *name);

#endif
