/* SPDX-License-Identifier: MIT */
/*
 * The trace of this process. Environment variables open it, and so do trace2.*
 * and gitreach.requestLog in the configuration. The trace reports for every
 * command how it was called, by which processes, on which repository, and how
 * it ended.
 *
 * The environment is read when the process starts. The configuration is read
 * when the repository is opened. Therefore the configuration has no effect on a
 * command without a repository, nor on a command that stock Git runs; stock Git
 * then traces on its own.
 */
#ifndef BUILTIN_TRACING_H
#define BUILTIN_TRACING_H

#include <stdint.h>

#include "base/buf.h"
#include "repo/repo.h"
#include "sys/trace.h"

struct tracing {
	uint64_t start_ns; /* when the process began */
	/* borrowed; NULL: not known yet */
	const char *command;
	/* the targets of trace2 have been opened */
	bool has_looked;
	bool is_on;
	struct trace trace; /* valid if is_on */
	/* if is_on: the ids of our ancestors, '/', our own id */
	struct buf sid;
};

/*
 * Record the start time and open the targets that the environment names. A
 * target that cannot be opened is left out; this is no error.
 */
void tracing_start(struct tracing *t);

/* Returns the trace, or NULL if tracing is off. */
static inline struct trace *tracing_trace(struct tracing *t)
{
	return t && t->is_on ? &t->trace : NULL;
}

/*
 * Report that one of our commands begins; argv[0] is its name. Both pointers
 * are borrowed.
 */
void tracing_command(struct tracing *t, const char *const *argv);

/*
 * Report that a repository was opened. Opens the targets that its configuration
 * names, and makes the repository use the trace.
 */
void tracing_repo(struct tracing *t, struct repo *repo);

/* Report that the process ends with this exit code. Returns `code`. */
int tracing_finish(struct tracing *t, int code);

#endif
