/* SPDX-License-Identifier: MIT */
/*
 * Finds our exec-path directory. Only this file and config/config.c contain
 * installation paths, so after a change of the prefix only these two files are
 * compiled again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/exec-path.h"
#include "sys/io.h"

/* The installation paths of the build: absolute, without a trailing slash. */
static const char installed_exec_dir[] = GITREACH_EXEC_DIR;
static const char installed_man_dir[] = GITREACH_MAN_DIR;

/* The directories in which programs are searched if PATH is not set. */
static const char default_path[] = "/usr/local/bin:/usr/bin:/bin";

/*
 * A place where a directory of the installation may be, relative to the
 * directory of the running program.
 */
struct place {
	/* true: `rest` is relative to the parent of the program's directory */
	bool from_parent;
	const char *rest; /* NULL ends a list */
};

/* A directory of this installation, and the places where it may be. */
struct ours {
	const struct place *places;
	/*
	 * where the build was configured to install the directory; this path is
	 * tried last
	 */
	const char *installed;
	/*
	 * name of a file in the directory; a directory without this file is not
	 * ours
	 */
	const char *marker;
};

static const struct place exec_places[] = {
	/* if the program is in bin/ of a build directory */
	{true, "/exec"},
	/* if the program is at the top of the source tree */
	{false, "/build/exec"},
	/* if the program is in bin/ of an installation */
	{true, "/libexec/gitreach-core"},
	/* if the program is in the exec-path directory itself */
	{false, ""},
	{false, NULL},
};

static const struct place man_places[] = {
	/* if the program is in bin/ of a build or of an installation */
	{true, "/share/man"},
	/* if the program is at the top of the source tree */
	{false, "/build/share/man"},
	{false, NULL},
};

/*
 * Append the directory "<dir><rest>" if the file "<dir><rest><marker>" exists.
 * Returns 0, ERR_MISSING if the file does not exist, or ERR_NOMEM.
 */
static int add_if_ours(struct buf *out, const char *dir, size_t dir_len,
		       const char *rest, const char *marker, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = ERR_MISSING;

	if (buf_printf(&path, "%.*s%s%s", (int)dir_len, dir, rest, marker) < 0)
		ret = ERR_NOMEM;
	else if (sys_exists(path.data))
		ret = buf_append(out, path.data, path.len - strlen(marker));
	if (ret == ERR_NOMEM)
		error_nomem(err);
	buf_release(&path);
	return ret;
}

/*
 * Returns the number of bytes of the path before its last slash, or 0 if there
 * is none.
 */
static size_t parent_len(const char *path, size_t len)
{
	while (len && path[--len] != '/')
		;
	return len;
}

static int find_ours(struct buf *out, const struct ours *o, struct error *err)
{
	struct buf self = BUF_INIT;
	int ret = ERR_MISSING;

	/*
	 * The link /proc/self/exe names the program's own file, with symbolic
	 * links resolved.
	 */
	if (!sys_readlink(&self, "/proc/self/exe", NULL)) {
		size_t here = parent_len(self.data, self.len);
		size_t above = parent_len(self.data, here);

		for (const struct place *p = o->places;
		     p->rest && ret == ERR_MISSING; p++)
			ret = add_if_ours(out, self.data,
					  p->from_parent ? above : here,
					  p->rest, o->marker, err);
	}
	buf_release(&self);
	if (ret == ERR_MISSING)
		ret = add_if_ours(out, o->installed, strlen(o->installed), "",
				  o->marker, err);
	if (ret == ERR_MISSING)
		error_set(err, ret, "'%s' does not exist", o->installed);
	return ret;
}

int exec_path_ours(struct buf *out, struct error *err)
{
	const struct ours exec = {exec_places, installed_exec_dir, "/gitreach"};

	return find_ours(out, &exec, err);
}

int exec_path_man(struct buf *out, struct error *err)
{
	const struct ours man = {man_places, installed_man_dir, "/man1"};

	return find_ours(out, &man, err);
}

/*
 * Append the exec-path directory whose links lead to the stock Git that the
 * environment variable GITREACH_FALLBACK names. Append our own exec-path
 * directory if the variable is not set, or if no directory has such links.
 */
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
		ret = buf_append_str(out, installed_exec_dir);
	return ret < 0 ? error_nomem(err) : 0;
}

/*
 * Returns whether the list of directories `path` (in the form of PATH) has the
 * directory `dir`, which is `len` bytes long.
 */
static bool has_dir(const char *path, const char *dir, size_t len)
{
	while (*path) {
		size_t next = strcspn(path, ":");

		if (next == len && !memcmp(path, dir, len))
			return true;
		path += next;
		path += *path == ':';
	}
	return false;
}

/*
 * Our exec-path directory has links to the files of one stock Git. Append the
 * directory of this stock Git's program, and a colon. Appends nothing if the
 * directory is in default_path, or if the exec-path directory names no stock
 * Git.
 */
static int add_stock_dir(struct buf *out, struct error *err)
{
	struct exec_record r = {BUF_INIT, "", "", "", 0, 0};
	struct buf ours = BUF_INIT;
	size_t len;
	int ret = exec_path_ours(&ours, NULL);

	if (!ret)
		ret = exec_record_read(&r, ours.data, err);
	len = parent_len(r.stock, strlen(r.stock));
	if (!ret && len && !has_dir(default_path, r.stock, len))
		ret = buf_printf(out, "%.*s:", (int)len, r.stock);
	exec_record_release(&r);
	buf_release(&ours);
	return ret == ERR_MISSING ? 0 : ret;
}

int exec_path_set_default(struct error *err)
{
	struct buf value = BUF_INIT;
	int ret;

	if (getenv("PATH"))
		return 0;
	ret = add_stock_dir(&value, err);
	if (!ret)
		ret = buf_append_str(&value, default_path);
	if (!ret && setenv("PATH", value.data, 1) < 0)
		ret = ERR_NOMEM;
	buf_release(&value);
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
