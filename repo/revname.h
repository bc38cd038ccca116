/* SPDX-License-Identifier: MIT */
/* Names of objects as gitrevisions(7) spells them. */
#ifndef REPO_REVNAME_H
#define REPO_REVNAME_H

#include "base/error.h"
#include "object/oid.h"
#include "repo/odb.h"
#include "repo/refs.h"

/*
 * Resolve one name to an object id: full or abbreviated hex, ref names
 * (refs_dwim), "@", and the suffixes ~<n>, ^<n>, ^{<type>}, ^{}, ^{object},
 * ^0 and :<path>. Reflog (@{...}), ^{/regex} and :/text forms are
 * ERR_UNSUPPORTED, named in the message. An unknown name is ERR_MISSING
 * ("ambiguous argument '<name>': unknown revision ..."); an ambiguous prefix
 * is ERR_INVALID ("short object ID <hex> is ambiguous"). A full-length hex id
 * is returned without checking that the object exists.
 */
int revname_resolve(struct oid *out, const char *name, struct refs *refs,
		    struct odb_reader *reader, const struct odb *odb,
		    struct error *err);

#endif
