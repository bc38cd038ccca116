/* SPDX-License-Identifier: MIT */
/* Paths of a repository's files as messages have them. */
#ifndef BUILTIN_SHOWN_PATH_H
#define BUILTIN_SHOWN_PATH_H

#include "repo/repo.h"

struct shown_path {
	char *base;         /* owned: paths below it are shown without it */
	const char *prefix; /* before those: "./" in a bare repository */
	enum hash_algo algo;
};

/*
 * Where the stock Git is when it prints a path: at the top of the work tree,
 * in a bare repository, else in the working directory. 0 or a negative error.
 */
int shown_path_init(struct shown_path *shown, const struct repo *repo,
		    struct error *err);
void shown_path_release(struct shown_path *shown);

/* What is left of the path; points into it. `prefix` gets what goes before. */
const char *shown_path_get(const struct shown_path *shown, const char *path,
			   const char **prefix);

#endif
