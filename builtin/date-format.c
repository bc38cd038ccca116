/* SPDX-License-Identifier: MIT */
/*
 * Prints dates. As in C, the Gregorian calendar is used for all years, also for
 * those before it was introduced.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "builtin/date-format.h"

/*
 * Limits that prevent an overflow of the sum of seconds and time zone. They
 * exclude no date that could be printed: the year of a date near SECONDS_MAX
 * does not fit an int, so gmtime_r() fails.
 */
#define SECONDS_MAX ((uint64_t)INT64_MAX / 2)
#define ZONE_MAX 100000000

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed",
				"Thu", "Fri", "Sat"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
				   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static const struct {
	const char *name;
	/*
	 * a value of enum date_format, or -1 if only stock Git has this format
	 */
	int format;
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

static bool starts_with(const char *s, size_t len, const char *start)
{
	size_t start_len = strlen(start);

	return len >= start_len && !memcmp(s, start, start_len);
}

int date_format_by_name(enum date_format *format, const char *name, size_t len)
{
	static const char local[] = "-local";
	size_t i;

	if (starts_with(name, len, "format:") ||
	    starts_with(name, len, "format-local:") ||
	    starts_with(name, len, "auto:"))
		return -1;
	for (i = 0; i < ARRAY_NR(names); i++) {
		size_t name_len = strlen(names[i].name);

		if (!starts_with(name, len, names[i].name))
			continue;
		if (len == name_len + strlen(local) &&
		    !memcmp(name + name_len, local, strlen(local)))
			return -1;
		if (len != name_len)
			continue;
		if (names[i].format < 0)
			return -1;
		*format = (enum date_format)names[i].format;
		return 1;
	}
	return 0;
}

static int append_parts(struct buf *out, const struct tm *tm, int zone,
			enum date_format format)
{
	char sign = zone < 0 ? '-' : '+';
	int offset = abs(zone);
	long year = tm->tm_year + 1900L;

	switch (format) {
	case DATE_FORMAT_ISO:
		return buf_printf(out, "%04ld-%02d-%02d %02d:%02d:%02d %c%04d",
				  year, tm->tm_mon + 1, tm->tm_mday,
				  tm->tm_hour, tm->tm_min, tm->tm_sec, sign,
				  offset);
	case DATE_FORMAT_ISO_STRICT:
		if (buf_printf(out, "%04ld-%02d-%02dT%02d:%02d:%02d", year,
			       tm->tm_mon + 1, tm->tm_mday, tm->tm_hour,
			       tm->tm_min, tm->tm_sec) < 0)
			return ERR_NOMEM;
		if (!zone)
			return buf_append_char(out, 'Z');
		return buf_printf(out, "%c%02d:%02d", sign, offset / 100,
				  offset % 100);
	case DATE_FORMAT_RFC2822:
		return buf_printf(out, "%s, %d %s %ld %02d:%02d:%02d %c%04d",
				  days[tm->tm_wday], tm->tm_mday,
				  months[tm->tm_mon], year, tm->tm_hour,
				  tm->tm_min, tm->tm_sec, sign, offset);
	case DATE_FORMAT_SHORT:
		return buf_printf(out, "%04ld-%02d-%02d", year, tm->tm_mon + 1,
				  tm->tm_mday);
	default:
		return buf_printf(out, "%s %s %d %02d:%02d:%02d %ld %c%04d",
				  days[tm->tm_wday], months[tm->tm_mon],
				  tm->tm_mday, tm->tm_hour, tm->tm_min,
				  tm->tm_sec, year, sign, offset);
	}
}

int date_format_append(struct buf *out, uint64_t seconds, int zone,
		       enum date_format format)
{
	int64_t minutes = abs(zone) / 100 * 60 + abs(zone) % 100;
	int64_t offset = (zone < 0 ? -60 : 60) * minutes;
	struct tm tm;
	time_t local;

	if (format == DATE_FORMAT_UNIX)
		return buf_printf(out, "%" PRIu64, seconds);
	if (format == DATE_FORMAT_RAW)
		return buf_printf(out, "%" PRIu64 " %c%04d", seconds,
				  zone < 0 ? '-' : '+', abs(zone));
	if (seconds <= SECONDS_MAX) {
		local = (time_t)((int64_t)seconds + offset);
		if (gmtime_r(&local, &tm))
			return append_parts(out, &tm, zone, format);
	}
	local = 0;
	return append_parts(out, gmtime_r(&local, &tm), 0, format);
}

bool date_format_parse_line(uint64_t *seconds, int *zone, const char *line,
			    size_t len)
{
	const char *date = memmem(line, len, "> ", 2);
	char copy[128];
	char *end;
	size_t date_len;
	long number;

	if (!date)
		return false;
	date += 2;
	date_len = len - (size_t)(date - line);
	if (date_len >= sizeof(copy))
		date_len = sizeof(copy) - 1;
	memcpy(copy, date, date_len);
	copy[date_len] = '\0';
	*seconds = strtoumax(copy, &end, 10);
	number = strtol(end, NULL, 10);
	if (*seconds == UINT64_MAX || number < -ZONE_MAX || number > ZONE_MAX)
		return false;
	*zone = (int)number;
	return true;
}
