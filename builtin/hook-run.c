/* SPDX-License-Identifier: MIT */
/* Runs hooks in the directory and the environment that they have in stock Git.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/hook-run.h"
#include "repo/hook.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/spawn.h"
#include "sys/trace.h"

/* Where hooks run, and their environment. */
struct place {
	char *cwd; /* owned: the working directory of this process */
	const char *given_dir; /* GIT_DIR of this process; NULL: not set */
	/*
	 * borrowed: the directory in which hooks run; NULL: the working
	 * directory
	 */
	const char *dir;
	/*
	 * owned: the variables that change (of GIT_DIR, GIT_PREFIX and
	 * GIT_IMPLICIT_WORK_TREE), in the form of sys_environ_with()
	 */
	char *variables[3];
	size_t nr;
	/* owned array: the environment of the hooks; strings are borrowed */
	char **environment;
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

/*
 * Adds "NAME=value" to the changes of the environment. A text "NAME" without
 * "=" unsets this variable. Returns 0 or ERR_NOMEM.
 */
__attribute__((format(printf, 2, 3))) static int set(struct place *place,
						     const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (!ret)
		place->variables[place->nr++] = buf_detach(&text, NULL);
	buf_release(&text);
	return ret;
}

/*
 * Keeps, unsets or sets GIT_DIR for the hook.
 *
 * The user's value of GIT_DIR is kept if the hook runs in the working
 * directory; elsewhere, a relative path would be wrong. The variable is unset
 * if the hook finds the ".git" of the work tree by itself, and neither the
 * environment nor the configuration names the work tree. Otherwise, the
 * variable is set to the git directory.
 *
 * `prefix` is the path of the working directory in the work tree, or NULL.
 */
static int set_git_dir(struct place *place, const struct repo *repo,
		       const char *prefix)
{
	const char *rest = repo->worktree
				   ? rest_below(repo->git_dir, repo->worktree)
				   : NULL;
	const char *here = rest_below(repo->git_dir, place->cwd);

	if (place->given_dir && !place->dir)
		return 0;
	if (place->dir && repo->worktree_is_set)
		return set(place, "GIT_DIR=%s", repo->git_dir);
	if (here && !*here)
		return set(place, "GIT_DIR=.");
	if ((repo->worktree_is_set || !repo->worktree) && here &&
	    !strcmp(here, ".git"))
		return set(place, "GIT_DIR=.git");
	if (prefix && rest && !strcmp(rest, ".git") && !repo->worktree_is_set)
		return set(place, "GIT_DIR");
	return set(place, "GIT_DIR=%s", repo->git_dir);
}

static int place_fill(struct place *place, const struct repo *repo)
{
	bool in_git_dir = rest_below(place->cwd, repo->git_dir) != NULL;
	bool has_worktree = repo->worktree &&
			    (!in_git_dir || repo->worktree_is_set);
	const char *prefix = has_worktree
				     ? rest_below(place->cwd, repo->worktree)
				     : NULL;
	bool is_moved = prefix && *prefix;
	int ret = 0;

	place->dir = is_moved ? repo->worktree : NULL;
	if (!place->given_dir && in_git_dir)
		ret = set(place, "GIT_IMPLICIT_WORK_TREE=0");
	if (!ret)
		ret = set_git_dir(place, repo, prefix);
	if (!ret)
		ret = set(place, "GIT_PREFIX=%s%s", prefix ? prefix : "",
			  is_moved ? "/" : "");
	return ret;
}

/*
 * Choose the directory and the environment in which hooks run. The caller must
 * release *place even after an error. Returns 0 or a negative error code.
 */
static int place_init(struct place *place, const struct repo *repo,
		      struct error *err)
{
	*place = (struct place){.given_dir = getenv("GIT_DIR")};
	place->cwd = sys_realpath(".", err);
	if (!place->cwd)
		return error_recorded(err, ERR_IO);
	if (!place_fill(place, repo))
		place->environment = sys_environ_with(
			(const char *const *)place->variables, place->nr);
	return place->environment ? 0 : error_nomem(err);
}

static void place_release(struct place *place)
{
	for (size_t i = 0; i < place->nr; i++)
		free(place->variables[i]);
	free(place->environment);
	free(place->cwd);
}

/* ---- running */

struct running {
	const struct hook_call *call;
	struct place place;
	/*
	 * what each hook reads from standard input; set before the first hook
	 * runs
	 */
	struct buf input;
};

static void advise(void *ctx, const char *text)
{
	fputs(text, stderr);
}

/*
 * Prints why a hook did not run to its end. Returns its exit code, which is 1
 * if the hook could not be started, or ERR_NOMEM.
 */
static int end(const struct hook_program *program,
	       const struct sys_child *child, int status, struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = repo_hook_describe_end(&text, program, child);

	if (ret > 0)
		fputs(text.data, stderr);
	buf_release(&text);
	if (ret < 0)
		return error_nomem(err);
	return child->error_nr ? 1 : status;
}

static int run_one(void *ctx, const struct hook_program *program,
		   struct error *err)
{
	struct running *r = ctx;
	const struct hook_call *call = r->call;
	char *const *argv = (char *const *)program->argv;
	struct trace_child told;
	struct sys_child child;
	struct sys_talk talk;
	int ret = 0, status;

	if (call->describe && !r->input.len &&
	    call->describe(call->ctx, &r->input) < 0)
		return error_nomem(err);
	talk = (struct sys_talk){.input = r->input.data,
				 .input_len = r->input.len};
	trace_child_start(call->repo->trace, &told, program->argv, call->event);
	ret = sys_spawn_in(&child, r->place.dir, argv, r->place.environment,
			   SYS_SPAWN_OUT_TO_ERR |
				   (call->describe ? SYS_SPAWN_PIPE_IN
						   : SYS_SPAWN_NULL_IN),
			   err);
	if (ret < 0) {
		trace_child_exit(call->repo->trace, &told, -1, -1);
		return child.error_nr ? end(program, &child, 0, err) : ret;
	}
	if (call->describe)
		ret = sys_spawn_talk(&child, &talk, err);
	status = sys_spawn_wait(&child, ret ? NULL : err);
	trace_child_exit(call->repo->trace, &told, child.pid, status);
	if (!ret && status < 0)
		ret = status;
	return ret ? ret : end(program, &child, status, err);
}

static struct hook_runner runner_of(struct running *r)
{
	return (struct hook_runner){
		.run = run_one,
		.advise = advise,
		.ctx = r,
		.advice = r->call->advice,
		.dir = r->place.dir,
	};
}

int hook_is_there(const struct hook_call *call, struct error *err)
{
	struct running r = {.call = call, .input = BUF_INIT};
	int ret = place_init(&r.place, call->repo, err);
	const struct hook_runner runner = runner_of(&r);

	if (!ret)
		ret = repo_hooks_has(call->repo, call->event, &runner, err);
	place_release(&r.place);
	return ret;
}

int hook_run(const struct hook_call *call, struct error *err)
{
	struct running r = {.call = call, .input = BUF_INIT};
	int ret = place_init(&r.place, call->repo, err);
	const struct hook_runner runner = runner_of(&r);

	if (!ret)
		ret = repo_hooks_run(call->repo, call->event, call->args,
				     call->arg_nr, &runner, err);
	buf_release(&r.input);
	place_release(&r.place);
	return ret;
}
