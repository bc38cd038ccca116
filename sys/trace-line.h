/* SPDX-License-Identifier: MIT */
/*
 * The lines of a trace, in each of its forms: what stands in front, and
 * lists of words; and the lines themselves. The inside of trace.h.
 */
#ifndef SYS_TRACE_LINE_H
#define SYS_TRACE_LINE_H

#include "base/buf.h"
#include "sys/trace.h"

/* Seconds with six digits. */
struct trace_seconds {
	uint64_t ns;
	bool is_known;
};

/* The columns of TRACE_PERF. */
struct trace_columns {
	const char *event;
	struct trace_seconds abs, rel;
	const char *category; /* NULL: none */
	bool has_repo;
	unsigned nesting; /* of what is told: dots in front */
};

/* All return 0 or ERR_NOMEM. */

/* "<time> <file>:<line>  " up to column `width` of the last two. */
int trace_line_begin(struct buf *out, struct trace_at at, unsigned width);
int trace_line_perf(struct buf *out, const struct trace *t, struct trace_at at,
		    const struct trace_columns *columns);
/* The members that all events begin with, the brace included. */
int trace_line_event(struct buf *out, const struct trace *t, struct trace_at at,
		     const char *event, bool is_brief);

int trace_line_seconds(struct buf *out, const char *key, uint64_t ns);
/* Words in a shell's quotes where they need them, spaces between. */
int trace_line_words(struct buf *out, const char *const *words);
/* The same as an array of JSON. */
int trace_line_array(struct buf *out, const char *key,
		     const char *const *words);
/* Bytes that are not printable as "\" and octal digits. */
int trace_line_escaped(struct buf *out, const char *bytes, size_t len);

/* ---- lines, for a target if that is open */

struct trace_seconds trace_elapsed(const struct trace *t);

/* "<event> <text>" */
void trace_put_normal(struct trace *t, struct trace_at at, const char *event,
		      const char *text);
void trace_put_perf(struct trace *t, struct trace_at at,
		    const struct trace_columns *columns, const char *text);
/* `members` is what follows those that all events have. */
void trace_put_event(struct trace *t, struct trace_at at,
		     enum trace_target target, const char *event,
		     const char *members);
/* GIT_TRACE and GIT_TRACE_PACKET: "<kind>: <text>". */
void trace_put_general(struct trace *t, struct trace_at at,
		       enum trace_target target, const char *kind,
		       const char *text);

#endif
