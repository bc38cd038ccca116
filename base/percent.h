/* SPDX-License-Identifier: MIT */
/*
 * Percent-encoding (RFC 3986, 2.1): "%3b" for ';'. Not the form of queries:
 * a '+' is a '+'.
 */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Append text with '%', spaces, what is not printable ASCII, and the characters
 * of `reserved` encoded. 0 or ERR_NOMEM.
 */
int percent_encode(struct buf *out, const char *text, size_t len,
		   const char *reserved);

/* The byte that "%xx" at `p`, which ends with a NUL, stands for; or -1. */
int percent_byte(const char *p);

/*
 * Undo it, in place. What is no encoding stays, and so does "%00", which would
 * cut the string.
 */
void percent_decode(char *text);

#endif
