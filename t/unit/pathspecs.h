/* SPDX-License-Identifier: MIT */
/*
 * Functions that make pathspecs, for tests. Include this header after cmocka.h.
 */
#ifndef T_UNIT_PATHSPECS_H
#define T_UNIT_PATHSPECS_H

#include "graph-write/path-changes.h"

/*
 * Parse one or two patterns, relative to the top of the work tree. `b` may be
 * NULL.
 */
static inline void pathspecs_parse(struct pathspec *ps, const char *a,
				   const char *b)
{
	const struct pathspec_place top = {.name = ""};
	const char *patterns[] = {a, b};

	assert_int_equal(pathspec_parse(ps, patterns, b ? 2 : 1, &top, NULL),
			 0);
}

/*
 * Callback of a tree diff. Returns 1, which ends the diff at the first changed
 * path.
 */
static inline int pathspecs_stop(void *ctx, const char *path, size_t len,
				 enum path_change change)
{
	return 1;
}

#endif
