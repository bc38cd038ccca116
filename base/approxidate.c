/* SPDX-License-Identifier: MIT */
/*
 * Parses dates with two parsers. The first parser (parse_epoch() and
 * parse_date()) reads a number of seconds since 1970, or a date with its time.
 * The second parser (parse_guess()) reads all other texts word by word. The
 * rules of the second parser follow the observed behaviour of stock Git 2.55.
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
	"sundays",   "mondays", "tuesdays",  "wednesdays",
	"thursdays", "fridays", "saturdays",
};

enum { DAY = 24 * 60 * 60 };

/* A text that is being parsed: the part that is not parsed yet. */
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
 * Takes the letters at the start of the text, and stores them in lower case.
 * More than 15 letters give an empty name.
 */
static void take_letters(struct text *t, char name[16])
{
	size_t len = 0;

	while (isalpha((unsigned char)*t->p)) {
		if (len < 15)
			name[len] = (char)tolower((unsigned char)*t->p);
		len++;
		t->p++;
	}
	name[len > 15 ? 0 : len] = '\0';
}

/*
 * Takes the next word of 1 to 15 letters, and stores it in lower case. Returns
 * false if there is no word, if the word is longer, or if a digit follows
 * directly.
 */
static bool take_name(struct text *t, char name[16])
{
	struct text at = *t;

	take_letters(&at, name);
	if (!*name || isdigit((unsigned char)*at.p))
		return false;
	*t = at;
	return true;
}

/*
 * Returns the index of the first of `names` that starts with `name`. Returns -1
 * if there is none, or if `name` has fewer than three letters.
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
 * Takes a time zone: Z, GMT, UTC, +hh, +hhmm or +hh:mm. *east is in seconds
 * east of Greenwich.
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
	/* seconds since 1970; valid if is_epoch */
	int64_t epoch;
	/* the time in the zone of the date; valid if not is_epoch */
	struct tm tm;
	bool is_epoch;
	/*
	 * true: the text has a zone, in `east`; false: the local zone applies
	 */
	bool has_zone;
	int64_t east; /* seconds, if has_zone */
};

/*
 * Takes the optional time zone at the end of a text. Returns false if other
 * text remains.
 */
static bool end_with_zone(struct text *t, struct date *date)
{
	while (take_char(t, ' '))
		;
	date->has_zone = *t->p && take_zone(t, &date->east);
	return !*t->p;
}

/*
 * Parses a date given as seconds since 1970. A number of fewer than 9 digits is
 * a count of seconds only if "@" precedes the number and a zone follows.
 */
