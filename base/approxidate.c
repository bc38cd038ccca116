/* SPDX-License-Identifier: MIT */
/*
 * The parser splits a text into numbers, names and the characters between them.
 * A text is one of three things: a number of seconds since 1970, a date with or
 * without a time, or a list of steps back from the present.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/approxidate.h"
#include "base/error.h"
#include "base/mem.h"

static const char *const months[] = {
	"january", "february", "march",     "april",   "may",      "june",
	"july",    "august",   "september", "october", "november", "december",
};
static const char *const weekdays[] = {
	"sunday",   "monday", "tuesday",  "wednesday",
	"thursday", "friday", "saturday",
};

/* The unread rest of the text. */
struct text {
	const char *p;
};

static bool is_separator(char c)
{
	return c && !isalnum((unsigned char)c) && c != '+' && c != '@';
}

static void skip_separators(struct text *t)
{
	while (is_separator(*t->p))
		t->p++;
}

static bool take_char(struct text *t, char c)
{
	if (*t->p != c)
		return false;
	t->p++;
	return true;
}

/*
 * Takes a number of `min` to `max` digits. Returns false if there are more or
 * fewer digits.
 */
static bool take_number(struct text *t, size_t min, size_t max, int64_t *out)
{
	size_t len = strspn(t->p, "0123456789");
	int64_t n = 0;

	if (len < min || len > max)
		return false;
	for (size_t i = 0; i < len; i++)
		n = 10 * n + (t->p[i] - '0');
	t->p += len;
	*out = n;
	return true;
}

/*
 * Takes the next word of 1 to 15 letters, in lower case. Returns false if there
 * is none, or if the word is longer or ends in a digit.
 */
static bool take_name(struct text *t, char name[16])
{
	size_t len = 0;

	while (isalpha((unsigned char)t->p[len]) && len < 15) {
		name[len] = (char)tolower((unsigned char)t->p[len]);
		len++;
	}
	name[len] = '\0';
	if (!len || isalnum((unsigned char)t->p[len]))
		return false;
	t->p += len;
	return true;
}

/*
 * Returns the index of the first of `names` that starts with `name`, or -1. A
 * `name` of fewer than three letters matches nothing.
 */
static int find_name(const char *const *names, int nr, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < nr && len >= 3; i++)
		if (!strncmp(names[i], name, len))
			return i;
	return -1;
}

static int find_month(const char *name)
{
	return find_name(months, ARRAY_NR(months), name);
}

static int find_weekday(const char *name)
{
	return find_name(weekdays, ARRAY_NR(weekdays), name);
}

/*
 * Takes a zone: Z, GMT, UTC, +hh, +hhmm or +hh:mm. *east is in seconds east of
 * Greenwich.
 */
static bool take_zone(struct text *t, int64_t *east)
{
	struct text at = *t;
	int64_t hours, minutes = 0;
	char name[16];
	bool west;

	if (take_name(&at, name)) {
		if (strcmp(name, "z") && strcmp(name, "gmt") &&
		    strcmp(name, "utc"))
			return false;
		*east = 0;
		*t = at;
		return true;
	}
	west = *at.p == '-';
	if (!take_char(&at, '-') && !take_char(&at, '+'))
		return false;
	if (take_number(&at, 4, 4, &hours)) {
		minutes = hours % 100;
		hours /= 100;
	} else if (!take_number(&at, 2, 2, &hours) ||
		   (take_char(&at, ':') && !take_number(&at, 2, 2, &minutes))) {
		return false;
	}
	if (hours > 24 || minutes > 59)
		return false;
	*east = (west ? -60 : 60) * (60 * hours + minutes);
	*t = at;
	return true;
}

/* The parts of a parsed date. */
struct date {
	int64_t epoch; /* seconds since 1970, if is_epoch */
	struct tm tm;  /* if not is_epoch: the time in its zone */
	bool is_epoch, has_time;
	bool has_zone; /* false: the zone is the local one */
	int64_t east;  /* seconds, if has_zone */
};

