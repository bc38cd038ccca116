/* SPDX-License-Identifier: MIT */
/* Whether a ref exists, for show-ref --exists and refs exists. */
#ifndef BUILTIN_REF_EXISTS_H
#define BUILTIN_REF_EXISTS_H

#include "refs/refs.h"

/*
 * The exit code: 0 when the ref of that full name is there, whether or not its
 * object, or the ref it leads to, is; else prints and returns 2, or 1 for one
 * that cannot be looked up.
 */
int ref_exists(struct refs *refs, const char *name);

#endif
