/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions that are compiled once and matched against many names.
 *
 * They are POSIX extended regular expressions, as Git documents, translated for
 * PCRE2 (base/ere.h). The same names match. Captures can differ: of several
 * alternatives that match, PCRE2 takes the first and POSIX the longest.
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

/* Returns the number of capture groups. */
unsigned pattern_group_nr(const struct pattern *p);

/*
 * Returns 1 if the name matches, 0 if it does not, or a negative error code.
 * The code is ERR_INVALID if the match takes too many steps. A pattern may be
 * used by one thread at a time.
 */
int pattern_match(struct pattern *p, const char *name, size_t len,
		  struct error *err);

/*
 * Appends the captures of the last match, joined with '-'. Git names islands
 * and groups of pseudo-merges in this way. Groups that did not participate are
 * left out. `name` is the name that matched. Returns 0 or ERR_NOMEM.
 */
int pattern_captures(struct buf *out, const struct pattern *p,
		     const char *name);

#endif
