/* SPDX-License-Identifier: MIT */
/*
 * The trace of this process: what opens it (variables of the environment,
 * and trace2.* and gitreach.requestLog of the configuration), and what is told
 * of every command: how it was called, by whom, on which repository, how it
 * ended.
 *
 * The environment is looked at when the process begins. The configuration is
 * looked at when the repository is opened, since that is when it is read: a
 * command that opens none, or becomes stock Git, is told by it only as far as
 * stock Git does.
 */
#ifndef BUILTIN_TRACING_H
#define BUILTIN_TRACING_H

#include <stdint.h>

#include "base/buf.h"
#include "repo/repo.h"
#include "sys/trace.h"

struct tracing {
	uint64_t start_ns;   /* when the process began */
	const char *command; /* borrowed; NULL: not known yet */
	bool has_looked;     /* for targets of trace2 */
	bool is_on;
	struct trace trace; /* when is_on */
	struct buf sid;     /* when is_on: those above us, '/', our own */
};

/*
 * Take the time, and open what the environment names. No failure: who cannot
 * be told is not.
 */
void tracing_start(struct tracing *t);

/* What to hand on: NULL when nobody listens. */
static inline struct trace *tracing_trace(struct tracing *t)
{
	return t && t->is_on ? &t->trace : NULL;
}

/* A command of ours begins; argv[0] is its name. Both are borrowed. */
void tracing_command(struct tracing *t, const char *const *argv);

/* A repository was opened: open what its configuration names, say so to it. */
void tracing_repo(struct tracing *t, struct repo *repo);

/* The process ends, with this exit code, which is returned. */
int tracing_finish(struct tracing *t, int code);

#endif
