/* SPDX-License-Identifier: MIT */
/*
 * What one request was and took: measured on the way, and told at its end as
 * one event (Documentation/format/trace.md lists the members). When nobody
 * listens, nothing is measured: every call is one comparison.
 *
 * One thread.
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

/* Parts of the time, told as regions, too. */
enum summary_phase {
	SUMMARY_ANSWER,       /* the whole of what is no fetch and no push */
	SUMMARY_NEGOTIATE,    /* what is wanted and had */
	SUMMARY_PACK,         /* making and sending a pack */
	SUMMARY_RECEIVE,      /* taking a pack, into the quarantine */
	SUMMARY_CONNECTIVITY, /* whether it is complete */
	SUMMARY_HOOKS,        /* pre-receive, post-receive, post-update */
	SUMMARY_MIGRATE,      /* out of the quarantine */
	SUMMARY_UPDATE,       /* of refs, update hooks included */
	SUMMARY_REPORT,
	SUMMARY_PHASE_NR,
	SUMMARY_NO_PHASE = SUMMARY_PHASE_NR,
};

struct summary {
	struct trace *trace;    /* borrowed; NULL: nobody listens */
	const char *service;    /* "upload-pack", "receive-pack"; static */
	struct pktline_tap tap; /* of both directions of the connection */
	/* Of the request that has begun: */
	const char *command; /* static; NULL: none has */
	uint64_t start_ns, phase_start_ns;
	struct sys_usage usage;  /* when it began */
	struct pktline_tap base; /* what `tap` was: times then, bytes when the
				    request before had ended */
	enum summary_phase phase;
	uint64_t phases_ns[SUMMARY_PHASE_NR];
	bool entered[SUMMARY_PHASE_NR];
	struct buf members; /* of the event, put so far */
};

/* `trace` NULL: all calls do nothing. Release in any case. */
void summary_init(struct summary *s, struct trace *trace, const char *service);
void summary_release(struct summary *s);

/* What a reader and a writer of packets borrow; NULL when nobody listens. */
static inline struct pktline_tap *summary_tap(struct summary *s)
{
	return s->trace ? &s->tap : NULL;
}

/* A request begins. */
void summary_begin(struct summary *s, const char *command);

/* Its next phase begins, and the one before ends. */
void summary_phase(struct summary *s, enum summary_phase phase);

/* Facts of the request; NULL is told as null. */
void summary_u64(struct summary *s, const char *key, uint64_t value);
void summary_bool(struct summary *s, const char *key, bool value);
void summary_string(struct summary *s, const char *key, const char *value);

/* It has ended: tell. `error` NULL: well. Nothing when none has begun. */
void summary_end(struct summary *s, const struct error *error);

/* It was none, after all. */
void summary_drop(struct summary *s);

#endif
