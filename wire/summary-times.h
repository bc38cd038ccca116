/* SPDX-License-Identifier: MIT */
/*
 * The times of one request. If a child process answers a request, it tells its
 * parent process the times of the request in one line of text:
 *
 *	receive=1500 connectivity=90 hooks=70000 wait_read=1200 wait_send=0
 *
 * The words name the phases that the request has entered (summary_phase_name())
 * and the waits for the client. The numbers are microseconds.
 */
#ifndef WIRE_SUMMARY_TIMES_H
#define WIRE_SUMMARY_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "wire/summary.h"

/* maximum bytes of a line that summary_times_format() appends */
#define SUMMARY_TIMES_MAX 512

struct summary_times {
	bool entered[SUMMARY_PHASE_NR];
	uint64_t phases_us[SUMMARY_PHASE_NR]; /* 0: not entered */
	uint64_t wait_read_us, wait_send_us;
};

/* Copies the times of a request that has ended. */
void summary_times_take(struct summary_times *out, const struct summary *s);

/*
 * Appends the line of text, without a line feed. Returns 0 or ERR_NOMEM.
 */
int summary_times_format(struct buf *out, const struct summary_times *times);

/*
 * Parses the line of text. Words that are not known, or have no valid number,
 * are skipped: they may come from another version of the program. Times that
 * the line does not have become 0.
 */
void summary_times_parse(struct summary_times *out, const char *line);

#endif