/*
 * Takes the optional zone at the end of a text. Returns false if other text
 * remains.
 */
static bool end_with_zone(struct text *t, struct date *date)
{
	while (take_char(t, ' '))
		;
	date->has_zone = *t->p && take_zone(t, &date->east);
	return !*t->p;
}

static bool parse_epoch(struct text t, struct date *date)
{
	bool is_marked = take_char(&t, '@');

	date->is_epoch = true;
	return take_number(&t, is_marked ? 1 : 9, 15, &date->epoch) &&
	       end_with_zone(&t, date);
}

static bool set_date(struct tm *tm, int64_t year, int64_t month, int64_t day)
{
	if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1970)
		return false;
	tm->tm_year = (int)(year - 1900);
	tm->tm_mon = (int)(month - 1);
	tm->tm_mday = (int)day;
	return true;
}

static bool set_time(struct tm *tm, int64_t hours, int64_t minutes,
		     int64_t seconds)
{
	if (hours > 23 || minutes > 59 || seconds > 60)
		return false;
	tm->tm_hour = (int)hours;
	tm->tm_min = (int)minutes;
	tm->tm_sec = (int)seconds;
	return true;
}

/* Takes a date like "7 Apr 2005" or "April 7, 2005". */
static bool take_named_date(struct text *t, struct tm *tm)
{
	int64_t day, year;
	char name[16];
	bool has_day = take_number(t, 1, 2, &day);

	skip_separators(t);
	if (!take_name(t, name) || find_month(name) < 0)
		return false;
	skip_separators(t);
	if (!has_day && !take_number(t, 1, 2, &day))
		return false;
	skip_separators(t);
	return take_number(t, 4, 4, &year) &&
	       set_date(tm, year, find_month(name) + 1, day);
}

static bool take_numeric_date(struct text *t, struct tm *tm)
{
	int64_t a, b, c;
	char separator;
	bool year_first = take_number(t, 4, 4, &a);

	if (!year_first && !take_number(t, 1, 2, &a))
		return false;
	separator = *t->p;
	if (!separator || !strchr("-/.", separator) ||
	    (separator == '-' && !year_first))
		return false;
	t->p++;
	if (!take_number(t, 1, 2, &b) || !take_char(t, separator))
		return false;
	if (year_first)
		return take_number(t, 1, 2, &c) && set_date(tm, a, b, c);
	return take_number(t, 4, 4, &c) &&
	       (separator == '/' ? set_date(tm, c, a, b)
				 : set_date(tm, c, b, a));
}

static bool take_time(struct text *t, struct tm *tm)
{
	int64_t hours, minutes, seconds = 0;

	if (!take_number(t, 1, 2, &hours) || !take_char(t, ':') ||
	    !take_number(t, 2, 2, &minutes))
		return false;
	if (take_char(t, ':') && !take_number(t, 2, 2, &seconds))
		return false;
	if (*t->p == '.')
		t->p += 1 + strspn(t->p + 1, "0123456789");
	return set_time(tm, hours, minutes, seconds);
}

/* Takes a date and time like "20050407T221313", with or without the seconds. */
static bool take_basic_date(struct text *t, struct tm *tm)
{
	int64_t date, time;

	if (!take_number(t, 8, 8, &date) || !take_char(t, 'T'))
		return false;
	if (take_number(t, 4, 4, &time))
		time *= 100;
	else if (!take_number(t, 6, 6, &time))
		return false;
	return set_date(tm, date / 10000, date / 100 % 100, date % 100) &&
	       set_time(tm, time / 10000, time / 100 % 100, time % 100);
}

/* Takes a date and time like "Apr 7 22:13:13 2005". */
static bool take_asctime(struct text *t, struct tm *tm)
{
	int64_t day, year;
	char name[16];

	if (!take_name(t, name) || find_month(name) < 0)
		return false;
	skip_separators(t);
	if (!take_number(t, 1, 2, &day))
		return false;
	skip_separators(t);
	if (!take_time(t, tm) || !take_char(t, ' '))
		return false;
	return take_number(t, 4, 4, &year) &&
	       set_date(tm, year, find_month(name) + 1, day);
}

