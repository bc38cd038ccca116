/* SPDX-License-Identifier: MIT */
/* Finding our exec-path directory. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/exec-path.h"
#include "builtin/paths.h"
#include "sys/io.h"

/* The file by which tools/exec-dir marks a directory as its own. */
#define MARKER "/gitreach"

/* Where the directory may lie, from the one that holds the program. */
static const char *const relative[] = {
	"/../exec",                  /* bin/ of a build directory */
	"/build/exec",               /* top of the tree */
	"/../libexec/gitreach-core", /* bin/ of an installation */
	"",                          /* a copy in the directory itself */
};

/* Append `dir` with symlinks resolved if it is an exec path of ours. */
static int add_if_ours(struct buf *out, const char *dir, const char *rest,
		       struct error *err)
{
	struct buf path = BUF_INIT;
	char *real;
	int ret = ERR_MISSING;

	if (buf_printf(&path, "%s%s%s", dir, rest, MARKER) < 0) {
		buf_release(&path);
		return error_nomem(err);
	}
	if (sys_exists(path.data)) {
		buf_set_len(&path, path.len - strlen(MARKER));
		real = sys_realpath(path.data, err);
		if (real)
			ret = buf_append_str(out, real);
		free(real);
	}
	buf_release(&path);
	return ret;
}

int exec_path_ours(struct buf *out, struct error *err)
{
	char *dir = sys_realpath("/proc/self/exe", NULL);
	char *slash = dir ? strrchr(dir, '/') : NULL;
	int ret = ERR_MISSING;

	if (slash) {
		*slash = '\0';
		for (size_t i = 0; i < ARRAY_NR(relative); i++) {
			ret = add_if_ours(out, dir, relative[i], err);
			if (ret != ERR_MISSING)
				break;
		}
	}
	free(dir);
	if (ret == ERR_MISSING)
		ret = add_if_ours(out, paths_exec_dir, "", err);
	if (ret == ERR_MISSING)
		error_set(err, ret, "no exec path: '%s' is not there",
			  paths_exec_dir);
	return ret;
}

int exec_path_current(struct buf *out, struct error *err)
{
	const char *given = getenv("GIT_EXEC_PATH");
	int ret;

	if (given && *given)
		ret = buf_append_str(out, given);
	else
		ret = exec_path_ours(out, err);
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
