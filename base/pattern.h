/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions over names, compiled once for very many of them.
 *
 * They are POSIX extended regular expressions, as Git documents, rewritten for
 * PCRE2 (base/ere.h). Whether a name matches is the same; of alternatives that
 * match, PCRE2 takes the first and POSIX the longest, so that what a group
 * captures can differ.
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

struct pattern;

/*
 * Compile. `anchored`: matches only at the start of a name. Returns 0 with
 * *out owned by the caller, ERR_INVALID with a message that names the pattern,
 * or ERR_NOMEM.
 */
int pattern_new(struct pattern **out, const char *text, bool anchored,
		struct error *err);
void pattern_free(struct pattern *p);

/* Number of capture groups. */
unsigned pattern_group_nr(const struct pattern *p);

/*
 * Whether a name matches: 1 or 0, or negative (a pattern that takes too many
 * steps is ERR_INVALID). One thread at a time.
 */
int pattern_match(struct pattern *p, const char *name, size_t len,
		  struct error *err);

/*
 * Append what the groups of the last match captured, joined with '-': how Git
 * names islands and groups of pseudo-merges. Groups that took no part are left
 * out. `name` is the name that matched. 0 or ERR_NOMEM.
 */
int pattern_captures(struct buf *out, const struct pattern *p,
		     const char *name);

#endif