static int64_t not_before_1970(int64_t seconds)
{
	return seconds < 0 ? 0 : seconds;
}

/* Takes a date in any of the forms; sets has_time if it included a time. */
static bool take_date(struct text *t, struct date *date)
{
	struct text start = *t;

	date->has_time = true;
	if (take_basic_date(t, &date->tm))
		return true;
	*t = start;
	if (take_asctime(t, &date->tm))
		return true;
	*t = start;
	date->has_time = false;
	if (take_numeric_date(t, &date->tm))
		return true;
	*t = start;
	return take_named_date(t, &date->tm);
}

/*
 * Parses a date and its optional time and zone. The caller has put the present
 * time of day into date->tm.
 */
static bool parse_date(struct text t, struct date *date)
{
	struct text start = t;
	char name[16];

	date->is_epoch = date->has_zone = false;
	if (take_name(&t, name) && find_weekday(name) >= 0)
		skip_separators(&t);
	else
		t = start;
	if (!take_date(&t, date))
		return false;
	if (!date->has_time) {
		if (!*t.p)
			return true;
		if ((!take_char(&t, 'T') && !take_char(&t, ' ')) ||
		    !take_time(&t, &date->tm))
			return false;
		date->has_time = true;
	}
	/* A date without a time keeps the present tm_isdst, as in stock Git. */
	date->tm.tm_isdst = -1;
	return end_with_zone(&t, date);
}

/* Returns seconds since 1970; negative if the date is earlier. */
static int64_t seconds_of(struct date *date)
{
	if (date->is_epoch)
		return date->epoch;
	if (date->has_zone)
		return (int64_t)timegm(&date->tm) - date->east;
	return (int64_t)mktime(&date->tm);
}

static bool parse_count(const char *name, int64_t *count)
{
	static const char *const words[] = {
		"one", "two",   "three", "four", "five",
		"six", "seven", "eight", "nine", "ten",
	};

	if (!strcmp(name, "last") || !strcmp(name, "a") ||
	    !strcmp(name, "an")) {
		*count = 1;
		return true;
	}
	for (size_t i = 0; i < ARRAY_NR(words); i++)
		if (!strcmp(name, words[i])) {
			*count = (int64_t)i + 1;
			return true;
		}
	return false;
}

/* Moves *when back to the latest time at which the clock showed `hour`:00. */
static void back_to_hour(int64_t *when, int hour)
{
	time_t t = (time_t)*when;
	struct tm tm;

	localtime_r(&t, &tm);
	if (tm.tm_hour < hour)
		tm.tm_mday--;
	tm.tm_hour = hour;
	tm.tm_min = tm.tm_sec = 0;
	*when = not_before_1970(mktime(&tm));
}

static void back_months(int64_t *when, int64_t count)
{
	time_t t = (time_t)*when;
	struct tm tm;

	localtime_r(&t, &tm);
	/* Any larger count leads to a date before 1970 as well. */
	tm.tm_mon -= count < 12 * 1000 ? (int)count : 12 * 1000;
	*when = not_before_1970(mktime(&tm));
}

static void back_seconds(int64_t *when, int64_t count, int64_t unit)
{
	*when = count > *when / unit ? 0 : *when - count * unit;
}

/*
 * Moves *when back to the count-th previous such weekday. Today does not count.
 */
static void back_weekdays(int64_t *when, int64_t count, int weekday)
{
	time_t t = (time_t)*when;
	struct tm tm;
	int days;

	if (!count)
		return;
	localtime_r(&t, &tm);
	days = (tm.tm_wday - weekday + 7) % 7;
	if (!days)
		days = 7;
	back_seconds(when, 7 * (count - 1) + days, 86400);
}

/*
 * Moves *when back by `count` units. The name of the unit may be plural.
 * Returns false if the unit is unknown.
 */
