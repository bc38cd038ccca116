/* SPDX-License-Identifier: MIT */
/*
 * Percent-encoding (RFC 3986, 2.1): "%3b" stands for ';'. In contrast to the
 * encoding of HTML forms, '+' is an ordinary character.
 */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Appends `text`, percent-encoded. These characters are encoded: '%', spaces,
 * characters of `reserved`, and all that are not printable ASCII. Returns 0 or
 * ERR_NOMEM.
 */
int percent_encode(struct buf *out, const char *text, size_t len,
		   const char *reserved);

/*
 * Returns the byte that "%xx" at `p` encodes, or -1 if there is no such code.
 * The text at `p` ends with a NUL.
 */
int percent_byte(const char *p);

/*
 * Decodes `text` in place. Invalid codes stay as they are. "%00" stays too,
 * because a NUL byte would end the string.
 */
void percent_decode(char *text);

#endif
