/* SPDX-License-Identifier: MIT */
/* Pathspecs for tests. Include after cmocka.h. */
#ifndef T_UNIT_PATHSPECS_H
#define T_UNIT_PATHSPECS_H

#include "graph-write/path-changes.h"

/* Of one or two patterns (`b` NULL), seen from the top. */
static inline void pathspecs_parse(struct pathspec *ps, const char *a,
				   const char *b)
{
	const struct pathspec_place top = {.name = ""};
	const char *patterns[] = {a, b};

	assert_int_equal(pathspec_parse(ps, patterns, b ? 2 : 1, &top, NULL),
			 0);
}

/* A path_change_fn: there is a change. */
static inline int pathspecs_stop(void *ctx, const char *path, size_t len,
				 enum path_change change)
{
	return 1;
}

#endif
