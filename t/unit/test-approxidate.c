/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/approxidate.c, which parses dates such as "2.weeks.ago". They
 * prove that a date means the same time as in stock Git, and that no text gives
 * a time before 1970.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/approxidate.h"
#include "base/error.h"
#include "base/mem.h"
#include "t/unit/approxidate-forms.h"
#include "t/unit/random.h"

struct sample {
	const char *zone, *text;
	int64_t now, when;
};

/*
 * Dates as text, and the times that 'git rev-parse --since=<text>' prints. The
 * times for "today" are from Git 2.55, all others from Git 2.39.5.
 */
static const struct sample samples[] = {
	{"UTC", "2.weeks.ago", 1700000000, 1698790400},
	{"UTC", "2.weeks.ago", 1117580405, 1116370805},
	{"UTC", "2 weeks", 1700000000, 1698790400},
	{"UTC", "2 weeks", 1117580405, 1116370805},
	{"UTC", "1.month.ago", 1700000000, 1697321600},
	{"UTC", "1.month.ago", 1117580405, 1114988405},
	{"UTC", "13.months.ago", 1700000000, 1665785600},
	{"UTC", "13.months.ago", 1117580405, 1083452405},
	{"UTC", "1.year.ago", 1700000000, 1668464000},
	{"UTC", "1.year.ago", 1117580405, 1086044405},
	{"UTC", "3.days.4.hours.ago", 1700000000, 1699726400},
	{"UTC", "3.days.4.hours.ago", 1117580405, 1117306805},
	{"UTC", "yesterday", 1700000000, 1699913600},
	{"UTC", "yesterday", 1117580405, 1117494005},
	{"UTC", "noon", 1700000000, 1699963200},
	{"UTC", "noon", 1117580405, 1117540800},
	{"UTC", "midnight", 1700000000, 1699920000},
	{"UTC", "midnight", 1117580405, 1117497600},
	{"UTC", "tea", 1700000000, 1699981200},
	{"UTC", "tea", 1117580405, 1117558800},
	{"UTC", "last friday", 1700000000, 1699654400},
	{"UTC", "last friday", 1117580405, 1117234805},
	{"UTC", "3.fridays.ago", 1700000000, 1698444800},
	{"UTC", "3.fridays.ago", 1117580405, 1116025205},
	{"UTC", "last tuesday", 1700000000, 1699395200},
	{"UTC", "last tuesday", 1117580405, 1116975605},
	{"UTC", "2005-04-07", 1700000000, 1112912000},
	{"UTC", "2005-04-07", 1117580405, 1112914805},
	{"UTC", "2005-04-07 22:13", 1700000000, 1112911980},
	{"UTC", "2005-04-07 22:13", 1117580405, 1112911980},
	{"UTC", "2005-04-07T22:13:13.5Z", 1700000000, 1112911993},
	{"UTC", "2005-04-07T22:13:13.5Z", 1117580405, 1112911993},
	{"UTC", "2005-12-07T22:13:13", 1700000000, 1133993593},
	{"UTC", "2005-12-07T22:13:13", 1117580405, 1133993593},
	{"UTC", "2005-04-07 22:13:13 +0200", 1700000000, 1112904793},
	{"UTC", "2005-04-07 22:13:13 +0200", 1117580405, 1112904793},
	{"UTC", "2005-04-07T22:13:13+02:00", 1700000000, 1112904793},
	{"UTC", "2005-04-07T22:13:13+02:00", 1117580405, 1112904793},
	{"UTC", "1112911993", 1700000000, 1112911993},
	{"UTC", "1112911993", 1117580405, 1112911993},
	{"UTC", "1112911993 +0200", 1700000000, 1112911993},
	{"UTC", "1112911993 +0200", 1117580405, 1112911993},
	{"UTC", "100000000", 1700000000, 100000000},
	{"UTC", "100000000", 1117580405, 100000000},
	{"UTC", "Thu, 07 Apr 2005 22:13:13 +0200", 1700000000, 1112904793},
	{"UTC", "Thu, 07 Apr 2005 22:13:13 +0200", 1117580405, 1112904793},
	{"UTC", "7 Apr 2005", 1700000000, 1112912000},
	{"UTC", "7 Apr 2005", 1117580405, 1112914805},
	{"UTC", "Apr 7 2005", 1700000000, 1112912000},
	{"UTC", "Apr 7 2005", 1117580405, 1112914805},
	{"UTC", "04/07/2005", 1700000000, 1112912000},
	{"UTC", "04/07/2005", 1117580405, 1112914805},
	{"UTC", "07.04.2005", 1700000000, 1112912000},
	{"UTC", "07.04.2005", 1117580405, 1112914805},
	{"UTC", "2005/04/07", 1700000000, 1112912000},
	{"UTC", "2005/04/07", 1117580405, 1112914805},
	{"UTC", "2005.04.07", 1700000000, 1112912000},
	{"UTC", "2005.04.07", 1117580405, 1112914805},
	{"UTC", "today", 1700000000, 1699920000},
	{"UTC", "today", 1117580405, 1117497600},
	{"UTC", "one week ago", 1700000000, 1699395200},
	{"UTC", "one week ago", 1117580405, 1116975605},
	{"UTC", "10.seconds.ago", 1700000000, 1699999990},
	{"UTC", "10.seconds.ago", 1117580405, 1117580395},
	{"UTC", "TEN Minutes ago", 1700000000, 1699999400},
	{"UTC", "TEN Minutes ago", 1117580405, 1117579805},
	{"UTC", "noon yesterday", 1700000000, 1699876800},
	{"UTC", "noon yesterday", 1117580405, 1117454400},
	{"UTC", "1 day ago at noon", 1700000000, 1699876800},
	{"UTC", "1 day ago at noon", 1117580405, 1117454400},
	{"UTC", "3 weeks 2 days ago", 1700000000, 1698012800},
	{"UTC", "3 weeks 2 days ago", 1117580405, 1115593205},
	{"UTC", "0.days.ago", 1700000000, 1700000000},
	{"UTC", "0.days.ago", 1117580405, 1117580405},
	{"UTC", "tea 2.days.ago", 1700000000, 1699808400},
	{"UTC", "tea 2.days.ago", 1117580405, 1117386000},
	{"UTC", "1.month.1.day.ago", 1700000000, 1697235200},
	{"UTC", "1.month.1.day.ago", 1117580405, 1114902005},
	{"UTC", "last month", 1700000000, 1697321600},
	{"UTC", "last month", 1117580405, 1114988405},
	{"UTC", "@1112911993", 1700000000, 1112911993},
	{"UTC", "@1112911993", 1117580405, 1112911993},
	{"UTC", "1 year 2 months ago", 1700000000, 1663193600},
	{"UTC", "1 year 2 months ago", 1117580405, 1080774005},
	{"America/New_York", "2.weeks.ago", 1700000000, 1698790400},
	{"America/New_York", "2.weeks.ago", 1117580405, 1116370805},
	{"America/New_York", "2 weeks", 1700000000, 1698790400},
	{"America/New_York", "2 weeks", 1117580405, 1116370805},
	{"America/New_York", "1.month.ago", 1700000000, 1697321600},
	{"America/New_York", "1.month.ago", 1117580405, 1114988405},
	{"America/New_York", "13.months.ago", 1700000000, 1665785600},
	{"America/New_York", "13.months.ago", 1117580405, 1083452405},
	{"America/New_York", "1.year.ago", 1700000000, 1668464000},
	{"America/New_York", "1.year.ago", 1117580405, 1086044405},
	{"America/New_York", "3.days.4.hours.ago", 1700000000, 1699726400},
	{"America/New_York", "3.days.4.hours.ago", 1117580405, 1117306805},
	{"America/New_York", "yesterday", 1700000000, 1699913600},
	{"America/New_York", "yesterday", 1117580405, 1117494005},
	{"America/New_York", "noon", 1700000000, 1699981200},
	{"America/New_York", "noon", 1117580405, 1117555200},
	{"America/New_York", "midnight", 1700000000, 1699938000},
	{"America/New_York", "midnight", 1117580405, 1117512000},
	{"America/New_York", "tea", 1700000000, 1699999200},
	{"America/New_York", "tea", 1117580405, 1117573200},
	{"America/New_York", "last friday", 1700000000, 1699654400},
	{"America/New_York", "last friday", 1117580405, 1117234805},
	{"America/New_York", "3.fridays.ago", 1700000000, 1698444800},
	{"America/New_York", "3.fridays.ago", 1117580405, 1116025205},
	{"America/New_York", "last tuesday", 1700000000, 1699395200},
	{"America/New_York", "last tuesday", 1117580405, 1116975605},
	{"America/New_York", "2005-04-07", 1700000000, 1112912000},
	{"America/New_York", "2005-04-07", 1117580405, 1112914805},
	{"America/New_York", "2005-04-07 22:13", 1700000000, 1112926380},
	{"America/New_York", "2005-04-07 22:13", 1117580405, 1112926380},
	{"America/New_York", "2005-04-07T22:13:13.5Z", 1700000000, 1112911993},
	{"America/New_York", "2005-04-07T22:13:13.5Z", 1117580405, 1112911993},
	{"America/New_York", "2005-12-07T22:13:13", 1700000000, 1134011593},
	{"America/New_York", "2005-12-07T22:13:13", 1117580405, 1134011593},
	{"America/New_York", "2005-04-07 22:13:13 +0200", 1700000000,
	 1112904793},
	{"America/New_York", "2005-04-07 22:13:13 +0200", 1117580405,
	 1112904793},
	{"America/New_York", "2005-04-07T22:13:13+02:00", 1700000000,
	 1112904793},
	{"America/New_York", "2005-04-07T22:13:13+02:00", 1117580405,
	 1112904793},
	{"America/New_York", "1112911993", 1700000000, 1112911993},
	{"America/New_York", "1112911993", 1117580405, 1112911993},
	{"America/New_York", "1112911993 +0200", 1700000000, 1112911993},
	{"America/New_York", "1112911993 +0200", 1117580405, 1112911993},
	{"America/New_York", "100000000", 1700000000, 100000000},
	{"America/New_York", "100000000", 1117580405, 100000000},
	{"America/New_York", "Thu, 07 Apr 2005 22:13:13 +0200", 1700000000,
	 1112904793},
	{"America/New_York", "Thu, 07 Apr 2005 22:13:13 +0200", 1117580405,
	 1112904793},
	{"America/New_York", "7 Apr 2005", 1700000000, 1112912000},
	{"America/New_York", "7 Apr 2005", 1117580405, 1112914805},
	{"America/New_York", "Apr 7 2005", 1700000000, 1112912000},
	{"America/New_York", "Apr 7 2005", 1117580405, 1112914805},
	{"America/New_York", "04/07/2005", 1700000000, 1112912000},
	{"America/New_York", "04/07/2005", 1117580405, 1112914805},
	{"America/New_York", "07.04.2005", 1700000000, 1112912000},
	{"America/New_York", "07.04.2005", 1117580405, 1112914805},
	{"America/New_York", "2005/04/07", 1700000000, 1112912000},
	{"America/New_York", "2005/04/07", 1117580405, 1112914805},
	{"America/New_York", "2005.04.07", 1700000000, 1112912000},
	{"America/New_York", "2005.04.07", 1117580405, 1112914805},
	{"America/New_York", "today", 1700000000, 1699938000},
	{"America/New_York", "today", 1117580405, 1117512000},
	{"America/New_York", "one week ago", 1700000000, 1699395200},
	{"America/New_York", "one week ago", 1117580405, 1116975605},
	{"America/New_York", "10.seconds.ago", 1700000000, 1699999990},
	{"America/New_York", "10.seconds.ago", 1117580405, 1117580395},
	{"America/New_York", "TEN Minutes ago", 1700000000, 1699999400},
	{"America/New_York", "TEN Minutes ago", 1117580405, 1117579805},
	{"America/New_York", "noon yesterday", 1700000000, 1699894800},
	{"America/New_York", "noon yesterday", 1117580405, 1117468800},
	{"America/New_York", "1 day ago at noon", 1700000000, 1699894800},
	{"America/New_York", "1 day ago at noon", 1117580405, 1117468800},
	{"America/New_York", "3 weeks 2 days ago", 1700000000, 1698012800},
	{"America/New_York", "3 weeks 2 days ago", 1117580405, 1115593205},
	{"America/New_York", "0.days.ago", 1700000000, 1700000000},
	{"America/New_York", "0.days.ago", 1117580405, 1117580405},
	{"America/New_York", "tea 2.days.ago", 1700000000, 1699826400},
	{"America/New_York", "tea 2.days.ago", 1117580405, 1117400400},
	{"America/New_York", "1.month.1.day.ago", 1700000000, 1697235200},
	{"America/New_York", "1.month.1.day.ago", 1117580405, 1114902005},
	{"America/New_York", "last month", 1700000000, 1697321600},
	{"America/New_York", "last month", 1117580405, 1114988405},
	{"America/New_York", "@1112911993", 1700000000, 1112911993},
	{"America/New_York", "@1112911993", 1117580405, 1112911993},
	{"America/New_York", "1 year 2 months ago", 1700000000, 1663193600},
	{"America/New_York", "1 year 2 months ago", 1117580405, 1080774005},
};

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void as_stock_git(void **state)
{
	for (size_t i = 0; i < ARRAY_NR(samples); i++) {
		const struct sample *s = &samples[i];
		int64_t when = -1;

		set_zone(s->zone);
		if (approxidate_parse(&when, s->text, s->now) < 0)
			fail_msg("%s: not understood", s->text);
		if (when != s->when)
			fail_msg("%s in %s at %lld: %lld, not %lld", s->text,
				 s->zone, (long long)s->now, (long long)when,
				 (long long)s->when);
	}
}

