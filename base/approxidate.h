/* SPDX-License-Identifier: MIT */
/*
 * Dates as people write them for Git: "2.weeks.ago", "yesterday",
 * "2005-04-07", "now", "never".
 *
 * Understood, in any case of letters; anything that is no letter, digit or
 * sign separates words:
 *
 *	<n>, @<n>           seconds since 1970; at least 9 digits without "@";
 *	                    a time zone after it changes nothing
 *	YYYY-MM-DD          also with "/" or "."; MM/DD/YYYY, DD.MM.YYYY,
 *	                    D Mon YYYY, Mon D YYYY, a day of the week before it;
 *	                    and after it, or after a "T":
 *	HH:MM[:SS[.x]]      and after that Z, GMT, UTC, +hh, +hhmm or +hh:mm;
 *	                    without one local time. A date alone means the
 *	                    present time of that day
 *	YYYYMMDDTHHMM[SS], Mon D HH:MM[:SS] YYYY, which have a time; a zone as
 *	                    above
 *	<n> <unit> [ago]    second, minute, hour, day, week, month, year, or a
 *	                    day of the week; one to ten, "last" and "a" count;
 *	                    several add up
 *	now, today, yesterday, noon, midnight, tea
 *
 * Stock Git takes any text, and what it cannot make sense of for the present
 * time. This is used to decide what gets deleted, so here that is an error.
 *
 * Nothing here asks for the time: `now` is the caller's. The local time zone
 * is the process's.
 */
#ifndef BASE_APPROXIDATE_H
#define BASE_APPROXIDATE_H

#include <stdint.h>

/*
 * *when = seconds since 1970; what would be before 1970 is 0. 0, or
 * ERR_INVALID with *when untouched.
 */
int approxidate_parse(int64_t *when, const char *text, int64_t now);

/*
 * The first of these, down to the zones: what names one second and, but for the
 * zone, no more depends on where and when it is read. That is what Git takes
 * for the date of a commit (git-commit(1), "DATE FORMATS"). *when, and *zone in
 * minutes east of Greenwich: that of the text, or the local one at that time.
 * 0, or ERR_INVALID with both untouched.
 */
int approxidate_parse_exact(int64_t *when, int *zone, const char *text);

/*
 * As approxidate_parse() for the age from which on things are removed:
 * "never" and "false" are 0 (nothing is older), "now" and "all" are
 * INT64_MAX (everything is).
 */
int approxidate_parse_expiry(int64_t *when, const char *text, int64_t now);

#endif
