/* SPDX-License-Identifier: MIT */
/* Reads records from the log of requests. */
#include <string.h>

#include "base/error.h"
#include "wire/record.h"

/* ---- time */

/* Parse `nr` bytes at `p` as a number. Returns whether all are digits. */
static bool parse_digits(uint64_t *out, const char *p, size_t nr)
{
	*out = 0;
	for (size_t i = 0; i < nr; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		*out = *out * 10 + (uint64_t)(p[i] - '0');
	}
	return true;
}

/*
 * Returns the number of days from 1970-01-01 to a day of the Gregorian
 * calendar.
 */
static uint64_t days_to(uint64_t year, uint64_t month, uint64_t day)
{
	static const unsigned before[] = {0,   31,  59,  90,  120, 151,
					  181, 212, 243, 273, 304, 334};
	bool is_late = month > 2;
	uint64_t past = year - (is_late ? 0 : 1);

	/*
	 * The divisions count the leap days since year 1; 477 of these are
	 * before 1970.
	 */
	return (year - 1970) * 365 + past / 4 - past / 100 + past / 400 - 477 +
	       before[month - 1] + day - 1;
}

/*
 * Parse a string such as "2026-11-27T19:00:00.123456Z" into microseconds since
 * 1970. Returns false if the value has another form.
 */
static bool parse_time(uint64_t *us, const struct json_value *value)
{
	static const struct {
		size_t off, nr;
		uint64_t min, max;
	} parts[] = {
		{1, 4, 1970, 9999}, {6, 2, 1, 12},  {9, 2, 1, 31},
		{12, 2, 0, 23},     {15, 2, 0, 59}, {18, 2, 0, 60},
		{21, 6, 0, 999999},
	};
	static const char form[] = "\"dddd-dd-ddTdd:dd:dd.ddddddZ\"";
	uint64_t n[sizeof(parts) / sizeof(parts[0])];

	if (value->kind != JSON_STRING || value->len != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < value->len; i++)
		if (form[i] != 'd' && form[i] != value->text[i])
			return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!parse_digits(&n[i], value->text + parts[i].off,
				  parts[i].nr) ||
		    n[i] < parts[i].min || n[i] > parts[i].max)
			return false;
	*us = (((days_to(n[0], n[1], n[2]) * 24 + n[3]) * 60 + n[4]) * 60 +
	       n[5]) * 1000000 +
	      n[6];
	return true;
}

/* ---- lines */

static bool is_string(const struct json_value *value, const char *text)
{
	size_t len = strlen(text);

	return value->kind == JSON_STRING && value->len == len + 2 &&
	       !memcmp(value->text + 1, text, len);
}

int record_parse(struct record *record, const char *line, size_t len)
{
	struct json_members members;
	struct json_member m;
	bool is_json = false, is_ours = false, is_request = false;
	bool has_time = false, has_value = false;
	int ret;

	*record = (struct record){0};
	json_members_init(&members, line, len);
	while ((ret = json_members_next(&members, &m)) > 0) {
		if (json_member_is(&m, "event"))
			is_json = is_string(&m.value, "data_json");
		else if (json_member_is(&m, "category"))
			is_ours = is_string(&m.value, "gitreach");
		else if (json_member_is(&m, "key"))
			is_request = is_string(&m.value, "request");
		else if (json_member_is(&m, "time"))
			has_time = parse_time(&record->end_us, &m.value);
		else if (json_member_is(&m, "value")) {
			has_value = m.value.kind == JSON_OBJECT;
			record->value = m.value;
		}
	}
	if (ret < 0)
		return ret;
	if (!is_json || !is_ours || !is_request)
		return 0;
	return has_time && has_value ? 1 : ERR_CORRUPT;
}

bool record_find(struct json_value *value, const struct record *record,
		 const char *key)
{
	struct json_members members;
	struct json_member m;

	json_members_init(&members, record->value.text, record->value.len);
	while (json_members_next(&members, &m) > 0) {
		if (!json_member_is(&m, key))
			continue;
		*value = m.value;
		return true;
	}
	return false;
}
