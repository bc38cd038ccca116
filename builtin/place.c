/* SPDX-License-Identifier: MIT */
/* Finding out where we are. */
#include <stdlib.h>
#include <string.h>

#include "builtin/place.h"
#include "sys/io.h"

const char *place_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (strncmp(path, dir, len) != 0)
		return NULL;
	if (!path[len])
		return path + len;
	return path[len] == '/' ? path + len + 1 : NULL;
}

int place_find(struct place *place, const struct repo *repo, struct error *err)
{
	struct error why = ERROR_INIT;
	char *git_dir;

	*place = (struct place){.cwd = sys_realpath(".", &why)};
	if (!place->cwd)
		return error_set(err, why.code, "%s", why.msg);
	git_dir = sys_realpath(repo->git_dir, NULL);
	if (git_dir)
		place->in_git_dir = place_below(place->cwd, git_dir) != NULL;
	free(git_dir);
	if (repo->worktree && !place->in_git_dir)
		place->prefix = place_below(place->cwd, repo->worktree);
	return 0;
}

void place_release(struct place *place)
{
	free(place->cwd);
}
