/* SPDX-License-Identifier: MIT */
/* Runs hooks in the directory and the environment that they have in stock Git.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/hook-run.h"
#include "repo/hook.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "sys/trace.h"

static const char *const names[] = {"GIT_DIR", "GIT_PREFIX",
				    "GIT_IMPLICIT_WORK_TREE"};

#define NAME_NR ARRAY_NR(names)

/* What has to be restored after the hooks. */
struct place {
	char *cwd; /* owned */
	/* owned: the values of `names`; NULL: not set */
	char *values[NAME_NR];
};

/* ---- the place of hooks */

/*
 * Returns the rest of `path` after "<dir>/", "" if both are equal, or NULL if
 * `path` is not below `dir`.
 */
static const char *rest_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (strncmp(path, dir, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len + 1 : path + len;
}

static int place_keep(struct place *place, struct error *err)
{
	place->cwd = sys_realpath(".", err);
	if (!place->cwd)
		return error_recorded(err, ERR_IO);
	for (size_t i = 0; i < NAME_NR; i++) {
		const char *value = getenv(names[i]);

		place->values[i] = value ? mem_strdup(value) : NULL;
		if (value && !place->values[i])
			return error_nomem(err);
	}
	return 0;
}

/*
 * Set GIT_DIR. The value that the user gave stays, unless the hook runs in
 * another directory: the value may be relative. A hook finds the directory
 * ".git" of a work tree by itself. `prefix` is the path of the working
 * directory in the work tree, or NULL.
 */
static void set_git_dir(const struct repo *repo, const struct place *place,
			const char *prefix)
{
	const char *rest = repo->worktree
				   ? rest_below(repo->git_dir, repo->worktree)
				   : NULL;
	bool is_moved = prefix && *prefix;

	if (place->values[0] && !is_moved)
		return;
	if (place->values[0] || getenv("GIT_WORK_TREE"))
		setenv("GIT_DIR", repo->git_dir, 1);
	else if (!strcmp(place->cwd, repo->git_dir))
		setenv("GIT_DIR", ".", 1);
	else if (prefix && rest && !strcmp(rest, ".git"))
		unsetenv("GIT_DIR");
	else
		setenv("GIT_DIR", repo->git_dir, 1);
}

static int place_enter(const struct place *place, const struct repo *repo,
		       struct error *err)
{
	bool in_git_dir = rest_below(place->cwd, repo->git_dir) != NULL;
	bool has_worktree = repo->worktree &&
			    (!in_git_dir || getenv("GIT_WORK_TREE"));
	const char *prefix = has_worktree
				     ? rest_below(place->cwd, repo->worktree)
				     : NULL;
	struct buf text = BUF_INIT;

	if (!place->values[0] && (in_git_dir || !prefix))
		setenv("GIT_IMPLICIT_WORK_TREE", "0", 1);
	set_git_dir(repo, place, prefix);
	if (buf_printf(&text, "%s%s", prefix ? prefix : "",
		       prefix && *prefix ? "/" : "") < 0)
		return error_nomem(err);
	setenv("GIT_PREFIX", text.data, 1);
	buf_release(&text);
	return prefix && *prefix && chdir(repo->worktree) < 0
		       ? error_set_errno(err, "cannot change to '%s'",
					 repo->worktree)
		       : 0;
}

/* Restore the environment and the working directory. Returns `ret`. */
static int place_leave(struct place *place, int ret, struct error *err)
{
	for (size_t i = 0; i < NAME_NR; i++) {
		if (place->values[i])
			setenv(names[i], place->values[i], 1);
		else
			unsetenv(names[i]);
		free(place->values[i]);
	}
	if (place->cwd && chdir(place->cwd) < 0 && ret >= 0)
		ret = error_set_errno(err, "cannot change to '%s'", place->cwd);
	free(place->cwd);
	return ret;
}

/* ---- running */

struct running {
	const struct hook_call *call;
	/* text for the standard input; made when the first hook runs */
	struct buf input;
};

static int run_one(void *ctx, const char *const *argv, struct error *err)
{
	struct running *r = ctx;
	const struct hook_call *call = r->call;
	struct trace_child told;
	struct sys_child child;
	struct sys_talk talk;
	int ret = 0, status;

	if (call->describe && !r->input.len &&
	    call->describe(call->ctx, &r->input) < 0)
		return error_nomem(err);
	talk = (struct sys_talk){.input = r->input.data,
				 .input_len = r->input.len};
	trace_child_start(call->repo->trace, &told, argv, call->event);
	ret = sys_spawn(&child, (char *const *)argv, NULL,
			SYS_SPAWN_OUT_TO_ERR |
				(call->describe ? SYS_SPAWN_PIPE_IN
						: SYS_SPAWN_NULL_IN),
			err);
	if (ret < 0) {
		trace_child_exit(call->repo->trace, &told, -1, -1);
		return ret;
	}
	if (call->describe)
		ret = sys_spawn_talk(&child, &talk, err);
	status = sys_spawn_wait(&child, ret ? NULL : err);
	trace_child_exit(call->repo->trace, &told, child.pid, status);
	return ret ? ret : status;
}

int hook_run(const struct hook_call *call, struct error *err)
{
	struct running r = {call, BUF_INIT};
	struct place place = {0};
	int ret = place_keep(&place, err);

	if (!ret)
		ret = place_enter(&place, call->repo, err);
	if (!ret)
		ret = repo_hooks_run(call->repo, call->event, call->args,
				     call->arg_nr, run_one, &r, err);
	buf_release(&r.input);
	return place_leave(&place, ret, err);
}
