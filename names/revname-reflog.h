/* SPDX-License-Identifier: MIT */
/*
 * The reflog selectors of gitrevisions(7): <ref>@{<n>} and <ref>@{<date>}. The
 * forms that need the configuration of branches (@{upstream}, @{push}) or the
 * history of checkouts (@{-<n>}) are recognised, but not resolved.
 */
#ifndef NAMES_REVNAME_REFLOG_H
#define NAMES_REVNAME_REFLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "refs/refs.h"
#include "repo/repo.h"

/* The parsed text between the braces of a selector such as ref@{1}. */
struct revname_selector {
	/* true: `time` selects the entry; false: `nth` selects it */
	bool by_time;
	/* number of entries to go back; 0 is the newest entry */
	uint64_t nth;
	int64_t time; /* seconds since 1970 */
	/* true: if the reflog begins after `time`, do not warn about it */
	bool quiet;
};

/*
 * Parses the text between the braces. Up to eight digits are a number of
 * entries. Any other text is a date, which may be relative to `now`. Returns 1
 * if parsed, 0 if the text is neither a number nor a date, or ERR_UNSUPPORTED
 * for "-<n>", and for "u", "upstream" and "push" in upper or lower case. *out
 * is set only if the result is 1; out->quiet is then false.
 */
int revname_selector_parse(struct revname_selector *out, const char *text,
			   size_t len, int64_t now);

/*
 * Finds the id that a selector names in the reflog of a ref. The `len` bytes at
 * `given` are the short name of the ref; with len 0 the ref is the current
 * branch, or HEAD if it is detached.
 *
 * Returns 1 with *out set, 0 if no such ref has a reflog, ERR_UNSUPPORTED if
 * the reflog has too few entries ("log for '<ref>' only has <n> entries"), or
 * another negative error code. After ERR_UNSUPPORTED, the command should end
 * with an error, as stock Git's commands do. Warnings about gaps in the reflog
 * are appended to *notes, each a line that begins with "warning: "; notes may
 * be NULL.
 */
int revname_selector_find(struct oid *out, const struct revname_selector *s,
			  const char *given, size_t len, struct refs *refs,
			  const struct repo *repo, struct buf *notes,
			  struct error *err);

#endif
