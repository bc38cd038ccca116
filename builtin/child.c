/* SPDX-License-Identifier: MIT */
/* Running commands. */
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

int child_run(struct child_words *w, const struct repo *repo, struct error *err)
{
	struct trace *trace = repo->trace;
	struct trace_child told;
	struct sys_child child;
	int ret, code = 0;

	fflush(stdout);
	if (!w->failed)
		trace_child_start(trace, &told, (const char **)w->items, NULL);
	ret = w->failed ? error_nomem(err)
			: sys_spawn(&child, w->items, NULL, SYS_SPAWN_NULL_IN,
				    err);
	if (!ret)
		code = sys_spawn_wait(&child, err);
	if (!w->failed)
		trace_child_exit(trace, &told, ret ? -1 : child.pid,
				 ret ? -1 : code);
	if (!ret && code)
		ret = code < 0 ? code
			       : error_set(err, ERR_PEER, "failed to run %s",
					   w->items[1]);
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
