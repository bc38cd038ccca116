/* SPDX-License-Identifier: MIT */
/*
 * The syntax of reference names: the rules of git-check-ref-format(1). The
 * rules are in object/ because tag objects contain such names too.
 */
#ifndef OBJECT_REFS_NAME_H
#define OBJECT_REFS_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether `name` is well-formed (git-check-ref-format(1)) and has a
 * slash.
 */
bool refs_name_is_valid(const char *name);

/*
 * Works like refs_name_is_valid() for `len` bytes, which need not end in a NUL.
 * If `one_level`, names without a slash, such as "HEAD", are valid too.
 */
bool refs_name_is_valid_len(const char *name, size_t len, bool one_level);

/*
 * Returns whether a name has only bytes that names of root refs have: capital
 * letters, '-' and '_'. True for HEAD and FETCH_HEAD.
 */
bool refs_name_has_root_form(const char *name);

/*
 * Returns whether `name` is the name of a root ref (gitglossary(7)). Root refs
 * are HEAD, names that end in _HEAD, and a few others. FETCH_HEAD and
 * MERGE_HEAD are no root refs, since these files contain more than a ref.
 */
bool refs_name_is_root(const char *name);

/*
 * Returns whether `name` is the HEAD of this work tree, or of another work tree
 * ("worktrees/x/HEAD").
 */
bool refs_name_is_head(const char *name);

#endif
