/* SPDX-License-Identifier: MIT */
/*
 * Translates POSIX extended regular expressions (regex(7)) for PCRE2. Git
 * documents its configuration to take such expressions.
 *
 * The two syntaxes differ in: a backslash in brackets, "(?" and "(*",
 * quantifiers of quantifiers, braces that are no interval, and an unmatched
 * ")". The GNU extensions \w \W \s \S \b \B \< \> \` \' and back-references are
 * supported. Equivalence classes and collating elements ("[[=a=]]", "[[.a.]]")
 * are not.
 */
#ifndef BASE_ERE_H
#define BASE_ERE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Appends to *out a PCRE2 pattern that matches the same texts as `ere`. The
 * pattern needs the options PCRE2_DOTALL and PCRE2_DOLLAR_ENDONLY.
 *
 * Returns 0, ERR_NOMEM, or ERR_INVALID if `ere` is not an extended regular
 * expression. After an error *at is the offset of the error in `ere`, and *out
 * is unchanged.
 */
int ere_to_pcre(struct buf *out, const char *ere, size_t *at);

#endif
