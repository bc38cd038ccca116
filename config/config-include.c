/* SPDX-License-Identifier: MIT */
/*
 * Evaluates the conditions of includeIf about the repository (git-config(1),
 * "Conditional includes"): its path, and its current branch.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/affix.h"
#include "base/mem.h"
#include "base/wildmatch.h"
#include "config/config-internal.h"
#include "sys/io.h"

/*
 * A glob pattern for a path. The first `literal_len` bytes of its text are
 * compared without wildcards.
 */
struct pattern {
	struct buf text;
	size_t literal_len;
};

/*
 * Appends the real directory of the current file, with a slash at the end.
 * Returns 0, ERR_MISSING if the file has no real path, or ERR_NOMEM.
 */
static int append_file_dir(struct buf *out, const char *path)
{
	char *real = sys_realpath(path, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;
	int ret = ERR_MISSING;

	if (slash)
		ret = buf_append(out, real, (size_t)(slash - real) + 1);
	free(real);
	return ret;
}

static int append_home_dir(struct buf *out)
{
	char *home = config_expand_path("~/");
	char *real = home ? sys_realpath(home, NULL) : NULL;
	int ret = ERR_MISSING;

	if (real)
		ret = buf_printf(out, "%s/", strcmp(real, "/") ? real : "");
	free(home);
	free(real);
	return ret;
}

/*
 * Appends a pattern that begins with neither "~/" nor "./". Expands "~user/"
 * and "%(prefix)/"; if the home directory is unknown, "~user" is appended as it
 * is. A pattern that is not absolute can begin at any directory.
 */
static int append_path(struct buf *out, const char *p)
{
	char *path = config_expand_path(p);
	int ret = 0;

	if (path)
		p = path;
	if (*p != '/')
		ret = buf_append_str(out, "**/");
	if (!ret)
		ret = buf_append_str(out, p);
	free(path);
	return ret;
}

/*
 * Makes the glob pattern for a condition "gitdir:", and expands its
 * abbreviations ("~/", "./", a slash at the end). `path` is the file that has
 * the condition; NULL: no file. Returns 0, ERR_NOMEM, ERR_MISSING if an
 * abbreviation cannot be expanded, so that the condition is false, or
 * ERR_INVALID if "./" is not in a file.
 */
static int expand_gitdir(struct pattern *pattern, const char *p,
			 const char *path, struct error *err)
{
	struct buf *text = &pattern->text;
	int ret = 0;

	if (starts_with(p, "~/")) {
		ret = append_home_dir(text);
		pattern->literal_len = text->len;
		p += 2;
	} else if (starts_with(p, "./") && !path) {
		return error_set(err, ERR_INVALID,
				 "relative config include conditionals must "
				 "come from files");
	} else if (starts_with(p, "./")) {
		ret = append_file_dir(text, path);
		pattern->literal_len = text->len;
		p += 2;
	} else {
		ret = append_path(text, p);
		p = "";
	}
	if (ret < 0)
		return ret;
	if (buf_append_str(text, p) < 0)
		return ERR_NOMEM;
	if (text->data[text->len - 1] == '/')
		return buf_append_str(text, "**");
	return 0;
}

static bool matches(const struct pattern *pattern, const char *dir,
		    unsigned flags)
{
	const char *p = pattern->text.data;
	size_t len = pattern->literal_len;
	bool differs = flags & WILDMATCH_ICASE ? strncasecmp(p, dir, len)
					       : strncmp(p, dir, len);

	return !differs &&
	       wildmatch(p + len, dir + len, flags | WILDMATCH_PATHNAME);
}

/*
 * Returns the part of `path` below directory `dir`, or NULL if `path` is not
 * below it.
 */
static const char *below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (strncmp(path, dir, len) || path[len] != '/')
		return NULL;
	return path + len;
}

/*
 * Returns the path of the git directory in the form that begins with $PWD,
 * malloc()ed. $PWD may name the working directory by a path through a symlink,
 * and a condition may match this form. Returns NULL if $PWD is not the working
 * directory, or if the git directory is not below it.
 */
static char *path_by_pwd(const char *git_dir)
{
	const char *pwd = getenv("PWD");
	char *here = sys_realpath(".", NULL);
	char *there = pwd && *pwd == '/' ? sys_realpath(pwd, NULL) : NULL;
	const char *rest = NULL;
	struct buf out = BUF_INIT;

	if (here && there && !strcmp(here, there))
		rest = below(git_dir, here);
	if (rest && buf_printf(&out, "%s%s", pwd, rest) < 0)
		rest = NULL;
	free(here);
	free(there);
	return rest ? buf_detach(&out, NULL) : NULL;
}

static int gitdir_holds(const struct config_loader *loader, const char *p,
			unsigned flags, struct error *err)
{
	struct pattern pattern = {BUF_INIT, 0};
	const char *git_dir = loader->sources ? loader->sources->git_dir : NULL;
	char *paths[2] = {NULL, NULL};
	int ret;

	if (!git_dir)
		return 0;
	ret = expand_gitdir(&pattern, p, loader->path, err);
	if (!ret) {
		paths[0] = sys_realpath(git_dir, NULL);
		paths[1] = paths[0] ? path_by_pwd(paths[0]) : NULL;
		ret = matches(&pattern, git_dir, flags);
	}
	for (size_t i = 0; i < ARRAY_NR(paths); i++) {
		if (paths[i] && !ret)
			ret = matches(&pattern, paths[i], flags);
		free(paths[i]);
	}
	buf_release(&pattern.text);
	return ret == ERR_MISSING ? 0 : ret;
}

static int onbranch_holds(const struct config_loader *loader, const char *p)
{
	static const char heads[] = "refs/heads/";
	struct buf pattern = BUF_INIT;
	char *ref;
	int ret = 0;

	if (!loader->sources || !loader->sources->branch)
		return 0;
	ref = loader->sources->branch(loader->sources->branch_ctx);
	if (!ref || !starts_with(ref, heads))
		goto out;
	ret = buf_append_str(&pattern, p);
	if (!ret && pattern.len && pattern.data[pattern.len - 1] == '/')
		ret = buf_append_str(&pattern, "**");
	if (!ret)
		ret = wildmatch(pattern.data, ref + strlen(heads),
				WILDMATCH_PATHNAME);
out:
	free(ref);
	buf_release(&pattern);
	return ret;
}

int config_include_holds(const struct config_loader *loader,
			 const char *condition, struct error *err)
{
	static const char gitdir[] = "gitdir:", gitdir_i[] = "gitdir/i:",
			  onbranch[] = "onbranch:";

	if (starts_with(condition, gitdir))
		return gitdir_holds(loader, condition + strlen(gitdir), 0, err);
	if (starts_with(condition, gitdir_i))
		return gitdir_holds(loader, condition + strlen(gitdir_i),
				    WILDMATCH_ICASE, err);
	if (starts_with(condition, onbranch))
		return onbranch_holds(loader, condition + strlen(onbranch));
	return 0;
}
