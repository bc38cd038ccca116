/* SPDX-License-Identifier: MIT */
/*
 * Parses dates as people write them for Git: "2.weeks.ago", "yesterday",
 * "2005-04-07", "now", "never".
 *
 * Letters match in either case. These forms have a fixed order:
 *
 * <n>                 Seconds since 1970, in 9 to 15 digits. A zone after the
 *                     number has no effect. "@<n> <zone>" may have fewer
 *                     digits.
 * <date> <time>       Dates: YYYY-MM-DD, also with "/" or "."; MM/DD/YYYY,
 *                     DD.MM.YYYY, YYYYMMDD, D Mon YYYY, Mon D YYYY. A day of
 *                     the week may precede the date. Times: HH:MM[:SS[.x]], or
 *                     HH[MM[SS]] after a "T". A zone may follow: Z, GMT, UTC,
 *                     +hh, +hhmm or +hh:mm. Without a zone the time is local.
 * Mon D HH:MM[:SS] YYYY
 *                     A date and its time in this order.
 *
 * Any other text is read word by word, as in stock Git. Fields that the text
 * does not set have their present values. The order of the words hardly
 * matters:
 *
 * <n> <unit>          That many units before the present. Units: second,
 *                     minute, hour, day, week, month, year, or a day of the
 *                     week. "one" to "ten" and "last" are numbers as well.
 *                     Several steps add up.
 * HH:MM[:SS]          The time of day. "am" and "pm" may follow, also after a
 *                     lone hour.
 * noon, tea, midnight The time of day: 12, 17 and 0 o'clock; yesterday's, if
 *                     that time is still to come today.
 * today, yesterday    The day. "today" alone means its first second.
 * <a>-<b>[-<c>]       A date, also with "/" or ".". Two numbers are month and
 *                     day, and after "." day and month. The other order is
 *                     taken if the date is more than ten days in the future.
 * <month>             The last such month. Three letters are enough.
 * <n>                 The day of the month if it is less than 32, otherwise the
 *                     year (38 to 69 mean none). If the day is set, the month
 *                     or the year. Other numbers have no effect: "0" and "100"
 *                     mean the present.
 * never               1970
 *
 * Other words have no effect. A text is an error if nothing in it has a
 * meaning. One result differs from stock Git: steps that lead to a time before
 * 1970 give 0, and so nothing expires. Stock Git reads some of them as the
 * present, and some as a time in the far future.
 *
 * No function here reads the clock: the caller passes `now`. The local time
 * zone is the zone of the process.
 */
#ifndef BASE_APPROXIDATE_H
#define BASE_APPROXIDATE_H

#include <stdint.h>

/*
 * Parses `text` into *when, in seconds since 1970. A time before 1970 gives 0.
 * Returns 0 or ERR_INVALID. After an error, *when is unchanged.
 */
int approxidate_parse(int64_t *when, const char *text, int64_t now);

/*
 * Parses a date that is exact to the second: a number of seconds, or a date
 * with a time of day. These are the formats that Git accepts for the date of a
 * commit (git-commit(1), "DATE FORMATS"). Relative dates are invalid.
 *
 * Sets *when, and *zone in minutes east of Greenwich. Without a zone in `text`,
 * *zone is the local zone at that time. Returns 0 or ERR_INVALID. After an
 * error, both outputs are unchanged.
 */
int approxidate_parse_exact(int64_t *when, int *zone, const char *text);

/*
 * Parses an expiry date: the caller removes objects or entries that are older
 * than this date. "never" and "false" give 0, so nothing is removed. "now" and
 * "all" give INT64_MAX, so everything is removed. Other texts give the same
 * results and errors as approxidate_parse().
 */
int approxidate_parse_expiry(int64_t *when, const char *text, int64_t now);

#endif
