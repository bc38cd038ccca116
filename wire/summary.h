/* SPDX-License-Identifier: MIT */
/*
 * The summary of one request: what the client asked for, and what the request
 * cost. At the end of the request, one trace event is written
 * (Documentation/format/trace.md lists its members), and a callback gets the
 * numbers. If there is neither a trace nor a callback, nothing is measured, and
 * every call costs one comparison.
 *
 * A summary is used by one thread.
 */
#ifndef WIRE_SUMMARY_H
#define WIRE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"
#include "sys/process.h"
#include "sys/trace.h"
#include "wire/pktline.h"

/*
 * The phases of a request whose durations are measured. Each phase is also a
 * region in the trace.
 */
enum summary_phase {
	/* a whole request that is neither a fetch nor a push */
	SUMMARY_ANSWER,
	SUMMARY_NEGOTIATE, /* reading wants and haves */
	/* making and sending a pack */
	SUMMARY_PACK,
	/* receiving a pack into the quarantine */
	SUMMARY_RECEIVE,
	/*
	 * checking connectivity: the objects that the new commits need must
	 * exist
	 */
	SUMMARY_CONNECTIVITY,
	/* running the hooks pre-receive, post-receive and post-update */
	SUMMARY_HOOKS,
	/* moving objects out of the quarantine */
	SUMMARY_MIGRATE,
	/* updating refs, including update hooks */
	SUMMARY_UPDATE,
	SUMMARY_REPORT,
	SUMMARY_PHASE_NR,
	SUMMARY_NO_PHASE = SUMMARY_PHASE_NR,
};

/*
 * The numbers of a request, in the order of their JSON members. A member's name
 * is the constant without "SUMMARY_", in lower case.
 */
enum summary_number {
	SUMMARY_PROTOCOL,
	SUMMARY_REFS_LOOKED_AT,
	SUMMARY_WANTS,
	SUMMARY_HAVES,
	SUMMARY_HAVES_COMMON,
	/* 0 or 1; the JSON member is a boolean */
	SUMMARY_SHALLOW,
	SUMMARY_DEPTH,
	SUMMARY_ESTIMATED_BITMAP,
	SUMMARY_ESTIMATED_WALK,
	SUMMARY_BITMAPS_USED,
	SUMMARY_PSEUDO_MERGES_USED,
	SUMMARY_COMMITS_WALKED,
	SUMMARY_OBJECTS_SENT,
	SUMMARY_OBJECTS_REUSED_IN_SPANS,
	SUMMARY_OBJECTS_REUSED,
	SUMMARY_OBJECTS_RECOMPRESSED,
	SUMMARY_BYTES_VERBATIM,
	SUMMARY_BYTES_RECOMPRESSED,
	SUMMARY_BYTES_ELSEWHERE,
	SUMMARY_COUNT_US,
	SUMMARY_REUSE_US,
	SUMMARY_SEARCH_US,
	SUMMARY_WRITE_US,
	SUMMARY_QUEUE_US,
	SUMMARY_PRICE_US,
	SUMMARY_REFS_ASKED,
	SUMMARY_REFS_REFUSED,
	/*
	 * The numbers below are measured by wire/summary.c; other code does not
	 * set them.
	 */
	SUMMARY_BYTES_RECEIVED,
	SUMMARY_BYTES_SENT,
	SUMMARY_WAIT_READ_US,
	SUMMARY_WAIT_SEND_US,
	SUMMARY_FIRST_BYTE_US,
	SUMMARY_TOTAL_US,
	SUMMARY_CPU_USER_US,
	SUMMARY_CPU_SYS_US,
	SUMMARY_PEAK_RSS_KIB,
	SUMMARY_NUMBER_NR,
};

/*
 * The texts of a request. The name of a text's JSON member is the constant
 * without "SUMMARY_", in lower case.
 */
enum summary_text {
	SUMMARY_FILTER,
	SUMMARY_REQUEST, /* see wire/request-text.h */
	SUMMARY_STRATEGY,
	SUMMARY_NO_BITMAP_REASON,
	SUMMARY_STRATEGY_REASON,
	SUMMARY_PLAN,
	SUMMARY_NO_PLAN_REASON,
	SUMMARY_UNPACK_ERROR,
	SUMMARY_FILE,
	SUMMARY_TEXT_NR,
};

struct summary;

/*
 * The client of the requests, and a callback that gets the results of each
 * request.
 */
