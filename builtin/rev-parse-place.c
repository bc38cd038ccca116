/* SPDX-License-Identifier: MIT */
/*
 * git rev-parse: prints the paths of the repository and its parts.
 *
 * Without --path-format, paths have the form that stock Git prints. The git
 * directory is printed as it was found from the working directory: ".git" at
 * the top of a work tree, "." inside of the git directory. Other paths are
 * relative to the working directory if it is a subdirectory of the work tree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/affix.h"
#include "base/mem.h"
#include "builtin/path-args.h"
#include "builtin/rev-parse.h"
#include "repo/hook.h"
#include "sys/io.h"
#include "sys/map.h"

/* Find the working directory. Returns 0, or prints an error and returns 128. */
static int find_place(struct place *place, const struct repo *repo)
{
	struct error err = ERROR_INIT;

	return place_find(place, repo, &err) < 0 ? builtin_fail(&err) : 0;
}

/*
 * Append the relative path that leads from the directory `from` to `to`. Both
 * are absolute.
 */
static int append_relative(struct buf *out, const char *from, const char *to)
{
	size_t i = 0, common = 0;
	int ret = 0;

	for (; from[i] && from[i] == to[i]; i++)
		if (from[i] == '/')
			common = i;
	if ((!from[i] || from[i] == '/') && (!to[i] || to[i] == '/'))
		common = i;
	from += common;
	to += common;
	for (; !ret && *from; from++)
		if (*from == '/' && from[1])
			ret = buf_append_str(out, "../");
	if (!ret)
		ret = buf_append_str(out, to + strspn(to, "/"));
	return ret || out->len ? ret : buf_append_str(out, "./");
}

/*
 * Append "<dir>/<name>". If `dir` ends in a slash, "<dir><name>" is appended in
 * a work tree, but "<dir>/<name>" in a bare repository, as in stock Git.
 */
static int append_joined(struct buf *out, const struct repo *repo,
			 const char *dir, const char *name)
{
	size_t len = strlen(dir);
	bool has_slash = repo->worktree && len && dir[len - 1] == '/';

	return buf_printf(out, *name && !has_slash ? "%s/%s" : "%s%s", dir,
			  name);
}

static bool is_dir(const char *path)
{
	struct sys_stat st;

	return !sys_stat(&st, path, NULL) && st.is_dir;
}

/*
 * Append <dir>/<name> in the form that is printed without --path-format. `dir`
 * is the git directory or the common directory.
 */
static int append_found(struct buf *out, const struct repo *repo,
			const struct place *place, const char *dir,
			const char *name)
{
	const char *env = getenv("GIT_DIR");
	bool is_git_dir = !strcmp(dir, repo->git_dir);
	const char *rest = NULL;

	/*
	 * In a subdirectory of the work tree, print an absolute path. Stock Git
	 * does so, because it changes to the top of the work tree and makes
	 * GIT_DIR absolute. If GIT_DIR is a file that names the git directory,
	 * print the path of this directory.
	 */
	if (env && is_git_dir &&
	    ((place->prefix && *place->prefix) || !is_dir(env)))
		return buf_printf(out, *name ? "%s/%s" : "%s", dir, name);
	if (env && is_git_dir)
		return append_joined(out, repo, env, name);
	if (is_git_dir && !strcmp(place->cwd, dir) &&
	    (!place->prefix || !*place->prefix))
		return buf_append_str(out, *name ? name : ".");
	if (is_git_dir && (!place->prefix || !*place->prefix))
		rest = place_below(dir, place->cwd);
	if (rest && !strcmp(rest, ".git"))
		dir = rest;
	return buf_printf(out, *name ? "%s/%s" : "%s", dir, name);
}

enum form {
	/* the form that is printed without --path-format; see append_found() */
	FORM_FOUND,
	/*
	 * In a subdirectory of the work tree: a path relative to the working
	 * directory. Elsewhere: the form FORM_FOUND.
	 */
	FORM_FOUND_RELATIVE,
	/* the form of FORM_FOUND_RELATIVE, without "./" at the start */
	FORM_GIT_PATH,
};

static const char *skip_dot(const char *path)
{
	if (!starts_with(path, "./"))
		return path;
	path += 2;
	return path + strspn(path, "/");
}

