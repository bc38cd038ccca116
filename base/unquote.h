/* SPDX-License-Identifier: MIT */
/*
 * Strings in double quotes with C's escapes, as Git's commands read names that
 * have unusual bytes:
 *
 *	"a\tb\303\251"     a, tab, b, the two bytes of e with an acute accent
 *
 * Escapes are \a \b \f \n \r \t \v \\ \" and three octal digits up to \377.
 */
#ifndef BASE_UNQUOTE_H
#define BASE_UNQUOTE_H

#include "base/buf.h"

/*
 * Append what the quoted string at `text` says; `text` is at the opening
 * quote, and *end (may be NULL: the string has to end there) is set behind the
 * closing one. 0, ERR_INVALID when it is none, or ERR_NOMEM.
 */
int unquote_c(struct buf *out, const char *text, const char **end);

#endif
