/* SPDX-License-Identifier: MIT */
/* Finds the committer in the environment, the configuration or the system. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/approxidate.h"
#include "config/ident.h"
#include "sys/clock.h"
#include "sys/process.h"

/*
 * Returns whether a character is removed from the start and the end of a
 * committer's name.
 */
static bool is_crud(char c)
{
	return (unsigned char)c <= ' ' || strchr(",:;<>\"\\'", c);
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

	if (given && *given &&
	    approxidate_parse_exact(&seconds, &zone, given) < 0)
		return error_set(err, ERR_INVALID, "invalid date format: %s",
				 given);
	minutes = abs(zone);
	if (buf_printf(out, " %lld %c%02d%02d", (long long)seconds,
		       zone < 0 ? '-' : '+', minutes / 60, minutes % 60))
		return error_nomem(err);
	return 0;
}

/*
 * Returns the value of the environment variable `variable` if it is set, even
 * if it is empty. Otherwise returns the configured value of `own_key`, such as
 * author.name. If this value is missing or is the empty string, returns the
 * configured value of `user_key`, such as user.name.
 */
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

static int append_login(struct buf *out, struct error *err)
{
	int ret = sys_user_name(out, false, NULL);

	if (ret == ERR_MISSING)
		ret = buf_append_str(out, "unknown");
	return ret ? error_nomem(err) : 0;
}

static int guess_mail(struct buf *out, struct error *err)
{
	const char *mail = getenv("EMAIL");
	int ret;

	if (mail && *mail)
		return buf_append_str(out, mail) ? error_nomem(err) : 0;
	ret = append_login(out, err);
	if (!ret && buf_append_char(out, '@') < 0)
		ret = error_nomem(err);
	return ret ? ret : sys_host_name(out, err);
}

/*
 * Appends a name for a committer whose configured name is missing (`given` is
 * NULL) or empty (`given` is ""). If it is missing, tries the user's full name
 * before the login name. If it is empty, uses the login name. Returns 0 or a
 * negative error code.
 */
static int guess_name(struct buf *out, const char *given, struct error *err)
{
	size_t start = out->len;
	int ret = given ? 0 : sys_user_name(out, true, NULL);

	if (ret < 0 && ret != ERR_MISSING)
		return error_nomem(err);
	return out->len > start ? 0 : append_login(out, err);
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
		ret = guess_mail(&guessed_mail, err);
		mail = guessed_mail.data;
	}
	if (!ret && (!name || !*name)) {
		ret = guess_name(&guessed_name, name, err);
		name = guessed_name.data;
	}
	if (ret < 0)
		goto out;
	if (append_clean(out, name) || buf_append_str(out, " <") ||
	    append_clean(out, mail) || buf_append_char(out, '>'))
		ret = error_nomem(err);
	else
		ret = append_date(out, err);
out:
	if (ret < 0)
		buf_set_len(out, start);
	buf_release(&guessed_name);
	buf_release(&guessed_mail);
	return ret;
}
