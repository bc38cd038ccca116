/* SPDX-License-Identifier: MIT */
/*
 * Telling those who listen what a process does, and how long it takes: the
 * lines of GIT_TRACE, GIT_TRACE_PACKET, GIT_TRACE2, GIT_TRACE2_PERF and
 * GIT_TRACE2_EVENT (git(1), and "Trace2 API" of Git's documentation), and the
 * log of requests, which has only events of category "gitreach" and key
 * "request".
 *
 * Who traces is handed a `struct trace *`; NULL is the common case: nobody
 * listens, and a call costs the comparison. Nothing here fails: what cannot be
 * told (no memory, a full disk) is not told.
 *
 * Any thread may call; regions belong to the thread that opened the trace.
 * Strings may hold any bytes.
 */
#ifndef SYS_TRACE_H
#define SYS_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/trace-file.h"

enum trace_target {
	TRACE_NORMAL,  /* GIT_TRACE2 */
	TRACE_PERF,    /* GIT_TRACE2_PERF */
	TRACE_EVENT,   /* GIT_TRACE2_EVENT */
	TRACE_LOG,     /* the log of requests: lines as those of TRACE_EVENT */
	TRACE_GENERAL, /* GIT_TRACE */
	TRACE_PACKET,  /* GIT_TRACE_PACKET */
	TRACE_TARGET_NR,
};

/* Regions within regions; deeper ones are counted, and have no times. */
#define TRACE_NESTING_MAX 32

struct trace {
	struct trace_file files[TRACE_TARGET_NR];
	bool is_brief[TRACE_TARGET_NR]; /* no time, file, line */
	uint64_t nesting_max;           /* of events: trace2.eventNesting */
	uint64_t start_ns;              /* when the process began */
	const char *sid;                /* borrowed: who we are */
	unsigned depth;                 /* processes above that trace, too */
	bool has_repo;
	pthread_mutex_t lock;                   /* guards what follows */
	uint64_t regions_ns[TRACE_NESTING_MAX]; /* when each was entered */
	unsigned nesting;                       /* open regions */
	unsigned child_nr, exec_nr;
};

/* With all targets off, for trace_file_open() to open; `sid` is borrowed. */
void trace_init(struct trace *t, const char *sid, uint64_t start_ns);
void trace_release(struct trace *t);

/* Whether any target, or that one, is open. */
bool trace_is_on(const struct trace *t);
static inline bool trace_wants(const struct trace *t, enum trace_target target)
{
	return t && t->files[target].fd >= 0;
}

/* A line of the program, which the lines of a trace name. */
struct trace_at {
	const char *file;
	int line;
};

#define TRACE_AT ((struct trace_at){__FILE__, __LINE__})

/* A process that was started, until it ends. */
struct trace_child {
	unsigned id;
	uint64_t start_ns;
};

/* ---- the life of a process */

/* `exe` is what `git version` says. */
void trace_version_at(struct trace *t, struct trace_at at, const char *exe);
void trace_too_many_files_at(struct trace *t, struct trace_at at);
void trace_start_at(struct trace *t, struct trace_at at,
		    const char *const *argv);
/* NULL-terminated, nearest first. */
void trace_ancestry_at(struct trace *t, struct trace_at at,
		       const char *const *names);
/* `hierarchy` is those of the processes above and `name`, with '/' between. */
void trace_name_at(struct trace *t, struct trace_at at, const char *name,
		   const char *hierarchy);
void trace_mode_at(struct trace *t, struct trace_at at, const char *mode);
/* GIT_TRACE's "built-in: git <words>". */
void trace_builtin_at(struct trace *t, struct trace_at at,
		      const char *const *argv);
/* `scope` NULL: a variable of the environment. */
void trace_param_at(struct trace *t, struct trace_at at, const char *scope,
		    const char *param, const char *value);
void trace_repo_at(struct trace *t, struct trace_at at, const char *worktree);
void trace_error_at(struct trace *t, struct trace_at at, const char *msg);
/* "exit" and "atexit". */
void trace_exit_at(struct trace *t, struct trace_at at, int code);

/* ---- what it does */

void trace_region_enter_at(struct trace *t, struct trace_at at,
			   const char *category, const char *label);
void trace_region_leave_at(struct trace *t, struct trace_at at,
			   const char *category, const char *label);
void trace_data_at(struct trace *t, struct trace_at at, const char *category,
		   const char *key, const char *value);
void trace_data_u64_at(struct trace *t, struct trace_at at,
		       const char *category, const char *key, uint64_t value);
/* `json` is a value of JSON. */
void trace_json_at(struct trace *t, struct trace_at at, const char *category,
		   const char *key, const char *json);
/* As trace_json_at(), to TRACE_LOG as well. */
void trace_request_at(struct trace *t, struct trace_at at, const char *json);

/* `hook` is the name of one, or NULL for another child. */
void trace_child_start_at(struct trace *t, struct trace_at at,
			  struct trace_child *child, const char *const *argv,
			  const char *hook);
void trace_child_exit_at(struct trace *t, struct trace_at at,
			 const struct trace_child *child, pid_t pid, int code);
/* Before we become another program, and after that has failed. */
void trace_exec_at(struct trace *t, struct trace_at at, const char *exe,
		   const char *const *argv);
void trace_exec_result_at(struct trace *t, struct trace_at at, int sys_errno);

/*
 * A packet of the service `who`, sent or received; the line feed at its end is
 * not told.
 */
void trace_packet_at(struct trace *t, struct trace_at at, const char *who,
		     bool is_sent, const char *bytes, size_t len);

/* The calls, which name their place. */
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
#define trace_error(t, msg) trace_call(t, trace_error_at, msg)
#define trace_child_start(t, child, argv, hook)                                \
	trace_call(t, trace_child_start_at, child, argv, hook)
#define trace_child_exit(t, child, pid, code)                                  \
	trace_call(t, trace_child_exit_at, child, pid, code)
#define trace_packet(t, who, is_sent, bytes, len)                              \
	trace_call(t, trace_packet_at, who, is_sent, bytes, len)

#endif
