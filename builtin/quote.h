/* SPDX-License-Identifier: MIT */
/* Path names in output that lines and tabs delimit. */
#ifndef BUILTIN_QUOTE_H
#define BUILTIN_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Append a path as it is, or in double quotes with C escapes when it has
 * control characters, quotes or backslashes, or (`high`: core.quotePath) bytes
 * past ASCII. 0 or ERR_NOMEM.
 */
int quote_path_append(struct buf *out, const char *path, size_t len, bool high);

#endif
