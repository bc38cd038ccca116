/* SPDX-License-Identifier: MIT */
/*
 * Traces what a process does and how long it takes. The lines are those of
 * GIT_TRACE, GIT_TRACE_PACKET, GIT_TRACE2, GIT_TRACE2_PERF and GIT_TRACE2_EVENT
 * (git(1), and "Trace2 API" of Git's documentation). One more target,
 * TRACE_LOG, gets one line for each request: the event with category "gitreach"
 * and key "request".
 *
 * Code that traces gets a `struct trace *`. The pointer is usually NULL, which
 * means that no trace is on. With NULL, a call costs only one comparison. No
 * function here fails: a line that cannot be written is dropped.
 *
 * Any thread may call these functions, but only the thread that initialised the
 * trace enters and leaves regions. Strings may contain any bytes.
 */
#ifndef SYS_TRACE_H
#define SYS_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The target of a trace: standard error, an inherited descriptor, a file, a new
 * file in a directory, or a socket. These are the values of GIT_TRACE2 and
 * similar variables (git(1)).
 *
 * Each line is written with one system call, and files are opened in append
 * mode. So lines of several processes and threads do not mix. A line that
 * cannot be written is dropped without an error.
 */
struct trace_file {
	int fd; /* -1 if closed */
	bool is_owned;
};

#define TRACE_FILE_INIT                                                        \
	{                                                                      \
		-1, false                                                      \
	}

/* How a new file is opened if the target is a directory. */
struct trace_file_dir {
	/*
	 * name of the file that is created if the target is a directory; NULL:
	 * the target must not be a directory or a socket
	 */
	const char *name;
	/* limit of the number of files in the directory; 0: no limit */
	uint64_t files_max;
};

/* The name of the file that marks a trace directory with too many files. */
#define TRACE_FILE_DISCARD "git-trace2-discard"

/*
 * Opens the target that a value describes. NULL, "", "0" and "false" mean off;
 * "1" and "true" mean standard error; "2" to "9" mean the descriptor of that
 * number. An absolute path is a file, or an existing directory in which a new
 * file is created. "af_unix:[stream:|dgram:]<absolute path>" is a socket.
 *
 * The target may be a directory that already has dir->files_max files. In this
 * case, no file for the trace is created. Instead, the first process that finds
 * this creates the file TRACE_FILE_DISCARD in the directory, as a mark.
 *
 * Returns 1 if the target is open. Returns 2 if the directory has too many
 * files and this call has created TRACE_FILE_DISCARD: *f is this file. Returns
 * 0 if the target is off, or if the directory has too many files and
 * TRACE_FILE_DISCARD exists already. Returns ERR_INVALID for an unknown value,
 * or ERR_IO.
 */
int trace_file_open(struct trace_file *f, const char *value,
		    const struct trace_file_dir *dir, struct error *err);

/* Appends bytes to the target of a trace. Does nothing if the trace is off. */
void trace_file_append(const struct trace_file *f, const void *bytes,
		       size_t len);
void trace_file_close(struct trace_file *f);

enum trace_target {
	TRACE_NORMAL, /* GIT_TRACE2 */
	TRACE_PERF,   /* GIT_TRACE2_PERF */
	TRACE_EVENT,  /* GIT_TRACE2_EVENT */
	/* the log of requests, with lines in the format of TRACE_EVENT */
	TRACE_LOG,
	TRACE_GENERAL, /* GIT_TRACE */
	TRACE_PACKET,  /* GIT_TRACE_PACKET */
	TRACE_TARGET_NR,
};

/*
 * Maximum number of nested regions whose times are measured. A region that is
 * nested deeper has no times.
 */
#define TRACE_NESTING_MAX 32

struct trace {
	struct trace_file files[TRACE_TARGET_NR];
	/*
	 * indexed by target: whether lines have no time, file and line number
	 * (GIT_TRACE2_BRIEF)
	 */
	bool is_brief[TRACE_TARGET_NR];
	/*
	 * Whether passwords in URLs are written (GIT_TRACE2_REDACT=false). The
	 * target TRACE_GENERAL always writes them.
	 */
	bool shows_passwords;
	/*
	 * Events in regions that are nested deeper than this are not written
	 * (trace2.eventNesting).
	 */
	uint64_t nesting_max;
	/* start time of the process */
	uint64_t start_ns;
	const char *sid; /* borrowed: session id */
	/* number of ancestor processes that also write a trace */
	unsigned depth;
	pthread_mutex_t lock; /* guards the fields below */
	bool has_repo;
	/* start time of each open region, in nanoseconds (sys_clock_ns()) */
	uint64_t regions_ns[TRACE_NESTING_MAX];
	unsigned nesting; /* number of open regions */
	unsigned child_nr, exec_nr;
};

/*
 * Initialises a trace with all targets off; trace_file_open() opens them. `sid`
 * is borrowed.
 */
void trace_init(struct trace *t, const char *sid, uint64_t start_ns);
void trace_release(struct trace *t);

/*
 * Initialises a trace for one thread of a server. The targets are those of
 * `whole`, borrowed. Each thread has a trace of its own, so that regions of
 * different threads do not mix. The caller releases the trace.
 */
void trace_init_thread(struct trace *t, const struct trace *whole);

/*
 * trace_is_on() returns whether any target is open. trace_wants() returns
 * whether the target `target` is open.
 */
