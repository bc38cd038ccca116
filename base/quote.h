/* SPDX-License-Identifier: MIT */
/*
 * Two ways to write any bytes as printable text.
 *
 * Percent-encoding (RFC 3986, 2.1): "%3b" stands for ';'. In contrast to the
 * encoding of HTML forms, '+' is an ordinary character.
 *
 * Strings in double quotes with the escapes of C. Git's commands read names
 * with unusual bytes in this form:
 *
 * 	"a\tb\303\251"     a, tab, b, the two bytes of e with an acute accent
 *
 * The escapes are \a \b \f \n \r \t \v \\ \" and three octal digits up to \377.
 */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Appends `text`, percent-encoded. Encodes '%', spaces, the characters of
 * `reserved`, and all bytes that are not printable ASCII. Returns 0 or
 * ERR_NOMEM.
 */
int quote_percent(struct buf *out, const char *text, size_t len,
		  const char *reserved);

/*
 * Returns the byte that "%xx" at `p` encodes, or -1 if there is no such code.
 * The text at `p` ends with a NUL.
 */
int quote_percent_byte(const char *p);

/*
 * Decodes `text` in place. Invalid codes stay as they are. "%00" stays too,
 * because a NUL byte would end the string.
 */
void quote_undo_percent(char *text);

/*
 * Decodes the quoted string that starts at `text`, and appends the result. *end
 * is set to the byte after the closing quote. If `end` is NULL, the text must
 * end at the closing quote. Returns 0, ERR_INVALID if there is no valid quoted
 * string, or ERR_NOMEM.
 */
int quote_undo_c(struct buf *out, const char *text, const char **end);

#endif