/* Removes repeated slashes, and those at the end. */
static void squeeze(struct buf *path)
{
	size_t n = 0;

	for (size_t i = 0; i < path->len; i++)
		if (path->data[i] != '/' || !n || path->data[n - 1] != '/')
			path->data[n++] = path->data[i];
	while (n > 1 && path->data[n - 1] == '/')
		n--;
	path->data[n] = '\0';
	path->len = n;
}

/* Returns the directory in which relative paths of the configuration start. */
static const char *start_dir(const struct place *place, const struct repo *repo)
{
	return place->prefix ? repo->worktree : place->cwd;
}

/*
 * Returns the real path of `path`, malloc()ed, or NULL with *err set. A
 * relative path starts in start_dir(). If `path` has ".." after a directory
 * that does not exist, `path` cannot be resolved. Then the result is only an
 * absolute path: it still has the ".." and the symlinks of `path`.
 */
static char *real_path(const char *path, const struct place *place,
		       const struct repo *repo, struct error *err)
{
	struct buf full = BUF_INIT;
	char *real = NULL;

	if (!*path)
		error_set(err, ERR_INVALID,
			  "The empty string is not a valid path");
	else if (buf_printf(&full, "%s/%s",
			    *path == '/' ? "" : start_dir(place, repo),
			    path) < 0)
		error_nomem(err);
	else
		squeeze(&full);
	if (full.len)
		real = sys_realpath_missing(full.data, NULL);
	if (full.len && !real)
		real = buf_detach(&full, NULL);
	buf_release(&full);
	return real;
}

/* Append the real path of `path` in the form that --path-format wants. */
static int append_real(struct buf *out, const struct rev_parse *rp,
		       const struct place *place, const char *path,
		       struct error *err)
{
	char *real = real_path(path, place, rp->store.repo, err);
	int ret;

	if (!real)
		return ERR_INVALID;
	ret = strcmp(rp->path_format, "absolute")
		      ? append_relative(out, place->cwd, real)
		      : buf_append_str(out, real);
	free(real);
	return ret < 0 ? error_nomem(err) : 0;
}

static int show_path(const struct rev_parse *rp, const char *dir,
		     const char *name, enum form form)
{
	const struct repo *repo = rp->store.repo;
	struct buf out = BUF_INIT, full = BUF_INIT;
	struct error err = ERROR_INIT;
	struct place place;
	int ret = find_place(&place, repo);
	bool relative;

	if (ret)
		return -ret;
	relative = form != FORM_FOUND && place.prefix && *place.prefix &&
		   !repo->worktree_is_set && place_below(dir, repo->worktree);
	ret = buf_printf(&full, *name ? "%s/%s" : "%s", dir, name);
	if (!ret && rp->path_format)
		ret = append_real(&out, rp, &place, full.data, &err);
	else if (!ret && relative)
		ret = append_relative(&out, place.cwd, full.data);
	else if (!ret)
		ret = append_found(&out, repo, &place, dir, name);
	if (ret == ERR_NOMEM)
		error_nomem(&err);
	if (ret < 0)
		ret = -builtin_fail(&err);
	else
		puts(form == FORM_GIT_PATH && !rp->path_format
			     ? skip_dot(out.data)
			     : out.data);
	buf_release(&out);
	buf_release(&full);
	place_release(&place);
	return ret < 0 ? ret : 1;
}

/*
 * Returns whether a path in the git directory is shared by all work trees
 * (gitrepository-layout(5)).
 */
static bool is_common(const char *name)
{
	static const char *const shared[] = {
		"objects",   "refs",        "logs",    "hooks",  "info",
		"config",    "branches",    "remotes", "common", "modules",
		"worktrees", "packed-refs", "shallow", "svn",    "lost-found",
		"rr-cache",  "gc.pid",
	};
	static const char *const own[] = {
		"logs/HEAD",          "info/sparse-checkout",
		"refs/bisect",        "refs/worktree",
		"refs/rewritten",     "logs/refs/bisect",
		"logs/refs/worktree", "logs/refs/rewritten",
	};

	for (size_t i = 0; i < ARRAY_NR(own); i++)
		if (place_below(name, own[i]))
			return false;
	for (size_t i = 0; i < ARRAY_NR(shared); i++)
		if (place_below(name, shared[i]))
			return true;
	return false;
}

/*
 * The environment can move some files and directories out of the git directory,
 * for example "objects". If `name` was moved, returns its new path, and sets
 * *rest to "". If `name` is below a moved directory, returns the new path of
 * the directory, and sets *rest to the path of `name` relative to the
 * directory. Otherwise returns NULL.
 */
