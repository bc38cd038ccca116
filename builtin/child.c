/* SPDX-License-Identifier: MIT */
/* Runs other commands as child processes, and builds their arguments. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/child.h"
#include "builtin/fallback.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "sys/trace.h"

void child_add(struct child_words *w, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;
	int ret;

	if (w->failed ||
	    mem_grow(&w->items, &w->alloc, w->nr + 2, sizeof(*w->items)) < 0) {
		w->failed = true;
		return;
	}
	va_start(ap, fmt);
	ret = buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (ret < 0) {
		buf_release(&text);
		w->failed = true;
		return;
	}
	w->items[w->nr++] = buf_detach(&text, NULL);
	w->items[w->nr] = NULL;
}

void child_words_release(struct child_words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->items[i]);
	free(w->items);
}

struct child_words child_git(const char *const *words)
{
	struct child_words w = {NULL, 0, 0, false};

	child_add(&w, "git");
	for (; *words; words++)
		child_add(&w, "%s", *words);
	return w;
}

static int take_answer(void *ctx, const char *bytes, size_t len,
		       struct error *err)
{
	return buf_append(ctx, bytes, len) < 0 ? error_nomem(err) : 0;
}

/*
 * Run a command and wait for its end. `flags` are those of sys_spawn(). `talk`
 * feeds and reads the pipes; NULL: there are no pipes. Returns the exit code or
 * a negative error code.
 */
static int run_to_end(const struct child_words *w, const struct repo *repo,
		      unsigned flags, const struct sys_talk *talk,
		      struct error *err)
{
	struct trace_child told;
	struct sys_child child;
	int ret, code;

	if (w->failed)
		return error_nomem(err);
	trace_child_start(repo->trace, &told, (const char **)w->items, NULL);
	ret = sys_spawn(&child, w->items, NULL, flags, err);
	if (ret < 0) {
		trace_child_exit(repo->trace, &told, -1, -1);
		return ret;
	}
	if (talk)
		ret = sys_spawn_talk(&child, talk, err);
	code = sys_spawn_wait(&child, ret < 0 ? NULL : err);
	trace_child_exit(repo->trace, &told, child.pid, code);
	return ret < 0 ? ret : code;
}

int child_run(struct child_words *w, const struct repo *repo, struct error *err)
{
	int ret;

	fflush(stdout);
	ret = run_to_end(w, repo, SYS_SPAWN_NULL_IN, NULL, err);
	if (ret > 0)
		ret = error_set(err, ERR_PEER, "failed to run %s", w->items[1]);
	child_words_release(w);
	return ret;
}

int child_ask(struct buf *answer, struct child_words *w,
	      const struct repo *repo, struct error *err)
{
	const struct sys_talk talk = {.output = take_answer, .ctx = answer};
	int ret;

	fflush(stdout);
	ret = run_to_end(w, repo, SYS_SPAWN_NULL_IN | SYS_SPAWN_PIPE_OUT, &talk,
			 err);
	child_words_release(w);
	return ret;
}

/*
 * The buffers that receive the standard output (`answer`) and the standard
 * error (`errors`) of a command.
 */
struct both {
	struct buf *answer, *errors;
};

static int take_output(void *ctx, const char *bytes, size_t len,
		       struct error *err)
{
	return take_answer(((struct both *)ctx)->answer, bytes, len, err);
}

static int take_errors(void *ctx, const char *bytes, size_t len,
		       struct error *err)
{
	return take_answer(((struct both *)ctx)->errors, bytes, len, err);
}

int child_ask_both(struct buf *answer, struct buf *errors,
		   struct child_words *w, const struct repo *repo,
		   struct error *err)
{
	struct both both = {answer, errors};
	const struct sys_talk talk = {
		.output = take_output,
		.errors = take_errors,
		.ctx = &both,
	};
	int ret;

	fflush(stdout);
	ret = run_to_end(w, repo,
			 SYS_SPAWN_NULL_IN | SYS_SPAWN_PIPE_OUT |
				 SYS_SPAWN_PIPE_ERR,
			 &talk, err);
	child_words_release(w);
	return ret;
}

int child_feed(struct child_words *w, const struct repo *repo,
	       const char *input, size_t len, struct error *err)
{
	const struct sys_talk talk = {.input = input, .input_len = len};
	int ret = run_to_end(w, repo, SYS_SPAWN_PIPE_IN | SYS_SPAWN_OUT_TO_ERR,
			     &talk, err);

	child_words_release(w);
	return ret;
}

int child_run_stock(struct child_words *w, const struct repo *repo,
		    const char *dir, struct error *err)
{
	char *path = repo_common_path(repo, dir);
	bool wanted = path && sys_exists(path) && fallback_exists();
	bool failed = !path;

	free(path);
	if (wanted)
		return child_run(w, repo, err);
	child_words_release(w);
	return failed ? error_nomem(err) : 0;
}

int child_start(struct child_words *w, struct error *err)
{
	struct sys_child child;
	int ret = w->failed ? error_nomem(err)
			    : sys_spawn(&child, w->items, NULL,
					SYS_SPAWN_SILENT, err);

	child_words_release(w);
	return ret;
}
