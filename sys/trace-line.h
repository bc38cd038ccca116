/* SPDX-License-Identifier: MIT */
/*
 * Internal to trace.h: composes and writes the lines of a trace in each format.
 */
#ifndef SYS_TRACE_LINE_H
#define SYS_TRACE_LINE_H

#include "base/buf.h"
#include "sys/trace.h"

/* A duration, printed as seconds with six digits after the point. */
struct trace_seconds {
	uint64_t ns;
	bool is_known;
};

/* The values of the columns in a line of GIT_TRACE2_PERF. */
struct trace_columns {
	const char *event;
	struct trace_seconds abs, rel;
	const char *category; /* NULL: none */
	bool has_repo;
	/*
	 * nesting level of the event, which is shown as dots: the number of
	 * open regions plus 1
	 */
	unsigned nesting;
};

/* The functions below that return an int return 0 or ERR_NOMEM. */

/* Appends "<time> <file>:<line>  ". File and line are padded to `width`. */
int trace_line_begin(struct buf *out, struct trace_at at, unsigned width);
int trace_line_perf(struct buf *out, const struct trace *t, struct trace_at at,
		    const struct trace_columns *columns);
/*
 * Appends the opening brace of a JSON event and the members that all events
 * have.
 */
int trace_line_event(struct buf *out, const struct trace *t, struct trace_at at,
		     const char *event, bool is_brief);

int trace_line_seconds(struct buf *out, const char *key, uint64_t ns);
/*
 * Appends a word. If `hides` is true, the password of an URL
 * "http://user:password@..." or "https://user:password@..." is replaced by
 * "<REDACTED>".
 */
int trace_line_word(struct buf *out, const char *word, bool hides);
/*
 * Appends words separated by blanks, with shell quotes where needed. `hides`
 * works as in trace_line_word(): whether passwords in URLs are hidden.
 */
int trace_line_words(struct buf *out, const char *const *words, bool hides);
/*
 * Appends words as a JSON array. `hides` works as in trace_line_word(): whether
 * passwords in URLs are hidden.
 */
int trace_line_array(struct buf *out, const char *key, const char *const *words,
		     bool hides);
/*
 * Appends bytes. A byte that is not printable becomes "\" and three octal
 * digits.
 */
int trace_line_escaped(struct buf *out, const char *bytes, size_t len);

/*
 * ---- writing lines: trace_put_*() write a whole line to a target, or do
 * nothing if the target is not open
 */

/* Returns the time since t->start_ns. */
struct trace_seconds trace_elapsed(const struct trace *t);

/* Writes the line "<event> <text>" to GIT_TRACE2. */
void trace_put_normal(struct trace *t, struct trace_at at, const char *event,
		      const char *text);
void trace_put_perf(struct trace *t, struct trace_at at,
		    const struct trace_columns *columns, const char *text);
/*
 * Writes an event to the target `target`. `members` is JSON text that follows
 * the members common to all events.
 */
void trace_put_event(struct trace *t, struct trace_at at,
		     enum trace_target target, const char *event,
		     const char *members);
/* Writes "<kind>: <text>" to GIT_TRACE or GIT_TRACE_PACKET. */
void trace_put_general(struct trace *t, struct trace_at at,
		       enum trace_target target, const char *kind,
		       const char *text);

#endif
