/* SPDX-License-Identifier: MIT */
/* Where hooks are (githooks(5)). */
#ifndef REPO_HOOK_H
#define REPO_HOOK_H

#include "base/error.h"
#include "repo/repo.h"

/*
 * The path of a hook: an executable file <name> in core.hooksPath (from the
 * working directory on, if it is relative), else in <common_dir>/hooks. 1 with
 * *path malloc()ed for the caller, 0 when there is none, or ERR_NOMEM.
 */
int repo_hook_find(char **path, const struct repo *repo, const char *name,
		   struct error *err);

#endif
