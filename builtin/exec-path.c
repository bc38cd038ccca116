/* SPDX-License-Identifier: MIT */
/* Finding our exec-path directory. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/exec-path.h"
#include "builtin/paths.h"
#include "sys/io.h"

/* The file in an exec-path directory that shows that tools/exec-dir made it. */
#define MARKER "/gitreach"

/*
 * Possible places of the exec-path directory, relative to the directory of the
 * program.
 */
static const struct {
	bool from_parent; /* relative to its parent directory */
	const char *rest;
} places[] = {
	{true, "/exec"},                  /* for bin/ of a build directory */
	{false, "/build/exec"},           /* for the top of the source tree */
	{true, "/libexec/gitreach-core"}, /* for bin/ of an installation */
	{false, ""}, /* for a copy in the directory itself */
};

/*
 * Append the directory "<dir><rest>" if it is our exec path. Returns 0,
 * ERR_MISSING or ERR_NOMEM.
 */
static int add_if_ours(struct buf *out, const char *dir, size_t dir_len,
		       const char *rest, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = ERR_MISSING;

	if (buf_printf(&path, "%.*s%s%s", (int)dir_len, dir, rest, MARKER) < 0)
		ret = ERR_NOMEM;
	else if (sys_exists(path.data))
		ret = buf_append(out, path.data, path.len - strlen(MARKER));
	if (ret == ERR_NOMEM)
		error_nomem(err);
	buf_release(&path);
	return ret;
}

/* Length of the path up to the slash before the last name. */
static size_t parent_len(const char *path, size_t len)
{
	while (len && path[--len] != '/')
		;
	return len;
}

int exec_path_ours(struct buf *out, struct error *err)
{
	struct buf self = BUF_INIT;
	int ret = ERR_MISSING;

	/* /proc/self/exe is the file itself, with symbolic links resolved. */
	if (!sys_readlink(&self, "/proc/self/exe", NULL)) {
		size_t here = parent_len(self.data, self.len);
		size_t above = parent_len(self.data, here);

		for (size_t i = 0; i < ARRAY_NR(places) && ret == ERR_MISSING;
		     i++)
			ret = add_if_ours(out, self.data,
					  places[i].from_parent ? above : here,
					  places[i].rest, err);
	}
	buf_release(&self);
	if (ret == ERR_MISSING)
		ret = add_if_ours(out, paths_exec_dir, strlen(paths_exec_dir),
				  "", err);
	if (ret == ERR_MISSING)
		error_set(err, ret, "no exec path: '%s' is not there",
			  paths_exec_dir);
	return ret;
}

/* Append our directory for the Git that GITREACH_FALLBACK names, or our own. */
static int add_ours_or_named(struct buf *out, struct error *err)
{
	const char *named = getenv("GITREACH_FALLBACK");
	struct buf ours = BUF_INIT;
	int ret = exec_path_ours(&ours, err);

	if (!ret) {
		ret = named && *named
			      ? exec_path_find(out, ours.data, named, err)
			      : ERR_MISSING;
		if (ret == ERR_MISSING)
			ret = buf_append(out, ours.data, ours.len);
	}
	buf_release(&ours);
	return ret;
}

int exec_path_current(struct buf *out, struct error *err)
{
	const char *given = getenv("GIT_EXEC_PATH");
	int ret;

	if (given && *given)
		ret = buf_append_str(out, given);
	else
		ret = add_ours_or_named(out, err);
	if (ret == ERR_MISSING)
		ret = buf_append_str(out, paths_exec_dir);
	return ret < 0 ? error_nomem(err) : 0;
}

int exec_path_prepend(struct error *err)
{
	const char *path = getenv("PATH");
	struct buf value = BUF_INIT;
	int ret = exec_path_current(&value, err);
	size_t len = value.len;

	if (ret < 0)
		goto out;
	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	if (!strncmp(path, value.data, len) && (path[len] == ':' || !path[len]))
		goto out;
	if (buf_append_char(&value, ':') < 0 ||
	    buf_append_str(&value, path) < 0 ||
	    setenv("PATH", value.data, 1) < 0)
		ret = error_nomem(err);
out:
	buf_release(&value);
	return ret;
}
