/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions that are compiled once and matched against many names.
 *
 * As Git documents, the expressions are POSIX extended regular expressions.
 * They are translated for PCRE2 (base/ere.c), and match the same names.
 * Captures can differ: of several alternatives that match, PCRE2 takes the
 * first and POSIX the longest.
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

struct pattern;

/*
 * Compiles a pattern. If `anchored`, it matches only at the start of a name.
 * Returns 0 with *out owned by the caller, ERR_INVALID with a message that
 * contains the pattern, or ERR_NOMEM.
 */
int pattern_new(struct pattern **out, const char *text, bool anchored,
		struct error *err);
void pattern_free(struct pattern *p);

/*
 * Returns 1 if the name matches, 0 if it does not, or a negative error code.
 * The code is ERR_INVALID if the match takes too many steps. A pattern may be
 * used by one thread at a time.
 */
int pattern_match(struct pattern *p, const char *name, size_t len,
		  struct error *err);

/*
 * Appends the captures of the last match, joined with '-'. Git uses this text
 * as the name of an island, or of a group of pseudo-merges. Capture groups that
 * matched nothing are left out. `name` is the name that matched. Returns 0 or
 * ERR_NOMEM.
 */
int pattern_captures(struct buf *out, const struct pattern *p,
		     const char *name);

/*
 * Translates POSIX extended regular expressions (regex(7)) for PCRE2. Git
 * documents that its configuration uses POSIX extended regular expressions.
 *
 * The two syntaxes differ in: a backslash in brackets, "(?" and "(*",
 * quantifiers of quantifiers, braces that are no interval, and an unmatched
 * ")". The GNU extensions \w \W \s \S \b \B \< \> \` \' and back-references are
 * supported. Equivalence classes and collating elements ("[[=a=]]", "[[.a.]]")
 * are not.
 */

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
