/* SPDX-License-Identifier: MIT */
/* Recognizes git directories, and reads the files that point to them. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "repo/repo-internal.h"
#include "sys/io.h"
#include "sys/map.h"

#define GITFILE_MAX (1 << 20)

char *repo_join(const char *a, const char *b)
{
	struct buf out = BUF_INIT;

	if (buf_append_str(&out, a) < 0 || buf_append_str(&out, b) < 0) {
		buf_release(&out);
		return NULL;
	}
	return buf_detach(&out, NULL);
}

char *repo_join_path(const char *a, const char *b)
{
	struct buf out = BUF_INIT;
	size_t len = strlen(a);
	const char *slash = len && a[len - 1] == '/' ? "" : "/";

	if (buf_printf(&out, "%s%s%s", a, slash, b) < 0) {
		buf_release(&out);
		return NULL;
	}
	return buf_detach(&out, NULL);
}

char *repo_absolute_path(const char *path, struct error *err)
{
	char *here, *full;

	if (*path == '/') {
		full = mem_strdup(path);
	} else {
		here = sys_realpath(".", err);
		if (!here)
			return NULL;
		full = repo_join_path(here, path);
		free(here);
	}
	if (!full)
		error_nomem(err);
	return full;
}

/* Removes line ends at the end of the text. */
static void trim_line(struct buf *text)
{
	size_t len = text->len;

	while (len &&
	       (text->data[len - 1] == '\n' || text->data[len - 1] == '\r'))
		len--;
	buf_set_len(text, len);
}

/*
 * Resolves `path`, the content of a file in directory `dir`. A relative path
 * starts in `dir`. Returns the path, malloc()ed, or NULL if memory runs out.
 */
static char *path_from(const char *dir, size_t dir_len, const char *path)
{
	struct buf out = BUF_INIT;

	if ((*path != '/' && buf_append(&out, dir, dir_len) < 0) ||
	    buf_append_str(&out, path) < 0) {
		buf_release(&out);
		return NULL;
	}
	return buf_detach(&out, NULL);
}

int repo_read_common_dir(char **out, const char *git_dir, struct error *err)
{
	const char *env = getenv("GIT_COMMON_DIR");
	struct buf text = BUF_INIT;
	char *path = repo_join_path(git_dir, "commondir");
	int ret = path ? 0 : ERR_NOMEM;

	*out = NULL;
	if (env)
		*out = repo_absolute_path(env, err);
	else if (path)
		ret = sys_read_file(&text, path, NULL);
	if (env) {
		ret = *out ? 0 : error_recorded(err, ERR_IO);
		goto out;
	}
	trim_line(&text);
	if (ret == ERR_MISSING)
		*out = mem_strdup(git_dir);
	else if (!ret && text.len)
		*out = path_from(path, strlen(path) - strlen("commondir"),
				 text.data);
	else if (ret != ERR_NOMEM) {
		ret = error_set(err, ERR_CORRUPT, "failed to read %s", path);
		goto out;
	}
	ret = *out ? 0 : error_nomem(err);
out:
	buf_release(&text);
	free(path);
	return ret;
}

static bool is_dir(const char *path)
{
	struct sys_stat st;

	return !sys_stat(&st, path, NULL) && st.is_dir;
}

/* Returns 1 if <dir>/<name> is a directory, 0 if not, or ERR_NOMEM. */
static int has_dir(const char *dir, const char *name)
{
	char *path = repo_join_path(dir, name);
	int ret = path ? is_dir(path) : ERR_NOMEM;

	free(path);
	return ret;
}

static bool is_hex(const char *s, size_t len)
{
	return strspn(s, "0123456789abcdefABCDEF") >= len;
}

/*
 * Returns whether the content of HEAD is "ref: refs/...", or starts with an
 * object id.
 */
static bool head_text_is_valid(const char *text)
{
	if (strncmp(text, "ref:", 4))
		return is_hex(text, hash_hex_len(HASH_SHA1));
	text += 4;
	text += strspn(text, " \t\n\r");
	return !strncmp(text, "refs/", 5);
}

/*
 * Reads HEAD. If HEAD is a symlink, it must point into refs/, but its target
 * need not exist. Returns 0 or a negative error code.
 */
static int read_head(struct buf *text, const char *path)
{
	struct sys_stat st;

	if (!sys_lstat(&st, path, NULL) && st.is_link) {
		if (buf_append_str(text, "ref:") < 0)
			return ERR_NOMEM;
		return sys_readlink(text, path, NULL);
	}
	return sys_read_file(text, path, NULL);
}

/* Returns 1 if the HEAD of a git directory is valid, 0 if not, or ERR_NOMEM. */
static int head_is_valid(const char *git_dir)
{
	char *path = repo_join_path(git_dir, "HEAD");
	struct buf text = BUF_INIT;
	int ret = path ? read_head(&text, path) : ERR_NOMEM;

	if (ret != ERR_NOMEM)
		ret = !ret && head_text_is_valid(text.data);
	buf_release(&text);
	free(path);
	return ret;
}

int repo_is_git_dir(const char *path, struct error *err)
{
	const char *objects = getenv("GIT_OBJECT_DIRECTORY");
	char *common = NULL;
	int ret = head_is_valid(path);

	if (ret == 1)
		ret = repo_read_common_dir(&common, path, err);
	else
		return ret < 0 ? error_nomem(err) : 0;
	if (ret < 0)
		return ret;
	ret = objects ? is_dir(objects) : has_dir(common, "objects");
	if (ret == 1)
		ret = has_dir(common, "refs");
	free(common);
	return ret < 0 ? error_nomem(err) : ret;
}

/*
 * Reads the path in a .git file, which follows "gitdir: ". Returns 0 or a
 * negative error code.
 */
static int read_pointer(struct buf *text, const char *path, struct error *err)
{
	static const char tag[] = "gitdir: ";
	struct sys_stat st;
	int ret = sys_stat(&st, path, err);

	if (ret < 0)
		return ret;
	if (st.size > GITFILE_MAX)
		return error_set(err, ERR_CORRUPT,
				 "too large to be a .git file: '%s'", path);
	ret = sys_read_file(text, path, err);
	if (ret < 0)
		return ret;
	if (strncmp(text->data, tag, strlen(tag)))
		return error_set(err, ERR_CORRUPT, "invalid gitfile format: %s",
				 path);
	trim_line(text);
	if (text->len <= strlen(tag))
		return error_set(err, ERR_CORRUPT, "no path in gitfile: %s",
				 path);
	memmove(text->data, text->data + strlen(tag), text->len - strlen(tag));
	buf_set_len(text, text->len - strlen(tag));
	return 0;
}

int repo_read_gitfile(char **out, const char *path, struct error *err)
{
	struct buf text = BUF_INIT;
	const char *slash = strrchr(path, '/');
	char *target = NULL;
	int ret = read_pointer(&text, path, err);

	*out = NULL;
	if (ret < 0)
		goto out;
	target = path_from(path, slash ? (size_t)(slash - path) + 1 : 0,
			   text.data);
	if (!target) {
		ret = error_nomem(err);
		goto out;
	}
	ret = repo_is_git_dir(target, err);
	if (ret == 1) {
		*out = target;
		target = NULL;
		ret = 0;
	} else if (!ret) {
		ret = error_set(err, ERR_MISSING, "not a git repository: %s",
				target);
	}
out:
	free(target);
	buf_release(&text);
	return ret;
}
