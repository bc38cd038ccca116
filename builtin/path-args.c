/* SPDX-License-Identifier: MIT */
/*
 * Pathspecs among arguments, and the working directory to which they are
 * relative.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "builtin/path-args.h"
#include "names/revname.h"
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
	place->has_worktree = repo->worktree &&
			      (repo->worktree_is_set || !place->in_git_dir);
	if (place->has_worktree)
		place->prefix = place_below(place->cwd, repo->worktree);
	/*
	 * Stock Git changes to the top of the work tree before it checks
	 * whether the working directory is in the git directory.
	 */
	if (place->prefix && git_dir)
		place->in_git_dir = place_below(repo->worktree, git_dir) !=
				    NULL;
	free(git_dir);
	return 0;
}

void place_release(struct place *place)
{
	free(place->cwd);
}

/*
 * Returns whether something exists at `path`. In a work tree, `path` is
 * relative to the top of the work tree; elsewhere, to the working directory.
 */
static bool is_on_disk(const char *path, const struct repo *repo)
{
	struct buf full = BUF_INIT;
	struct place place;
	bool found;

	if (!*path || place_find(&place, repo, NULL) < 0)
		return false;
	if (place.prefix && *path != '/')
		found = !buf_printf(&full, "%s/%s", repo->worktree, path) &&
			sys_exists(full.data);
	else
		found = sys_exists(path);
	buf_release(&full);
	place_release(&place);
	return found;
}

void path_args_look_on_disk(const char *name, const struct repo *repo,
			    struct error *err)
{
	size_t len = revname_rev_len(name);
	const char *path = name + len + 1;

	if (len && err && err->code == ERR_INVALID &&
	    !strncmp(err->msg, "path '", strlen("path '")) &&
	    is_on_disk(path, repo))
		error_set(err, ERR_INVALID,
			  "path '%s' exists on disk, but not in '%.*s'", path,
			  (int)len, name);
}

/*
 * Returns whether an argument is a pathspec with wildcards or with long magic
 * such as :(icase).
 */
static bool is_pattern(const char *arg)
{
	if (!strncmp(arg, ":(", 2))
		return true;
	for (; *arg; arg++) {
		if (*arg == '\\' && arg[1])
			arg++;
		else if (strchr("*?[", *arg))
			return true;
	}
	return false;
}

/*
 * Returns 1 if the file or directory that a pathspec names exists, 0 if not, or
 * a negative error code. Short magic at the start of the pathspec, such as
 * ":/", is skipped.
 */
static int is_there(const char *arg, const struct repo *repo, struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (!strncmp(arg, ":/", 2) && repo->worktree)
		ret = buf_printf(&path, "%s/", repo->worktree);
	if (arg[0] == ':' && arg[1] && strchr("/!^", arg[1])) {
		arg += 2;
		if (!*arg) {
			buf_release(&path);
			return 1;
		}
	}
	if (ret < 0 || buf_append_str(&path, arg) < 0) {
		buf_release(&path);
		return error_nomem(err);
	}
	ret = sys_lstat(&st, path.data, err);
	buf_release(&path);
	if (ret == ERR_MISSING)
		return 0;
	return ret < 0 ? ret : 1;
}

int path_args_check_path(const char *arg, bool is_first,
			 const struct repo *repo, struct error *err)
{
	int ret;

	if (*arg == '-')
		return error_set(err, ERR_INVALID,
				 "option '%s' must come before non-option "
				 "arguments",
				 arg);
	ret = is_pattern(arg) ? 1 : is_there(arg, repo, err);
	if (ret)
		return ret < 0 ? ret : 0;
	if (is_first)
		return error_set(
			err, ERR_MISSING,
			"ambiguous argument '%s': unknown revision or "
			"path not in the working tree.\n" PATH_ARGS_ADVICE,
			arg);
	return error_set(err, ERR_MISSING,
			 "%s: no such path in the working tree.\n"
			 "A path that does not exist here follows '--': "
			 "git <command> -- <path>...",
			 arg);
}

int path_args_check_rev(const char *arg, const struct repo *repo,
			struct error *err)
{
	struct place place;
	int ret;

	if (*arg == '^')
		arg++;
	if (*arg == '-' || !repo->worktree)
		return 0;
	ret = is_there(arg, repo, err);
	if (ret <= 0)
		return ret;
	ret = place_find(&place, repo, err);
	if (ret < 0)
		return ret;
	if (place.prefix)
		ret = error_set(err, ERR_INVALID,
				"ambiguous argument '%s': both revision and "
				"filename\n" PATH_ARGS_ADVICE,
				arg);
	place_release(&place);
	return ret;
}

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
