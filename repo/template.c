/* SPDX-License-Identifier: MIT */
/* Copies the files of a template directory into a new repository. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "repo/repo-internal.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempfile.h"

#define DEPTH_MAX 64

/* The state while one directory is copied. */
struct copy {
	const char *from, *to; /* borrowed */
	unsigned depth;
	unsigned share;
	struct error *err;
};

static int copy_dir(const char *from, const char *to, unsigned depth,
		    unsigned share, struct error *err);

static int write_file(const char *path, const char *dir, const void *bytes,
		      size_t len, unsigned mode, struct error *err)
{
	struct sys_tempfile tf;
	int ret = sys_tempfile_create(&tf, dir, "tmp_init_", mode, err);

	if (!ret)
		ret = sys_tempfile_write(&tf, bytes, len, err);
	if (!ret)
		return sys_tempfile_commit(&tf, path, SYS_FSYNC_NONE, err);
	sys_tempfile_abort(&tf);
	return ret;
}

static int copy_file(const char *from, const char *to, const char *dir,
		     unsigned mode, struct error *err)
{
	struct buf bytes = BUF_INIT;
	int ret = sys_read_file(&bytes, from, err);

	if (!ret)
		ret = write_file(to, dir, bytes.data, bytes.len, mode, err);
	buf_release(&bytes);
	return ret;
}

static int copy_link(const char *from, const char *to, struct error *err)
{
	struct buf target = BUF_INIT;
	int ret = sys_readlink(&target, from, err);

	if (!ret)
		ret = sys_symlink(target.data, to, err);
	buf_release(&target);
	return ret;
}

static int copy_entry(const struct copy *copy, const char *from, const char *to)
{
	struct sys_stat st, there;
	int ret = sys_lstat(&st, from, copy->err);

	if (ret < 0)
		return ret;
	if (st.is_dir)
		return copy_dir(from, to, copy->depth + 1, copy->share,
				copy->err);
	if (!sys_lstat(&there, to, NULL))
		return 0;
	if (st.is_link)
		return copy_link(from, to, copy->err);
	if (st.is_file)
		return copy_file(from, to, copy->to,
				 (st.mode & 0777) | copy->share, copy->err);
	return error_set(copy->err, ERR_UNSUPPORTED, "ignoring template %s",
			 from);
}

static int copy_name(void *ctx, const char *name)
{
	const struct copy *copy = ctx;
	char *from, *to;
	int ret;

	if (*name == '.')
		return 0;
	from = repo_join_path(copy->from, name);
	to = repo_join_path(copy->to, name);
	ret = from && to ? copy_entry(copy, from, to) : error_nomem(copy->err);
	free(from);
	free(to);
	return ret;
}

static int copy_dir(const char *from, const char *to, unsigned depth,
		    unsigned share, struct error *err)
{
	struct copy copy = {from, to, depth, share, err};
	int ret;

	if (depth > DEPTH_MAX)
		return error_set(err, ERR_INVALID,
				 "template directory is too deep: %s", from);
	ret = sys_mkdir_shared(to, share, err);
	return ret < 0 ? ret : sys_dir_each(from, copy_name, &copy, err);
}

static const struct {
	/* path of the directory relative to the git directory, or "" */
	const char *dir;
	const char *name;
	const char *text;
} builtin_files[] = {
	{"", "description",
	 "Unnamed repository; edit this file 'description' to name the "
	 "repository.\n"},
	{"/info", "exclude",
	 "# Patterns of untracked files to ignore here, see gitignore(5).\n"},
};

static int make_builtin(const char *git_dir, const char *dir, const char *name,
			const char *text, unsigned share, struct error *err)
{
	char *parent = repo_join(git_dir, dir);
	char *path = parent ? repo_join_path(parent, name) : NULL;
	int ret = path ? sys_mkdir_shared(parent, share, err)
		       : error_nomem(err);

	if (!ret && !sys_exists(path))
		ret = write_file(path, parent, text, strlen(text), 0666 | share,
				 err);
	free(parent);
	free(path);
	return ret;
}

static int make_hooks_dir(const char *git_dir, unsigned share,
			  struct error *err)
{
	char *path = repo_join_path(git_dir, "hooks");
	int ret = path ? sys_mkdir_shared(path, share, err) : error_nomem(err);

	free(path);
	return ret;
}

int repo_copy_template(const char *git_dir, const char *template_dir,
		       unsigned share, struct error *err)
{
	struct sys_stat st;
	int ret = 0;

	if (template_dir) {
		if (!*template_dir || sys_stat(&st, template_dir, NULL) < 0)
			return 0;
		return copy_dir(template_dir, git_dir, 0, share, err);
	}
	for (size_t i = 0; i < ARRAY_NR(builtin_files) && !ret; i++)
		ret = make_builtin(git_dir, builtin_files[i].dir,
				   builtin_files[i].name, builtin_files[i].text,
				   share, err);
	return ret ? ret : make_hooks_dir(git_dir, share, err);
}