struct summary_about {
	/* borrowed; NULL: unknown */
	const char *client; /* numeric address */
	const char *user;
	/* borrowed: a valid text (wire/traceparent.h); NULL: none */
	const char *traceparent;
	/*
	 * true: measure the CPU time of the calling thread; false: measure the
	 * CPU time of the process
	 */
	bool is_of_thread;
	/*
	 * Called at the end of each request, whose numbers and texts are in *s.
	 * `error` is NULL if the request succeeded. `done` may be NULL.
	 */
	void (*done)(void *ctx, const struct summary *s,
		     const struct error *error);
	void *ctx;
};

struct summary {
	/* borrowed: path of the git directory of the served repository */
	const char *repository;
	struct trace *trace;               /* borrowed, or NULL */
	const struct summary_about *about; /* borrowed, or NULL */
	/*
	 * true: requests are measured, because the trace or `about` wants the
	 * results
	 */
	bool is_on;
	/* "upload-pack", "receive-pack"; static */
	const char *service;
	/* counts bytes in both directions of the connection */
	struct pktline_tap tap;
	/* The fields below are about the current request. */
	/* a constant string; NULL: no request has begun */
	const char *command;
	uint64_t start_ns, phase_start_ns;
	/* CPU and memory usage when the request began */
	struct sys_usage usage;
	/*
	 * Time at which summary_suspend() was called; 0: not called. After the
	 * call, `usage` is the CPU time that the request took until the call.
	 */
	uint64_t suspended_ns;
	/*
	 * Earlier values of `tap`, which are subtracted to compute the costs of
	 * this request. read_ns and send_ns have the values at the beginning of
	 * the request. The byte counts have the values at the end of the
	 * previous request.
	 */
	struct pktline_tap base;
	enum summary_phase phase;
	uint64_t phases_ns[SUMMARY_PHASE_NR];
	bool entered[SUMMARY_PHASE_NR];
	uint64_t numbers[SUMMARY_NUMBER_NR];
	uint64_t has_numbers; /* bit n: number n is set */
	struct buf texts[SUMMARY_TEXT_NR];
	/*
	 * bit masks, a bit for each enum summary_text. has_texts: the text is
	 * set; null_texts: the text is set to NULL
	 */
	unsigned has_texts, null_texts;
};

/*
 * Initialise a summary of requests to a repository. Results go to repo->trace,
 * and to about->done(). If there is neither a trace nor a callback, nothing is
 * measured. `about` may be NULL. `repo` and `about` are borrowed. The caller
 * releases the summary.
 */
void summary_init(struct summary *s, const struct repo *repo,
		  const struct summary_about *about, const char *service);

/* Initialise a summary that measures nothing. */
void summary_init_off(struct summary *s, const char *service);
void summary_release(struct summary *s);

/*
 * Returns the tap: an observer that counts the bytes and the waiting time of a
 * connection (wire/pktline.h). Readers and writers of packets borrow the tap.
 * Returns NULL if nothing is measured.
 */
static inline struct pktline_tap *summary_tap(struct summary *s)
{
	return s->is_on ? &s->tap : NULL;
}

/* Begin a request. `command` is a constant string. */
void summary_begin(struct summary *s, const char *command);

/* End the current phase and begin the next one. */
void summary_phase(struct summary *s, enum summary_phase phase);

/*
 * Set a number or a text of the request. A text is copied; a NULL text is
 * written as null.
 */
void summary_u64(struct summary *s, enum summary_number number, uint64_t value);
void summary_string(struct summary *s, enum summary_text text,
		    const char *value);

/* Returns a text, or NULL if the text is NULL or was not set. */
const char *summary_text(const struct summary *s, enum summary_text text);

/* Returns the name of a phase, for example "negotiate". */
const char *summary_phase_name(enum summary_phase phase);

/*
 * End the request: write its event, and call about->done(). `error` is NULL if
 * the request succeeded. Does nothing if no request has begun.
 */
void summary_end(struct summary *s, const struct error *error);

/*
 * Move the measurements of the current request from *from to *to, because its
 * answer is still waiting to be sent. Afterwards *from measures nothing. The
 * CPU time of the request ends now, and the wait for the client begins. Call
 * summary_end() or summary_drop(), then summary_release() for *to.
 */
void summary_suspend(struct summary *to, struct summary *from);

/* Forget the current request. */
void summary_drop(struct summary *s);

#endif