static bool go_back(int64_t *when, int64_t count, char *unit)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {
		{"second", 1},  {"minute", 60},   {"hour", 3600},
		{"day", 86400}, {"week", 604800},
	};
	size_t len = strlen(unit);

	if (len > 3 && unit[len - 1] == 's')
		unit[len - 1] = '\0';
	for (size_t i = 0; i < ARRAY_NR(units); i++)
		if (!strcmp(unit, units[i].name)) {
			back_seconds(when, count, units[i].seconds);
			return true;
		}
	if (!strcmp(unit, "month"))
		back_months(when, count);
	else if (!strcmp(unit, "year"))
		back_months(when, count < 1000 ? 12 * count : 12 * 1000);
	else if (find_weekday(unit) >= 0)
		back_weekdays(when, count, find_weekday(unit));
	else
		return false;
	return true;
}

/*
 * Applies a word that is a moment of its own, such as "yesterday". *hour is
 * applied after all words are read. Returns false if the word is none of these.
 */
static bool take_moment(const char *name, int64_t *when, int *hour)
{
	if (!strcmp(name, "yesterday"))
		back_seconds(when, 1, 86400);
	else if (!strcmp(name, "noon"))
		*hour = 12;
	else if (!strcmp(name, "midnight"))
		*hour = 0;
	else if (!strcmp(name, "tea"))
		*hour = 17;
	else
		return !strcmp(name, "now") || !strcmp(name, "today");
	return true;
}

/*
 * Takes one step back in time, or one of the words "ago", "at" and "and", which
 * have no effect.
 */
static bool take_step(struct text *t, int64_t *when, int *hour)
{
	char name[16];
	int64_t count;

	if (!take_number(t, 1, 9, &count)) {
		if (!take_name(t, name))
			return false;
		if (take_moment(name, when, hour) || !strcmp(name, "ago") ||
		    !strcmp(name, "at") || !strcmp(name, "and"))
			return true;
		if (!parse_count(name, &count))
			return false;
	}
	skip_separators(t);
	return take_name(t, name) && go_back(when, count, name);
}

static bool parse_steps(struct text t, int64_t now, int64_t *when)
{
	int64_t at = now;
	int hour = -1;

	skip_separators(&t);
	if (!*t.p)
		return false;
	while (*t.p) {
		if (!take_step(&t, &at, &hour))
			return false;
		skip_separators(&t);
	}
	if (hour >= 0)
		back_to_hour(&at, hour);
	*when = at;
	return true;
}

int approxidate_parse_exact(int64_t *when, int *zone, const char *text)
{
	struct date date = {.has_zone = false};
	struct text t = {text};
	int64_t seconds;
	struct tm tm;
	time_t at;

	if (!parse_epoch(t, &date) && !(parse_date(t, &date) && date.has_time))
		return ERR_INVALID;
	at = (time_t)(seconds = seconds_of(&date));
	if (seconds < 0 || !localtime_r(&at, &tm))
		return ERR_INVALID;
	*when = seconds;
	*zone = (int)((date.has_zone ? date.east : tm.tm_gmtoff) / 60);
	return 0;
}

int approxidate_parse(int64_t *when, const char *text, int64_t now)
{
	struct date date = {.has_zone = false};
	struct text t = {text};
	time_t now_time = (time_t)now;

	if (!strcasecmp(text, "never")) {
		*when = 0;
		return 0;
	}
	if (!parse_epoch(t, &date)) {
		localtime_r(&now_time, &date.tm);
		if (!parse_date(t, &date))
			return parse_steps(t, now, when) ? 0 : ERR_INVALID;
	}
	*when = not_before_1970(seconds_of(&date));
	return 0;
}

int approxidate_parse_expiry(int64_t *when, const char *text, int64_t now)
{
	if (!strcasecmp(text, "never") || !strcasecmp(text, "false"))
		*when = 0;
	else if (!strcasecmp(text, "now") || !strcasecmp(text, "all"))
		*when = INT64_MAX;
	else
		return approxidate_parse(when, text, now);
	return 0;
}
