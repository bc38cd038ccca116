/* SPDX-License-Identifier: MIT */
/* Short names of refs, which gitrevisions(7) expands to the full names. */
#ifndef BUILTIN_REF_SHORT_H
#define BUILTIN_REF_SHORT_H

#include "base/buf.h"
#include "builtin/store.h"

/*
 * Append the shortest unambiguous form of a full name. By default, a short name
 * is unambiguous if it matches no other ref. If core.warnAmbiguousRefs is
 * false, a short name may also match refs of lower precedence. Returns 0 or a
 * negative error code.
 */
int ref_short_append(struct buf *out, const struct store *store,
		     const char *name, struct error *err);

/*
 * Works like ref_short_append(), but does not read core.warnAmbiguousRefs:
 * `strict` has the value of the key.
 */
int ref_short_append_as(struct buf *out, const struct store *store,
			const char *name, bool strict, struct error *err);

/*
 * Returns how many refs match a short name. *ref gets the ref of highest
 * precedence. The strings of *ref are valid as long as those of refs_lookup().
 */
int ref_short_matches(struct ref *ref, const struct store *store,
		      const char *name);

#endif