static bool parse_epoch(struct text t, struct date *date)
{
	bool is_marked = take_char(&t, '@');
	const char *start = t.p;
	bool is_short;

	date->is_epoch = true;
	if (!take_number(&t, is_marked ? 1 : 9, 15, &date->epoch))
		return false;
	is_short = t.p - start < 9;
	return end_with_zone(&t, date) && (!is_short || date->has_zone);
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
	if (!take_number(t, 4, 4, &c))
		return false;
	if (separator == '/' && set_date(tm, c, a, b))
		return true;
	return set_date(tm, c, b, a) || set_date(tm, c, a, b);
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

/* Takes a time like "22", "2213" or "221313". */
static bool take_basic_time(struct text *t, struct tm *tm)
{
	int64_t time;

	if (take_number(t, 2, 2, &time))
		time *= 10000;
	else if (take_number(t, 4, 4, &time))
		time *= 100;
	else if (!take_number(t, 6, 6, &time))
		return false;
	return set_time(tm, time / 10000, time / 100 % 100, time % 100);
}

/* Takes the time after a date, and the "T" or blank before the time. */
static bool take_time_after_date(struct text *t, struct tm *tm)
{
	struct text at;

	if (take_char(t, ' '))
		return strspn(t->p, "0123456789") == 6 ? take_basic_time(t, tm)
						       : take_time(t, tm);
	if (!take_char(t, 'T'))
		return false;
	at = *t;
	if (take_time(&at, tm)) {
		*t = at;
		return true;
	}
	return take_basic_time(t, tm);
}

/* Takes a date like "20050407". */
static bool take_basic_date(struct text *t, struct tm *tm)
{
	int64_t date;

	return take_number(t, 8, 8, &date) &&
	       set_date(tm, date / 10000, date / 100 % 100, date % 100);
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

/* Takes a date in any of the forms that can be followed by a time of day. */
static bool take_date(struct text *t, struct date *date)
{
	struct text start = *t;

	if (take_basic_date(t, &date->tm))
		return true;
	*t = start;
	if (take_numeric_date(t, &date->tm))
		return true;
	*t = start;
	return take_named_date(t, &date->tm);
}

/* Parses a date with its time, and an optional zone. */
static bool parse_date(struct text t, struct date *date)
{
	struct text start = t;
	char name[16];

	date->is_epoch = date->has_zone = false;
	date->tm = (struct tm){.tm_isdst = -1};
	if (take_name(&t, name) && find_weekday(name) >= 0)
		skip_separators(&t);
	else
		t = start;
	start = t;
	if (!take_asctime(&t, &date->tm)) {
		t = start;
		if (!take_date(&t, date) ||
		    !take_time_after_date(&t, &date->tm))
			return false;
	}
	return end_with_zone(&t, date);
}

/*
 * Converts a parsed date to seconds since 1970. Returns a negative number if
 * the date is before 1970.
 */
static int64_t seconds_of(struct date *date)
{
	if (date->is_epoch)
		return date->epoch;
	if (date->has_zone)
		return (int64_t)timegm(&date->tm) - date->east;
	return (int64_t)mktime(&date->tm);
}

/* ---- the second parser: words and numbers in any order */

enum { NOT_SET = -1 };

/*
 * The state of parse_guess(): the values that the words and numbers read so far
 * have set. tm_mday, tm_mon and tm_year are NOT_SET until a word or number sets
 * them. The initial time of day is the present one.
 */
struct guess {
	struct tm now, tm;
	/*
	 * The last number read, whose meaning depends on the next word, for
	 * example a unit. 0: no number waits for its word.
	 */
	int64_t number;
	/*
	 * true: "noon" or "tea" was read, but this hour of today is still in
	 * the future, so yesterday is meant
	 */
	bool back_a_day;
	bool is_understood;
	bool is_never;
	/*
	 * true: a step into the past, such as "99 years", led to a time before
	 * 1970; the result is then 0
	 */
	bool is_early;
};

static void set_moment(struct guess *g, int64_t seconds)
{
	time_t at = (time_t)seconds;

	g->is_early = seconds < 0;
	if (g->is_early || !localtime_r(&at, &g->tm))
		g->tm = g->now;
}

/*
 * Fills in the day, month and year that the text did not set, from the present
 * date. If the text has a month but no year, the last such month is meant: a
 * later month than the present one belongs to last year.
 */
static void fill_date(struct guess *g, struct tm *tm)
{
	if (tm->tm_mday < 0)
		tm->tm_mday = g->now.tm_mday;
	if (tm->tm_mon < 0)
		tm->tm_mon = g->now.tm_mon;
	if (tm->tm_year < 0)
		tm->tm_year = g->now.tm_year -
			      (tm->tm_mon > g->now.tm_mon ? 1 : 0);
}

/*
 * Fills in the fields of the date that the text did not set, then moves the
 * time back by `seconds`.
 */
static void step_back(struct guess *g, int64_t seconds)
{
	if (g->back_a_day && !seconds)
		seconds = DAY;
	g->back_a_day = false;
	if (g->is_early)
		return;
	fill_date(g, &g->tm);
	set_moment(g, (int64_t)mktime(&g->tm) - seconds);
}

static void step_back_months(struct guess *g, int64_t count)
{
	step_back(g, 0);
	/*
	 * The limit keeps the subtraction from overflowing. A larger count of
	 * months leads to a date before 1970 anyway.
	 */
	g->tm.tm_mon -= count < 12 * 1000 ? (int)count : 12 * 1000;
	while (g->tm.tm_mon < 0) {
		g->tm.tm_mon += 12;
		g->tm.tm_year--;
	}
	g->is_early |= g->tm.tm_year < 70;
}

/*
 * Returns the year that a number of 2 or 4 digits means, as the year minus
 * 1900. Returns -1 if the number is no year.
 */
static int guess_year(int64_t n)
{
	if (n >= 1970 && n < 2100)
		return (int)n - 1900;
	if (n >= 70 && n < 100)
		return (int)n;
	return n >= 0 && n < 38 ? (int)n + 100 : NOT_SET;
}

static void set_day(struct guess *g, int day)
{
	g->tm.tm_mday = day;
	g->back_a_day = false;
}

/*
 * Uses the last number read as a day, a month or a year, because no unit has
 * followed it.
 */
static void settle_number(struct guess *g)
{
	int64_t n = g->number;

	g->number = 0;
	if (!n)
		return;
	if (g->tm.tm_mday < 0 && n < 32)
		set_day(g, (int)n);
	else if (g->tm.tm_mon < 0 && n < 13)
		g->tm.tm_mon = (int)n - 1;
	else if (g->tm.tm_year < 0)
		g->tm.tm_year = guess_year(n);
}

/*
 * Sets the date. `year` is NOT_SET if the text has none. Returns false if the
 * date does not exist, or if `is_past` is set and the date is more than ten
 * days in the future.
 */
static bool guess_date(struct guess *g, int year, int64_t month, int64_t day,
		       bool is_past)
{
	struct tm tm = g->now;

	if (month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	if (year != NOT_SET)
		tm.tm_year = year;
	tm.tm_mon = (int)month - 1;
	tm.tm_mday = (int)day;
	if (is_past) {
		struct tm then = tm, now = g->now;

		if (mktime(&then) > mktime(&now) + 10 * DAY)
			return false;
	}
	g->tm.tm_mon = tm.tm_mon;
	set_day(g, tm.tm_mday);
	if (year != NOT_SET)
		g->tm.tm_year = year;
	return true;
}

/*
 * Sets the date from two numbers. After a dot, the day comes first; after
 * another separator, the month comes first. If this gives no valid date, or a
 * date that is more than ten days in the future, the reverse order is tried.
 */
static bool guess_day_and_month(struct guess *g, char separator, int64_t a,
				int64_t b, int year)
{
	if (separator != '.' && guess_date(g, year, a, b, true))
		return true;
	return guess_date(g, year, b, a, true) ||
	       (separator == '.' && guess_date(g, year, a, b, true)) ||
	       guess_date(g, year, b, a, false);
}

/* Takes a date of two or three numbers with '-', '/' or '.' between them. */
static bool take_guessed_date(struct text *t, struct guess *g)
{
	int64_t a, b, c = -1;
	struct text at = *t;
	char separator;
	bool is_date;

	if (!take_number(&at, 1, 4, &a) || !*at.p || !strchr("-/.", *at.p))
		return false;
	separator = *at.p++;
	if (!take_number(&at, 1, 2, &b))
		return false;
	if (at.p[0] == separator && isdigit((unsigned char)at.p[1])) {
		at.p++;
		if (!take_number(&at, 1, 4, &c))
			return false;
	}
	if (c < 0)
		is_date = guess_day_and_month(g, separator, a, b, NOT_SET);
	else if (a > 70)
		is_date = guess_year(a) >= 0 &&
			  (guess_date(g, guess_year(a), b, c, false) ||
			   guess_date(g, guess_year(a), c, b, false));
	else
		is_date = guess_year(c) >= 0 &&
			  guess_day_and_month(g, separator, a, b,
					      guess_year(c));
	if (is_date)
		*t = at;
	return is_date;
}

static bool take_guessed_time(struct text *t, struct guess *g)
{
	int64_t hours, minutes, seconds = 0;
	struct text at = *t;

	if (!take_number(&at, 1, 2, &hours) || !take_char(&at, ':') ||
	    !take_number(&at, 1, 2, &minutes))
		return false;
	if (at.p[0] == ':' && isdigit((unsigned char)at.p[1])) {
		at.p++;
		if (!take_number(&at, 1, 2, &seconds))
			return false;
	}
	if (hours > 24 || minutes > 59 || seconds > 60)
		return false;
	g->tm.tm_hour = (int)hours;
	g->tm.tm_min = (int)minutes;
	g->tm.tm_sec = (int)seconds;
	*t = at;
	return true;
}

static void guess_number(struct text *t, struct guess *g)
{
	settle_number(g);
	g->is_understood = true;
	if (take_guessed_time(t, g) || take_guessed_date(t, g))
		return;
	if (take_number(t, 1, 8, &g->number))
		return;
	if (take_number(t, 9, 15, &g->number)) {
		set_moment(g, g->number);
		g->number = 0;
	} else {
		t->p += strspn(t->p, "0123456789");
	}
}

/*
 * Applies "noon", "tea" or "midnight": sets the hour of the date. If the text
 * has no date, the latest such hour in the past is meant.
 */
static void guess_hour(struct guess *g, int hour)
{
	settle_number(g);
	if (g->tm.tm_mday < 0 && g->tm.tm_hour < hour)
		g->back_a_day = true;
	g->tm.tm_hour = hour;
	g->tm.tm_min = g->tm.tm_sec = 0;
}

/*
 * Applies "am" or "pm" to the number before the word, or to the present hour.
 */
static void guess_half(struct guess *g, int half)
{
	if (g->number) {
		g->tm.tm_hour = (int)(g->number % 12);
		g->tm.tm_min = g->tm.tm_sec = 0;
	}
	g->number = 0;
	g->tm.tm_hour = g->tm.tm_hour % 12 + half;
}

/* Applies "today" (days = 0) or "yesterday" (days = 1). */
static void guess_day(struct guess *g, int days)
{
	const struct tm *now = &g->now;

	g->number = 0;
	g->tm.tm_mday = NOT_SET;
	if (!days && g->tm.tm_hour == now->tm_hour &&
	    g->tm.tm_min == now->tm_min && g->tm.tm_sec == now->tm_sec)
		g->tm.tm_hour = g->tm.tm_min = g->tm.tm_sec = 0;
	if (!days)
		g->back_a_day = false;
	step_back(g, days * DAY);
}

static bool guess_special(struct guess *g, const char *name)
{
	if (!strcmp(name, "now")) {
		g->number = 0;
		step_back(g, 0);
	} else if (!strcmp(name, "today") || !strcmp(name, "yesterday")) {
		guess_day(g, *name == 'y');
	} else if (!strcmp(name, "noon")) {
		guess_hour(g, 12);
	} else if (!strcmp(name, "tea")) {
		guess_hour(g, 17);
	} else if (!strcmp(name, "midnight")) {
		guess_hour(g, 0);
	} else if (!strcmp(name, "am") || !strcmp(name, "pm")) {
		guess_half(g, *name == 'p' ? 12 : 0);
	} else if (!strcmp(name, "never")) {
		g->is_never = true;
	} else {
		return false;
	}
	return true;
}

/*
 * Returns the number that a word like "three" or "last" means, or 0 if the word
 * means none.
 */
static int guess_count(const char *name)
{
	static const char *const words[] = {
		"one", "two",   "three", "four", "five",
		"six", "seven", "eight", "nine", "ten",
	};

	if (!strcmp(name, "last"))
		return 1;
	for (size_t i = 0; i < ARRAY_NR(words); i++)
		if (!strcmp(name, words[i]))
			return (int)i + 1;
	return 0;
}

/*
 * Moves the date back to an earlier `weekday`: to the last such day before the
 * date if `count` is 1, to a week before that day if `count` is 2, and so on.
 */
static void step_back_weekdays(struct guess *g, int64_t count, int weekday)
{
	int days = (g->tm.tm_wday - weekday + 7) % 7;

	step_back(g, (7 * (count - 1) + (days ? days : 7)) * DAY);
}

/*
 * Moves the date back by a count of units, such as days or weeks. The count is
 * g->number, the number before the unit in the text. `unit` may be plural. If
 * no number was read, the unit has no effect.
 */
static void guess_unit(struct guess *g, char *unit)
{
	static const struct {
		const char *name;
		int seconds;
	} units[] = {
		{"second", 1}, {"minute", 60},    {"hour", 3600},
		{"day", DAY},  {"week", 7 * DAY},
	};
	int weekday = find_weekday(unit);
	int64_t count = g->number;
	size_t len = strlen(unit);

	if (!count)
		return;
	if (len > 1 && unit[len - 1] == 's')
		unit[len - 1] = '\0';
	g->number = 0;
	for (size_t i = 0; i < ARRAY_NR(units); i++)
		if (!strcmp(unit, units[i].name)) {
			step_back(g, count * units[i].seconds);
			return;
		}
	if (weekday >= 0)
		step_back_weekdays(g, count, weekday);
	else if (!strcmp(unit, "month"))
		step_back_months(g, count);
	else if (!strcmp(unit, "year"))
		step_back_months(g, count < 1000 ? 12 * count : 12 * 1000);
	else
		g->number = count;
}

static void guess_word(struct text *t, struct guess *g)
{
	int count, month;
	char name[16];

	take_letters(t, name);
	/*
	 * As in stock Git, a digit directly after the letters makes the word
	 * invalid ("weeks3").
	 */
	if (isdigit((unsigned char)*t->p))
		return;
	month = find_month(name);
	count = guess_count(name);
	if (month >= 0)
		g->tm.tm_mon = month;
	else if (count && !g->number)
		g->number = count;
	if (month >= 0 || count || guess_special(g, name))
		g->is_understood = true;
	else
		guess_unit(g, name);
}

/*
 * Parses a text of words and numbers in any order. Returns false if nothing in
 * the text has a meaning.
 */
static bool parse_guess(struct text t, int64_t now, int64_t *when)
{
	time_t at = (time_t)now;
	struct guess g = {.number = 0};

	if (!localtime_r(&at, &g.now))
		return false;
	g.tm = g.now;
	g.tm.tm_mday = g.tm.tm_mon = g.tm.tm_year = NOT_SET;
	while (*t.p && !g.is_never) {
		if (isdigit((unsigned char)*t.p))
			guess_number(&t, &g);
		else if (isalpha((unsigned char)*t.p))
			guess_word(&t, &g);
		else
			t.p++;
	}
	settle_number(&g);
	step_back(&g, 0);
	if (g.is_understood)
		*when = g.is_never || g.is_early ? 0 : (int64_t)mktime(&g.tm);
	return g.is_understood;
}

int approxidate_parse_exact(int64_t *when, int *zone, const char *text)
{
	struct date date = {.has_zone = false};
	struct text t = {text};
	int64_t seconds;
	struct tm tm;
	time_t at;

	if (!parse_epoch(t, &date) && !parse_date(t, &date))
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

	if (!parse_epoch(t, &date) && !parse_date(t, &date))
		return parse_guess(t, now, when) ? 0 : ERR_INVALID;
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
