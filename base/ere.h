/* SPDX-License-Identifier: MIT */
/*
 * POSIX extended regular expressions (regex(7)), which Git's configuration is
 * documented to take, rewritten for PCRE2.
 *
 * What the two write differently: a backslash in brackets, "(?" and "(*",
 * quantifiers of quantifiers, braces that are no interval, an unmatched ")".
 * GNU's \w \W \s \S \b \B \< \> \` \' and back-references are
 * taken too; equivalence classes and collating elements ("[[=a=]]", "[[.a.]]")
 * are not.
 */
#ifndef BASE_ERE_H
#define BASE_ERE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Append what matches the same to *out, for PCRE2_DOTALL and
 * PCRE2_DOLLAR_ENDONLY. 0, ERR_NOMEM, or ERR_INVALID with *at where it is no
 * extended regular expression; nothing is appended then.
 */
int ere_to_pcre(struct buf *out, const char *ere, size_t *at);

#endif