static void forms(void **state)
{
	(void)state;
	set_zone("UTC");
	for (size_t i = 0; i < ARRAY_NR(approxidate_forms); i++) {
		const char *text = approxidate_forms[i].text;
		int64_t november = -1, february = -1;

		approxidate_parse(&november, text, 1700000000);
		approxidate_parse(&february, text, 1709181296);
		if (november != approxidate_forms[i].in_november ||
		    february != approxidate_forms[i].in_february)
			fail_msg("%s: %lld %lld", text, (long long)november,
				 (long long)february);
	}
}

/* A text without a number, a month or a word such as "yesterday" is no date. */
static void refused(void **state)
{
	static const char *const texts[] = {
		"",       " ",         "foo",    "foo bar",   "weeks",
		"@",      "@x",        "+",      "-",         ".",
		"a",      "a day ago", "ago",    "day",       "days",
		"eleven", "fri",       "friday", "an hour",   "fridays",
		"j",      "ja",        "janx",   "monday",    "tomorrow",
		"week",   "zero",      "true",   "zero days", "sevendays",
	};

	for (size_t i = 0; i < ARRAY_NR(texts); i++) {
		int64_t when = 5;

		if (approxidate_parse(&when, texts[i], 1700000000) !=
		    ERR_INVALID)
			fail_msg("'%s': %lld", texts[i], (long long)when);
		assert_int_equal(when, 5);
	}
}