static const char *replaced_by_env(const char *name, const char **rest)
{
	*rest = place_below(name, "objects");
	if (*rest && getenv("GIT_OBJECT_DIRECTORY"))
		return getenv("GIT_OBJECT_DIRECTORY");
	*rest = "";
	if (!strcmp(name, "index") && getenv("GIT_INDEX_FILE"))
		return getenv("GIT_INDEX_FILE");
	if (!strcmp(name, "info/grafts") && getenv("GIT_GRAFT_FILE"))
		return getenv("GIT_GRAFT_FILE");
	return NULL;
}

/*
 * Works like replaced_by_env(), and also handles the directory of the hooks,
 * which the configuration can move. Returns 1 with *dir malloc()ed, 0 if `name`
 * was not moved, or a negative error code.
 */
static int replaced_dir(char **dir, const char **rest, const char *name,
			const struct repo *repo, const struct place *place,
			struct error *err)
{
	const char *env = replaced_by_env(name, rest);

	if (env) {
		*dir = mem_strdup(env);
		return *dir ? 1 : error_nomem(err);
	}
	*rest = place_below(name, "hooks");
	return *rest ? repo_hooks_path(dir, repo, start_dir(place, repo), err)
		     : 0;
}

/*
 * Append a path that the user has set in place of a path in the git directory:
 * by an environment variable such as GIT_INDEX_FILE, or by core.hooksPath. The
 * form is the one without --path-format: relative to the working directory, or
 * absolute if the user has written an absolute path.
 */
static int append_replaced(struct buf *out, const struct repo *repo,
			   const struct place *place, const char *path)
{
	struct buf full = BUF_INIT;
	const char *clean = skip_dot(path);
	int ret;

	if (!*clean)
		return buf_append_str(out, "./");
	if (!place->prefix || !*place->prefix || *clean == '/')
		return buf_append_str(out, clean);
	ret = buf_printf(&full, "%s/%s", repo->worktree, clean);
	if (!ret)
		ret = append_relative(out, place->cwd, full.data);
	buf_release(&full);
	return ret;
}

/*
 * Print the path <dir>/<rest>. The user has set `dir` by an environment
 * variable or by core.hooksPath. As in stock Git, symlinks of an absolute path
 * are not resolved for --path-format=relative.
 */
