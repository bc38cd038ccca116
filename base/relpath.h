/* SPDX-License-Identifier: MIT */
/* Relative paths between directories. */
#ifndef BASE_RELPATH_H
#define BASE_RELPATH_H

#include "base/buf.h"

/*
 * Appends the relative path from directory `from` to `to`, such as "../b/c".
 * Both paths are absolute and without ".", "..", repeated slashes or symlinks.
 * If the two paths share only the root, appends `to` itself. If they are equal,
 * appends ".". Returns 0 or ERR_NOMEM.
 */
int relpath_append(struct buf *out, const char *from, const char *to);

#endif
