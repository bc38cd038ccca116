/* SPDX-License-Identifier: MIT */
/* What pathspecs are relative to. */
#include "builtin/path-args.h"
#include "builtin/place.h"

int path_args_parse(struct pathspec *ps, const char *const *patterns, size_t nr,
		    const struct repo *repo, struct error *err)
{
	struct pathspec_place from = {
		.worktree = repo->worktree,
		.name = repo->worktree ? repo->worktree : repo->git_dir,
	};
	struct place place;
	int ret = pathspec_place_env(&from, err);

	if (ret < 0)
		return ret;
	ret = place_find(&place, repo, err);
	if (ret < 0)
		return ret;
	from.prefix = place.prefix;
	ret = pathspec_parse(ps, patterns, nr, &from, err);
	place_release(&place);
	return ret;
}
