/* SPDX-License-Identifier: MIT */
/*
 * The summary of one request: what the client asked for, and what the request
 * cost. At the end of the request, one trace event is written
 * (Documentation/format/trace.md lists its members). Without a trace nothing is
 * measured: every call is one comparison.
 *
 * A summary is used by one thread.
 */
#ifndef WIRE_SUMMARY_H
#define WIRE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
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
	/* checking that all objects that the new commits need exist */
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

struct summary {
	/* borrowed; NULL: nothing is measured */
	struct trace *trace;
	/* "upload-pack", "receive-pack"; static */
	const char *service;
	/* counts bytes in both directions of the connection */
	struct pktline_tap tap;
	/* The fields below are about the current request. */
	/* a constant string; NULL: no request has begun */
	const char *command;
	uint64_t start_ns, phase_start_ns;
	/*
	 * CPU and memory usage of the process, or of the thread if the trace
	 * is of a thread, when the request began
	 */
	struct sys_usage usage;
	/*
	 * A copy of `tap`, to compute differences. Its durations are those when
	 * the current request began. Its byte counts are those when the
	 * previous request ended.
	 */
	struct pktline_tap base;
	enum summary_phase phase;
	uint64_t phases_ns[SUMMARY_PHASE_NR];
	bool entered[SUMMARY_PHASE_NR];
	/* the JSON members that the event has so far */
	struct buf members;
};

/*
 * Initialise a summary. If `trace` is NULL, all other calls do nothing. The
 * caller releases the summary.
 */
void summary_init(struct summary *s, struct trace *trace, const char *service);
void summary_release(struct summary *s);

/*
 * Returns the tap for the readers and writers of packets, which borrow the tap.
 * Returns NULL without a trace.
 */
static inline struct pktline_tap *summary_tap(struct summary *s)
{
	return s->trace ? &s->tap : NULL;
}

/* Begin a request. `command` is a constant string. */
void summary_begin(struct summary *s, const char *command);

/* End the current phase and begin the next one. */
void summary_phase(struct summary *s, enum summary_phase phase);

/*
 * Add a member (key and value) to the event of the request. A NULL string is
 * written as null.
 */
void summary_u64(struct summary *s, const char *key, uint64_t value);
void summary_bool(struct summary *s, const char *key, bool value);
void summary_string(struct summary *s, const char *key, const char *value);

/*
 * End the request and write its event. `error` is NULL if the request
 * succeeded. Does nothing if no request has begun.
 */
void summary_end(struct summary *s, const struct error *error);

/* Forget the current request without writing an event. */
void summary_drop(struct summary *s);

#endif
