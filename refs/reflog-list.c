/* SPDX-License-Identifier: MIT */
/* The files backend: lists the refs that have a reflog. */
#include <string.h>

#include "base/buf.h"
#include "object/refs-name.h"
#include "refs/reflog-backend.h"
#include "refs/refs-loose.h"
#include "repo/worktree.h"
#include "sys/io.h"

/* A walk over the directories below logs/. */
struct lister {
	const struct repo *repo;
	/* path of the directory or file that is being visited */
	struct buf path;
	struct buf name; /* of the present ref */
	/* length of the prefix "worktrees/<id>/" in `name`, or 0 */
	size_t prefix_len;
	/* list only names for which each work tree has its own ref */
	bool private_only;
	/* list only names of refs that all work trees share */
	bool shared_only;
	struct strlist *names; /* borrowed */
	struct error *err;
};

static int found(struct lister *l)
{
	const char *name = l->name.data + l->prefix_len;
	bool is_private = refs_loose_is_per_worktree(name);
	size_t len = l->name.len;

	if (!refs_name_is_valid_len(name, strlen(name), true))
		return 0;
	if ((l->private_only && !is_private) || (l->shared_only && is_private))
		return 0;
	/*
	 * A name with this suffix is the lock file of a reflog that is being
	 * rewritten.
	 */
	if (len > 5 && !strcmp(l->name.data + len - 5, ".lock"))
		return 0;
	return strlist_add(l->names, l->name.data) < 0 ? error_nomem(l->err)
						       : 0;
}

static int walk(struct lister *l);

static int entry(void *ctx, const char *file)
{
	struct lister *l = ctx;
	size_t path_len = l->path.len, name_len = l->name.len;
	struct sys_stat st;
	int ret;

	if (buf_printf(&l->path, "/%s", file) < 0 ||
	    buf_printf(&l->name, "%s%s", name_len > l->prefix_len ? "/" : "",
		       file) < 0)
		return error_nomem(l->err);
	ret = sys_stat(&st, l->path.data, l->err);
	if (!ret && st.is_dir)
		ret = walk(l);
	else if (!ret && st.is_file)
		ret = found(l);
	buf_set_len(&l->path, path_len);
	buf_set_len(&l->name, name_len);
	return ret == ERR_MISSING ? 0 : ret;
}

static int walk(struct lister *l)
{
	int ret = sys_dir_each(l->path.data, entry, l, l->err);

	return ret == ERR_MISSING ? 0 : ret;
}

static int walk_logs(struct lister *l, const char *git_dir, const char *prefix,
		     bool private_only, bool shared_only)
{
	buf_reset(&l->path);
	buf_reset(&l->name);
	if (buf_printf(&l->path, "%s/logs", git_dir) < 0 ||
	    buf_append_str(&l->name, prefix) < 0)
		return error_nomem(l->err);
	l->prefix_len = l->name.len;
	l->private_only = private_only;
	l->shared_only = shared_only;
	return walk(l);
}

/*
 * Lists the reflogs of a linked work tree. The work tree of l->repo is
 * skipped, because its reflogs are listed already. Returns 0 or a negative
 * error code.
 */
static int worktree(void *ctx, const char *id, const char *git_dir)
{
	struct lister *l = ctx;
	struct buf prefix = BUF_INIT;
	int ret = 0;

	if (buf_printf(&prefix, "worktrees/%s/", id) < 0)
		ret = error_nomem(l->err);
	else if (strcmp(git_dir, repo_refs_dir(l->repo)) != 0)
		ret = walk_logs(l, git_dir, prefix.data, true, false);
	buf_release(&prefix);
	return ret;
}

static int list_others(struct lister *l, bool is_linked)
{
	int ret = 0;

	if (is_linked)
		ret = walk_logs(l, repo_refs_common_dir(l->repo),
				"main-worktree/", true, false);
	return ret ? ret : worktree_each_refs(l->repo, worktree, l, l->err);
}

static int list(struct lister *l, bool all_worktrees)
{
	const struct repo *repo = l->repo;
	bool is_linked = strcmp(repo_refs_dir(repo),
				repo_refs_common_dir(repo)) != 0;
	int ret = walk_logs(l, repo_refs_dir(repo), "", is_linked, false);

	if (!ret && is_linked)
		ret = walk_logs(l, repo_refs_common_dir(repo), "", false, true);
	if (!ret && all_worktrees)
		ret = list_others(l, is_linked);
	return ret;
}

int reflog_files_list(struct strlist *names, const struct repo *repo,
		      bool all_worktrees, struct error *err)
{
	struct lister l = {
		.repo = repo,
		.path = BUF_INIT,
		.name = BUF_INIT,
		.names = names,
		.err = err,
	};
	int ret = list(&l, all_worktrees);

	buf_release(&l.path);
	buf_release(&l.name);
	return ret;
}
