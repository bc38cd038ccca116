/* SPDX-License-Identifier: MIT */
/*
 * The form of reference names: the rules of git-check-ref-format(1). Here, not
 * with the references, because tags carry names too.
 */
#ifndef OBJECT_REFS_NAME_H
#define OBJECT_REFS_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `name` is well-formed (git-check-ref-format(1), with a slash). */
bool refs_name_is_valid(const char *name);

/*
 * As above for `len` bytes that need no NUL; `one_level`: names without a
 * slash ("HEAD") are accepted too.
 */
bool refs_name_is_valid_len(const char *name, size_t len, bool one_level);

/*
 * Whether `name` is that of a root ref (gitglossary(7)): HEAD, <X>_HEAD but for
 * FETCH_HEAD and MERGE_HEAD, which say more than refs do, and a few others.
 */
bool refs_name_is_root(const char *name);

/* Whether `name` is HEAD, of this or ("worktrees/x/HEAD") another work tree. */
bool refs_name_is_head(const char *name);

#endif
