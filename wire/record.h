/* SPDX-License-Identifier: MIT */
/*
 * Reads the log of requests, which wire/summary.h writes. Each line is one
 * trace event, and the value of the event is the record of one request
 * (Documentation/format/trace.md).
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json-read.h"

struct record {
	/* time when the request ended, in microseconds since 1970 */
	uint64_t end_us;
	/* the record, a JSON object; borrowed from the line */
	struct json_value value;
};

/*
 * Parses a line, with or without its line feed. Returns 1 if the line is the
 * record of a request, 0 if it is any other trace event. Returns ERR_CORRUPT if
 * the line is not a trace event or has no valid time.
 */
int record_parse(struct record *record, const char *line, size_t len);

/* Looks up a member of the record. Returns whether there is one. */
bool record_find(struct json_value *value, const struct record *record,
		 const char *key);

#endif
