/* SPDX-License-Identifier: MIT */
/* Printing dates in the formats of git-log(1) --date=<format>. */
#ifndef BUILTIN_DATE_FORMAT_H
#define BUILTIN_DATE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum date_format {
	/* for example "Thu Jan 1 00:00:01 1970 +0000" */
	DATE_FORMAT_DEFAULT,
	/* for example "1970-01-01 00:00:01 +0000" */
	DATE_FORMAT_ISO,
	/*
	 * for example "1970-01-01T01:00:01+01:00"; the zone UTC is written as
	 * "Z"
	 */
	DATE_FORMAT_ISO_STRICT,
	/* for example "Thu, 1 Jan 1970 00:00:01 +0000" */
	DATE_FORMAT_RFC2822,
	DATE_FORMAT_SHORT, /* 1970-01-01 */
	DATE_FORMAT_RAW,   /* 1 +0000 */
	DATE_FORMAT_UNIX,  /* 1 */
};

/*
 * Find a format by name. Returns 1 if *format was set; 0 if there is no such
 * format; or -1 if only stock Git has the format (relative, human, local
 * formats, format:<strftime>).
 */
int date_format_by_name(enum date_format *format, const char *name, size_t len);

/*
 * Append the date of `seconds` since 1970. `zone` is the offset of the time
 * zone, written as hours times 100 plus minutes (-0130 is -130). A date whose
 * year does not fit an int is printed as the first second of 1970. Returns 0 or
 * ERR_NOMEM.
 */
int date_format_append(struct buf *out, uint64_t seconds, int zone,
		       enum date_format format);

/*
 * Parse seconds and zone in a line "Name <email> <seconds> <zone>" of `len`
 * bytes. As in stock Git, the numbers follow the first "> ". A missing or
 * malformed number is read as 0. Words after the numbers are ignored. Returns
 * false if there is no "> " or if a number is too large.
 */
bool date_format_parse_line(uint64_t *seconds, int *zone, const char *line,
			    size_t len);

#endif
