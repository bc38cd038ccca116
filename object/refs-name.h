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

#endif