bool trace_is_on(const struct trace *t);
static inline bool trace_wants(const struct trace *t, enum trace_target target)
{
	return t && t->files[target].fd >= 0;
}

/*
 * The place in the source code that calls a trace function. The lines of a
 * trace show it.
 */
struct trace_at {
	const char *file;
	int line;
};

#define TRACE_AT ((struct trace_at){__FILE__, __LINE__})

/* A child process that is being traced. */
struct trace_child {
	unsigned id;
	uint64_t start_ns;
};

/* ---- events about the life of a process */

/*
 * Writes the event "version". `exe` is the version of this program as `git
 * version` prints it (in JSON, the member "exe").
 */
void trace_version_at(struct trace *t, struct trace_at at, const char *exe);
void trace_too_many_files_at(struct trace *t, struct trace_at at);
void trace_start_at(struct trace *t, struct trace_at at,
		    const char *const *argv);
/*
 * Writes the names of the parent processes: `names` has the nearest first, and
 * ends with NULL.
 */
void trace_ancestry_at(struct trace *t, struct trace_at at,
		       const char *const *names);
/*
 * Writes the name of the command. `hierarchy` has the names of the ancestor
 * processes that write a trace, and then `name`, joined with '/'.
 */
void trace_name_at(struct trace *t, struct trace_at at, const char *name,
		   const char *hierarchy);
/* Writes the line "built-in: git <words>" of GIT_TRACE. */
void trace_builtin_at(struct trace *t, struct trace_at at,
		      const char *const *argv);
/*
 * Writes a configuration variable with its scope. If `scope` is NULL, writes an
 * environment variable.
 */
void trace_param_at(struct trace *t, struct trace_at at, const char *scope,
		    const char *param, const char *value);
void trace_repo_at(struct trace *t, struct trace_at at, const char *worktree);
/*
 * Writes an error message. `fmt` is the format string from which the message
 * `msg` was made.
 */
void trace_error_at(struct trace *t, struct trace_at at, const char *fmt,
		    const char *msg);
/* Writes the events "exit" and "atexit". */
void trace_exit_at(struct trace *t, struct trace_at at, int code);

/* ---- events about the work of a process */

void trace_region_enter_at(struct trace *t, struct trace_at at,
			   const char *category, const char *label);
void trace_region_leave_at(struct trace *t, struct trace_at at,
			   const char *category, const char *label);
void trace_data_at(struct trace *t, struct trace_at at, const char *category,
		   const char *key, const char *value);
void trace_data_u64_at(struct trace *t, struct trace_at at,
		       const char *category, const char *key, uint64_t value);
/*
 * Writes the value that belongs to the pair (`category`, `key`). `json` is the
 * value as JSON text.
 */
void trace_json_at(struct trace *t, struct trace_at at, const char *category,
		   const char *key, const char *json);
/*
 * Writes `json`, the record of a request, to the targets of trace_json_at() and
 * to the log of requests.
 */
void trace_request_at(struct trace *t, struct trace_at at, const char *json);

/*
 * Writes the start of a child process. `hook` is the name of the hook that the
 * child runs, or NULL if the child is no hook.
 */
void trace_child_start_at(struct trace *t, struct trace_at at,
			  struct trace_child *child, const char *const *argv,
			  const char *hook);
void trace_child_exit_at(struct trace *t, struct trace_at at,
			 const struct trace_child *child, pid_t pid, int code);
/*
 * Call trace_exec_at() before replacing this process by another program. The
 * function sets *exec_id to the number of this attempt. Call
 * trace_exec_result_at() with this number if replacing the process fails.
 */
void trace_exec_at(struct trace *t, struct trace_at at, unsigned *exec_id,
		   const char *exe, const char *const *argv);
void trace_exec_result_at(struct trace *t, struct trace_at at, unsigned exec_id,
			  int sys_errno);

/*
 * Writes a pkt-line that the service `who` sent or received, without the final
 * line feed of the pkt-line.
 */
void trace_packet_at(struct trace *t, struct trace_at at, const char *who,
		     bool is_sent, const char *bytes, size_t len);

/*
 * Macros that call the functions above with the place of the caller in the
 * source code.
 */
#define trace_call(t, fn, ...) ((t) ? fn((t), TRACE_AT, __VA_ARGS__) : (void)0)
#define trace_region_enter(t, category, label)                                 \
	trace_call(t, trace_region_enter_at, category, label)
#define trace_region_leave(t, category, label)                                 \
	trace_call(t, trace_region_leave_at, category, label)
#define trace_data(t, category, key, value)                                    \
	trace_call(t, trace_data_at, category, key, value)
#define trace_data_u64(t, category, key, value)                                \
	trace_call(t, trace_data_u64_at, category, key, value)
#define trace_json(t, category, key, json)                                     \
	trace_call(t, trace_json_at, category, key, json)
#define trace_request(t, json) trace_call(t, trace_request_at, json)
#define trace_error(t, msg) trace_call(t, trace_error_at, "%s", msg)
#define trace_child_start(t, child, argv, hook)                                \
	trace_call(t, trace_child_start_at, child, argv, hook)
#define trace_child_exit(t, child, pid, code)                                  \
	trace_call(t, trace_child_exit_at, child, pid, code)
#define trace_packet(t, who, is_sent, bytes, len)                              \
	trace_call(t, trace_packet_at, who, is_sent, bytes, len)

#endif