static int64_t parse(const char *text)
{
	int64_t when = -1;

	assert_int_equal(approxidate_parse(&when, text, 1700000000), 0);
	return when;
}

/*
 * Dates before 1970 give the time 0. Stock Git parses some of these dates as
 * the present time, and others as a time in the far future. If such a time were
 * the limit of an expiry, everything would expire.
 */
static void long_ago(void **state)
{
	assert_int_equal(parse("54.years.ago"), 0);
	assert_int_equal(parse("1000 months"), 0);
	assert_int_equal(parse("100000.days.ago noon"), 0);
	assert_int_equal(parse("300.years.ago"), 0);
	assert_int_equal(parse("99999999.years.ago"), 0);
	assert_int_equal(parse("99999999.weeks.ago"), 0);
	assert_int_equal(parse("99999999.fridays.ago"), 0);
	assert_int_equal(parse("@5 +0000"), 5);
	assert_int_equal(parse("1970-01-01T00:00:00+01:00"), 0);
}

static void expiry(void **state)
{
	static const struct {
		const char *text;
		int64_t when;
	} words[] = {
		{"never", 0},
		{"false", 0},
		{"now", INT64_MAX},
		{"ALL", INT64_MAX},
		{"1.day.ago", 1699913600},
	};
	int64_t when = 5;

	for (size_t i = 0; i < ARRAY_NR(words); i++) {
		assert_int_equal(approxidate_parse_expiry(&when, words[i].text,
							  1700000000),
				 0);
		assert_true(when == words[i].when);
	}
	assert_int_equal(approxidate_parse_expiry(&when, "true", 1700000000),
			 ERR_INVALID);
}

