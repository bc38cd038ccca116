/* SPDX-License-Identifier: MIT */
/* Finds and updates work trees that have a branch checked out. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "receive/receive-hooks.h"
#include "receive/receive.h"
#include "receive/receive-worktree.h"
#include "repo/worktree.h"
#include "sys/io.h"

void receive_worktree_release(struct receive_worktree *worktree)
{
	free(worktree->git_dir);
	free(worktree->dir);
	*worktree = (struct receive_worktree){0};
}

/* ---- finding */

/*
 * Returns the path without its last component if that component is `name`,
 * otherwise NULL.
 */
static char *strip_name(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path || strcmp(slash + 1, name) != 0)
		return NULL;
	return mem_strndup(path, (size_t)(slash - path));
}

/*
 * Find the directory of the main work tree: core.worktree, or the parent of a
 * git directory that is named ".git". If neither exists, the directory is
 * unknown.
 */
static int place_main(struct receive_worktree *out, const struct repo *repo)
{
	const char *value = config_string(&repo->config, "core.worktree");
	struct buf path = BUF_INIT;
	int ret = 0;

	out->git_dir = mem_strdup(repo->common_dir);
	if (value && *value != '/')
		ret = buf_printf(&path, "%s/", repo->common_dir);
	if (!ret && value)
		ret = buf_append_str(&path, value);
	if (!ret)
		out->dir = value ? sys_realpath(path.data, NULL)
				 : strip_name(repo->common_dir, ".git");
	buf_release(&path);
	return ret < 0 || !out->git_dir ? ERR_NOMEM : 0;
}

static int place_linked(struct receive_worktree *out, const char *git_dir)
{
	struct buf git_file = BUF_INIT;
	int ret = worktree_git_file(&git_file, git_dir);

	if (ret > 0)
		out->dir = strip_name(git_file.data, ".git");
	out->git_dir = mem_strdup(git_dir);
	buf_release(&git_file);
	return ret < 0 || !out->git_dir ? ERR_NOMEM : 0;
}

struct search {
	struct receive *r;
	struct receive_worktree *out; /* NULL: not wanted */
	const char *full;             /* full name of the branch */
};

static bool has_head(const struct search *s, const char *head)
{
	struct ref ref;

	return refs_lookup(s->r->refs.refs, head, &ref, NULL) >= 0 &&
	       ref.target && !strcmp(ref.target, s->full);
}

/*
 * Returns 1 if the work tree `name` has the branch checked out, 0 if not, or a
 * negative error code.
 */
static int visit(void *ctx, const char *name, const char *git_dir)
{
	struct search *s = ctx;
	struct buf head = BUF_INIT;
	int ret = 0;

	if (buf_printf(&head, "worktrees/%s/HEAD", name) < 0)
		ret = ERR_NOMEM;
	else
		ret = has_head(s, head.data);
	buf_release(&head);
	if (ret <= 0 || !s->out)
		return ret;
	ret = place_linked(s->out, git_dir);
	return ret < 0 ? ret : 1;
}

int receive_worktree_find(struct receive_worktree *out, struct receive *r,
			  const char *full, struct error *err)
{
	struct search s = {r, out, full};
	int ret;

	if (out)
		*out = (struct receive_worktree){0};
	if (!r->repo->is_bare && has_head(&s, "main-worktree/HEAD")) {
		if (!out || !place_main(out, r->repo))
			return 1;
		receive_worktree_release(out);
		return error_nomem(err);
	}
	ret = worktree_each(r->repo, visit, &s, err);
	if (ret < 0 && out)
		receive_worktree_release(out);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

/* ---- updating */

struct update {
	struct receive *r;
	struct receive_command *cmd;
	const struct receive_worktree *worktree;
	/* true: the branch has no commit yet */
	bool is_unborn;
	struct error *err;
};

/* Run `git <args>`. Returns the exit code or a negative error code. */
static int run_git(struct update *u, const char *const *args)
{
	enum { ARGS_MAX = 6, HEAD_NR = 3 };
	const char *argv[HEAD_NR + ARGS_MAX + 1] = {"git", "-C",
						    u->worktree->dir};

	for (size_t i = 0; i < ARGS_MAX && args[i]; i++)
		argv[HEAD_NR + i] = args[i];
	return receive_run_in(u->r, argv, u->worktree, u->err);
}

static int refuse(struct update *u, const char *why)
{
	return receive_refuse(u->cmd, why) < 0 ? error_nomem(u->err) : 0;
}

/*
 * Refuse the command if files of the work tree or its index have changes.
 * Returns 0 or a negative error code.
 */
static int check_clean(struct update *u)
{
	enum hash_algo algo = u->r->repo->algo;
	char nothing[OID_MAX_HEX_LEN + 1];
	const struct {
		const char *args[7];
		const char *why;
	} steps[] = {
		{{"update-index", "-q", "--ignore-submodules", "--refresh"},
		 "Up-to-date check failed"},
		{{"diff-files", "--quiet", "--ignore-submodules", "--"},
		 "Working directory has unstaged changes"},
		{{"diff-index", "--quiet", "--cached", "--ignore-submodules",
		  u->is_unborn ? nothing : "HEAD", "--"},
		 "Working directory has staged changes"},
	};

	oid_to_hex(nothing, oid_empty_tree(algo), algo);
	for (size_t i = 0; i < ARRAY_NR(steps); i++) {
		int ret = run_git(u, steps[i].args);

		if (ret)
			return ret < 0 ? ret : refuse(u, steps[i].why);
	}
	return 0;
}

static int read_tree(struct update *u, const char *hex)
{
	const char *const args[] = {"read-tree", "-u", "-m", hex, NULL};
	int ret = run_git(u, args);

	if (ret <= 0)
		return ret;
	return refuse(u, "Could not update working tree to new HEAD");
}

/*
 * Run the hook push-to-checkout. Returns 1 if the hook ran, 0 if there is no
 * hook, or a negative error code.
 */
static int ask_hook(struct update *u, const char *hex)
{
	int ret = receive_hook_checkout(u->r, hex, u->worktree, u->err);

	if (ret <= 1)
		return ret;
	ret = refuse(u, "push-to-checkout hook declined");
	return ret < 0 ? ret : 1;
}

static int update(struct update *u)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	oid_to_hex(hex, &u->cmd->new_oid, u->r->repo->algo);
	ret = ask_hook(u, hex);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = check_clean(u);
	return ret < 0 || u->cmd->error ? ret : read_tree(u, hex);
}

int receive_worktree_update(struct receive *r, struct receive_command *cmd,
			    const char *full, struct error *err)
{
	struct receive_worktree worktree;
	struct update u = {r, cmd, &worktree, false, err};
	struct ref ref;
	int ret;

	receive_refresh(r);
	ret = refs_lookup(r->refs.refs, full, &ref, err);
	if (ret < 0)
		return ret;
	u.is_unborn = !ret;
	if (ret ? !oid_equal(&ref.oid, &cmd->old_oid)
		: !oid_is_zero(&cmd->old_oid))
		return 0;
	if (receive_is_delete(cmd))
		return refuse(&u, "Could not update working tree to new HEAD");
	ret = receive_worktree_find(&worktree, r, cmd->ref, err);
	if (ret <= 0)
		return ret;
	if (worktree.dir)
		ret = update(&u);
	else
		ret = refuse(&u, "denyCurrentBranch = updateInstead needs a "
				 "worktree");
	receive_worktree_release(&worktree);
	return ret;
}
