/* SPDX-License-Identifier: MIT */
/* The way from one directory to another. */
#ifndef BASE_RELPATH_H
#define BASE_RELPATH_H

#include "base/buf.h"

/*
 * Append the way from directory `from` to `to` ("../b/c"), both absolute and
 * without "." and "..", repeated slashes or symlinks. Where they have nothing
 * in common but the root, `to` itself. "." when they are the same. 0 or
 * ERR_NOMEM.
 */
int relpath_append(struct buf *out, const char *from, const char *to);

#endif
