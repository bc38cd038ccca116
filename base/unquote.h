/* SPDX-License-Identifier: MIT */
/*
 * Strings in double quotes with the escapes of C. Git's commands read names
 * with unusual bytes in this form:
 *
 * 	"a\tb\303\251"     a, tab, b, the two bytes of e with an acute accent
 *
 * The escapes are \a \b \f \n \r \t \v \\ \" and three octal digits up to \377.
 */
#ifndef BASE_UNQUOTE_H
#define BASE_UNQUOTE_H

#include "base/buf.h"

/*
 * Decodes the quoted string that starts at `text`, and appends the result. *end
 * is set to the byte after the closing quote. If `end` is NULL, the text has to
 * end there. Returns 0, ERR_INVALID if there is no valid quoted string, or
 * ERR_NOMEM.
 */
int unquote_c(struct buf *out, const char *text, const char **end);

#endif
