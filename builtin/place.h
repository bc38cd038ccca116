/* SPDX-License-Identifier: MIT */
/* Where we are, seen from a repository. */
#ifndef BUILTIN_PLACE_H
#define BUILTIN_PLACE_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"

struct place {
	char *cwd;          /* owned, absolute */
	const char *prefix; /* cwd below the work tree; "" at its top; NULL when
			       we are not in it */
	bool in_git_dir;
};

/* 0, or a negative error with *place empty. */
int place_find(struct place *place, const struct repo *repo, struct error *err);
void place_release(struct place *place);

/* What follows `dir` in `path` when that is `dir` or below; else NULL. */
const char *place_below(const char *path, const char *dir);

#endif
