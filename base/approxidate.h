/* SPDX-License-Identifier: MIT */
/*
 * Parses dates as people write them for Git: "2.weeks.ago", "yesterday",
 * "2005-04-07", "now", "never".
 *
 * Letters match in either case. Any character that is not a letter, a digit or
 * a sign separates words. These forms are accepted:
 *
 * <n>, @<n>           Seconds since 1970; at least 9 digits without "@".
 *                     A time zone after the number has no effect.
 * YYYY-MM-DD          Also with "/" or ".". Other orders: MM/DD/YYYY,
 *                     DD.MM.YYYY, D Mon YYYY, Mon D YYYY. A day of the week
 *                     may precede the date. A time may follow the date,
 *                     after a blank or a "T":
 * HH:MM[:SS[.x]]      A zone may follow: Z, GMT, UTC, +hh, +hhmm or
 *                     +hh:mm. Without a zone the time is local. A date
 *                     without a time means the present time of that day.
 * YYYYMMDDTHHMM[SS]   A date with its time; a zone may follow.
 * Mon D HH:MM[:SS] YYYY
 *                     The same.
 * <n> <unit> [ago]    Unit: second, minute, hour, day, week, month, year, or
 *                     a day of the week. "one" to "ten", "last" and "a" are
 *                     counts as well. Several such steps add up.
 * now, today, yesterday, noon, midnight, tea
 *
 * Stock Git accepts any text and reads text without a meaning as the present
 * time. These functions decide what gets deleted, so such text is an error
 * here.
 *
 * No function here reads the clock: the caller passes `now`. The local time
 * zone is the zone of the process.
 */
#ifndef BASE_APPROXIDATE_H
#define BASE_APPROXIDATE_H

#include <stdint.h>

/*
 * Parses `text` into *when, in seconds since 1970. A time before 1970 gives 0.
 * Returns 0, or ERR_INVALID with *when untouched.
 */
int approxidate_parse(int64_t *when, const char *text, int64_t now);

/*
 * Parses a date that is exact to the second: a number of seconds, or a date
 * with a time of day. These are the formats that Git accepts for the date of a
 * commit (git-commit(1), "DATE FORMATS"). Relative dates are invalid.
 *
 * Sets *when, and *zone in minutes east of Greenwich. Without a zone in `text`,
 * *zone is the local zone at that time. Returns 0, or ERR_INVALID with both
 * outputs untouched.
 */
int approxidate_parse_exact(int64_t *when, int *zone, const char *text);

/*
 * Parses a date before which things are removed. "never" and "false" give 0:
 * nothing is older. "now" and "all" give INT64_MAX: everything is older. Other
 * texts, the results and the errors are as in approxidate_parse().
 */
int approxidate_parse_expiry(int64_t *when, const char *text, int64_t now);

#endif
