/* SPDX-License-Identifier: MIT */
/* Printing dates. The calendar is the proleptic Gregorian one, as in C. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "builtin/date-format.h"

/* The largest time that can be printed; a later date is damaged. */
#define SECONDS_MAX (UINT64_C(1) << 55)

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed",
				"Thu", "Fri", "Sat"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
				   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static const struct {
	const char *name;
	int format; /* -1: only stock Git has this format */
} names[] = {
	{"default", DATE_FORMAT_DEFAULT},
	{"iso", DATE_FORMAT_ISO},
	{"iso8601", DATE_FORMAT_ISO},
	{"iso-strict", DATE_FORMAT_ISO_STRICT},
	{"iso8601-strict", DATE_FORMAT_ISO_STRICT},
	{"rfc", DATE_FORMAT_RFC2822},
	{"rfc2822", DATE_FORMAT_RFC2822},
	{"short", DATE_FORMAT_SHORT},
	{"raw", DATE_FORMAT_RAW},
	{"unix", DATE_FORMAT_UNIX},
	{"relative", -1},
	{"human", -1},
	{"local", -1},
	{"auto", -1},
};

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len >= end_len && !memcmp(s + len - end_len, end, end_len);
}

int date_format_by_name(enum date_format *format, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_NR(names); i++) {
		if (strlen(names[i].name) != len ||
		    memcmp(names[i].name, name, len))
			continue;
		if (names[i].format < 0)
			return -1;
		*format = (enum date_format)names[i].format;
		return 1;
	}
	if (ends_with(name, len, "-local") ||
	    (len >= 7 && !memcmp(name, "format:", 7)))
		return -1;
	return 0;
}

static int append_parts(struct buf *out, const struct tm *tm, int zone,
			enum date_format format)
{
	char sign = zone < 0 ? '-' : '+';
	int offset = abs(zone);
	int year = tm->tm_year + 1900;

	switch (format) {
	case DATE_FORMAT_ISO:
		return buf_printf(out, "%04d-%02d-%02d %02d:%02d:%02d %c%04d",
				  year, tm->tm_mon + 1, tm->tm_mday,
				  tm->tm_hour, tm->tm_min, tm->tm_sec, sign,
				  offset);
	case DATE_FORMAT_ISO_STRICT:
		return buf_printf(
			out, "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", year,
			tm->tm_mon + 1, tm->tm_mday, tm->tm_hour, tm->tm_min,
			tm->tm_sec, sign, offset / 100, offset % 100);
	case DATE_FORMAT_RFC2822:
		return buf_printf(out, "%s, %d %s %d %02d:%02d:%02d %c%04d",
				  days[tm->tm_wday], tm->tm_mday,
				  months[tm->tm_mon], year, tm->tm_hour,
				  tm->tm_min, tm->tm_sec, sign, offset);
	case DATE_FORMAT_SHORT:
		return buf_printf(out, "%04d-%02d-%02d", year, tm->tm_mon + 1,
				  tm->tm_mday);
	default:
		return buf_printf(out, "%s %s %d %02d:%02d:%02d %d %c%04d",
				  days[tm->tm_wday], months[tm->tm_mon],
				  tm->tm_mday, tm->tm_hour, tm->tm_min,
				  tm->tm_sec, year, sign, offset);
	}
}

int date_format_append(struct buf *out, uint64_t seconds, int zone,
		       enum date_format format)
{
	int minutes = abs(zone) / 100 * 60 + abs(zone) % 100;
	struct tm tm;
	time_t local;

	if (format == DATE_FORMAT_UNIX)
		return buf_printf(out, "%" PRIu64, seconds);
	if (format == DATE_FORMAT_RAW)
		return buf_printf(out, "%" PRIu64 " %c%04d", seconds,
				  zone < 0 ? '-' : '+', abs(zone));
	if (seconds > SECONDS_MAX) {
		seconds = 0;
		zone = minutes = 0;
	}
	local = (time_t)seconds + (zone < 0 ? -1 : 1) * minutes * (time_t)60;
	if (!gmtime_r(&local, &tm))
		memset(&tm, 0, sizeof(tm));
	return append_parts(out, &tm, zone, format);
}

/*
 * Parse the number that ends at `*end` and move *end to its begin. Returns
 * false if there is no number.
 */
static bool number_before(uint64_t *value, const char *line, size_t *end)
{
	size_t at = *end;
	size_t i;

	while (at && isdigit((unsigned char)line[at - 1]))
		at--;
	if (at == *end || *end - at > 19)
		return false;
	*value = 0;
	for (i = at; i < *end; i++)
		*value = *value * 10 + (uint64_t)(line[i] - '0');
	*end = at;
	return true;
}

bool date_format_parse_line(uint64_t *seconds, int *zone, const char *line,
			    size_t len)
{
	uint64_t offset;

	if (!number_before(&offset, line, &len) || offset > 9999 || len < 2)
		return false;
	if ((line[len - 1] != '+' && line[len - 1] != '-') ||
	    line[len - 2] != ' ')
		return false;
	*zone = line[len - 1] == '-' ? -(int)offset : (int)offset;
	len -= 2;
	return number_before(seconds, line, &len) && len &&
	       line[len - 1] == ' ';
}