/* The parser returns an error or a time from 1970 on, whatever the text is. */
static void any_text(void **state)
{
	static const char *const words[] = {
		"2005",  "-",   "04", "/",    ".",    "07",  " ",
		"T",     ":",   "13", "Z",    "+",    "apr", "friday",
		"weeks", "ago", "9",  "noon", "last", "@",
	};
	uint64_t seed = random_seed();

	for (int round = 0; round < 20000; round++) {
		size_t nr = random_next(&seed) % 9;
		char text[100] = "";
		int64_t when = 0;

		for (size_t i = 0; i < nr; i++)
			strcat(text,
			       words[random_next(&seed) % ARRAY_NR(words)]);
		if (!approxidate_parse(&when, text, 1700000000))
			assert_true(when >= 0);
	}
}

static void test_exact(void **state)
{
	/*
	 * Dates, and their times according to Git 2.39.5 and 2.55. Git got the
	 * dates in GIT_COMMITTER_DATE, in the time zone Europe/Berlin.
	 */
	static const struct {
		const char *text;
		/* Seconds since 1970; -1: the text is not a date. */
		int64_t when;
		int zone;
	} cases[] = {
		{"1112911993 -0700", 1112911993, -420},
		{"1112911993", 1112911993, 120},
		{"112911993", 112911993, 60},
		{"@0 +0000", 0, 0},
		{"@112911993", 112911993, 60},
		{"2005-04-07T22:13:13", 1112904793, 120},
		{"2005-12-07 22:13:13", 1133989993, 60},
		{"2005-04-07 22:13:13.019", 1112904793, 120},
		{"2005-04-07T22:13:13Z", 1112911993, 0},
		{"2005-04-07T22:13:13-07", 1112937193, -420},
		{"2005-04-07T22:13:13+02:30", 1112902993, 150},
		{"2005.04.07T22:13:13", 1112904793, 120},
		{"04/07/2005 22:13", 1112904780, 120},
		{"07.04.2005 22:13:13 +0100", 1112908393, 60},
		{"20050407T221313+0200", 1112904793, 120},
		{"20050407T2213", 1112904780, 120},
		{"Thu, 07 Apr 2005 22:13:13 +0200", 1112904793, 120},
		{"Thu, 7 Apr 2005 22:13:13", 1112904793, 120},
		{"Thu Apr  7 22:13:13 2005", 1112904793, 120},
		{"Apr 7 22:13:13 2005 -0700", 1112937193, -420},
		{"Thu, 07 Apr 2005 22:13:13 GMT", 1112911993, 0},
		{"1112911993 UTC", 1112911993, 0},
		{"1112911993 XYZ", -1, 0},
		{"2000-02-29T00:00:00Z", 951782400, 0},
		{"12345 +0000", -1, 0},
		{"0 +0000", -1, 0},
		{"2005-13-07T22:13:13", -1, 0},
		{"2005-04-07", -1, 0},
		{"04/07/2005", -1, 0},
		{"7 Apr 2005", -1, 0},
		{"1969-12-31T23:59:59Z", -1, 0},
		{"1970-01-01T00:00:00+0100", -1, 0},
		{"99999999999999999999 +0000", -1, 0},
		{"yesterday", -1, 0},
		{"2 days ago", -1, 0},
		{"never", -1, 0},
		{"", -1, 0},
	};

	(void)state;
	set_zone("Europe/Berlin");
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		int64_t when = -1;
		int zone = 0, ret;

		ret = approxidate_parse_exact(&when, &zone, cases[i].text);
		if (when != cases[i].when || zone != cases[i].zone ||
		    ret != (when < 0 ? ERR_INVALID : 0))
			fail_msg("%s: %lld %d", cases[i].text, (long long)when,
				 zone);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact), cmocka_unit_test(as_stock_git),
		cmocka_unit_test(forms),      cmocka_unit_test(refused),
		cmocka_unit_test(long_ago),   cmocka_unit_test(expiry),
		cmocka_unit_test(any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
