/* SPDX-License-Identifier: MIT */
/* Searching content filters that would apply to a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/filters.h"
#include "names/attr-files.h"
#include "sys/io.h"
#include "sys/map.h"

static const char blanks[] = " \t\r";

/* Whether an attribute changes content; "-text" does not. */
static bool is_filter(const char *word, size_t len)
{
	static const char *const names[] = {"text",  "crlf",
					    "eol",   "filter",
					    "ident", "working-tree-encoding"};

	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		size_t n = strlen(names[i]);

		if (len >= n && !memcmp(word, names[i], n) &&
		    (len == n || word[n] == '='))
			return true;
	}
	return false;
}

/*
 * Whether a line of an attributes file sets such an attribute. A line is a
 * pattern (perhaps in quotes) or "[attr]<name>", then attributes.
 */
static bool line_has_filter(const char *p, const char *end)
{
	bool first = true;

	while (p < end) {
		size_t len;

		p += strspn(p, blanks);
		len = strcspn(p, " \t\r\n");
		if (p >= end || !len || (first && *p == '#'))
			return false;
		/*
		 * A word inside a quoted pattern may match; then the file is
		 * refused, too.
		 */
		if (!first && is_filter(p, len))
			return true;
		first = false;
		p += len;
	}
	return false;
}

static int check_file(const char *file, struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = sys_read_file(&text, file, NULL);
	const char *p = text.data;

	if (ret == ERR_NOMEM)
		error_nomem(err);
	ret = ret == ERR_NOMEM ? ret : 0;
	while (!ret && p < text.data + text.len) {
		const char *eol = strchr(p, '\n');

		if (!eol)
			eol = text.data + text.len;
		if (line_has_filter(p, eol))
			ret = error_set(err, ERR_UNSUPPORTED,
					"content filters ('%s') are not "
					"supported yet; --no-filters hashes "
					"the content as it is",
					file);
		p = eol + (eol < text.data + text.len);
	}
	buf_release(&text);
	return ret;
}

/*
 * Make `path` absolute. The name of the work tree has no symbolic links, so a
 * path that leads into the work tree through a link is resolved.
 */
static int make_absolute(struct buf *out, const char *path, const char *top,
			 const char *here)
{
	struct buf real = BUF_INIT;
	size_t top_len = strlen(top);
	char *slash, *dir;
	int ret = *path == '/' ? buf_append_str(out, path)
			       : buf_printf(out, "%s/%s", here, path);

	if (ret < 0 ||
	    (!strncmp(out->data, top, top_len) && out->data[top_len] == '/'))
		return ret;
	slash = memrchr(out->data, '/', out->len);
	*slash = '\0';
	dir = sys_realpath(out->data, NULL);
	*slash = '/';
	if (!dir)
		return 0;
	ret = buf_printf(&real, "%s%s", dir, slash);
	free(dir);
	buf_release(out);
	*out = real;
	return ret;
}

/* Check .gitattributes in the directories above a path, up to the work tree. */
static int check_above(const struct repo *repo, const char *path,
		       struct error *err)
{
	struct buf file = BUF_INIT;
	char *top = sys_realpath(repo->worktree, err);
	char *here = sys_realpath(".", NULL);
	size_t top_len;
	int ret = 0;

	if (!top || !here) {
		ret = top ? error_nomem(err) : ERR_IO;
		goto out;
	}
	top_len = strlen(top);
	if (make_absolute(&file, path, top, here) < 0)
		ret = error_nomem(err);
	while (!ret) {
		char *slash = memrchr(file.data, '/', file.len);

		if (!slash || (size_t)(slash - file.data) < top_len)
			break;
		buf_set_len(&file, (size_t)(slash - file.data));
		if (strncmp(file.data, top, top_len))
			break;
		if (buf_append_str(&file, "/.gitattributes") < 0) {
			ret = error_nomem(err);
			break;
		}
		ret = check_file(file.data, err);
		buf_set_len(&file, file.len - strlen("/.gitattributes"));
	}
out:
	buf_release(&file);
	free(top);
	free(here);
	return ret;
}

/* Check the attributes files of the system, the user and the repository. */
static int check_central(const struct repo *repo, const struct config *config,
			 struct error *err)
{
	char *user = NULL, *info = NULL;
	int ret = check_file("/etc/gitattributes", err);

	if (!ret)
		ret = attr_files_user_path(&user, config, err);
	if (!ret && user)
		ret = check_file(user, err);
	if (!ret && repo) {
		info = repo_common_path(repo, "info/attributes");
		ret = info ? check_file(info, err) : error_nomem(err);
	}
	free(user);
	free(info);
	return ret;
}

static int check(const struct repo *repo, const struct config *config,
		 const char *path, struct error *err)
{
	const char *crlf = config_string(config, "core.autocrlf");
	int ret;

	if (crlf && config_parse_bool(crlf) != 0)
		return error_set(err, ERR_UNSUPPORTED,
				 "core.autocrlf is not supported yet; "
				 "--no-filters hashes the content as it is");
	ret = check_central(repo, config, err);
	if (!ret && repo && repo->worktree)
		ret = check_above(repo, path, err);
	return ret;
}

int filters_check(const struct repo *repo, const char *path, struct error *err)
{
	const struct config_sources sources = {.protected_only = true};
	struct config config = CONFIG_INIT;
	int ret;

	if (repo)
		return check(repo, &repo->config, path, err);
	ret = config_load(&config, &sources, err);
	if (!ret)
		ret = check(NULL, &config, path, err);
	config_release(&config);
	return ret;
}
