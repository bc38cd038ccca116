/* SPDX-License-Identifier: MIT */
/*
 * Finds a repository: by a search upwards, or at a path that a client has
 * named.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "repo/repo-internal.h"
#include "sys/io.h"

void repo_place_release(struct repo_place *place)
{
	free(place->git_dir);
	free(place->worktree);
	free(place->gitfile);
	memset(place, 0, sizeof(*place));
}

/* Returns whether directory `dir` is below directory `ceiling`. */
static bool is_below(const char *dir, const char *ceiling)
{
	size_t len = strlen(ceiling);

	if (len && ceiling[len - 1] == '/')
		len--;
	return !strncmp(dir, ceiling, len) && dir[len] == '/' && dir[len + 1];
}

/*
 * Sets *out to the length of the longest directory in GIT_CEILING_DIRECTORIES
 * above `dir`, or to 0 if there is none. Symlinks are resolved in the entries
 * of the variable, but not in those after the first empty entry. Returns 0 or
 * ERR_NOMEM.
 */
static int ceiling_len(size_t *out, const char *dir)
{
	const char *p = getenv("GIT_CEILING_DIRECTORIES");
	bool resolve = true;

	*out = 0;
	for (; p && *p; p += *p == ':') {
		size_t len = strcspn(p, ":");
		char *entry = mem_strndup(p, len);
		char *real = NULL;

		if (!entry)
			return ERR_NOMEM;
		p += len;
		if (!len)
			resolve = false;
		else if (*entry == '/' && resolve)
			real = sys_realpath(entry, NULL);
		if (len && *entry == '/') {
			const char *ceiling = real ? real : entry;

			len = strlen(ceiling);
			while (len > 1 && ceiling[len - 1] == '/')
				len--;
			if (is_below(dir, ceiling) && len > *out)
				*out = len;
		}
		free(real);
		free(entry);
	}
	return 0;
}

/*
 * Looks for a repository at `dir`: first for a .git in the directory `dir`,
 * then whether `dir` itself is a git directory. Returns 1 with *place filled, 0
 * if there is no repository, or a negative error code.
 */
static int try_dir(struct repo_place *place, const char *dir, struct error *err)
{
	char *dot_git = repo_join_path(dir, ".git");
	struct sys_stat st;
	int ret = 0;

	if (!dot_git)
		return error_nomem(err);
	place->kind = REPO_PLACE_WORKTREE;
	if (!sys_stat(&st, dot_git, NULL)) {
		if (st.is_file) {
			ret = repo_read_gitfile(&place->git_dir, dot_git, err);
			if (ret < 0)
				goto out;
			place->gitfile = dot_git;
			dot_git = NULL;
			ret = 1;
		} else if (st.is_dir) {
			ret = repo_is_git_dir(dot_git, err);
			if (ret == 1) {
				place->git_dir = dot_git;
				dot_git = NULL;
			}
		}
	}
	if (!ret) {
		ret = repo_is_git_dir(dir, err);
		place->kind = REPO_PLACE_BARE;
	}
	if (ret != 1)
		goto out;
	if (place->kind == REPO_PLACE_BARE)
		place->git_dir = mem_strdup(dir);
	else
		place->worktree = mem_strdup(dir);
	if (!place->git_dir ||
	    (place->kind == REPO_PLACE_WORKTREE && !place->worktree))
		ret = error_nomem(err);
out:
	free(dot_git);
	return ret;
}

/*
 * Shortens the path `dir` to its parent directory. Returns false at the root.
 */
static bool go_up(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (!dir[1])
		return false;
	slash[slash == dir] = '\0';
	return true;
}

static int not_found(struct error *err)
{
	return error_set(err, ERR_MISSING,
			 "not a git repository (or any of the parent "
			 "directories): .git");
}

static int at_border(const char *dir, struct error *err)
{
	return error_set(err, ERR_MISSING,
			 "not a git repository (or any parent up to mount "
			 "point %s)\n"
			 "The search ends at the mount point unless "
			 "GIT_DISCOVERY_ACROSS_FILESYSTEM is set.",
			 dir);
}

/*
 * Returns 1 if the search for a repository must stop before `dir`, because
 * `dir` is not in the file system `dev`. Returns 0 if the search may go on, or
 * a negative error code.
 */
static int crosses(const char *dir, uint64_t dev, struct error *err)
{
	struct sys_stat st;
	int ret = config_env_bool("GIT_DISCOVERY_ACROSS_FILESYSTEM", false,
				  err);

	if (ret)
		return ret < 0 ? ret : 0;
	return !sys_stat(&st, dir, NULL) && st.dev != dev;
}

int repo_discover(struct repo_place *place, const char *start,
		  struct error *err)
{
	char *dir = sys_realpath(start, err);
	struct sys_stat st;
	size_t ceiling;
	int ret;

	if (!dir)
		return error_recorded(err, ERR_IO);
	ret = sys_stat(&st, dir, err);
	if (!ret && ceiling_len(&ceiling, dir) < 0)
		ret = error_nomem(err);
	while (!ret) {
		ret = try_dir(place, dir, err);
		if (ret)
			break;
		if (!go_up(dir) || strlen(dir) <= ceiling) {
			ret = not_found(err);
			break;
		}
		ret = crosses(dir, st.dev, err);
		if (ret > 0)
			ret = at_border(dir, err);
	}
	free(dir);
	return ret < 0 ? ret : 0;
}

/*
 * Checks whether `path` is a git directory, or a .git file that names one.
 * Takes ownership of `path`. Returns 1 with *place filled, 0 if `path` is
 * neither of them, or a negative error code.
 */
static int try_path(struct repo_place *place, char *path, struct error *err)
{
	struct sys_stat st;
	int ret = 0;

	if (sys_stat(&st, path, NULL) < 0)
		goto out;
	if (st.is_file) {
		ret = repo_read_gitfile(&place->git_dir, path, err);
		if (ret < 0)
			goto out;
		place->gitfile = path;
		return 1;
	}
	ret = st.is_dir ? repo_is_git_dir(path, err) : 0;
	if (ret == 1) {
		place->git_dir = path;
		return 1;
	}
out:
	free(path);
	return ret;
}

/*
 * Returns `path` without trailing slashes and with "~" expanded, malloc()ed.
 * Returns NULL if memory runs out, or if "~name" names no user.
 */
static char *clean_path(const char *path)
{
	char *copy = *path == '~' ? config_expand_path(path) : mem_strdup(path);
	size_t len = copy ? strlen(copy) : 0;

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = '\0';
	return copy;
}

int repo_enter(struct repo_place *place, const char *path, bool exact,
	       struct error *err)
{
	static const char *const suffixes[] = {"/.git", "", ".git/.git",
					       ".git"};
	char *base = exact ? mem_strdup(path) : clean_path(path);
	int ret = 0;

	/*
	 * `base` is NULL in two cases: memory ran out, or the path is "~name"
	 * and there is no such user. If the path starts with "~", NULL counts
	 * as the second case, and the end of this function reports that there
	 * is no repository.
	 */
	if (!base && *path != '~')
		return error_nomem(err);
	place->kind = REPO_PLACE_ENTERED;
	for (size_t i = 0; base && i < ARRAY_NR(suffixes) && !ret; i++) {
		char *candidate;

		if (exact && *suffixes[i])
			continue;
		candidate = repo_join(base, suffixes[i]);
		ret = candidate ? try_path(place, candidate, err)
				: error_nomem(err);
	}
	free(base);
	if (!ret)
		return error_set(err, ERR_MISSING,
				 "'%s' does not appear to be a git repository",
				 path);
	return ret < 0 ? ret : 0;
}
