/* SPDX-License-Identifier: MIT */
/*
 * The trace of this process. It is turned on by environment variables, or by
 * trace2.* and gitreach.requestLog in the configuration. For every command, the
 * trace has the arguments, the names of the parent processes, the repository
 * and the exit code.
 *
 * The environment is read when the process starts. If an environment variable
 * names a target of trace2, the other settings of trace2 are read at once, too.
 * Otherwise the settings trace2.* are read when our command opens a repository.
 * Only the configuration of the system and of the user can set trace2.*.
 * gitreach.requestLog is always read when a repository is opened. If stock Git
 * runs the command, stock Git reads the configuration and writes the trace.
 */
#ifndef BUILTIN_TRACING_H
#define BUILTIN_TRACING_H

#include <stdint.h>

#include "base/buf.h"
#include "repo/repo.h"
#include "sys/trace.h"

struct tracing {
	uint64_t start_ns; /* when the process began */
	/* borrowed: name of the command; NULL: it is not known yet */
	const char *command;
	/*
	 * true: the settings of trace2 were read from the environment or the
	 * configuration, so its targets are not opened again
	 */
	bool has_looked;
	bool is_on;
	struct trace trace; /* valid if is_on */
	/*
	 * If is_on: the trace ids of the ancestor processes, '/', and the trace
	 * id of this process.
	 */
	struct buf sid;
};

/*
 * Record the start time, and open the targets that the environment names. If a
 * target cannot be opened, nothing is written to this target, and no error is
 * reported.
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
 * Report that a repository was opened. Opens the targets of trace2 that the
 * configuration of the system or of the user names, and sets repo->trace. Does
 * not open the log of requests, which only servers write.
 */
void tracing_repo(struct tracing *t, struct repo *repo);

/*
 * Like tracing_repo(), for a command that serves a client. Also opens the log
 * of requests that the configuration names.
 */
void tracing_serve_repo(struct tracing *t, struct repo *repo);

/*
 * Open the targets and the log of requests that a configuration names, for a
 * server that has no repository of its own. A second call closes the log of
 * requests and opens it again, so that the log can be rotated.
 */
void tracing_server(struct tracing *t, const struct config *config);

/*
 * Set *path to the absolute path that gitreach.requestLog names; the caller
 * frees it. Returns 1 if *path was set, 0 if the key is not set, or ERR_NOMEM
 * if memory runs out or the home directory is unknown. A repository's own
 * configuration is ignored.
 */
int tracing_log_path(char **path, const struct config *config);

/* Report that the process ends with this exit code. Returns `code`. */
int tracing_finish(struct tracing *t, int code);

#endif
