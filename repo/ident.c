/* SPDX-License-Identifier: MIT */
/* The committer, from the environment, the configuration or the system. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "repo/ident.h"
#include "sys/clock.h"
#include "sys/user.h"

#define DAY_SECONDS 86400

/* Punctuation that is no part of a name at either end of it. */
static bool is_crud(char c)
{
	return (unsigned char)c <= ' ' || strchr(".,:;<>\"\\'", c);
}

static int append_clean(struct buf *out, const char *text)
{
	size_t len = strlen(text);

	while (len && is_crud(*text)) {
		text++;
		len--;
	}
	while (len && is_crud(text[len - 1]))
		len--;
	for (size_t i = 0; i < len; i++) {
		if (strchr("\n<>", text[i]))
			continue;
		if (buf_append_char(out, text[i]) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

static bool take_digits(const char **p, int nr, int *value)
{
	int v = 0;

	for (int i = 0; i < nr; i++, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		v = v * 10 + (**p - '0');
	}
	*value = v;
	return true;
}

/* "+0200", "+02:00" or "+02"; minutes. */
static bool take_zone(const char **p, int *zone)
{
	bool west = **p == '-';
	int hours, minutes = 0;

	if (**p == 'Z') {
		(*p)++;
		*zone = 0;
		return true;
	}
	if (**p != '+' && **p != '-')
		return false;
	(*p)++;
	if (!take_digits(p, 2, &hours))
		return false;
	*p += **p == ':';
	if (**p && !take_digits(p, 2, &minutes))
		return false;
	*zone = (hours * 60 + minutes) * (west ? -1 : 1);
	return minutes < 60;
}

static bool parse_internal(int64_t *seconds, int *zone, const char *text)
{
	bool has_at = *text == '@';
	const char *p = text + has_at;
	int64_t v = 0;

	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *p - '0', &v))
			return false;
	/* Fewer digits could be a year or a day. */
	if (p - text < 9 && !has_at)
		return false;
	if (p == text + has_at || *p != ' ')
		return false;
	p++;
	if (!take_zone(&p, zone) || *p)
		return false;
	*seconds = v;
	return true;
}

/* Days from 1970-01-01, in the Gregorian calendar. */
static int64_t days_of(int year, int month, int day)
{
	static const int before[] = {0,   31,  59,  90,  120, 151,
				     181, 212, 243, 273, 304, 334};
	int64_t y = year - (month <= 2);
	int64_t leap = y / 4 - y / 100 + y / 400;

	return (int64_t)(year - 1970) * 365 + (leap - 477) + before[month - 1] +
	       day - 1;
}

static bool take_time(const char **p, int64_t *seconds)
{
	int hour, minute, second = 0;

	if (!take_digits(p, 2, &hour) || *(*p)++ != ':' ||
	    !take_digits(p, 2, &minute))
		return false;
	if (**p == ':') {
		(*p)++;
		if (!take_digits(p, 2, &second))
			return false;
	}
	*seconds += hour * 3600 + minute * 60 + second;
	return hour < 24 && minute < 60 && second <= 60;
}

static bool parse_iso(int64_t *seconds, int *zone, const char *p)
{
	int year, month, day;
	char dash;

	if (!take_digits(&p, 4, &year))
		return false;
	dash = *p;
	if (!dash || !strchr("-./", dash))
		return false;
	p++;
	if (!take_digits(&p, 2, &month) || *p++ != dash ||
	    !take_digits(&p, 2, &day) || (*p != 'T' && *p != ' '))
		return false;
	p++;
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	*seconds = days_of(year, month, day) * DAY_SECONDS;
	if (!take_time(&p, seconds))
		return false;
	p += *p == ' ';
	if (*p && !take_zone(&p, zone))
		return false;
	*seconds -= *zone * 60;
	return !*p && *seconds >= 0;
}

bool ident_parse_date(int64_t *seconds, int *zone, const char *text,
		      int local_zone)
{
	if (parse_internal(seconds, zone, text))
		return true;
	*zone = local_zone;
	return parse_iso(seconds, zone, text);
}

static int local_zone_at(int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	return localtime_r(&t, &tm) ? (int)(tm.tm_gmtoff / 60) : 0;
}

static int append_date(struct buf *out, struct error *err)
{
	const char *given = getenv("GIT_COMMITTER_DATE");
	int64_t seconds = sys_clock_seconds();
	int zone = local_zone_at(seconds);
	int minutes;

	if (given && *given && !ident_parse_date(&seconds, &zone, given, zone))
		return error_set(err, ERR_INVALID, "invalid date format: %s",
				 given);
	minutes = abs(zone);
	if (buf_printf(out, " %lld %c%02d%02d", (long long)seconds,
		       zone < 0 ? '-' : '+', minutes / 60, minutes % 60))
		return error_nomem(err);
	return 0;
}

/* The first that is there of the environment's and the configuration's. */
static const char *setting(const struct config *config, const char *variable,
			   const char *own_key, const char *user_key)
{
	const char *value = getenv(variable);

	if (!value)
		value = config_string(config, own_key);
	if (!value || !*value)
		value = value && getenv(variable)
				? value
				: config_string(config, user_key);
	return value;
}

static int may_guess(const struct config *config, const char *what,
		     struct error *err)
{
	bool only = false;
	int ret = config_bool(config, "user.useconfigonly", &only, err);

	if (ret >= 0 && only)
		ret = error_set(err, ERR_INVALID,
				"no %s was given and auto-detection is "
				"disabled",
				what);
	return ret < 0 ? ret : 0;
}

static int guess_mail(struct buf *out, const struct config *config,
		      struct error *err)
{
	const char *mail = getenv("EMAIL");
	int ret;

	if (mail && *mail)
		return buf_append_str(out, mail) ? error_nomem(err) : 0;
	ret = may_guess(config, "email", err);
	if (!ret && sys_user_name(out, false, NULL) < 0)
		ret = buf_append_str(out, "unknown");
	if (!ret && buf_append_char(out, '@') < 0)
		ret = error_nomem(err);
	return ret ? ret : sys_host_name(out, err);
}

static int guess_name(struct buf *out, const struct config *config,
		      struct error *err)
{
	size_t start = out->len;
	int ret = may_guess(config, "name", err);

	if (!ret && (sys_user_name(out, true, NULL) < 0 || out->len == start))
		ret = sys_user_name(out, false, NULL);
	if (ret == ERR_MISSING)
		ret = buf_append_str(out, "unknown");
	return ret;
}

int ident_committer(struct buf *out, const struct config *config,
		    struct error *err)
{
	const char *name = setting(config, "GIT_COMMITTER_NAME",
				   "committer.name", "user.name");
	const char *mail = setting(config, "GIT_COMMITTER_EMAIL",
				   "committer.email", "user.email");
	struct buf guessed_name = BUF_INIT, guessed_mail = BUF_INIT;
	size_t start = out->len;
	int ret = 0;

	if (!mail) {
		ret = guess_mail(&guessed_mail, config, err);
		mail = guessed_mail.data;
	}
	if (!ret && !name) {
		ret = guess_name(&guessed_name, config, err);
		name = guessed_name.data;
	}
	if (ret < 0)
		goto out;
	if (append_clean(out, name) || buf_append_str(out, " <") ||
	    append_clean(out, mail) || buf_append_char(out, '>'))
		ret = error_nomem(err);
	else if (out->data[start] == ' ')
		ret = error_set(err, ERR_INVALID,
				"empty ident name (for <%s>) not allowed",
				mail);
	else
		ret = append_date(out, err);
out:
	if (ret < 0)
		buf_set_len(out, start);
	buf_release(&guessed_name);
	buf_release(&guessed_mail);
	return ret;
}
