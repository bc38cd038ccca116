/* SPDX-License-Identifier: MIT */
/* Paths without what everybody knows. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/shown-path.h"
#include "sys/io.h"

int shown_path_init(struct shown_path *shown, const struct repo *repo,
		    struct error *err)
{
	*shown = (struct shown_path){NULL, "", repo->algo};
	shown->base = repo->worktree ? mem_strdup(repo->worktree)
				     : sys_realpath(".", err);
	if (!shown->base)
		return repo->worktree ? error_nomem(err) : ERR_IO;
	if (!strcmp(shown->base, repo->git_dir))
		shown->prefix = "./";
	return 0;
}

void shown_path_release(struct shown_path *shown)
{
	free(shown->base);
}

const char *shown_path_get(const struct shown_path *shown, const char *path,
			   const char **prefix)
{
	size_t len = strlen(shown->base);

	*prefix = "";
	if (strncmp(path, shown->base, len) != 0 || path[len] != '/')
		return path;
	*prefix = shown->prefix;
	return path + len + 1;
}
