/* SPDX-License-Identifier: MIT */
/*
 * Reads the limits for the age of reflog entries from the configuration:
 * gc.reflogExpire and similar keys.
 */
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "base/wildmatch.h"
#include "check/reflog-expire.h"

enum {
	DAY = 24 * 60 * 60,
	DAYS_TOTAL = 90,
	DAYS_UNREACHABLE = 30,
};

struct loader {
	struct reflog_limits *limits;
	/* name of the ref whose limits are read */
	const char *name;
	/*
	 * The <pattern> of the first key gc.<pattern>.* that matched: start and
	 * length; NULL: no pattern matched.
	 */
	const char *section;
	size_t section_len;
	int64_t now;
	struct error *err;
};

static int parse_limit(int64_t *out, const struct config_entry *entry,
		       int64_t now, struct error *err)
{
	const char *value = entry->value ? entry->value : "";

	if (approxidate_parse_expiry(out, value, now) < 0)
		return error_set(err, ERR_INVALID,
				 "'%s' for '%s' is not a valid timestamp",
				 value, entry->key);
	return 0;
}

/*
 * Returns the limit that a configuration key sets: gc.reflogExpire or
 * gc.<pattern>.reflogExpire, or the same with reflogExpireUnreachable. Returns
 * NULL for other keys.
 */
static int64_t *limit_of(struct reflog_limits *limits, const char *key)
{
	const char *name = strrchr(key, '.') + 1;

	if (!strcmp(name, "reflogexpire"))
		return &limits->total;
	return strcmp(name, "reflogexpireunreachable") ? NULL
						       : &limits->unreachable;
}

static bool is_section(const struct loader *l, const char *start, size_t len)
{
	return l->section && l->section_len == len &&
	       !memcmp(l->section, start, len);
}

/*
 * If the key is gc.<pattern>.* and <pattern> matches the ref, stores <pattern>
 * in the loader, unless an earlier key has done so. Returns 0 or ERR_NOMEM.
 */
static int look_for_pattern(void *ctx, const struct config_entry *entry)
{
	struct loader *l = ctx;
	const char *start = entry->key + strlen("gc.");
	const char *end = strrchr(entry->key, '.');
	char *pattern;

	if (end < start || !limit_of(l->limits, entry->key) || l->section)
		return 0;
	pattern = mem_strndup(start, (size_t)(end - start));
	if (!pattern)
		return error_nomem(l->err);
	if (wildmatch(pattern, l->name, 0)) {
		l->section = start;
		l->section_len = (size_t)(end - start);
	}
	free(pattern);
	return 0;
}

static int take_limit(void *ctx, const struct config_entry *entry)
{
	struct loader *l = ctx;
	const char *start = entry->key + strlen("gc.");
	const char *end = strrchr(entry->key, '.');
	int64_t *limit = limit_of(l->limits, entry->key), value;
	int ret;

	if (!limit)
		return 0;
	ret = parse_limit(&value, entry, l->now, l->err);
	if (ret < 0)
		return ret;
	if (end < start ? !l->section
			: is_section(l, start, (size_t)(end - start)))
		*limit = value;
	return 0;
}

int reflog_limits_load(struct reflog_limits *out, const struct config *config,
		       const char *name, int64_t now, struct error *err)
{
	struct reflog_limits limits = {now - DAYS_TOTAL * DAY,
				       now - DAYS_UNREACHABLE * DAY};
	struct loader l = {
		.limits = &limits, .name = name, .now = now, .err = err};
	int ret = config_each(config, "gc.", look_for_pattern, &l);

	if (!l.section && !strcmp(name, "refs/stash")) {
		l.section = "";
		l.section_len = SIZE_MAX;
	}
	if (l.section)
		limits = (struct reflog_limits){0, 0};
	if (!ret)
		ret = config_each(config, "gc.", take_limit, &l);
	if (!ret)
		*out = limits;
	return ret;
}