static int show_replaced(const struct rev_parse *rp, const struct place *place,
			 const char *dir, const char *rest, struct error *err)
{
	struct buf path = BUF_INIT, out = BUF_INIT;
	int ret = buf_printf(&path, *rest ? "%s/%s" : "%s", dir, rest);

	if (ret < 0)
		goto out;
	if (!rp->path_format)
		ret = append_replaced(&out, rp->store.repo, place, path.data);
	else if (!strcmp(rp->path_format, "relative") && *path.data == '/')
		ret = append_relative(&out, place->cwd, path.data);
	else
		ret = append_real(&out, rp, place, path.data, err);
	if (!ret)
		puts(out.data);
out:
	buf_release(&path);
	buf_release(&out);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

static int git_path(const struct rev_parse *rp, const char *name)
{
	const struct repo *repo = rp->store.repo;
	struct error err = ERROR_INIT;
	struct place place;
	const char *rest;
	char *dir = NULL;
	int ret = find_place(&place, repo);

	if (ret)
		return -ret;
	ret = replaced_dir(&dir, &rest, name, repo, &place, &err);
	if (ret > 0)
		ret = show_replaced(rp, &place, dir, rest, &err);
	if (ret < 0)
		ret = -builtin_fail(&err);
	else if (dir)
		ret = 1;
	else
		ret = show_path(
			rp, is_common(name) ? repo->common_dir : repo->git_dir,
			name, FORM_GIT_PATH);
	free(dir);
	place_release(&place);
	return ret;
}

/* ---- position in the work tree */

static void show_bool(bool value)
{
	puts(value ? "true" : "false");
}

static void show_up(const struct place *place, const struct repo *repo)
{
	const char *p = place->prefix;

	if (!p) {
		if (place->has_worktree)
			puts(repo->worktree);
		return;
	}
	while (*p) {
		p += strcspn(p, "/");
		p += *p == '/';
		fputs("../", stdout);
	}
	putchar('\n');
}

static void show_prefix(const struct place *place)
{
	if (place->prefix && *place->prefix)
		printf("%s/", place->prefix);
	putchar('\n');
}

static int show_toplevel(const struct rev_parse *rp, const struct place *place)
{
	const struct repo *repo = rp->store.repo;
	struct buf out = BUF_INIT;
	int ret = 1;

	if (!place->has_worktree)
		return -builtin_die("this operation must be run in a work "
				    "tree");
	if (!rp->path_format || strcmp(rp->path_format, "relative") != 0) {
		puts(repo->worktree);
	} else if (append_relative(&out, place->cwd, repo->worktree) < 0) {
		ret = -builtin_die("out of memory");
	} else {
		puts(out.data);
	}
	buf_release(&out);
	return ret;
}

/*
 * Handle options about the position of the working directory, such as
 * --show-prefix. Returns 1 if `arg` is such an option, 0 if not, or the negated
 * exit code after printing an error.
 */
static int place_option(const struct rev_parse *rp, const char *arg)
{
	const struct repo *repo = rp->store.repo;
	struct place place;
	int ret = find_place(&place, repo);

	if (ret)
		return -ret;
	ret = 1;
	if (!strcmp(arg, "--show-toplevel"))
		ret = show_toplevel(rp, &place);
	else if (!strcmp(arg, "--show-cdup"))
		show_up(&place, repo);
	else if (!strcmp(arg, "--show-prefix"))
		show_prefix(&place);
	else if (!strcmp(arg, "--is-inside-git-dir"))
		show_bool(place.in_git_dir);
	else if (!strcmp(arg, "--is-inside-work-tree"))
		show_bool(place.prefix != NULL);
	else
		ret = 0;
	place_release(&place);
	return ret;
}

/* ---- other properties */

static int show_shallow(const struct repo *repo)
{
	char *path = repo_common_path(repo, "shallow");

	if (!path)
		return -builtin_die("out of memory");
	show_bool(sys_exists(path));
	free(path);
	return 1;
}

static int show_format(const struct repo *repo, const char *mode)
{
	/*
	 * Repositories with a second hash function for compatibility are not
	 * supported, so print an empty line.
	 */
	if (!strcmp(mode, "=compat")) {
		putchar('\n');
		return 1;
	}
	if (*mode && strcmp(mode, "=storage") != 0 &&
	    strcmp(mode, "=input") != 0 && strcmp(mode, "=output") != 0)
		return -builtin_die("unknown mode for --show-object-format: "
				    "%s",
				    mode + 1);
	puts(hash_name(repo->algo));
	return 1;
}

static int set_path_format(struct rev_parse *rp, const char *format)
{
	if (strcmp(format, "absolute") != 0 && strcmp(format, "relative") != 0)
		return -builtin_die("unknown argument to --path-format: %s",
				    format);
	rp->path_format = format;
	return 1;
}

int rev_parse_place(struct rev_parse *rp, const char *arg, const char *next,
		    bool *used)
{
	static const char format[] = "--show-object-format";
	const struct repo *repo = rp->store.repo;

	if (!strcmp(arg, "--show-ref-format")) {
		puts(repo_ref_storage_name(repo->ref_storage));
		return 1;
	}
	if (!strcmp(arg, "--git-dir"))
		return show_path(rp, repo->git_dir, "", FORM_FOUND);
	if (!strcmp(arg, "--absolute-git-dir")) {
		puts(repo->git_dir);
		return 1;
	}
	if (!strcmp(arg, "--git-common-dir"))
		return show_path(rp, repo->common_dir, "", FORM_FOUND_RELATIVE);
	if (!strcmp(arg, "--git-path")) {
		if (!next)
			return -builtin_die("--git-path requires an argument");
		*used = true;
		return git_path(rp, next);
	}
	if (!strcmp(arg, "--path-format"))
		return -builtin_die("--path-format requires an argument");
	if (starts_with(arg, "--path-format="))
		return set_path_format(rp, arg + strlen("--path-format="));
	if (!strcmp(arg, "--is-bare-repository")) {
		show_bool(repo->is_bare);
		return 1;
	}
	if (!strcmp(arg, "--is-shallow-repository"))
		return show_shallow(repo);
	if (starts_with(arg, format))
		return show_format(repo, arg + sizeof(format) - 1);
	return place_option(rp, arg);
}
