/* SPDX-License-Identifier: MIT */
/* Names of objects as gitrevisions(7) spells them. */
#ifndef NAMES_REVNAME_H
#define NAMES_REVNAME_H

#include <stdbool.h>

#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "refs/refs.h"

/*
 * Resolve one name to an object id: full or abbreviated hex, ref names
 * (refs_dwim), "@", what git-describe(1) prints, and the suffixes ~<n>, ^<n>,
 * ^{<type>}, ^{}, ^{object}, ^0 and :<path>. Reflog (@{...}), index (:<path>),
 * ^{/regex} and :/text forms are ERR_UNSUPPORTED, named in the message. An
 * unknown name is ERR_MISSING ("ambiguous argument '<name>': unknown revision
 * ..."); an ambiguous prefix ("short object ID <hex> is ambiguous"), an object
 * of another type than asked for and a path that is not there are
 * ERR_INVALID. A full-length hex id is returned without checking that the
 * object exists.
 */
int revname_resolve(struct oid *out, const char *name, struct refs *refs,
		    struct odb_reader *reader, const struct odb *odb,
		    struct error *err);

/*
 * Whether an argument (a name, "^<name>", a range) may hold one that is
 * ERR_UNSUPPORTED: a look at its letters, which also finds some that are not.
 */
bool revname_may_be_unsupported(const char *arg);

/* What an abbreviated id is meant to name, when several objects fit. */
enum revname_hint {
	REVNAME_ANY,
	REVNAME_COMMITTISH, /* a commit, or a tag of one */
	REVNAME_TREEISH,    /* a tree, or what leads to one */
};

/*
 * The object whose id starts with the `len` digits at `hex`, at least 4. With
 * a hint, objects of other kinds are left out when more than one fits.
 * 1, 0 when there is none (or these are no digits), or ERR_INVALID as above.
 */
int revname_resolve_short(struct oid *out, const char *hex, size_t len,
			  enum revname_hint hint, struct odb_reader *reader,
			  const struct odb *odb, struct error *err);

/*
 * Digits of abbreviated ids: core.abbrev, or by the number of objects as
 * stock Git does. Returns it, or ERR_INVALID.
 */
int revname_default_len(const struct odb *odb, struct error *err);

#endif
