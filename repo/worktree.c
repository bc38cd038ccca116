/* SPDX-License-Identifier: MIT */
/* Lists linked work trees. */
#include <stdlib.h>
#include <string.h>

#include "repo/worktree.h"
#include "sys/io.h"

struct visit {
	int (*fn)(void *ctx, const char *name, const char *git_dir);
	void *ctx;
	const char *dir; /* directory of the entries */
	struct error *err;
	int result; /* of the last call of `fn` */
};

static int visit(void *ctx, const char *name)
{
	struct visit *v = ctx;
	struct buf git_dir = BUF_INIT;

	if (buf_printf(&git_dir, "%s/%s", v->dir, name) < 0)
		v->result = error_nomem(v->err);
	else
		v->result = v->fn(v->ctx, name, git_dir.data);
	buf_release(&git_dir);
	return v->result;
}

/*
 * Calls the visitor for each name in the directory `dir`, with its path below
 * `prefix`. Frees `dir` and `prefix`. Returns 0, the nonzero result of the
 * visitor, or a negative error code.
 */
static int each(char *dir, char *prefix, struct visit *v)
{
	int ret = dir && prefix ? 0 : error_nomem(v->err);

	v->dir = prefix;
	if (!ret)
		ret = sys_dir_each(dir, visit, v, v->err);
	free(dir);
	free(prefix);
	/* A missing directory has no work trees. */
	return ret == ERR_MISSING && !v->result ? 0 : ret;
}

int worktree_each(const struct repo *repo,
		  int (*fn)(void *ctx, const char *name, const char *git_dir),
		  void *ctx, struct error *err)
{
	struct visit v = {.fn = fn, .ctx = ctx, .err = err};

	return each(repo_common_path(repo, "worktrees"),
		    repo_common_path(repo, "worktrees"), &v);
}

int worktree_each_refs(const struct repo *repo,
		       int (*fn)(void *ctx, const char *name,
				 const char *refs_dir),
		       void *ctx, struct error *err)
{
	struct visit v = {.fn = fn, .ctx = ctx, .err = err};

	return each(repo_common_path(repo, "worktrees"),
		    repo_refs_common_path(repo, "worktrees"), &v);
}

int worktree_git_file(struct buf *out, const char *git_dir)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int ret = buf_printf(&path, "%s/gitdir", git_dir);

	if (!ret)
		ret = sys_read_any(&text, path.data, NULL);
	if (ret < 0) {
		ret = ret == ERR_NOMEM ? ret : 0;
		goto out;
	}
	while (text.len && strchr("\r\n", text.data[text.len - 1]))
		buf_set_len(&text, text.len - 1);
	if (!text.len)
		goto out;
	if (*text.data == '/')
		ret = buf_append_str(out, text.data);
	else
		ret = buf_printf(out, "%s/%s", git_dir, text.data);
	ret = ret < 0 ? ret : 1;
out:
	buf_release(&path);
	buf_release(&text);
	return ret;
}
