/* SPDX-License-Identifier: MIT */
/*
 * The rules of fsck and its reports. The checks of commits, trees and tags are
 * in fsck-commit.c, fsck-tree.c and fsck-object.c.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "object/fsck-parts.h"

enum {
	PATH_MAX_DEFAULT = 4096, /* bytes */
};

#define FSCK_MSG(symbol, name, severity)                                       \
	[FSCK_##symbol] = {name, FSCK_##severity},
static const struct {
	const char *name;
	enum fsck_severity severity;
} messages[FSCK_MSG_NR] = {FSCK_MSGS};
#undef FSCK_MSG

/* ---- rules */

void fsck_rules_init(struct fsck_rules *rules, enum hash_algo algo, bool strict)
{
	memset(rules, 0, sizeof(*rules));
	rules->algo = algo;
	rules->strict = strict;
	rules->path_max = PATH_MAX_DEFAULT;
	for (size_t i = 0; i < FSCK_MSG_NR; i++) {
		enum fsck_severity severity = messages[i].severity;

		if (strict && severity == FSCK_WARN)
			severity = FSCK_ERROR;
		rules->severity[i] = (uint8_t)severity;
	}
}

void fsck_rules_release(struct fsck_rules *rules)
{
	oidmap_release(&rules->skip);
	memset(rules, 0, sizeof(*rules));
}

void fsck_rules_all_errors(struct fsck_rules *rules)
{
	rules->strict = true;
	for (size_t i = 0; i < FSCK_MSG_NR; i++)
		if (rules->severity[i] == FSCK_INFO ||
		    rules->severity[i] == FSCK_WARN)
			rules->severity[i] = FSCK_ERROR;
}

const char *fsck_msg_name(enum fsck_msg msg)
{
	return messages[msg].name;
}

enum fsck_msg fsck_msg_by_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < FSCK_MSG_NR; i++)
		if (strlen(messages[i].name) == len &&
		    !strncasecmp(messages[i].name, name, len))
			break;
	return (enum fsck_msg)i;
}

static bool is_word(const char *word, const char *value, size_t len)
{
	return strlen(word) == len && !memcmp(word, value, len);
}

static int parse_severity(enum fsck_severity *severity, const char *value,
			  size_t len, struct error *err)
{
	if (is_word("error", value, len))
		*severity = FSCK_ERROR;
	else if (is_word("warn", value, len))
		*severity = FSCK_WARN;
	else if (is_word("ignore", value, len))
		*severity = FSCK_IGNORE;
	else
		return error_set(err, ERR_INVALID,
				 "Unknown fsck message type: '%.*s'", (int)len,
				 value);
	return 0;
}

/*
 * Parses a number with an optional suffix k, m or g. Returns false if the
 * number is invalid.
 */
static bool parse_size(uint64_t *out, const char *s, size_t len)
{
	uint64_t value = 0;
	unsigned shift = 0;
	size_t i;

	for (i = 0; i < len && s[i] >= '0' && s[i] <= '9'; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(s[i] - '0'),
					   &value))
			return false;
	if (i && i + 1 == len) {
		char unit = (char)(s[i] | 0x20);

		shift = unit == 'k' ? 10 : unit == 'm' ? 20 : 30;
		i += unit == 'k' || unit == 'm' || unit == 'g';
	}
	if (!i || i != len || value > UINT64_MAX >> shift)
		return false;
	*out = value << shift;
	return true;
}

static int set_path_max(struct fsck_rules *rules, const char *value, size_t len,
			struct error *err)
{
	if (!parse_size(&rules->path_max, value, len))
		return error_set(err, ERR_INVALID,
				 "unable to parse max tree entry len: %.*s",
				 (int)len, value);
	return 0;
}

/*
 * Reports that a fatal message cannot be demoted. Stock Git shows the name of
 * the message in lower case here. Returns ERR_INVALID.
 */
static int cannot_demote(enum fsck_msg msg, const char *value, size_t len,
			 struct error *err)
{
	char name[64];
	size_t i;

	for (i = 0; messages[msg].name[i] && i + 1 < sizeof(name); i++) {
		char c = messages[msg].name[i];

		name[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	name[i] = '\0';
	return error_set(err, ERR_INVALID, "Cannot demote %s to %.*s", name,
			 (int)len, value);
}

int fsck_rules_set_msg(struct fsck_rules *rules, enum fsck_msg msg,
		       const char *value, size_t value_len, struct error *err)
{
	const char *colon = msg == FSCK_LARGE_PATHNAME
				    ? memchr(value, ':', value_len)
				    : NULL;
	size_t len = colon ? (size_t)(colon - value) : value_len;
	enum fsck_severity severity;
	int ret = parse_severity(&severity, value, len, err);

	if (!ret && colon)
		ret = set_path_max(rules, colon + 1, value_len - len - 1, err);
	if (ret < 0)
		return ret;
	if (messages[msg].severity == FSCK_FATAL) {
		if (severity != FSCK_ERROR)
			return cannot_demote(msg, value, len, err);
		return 0;
	}
	rules->severity[msg] = (uint8_t)severity;
	return 0;
}

int fsck_rules_set(struct fsck_rules *rules, const char *name, size_t name_len,
		   const char *value, size_t value_len, struct error *err)
{
	enum fsck_msg msg = fsck_msg_by_name(name, name_len);

	if (msg == FSCK_MSG_NR)
		return error_set(err, ERR_INVALID, "Unhandled message id: %.*s",
				 (int)name_len, name);
	return fsck_rules_set_msg(rules, msg, value, value_len, err);
}

int fsck_rules_skip(struct fsck_rules *rules, const struct oid *oid)
{
	int ret = oidmap_add(&rules->skip, oid, 1, NULL);

	return ret < 0 ? ret : 0;
}

bool fsck_is_skipped(const struct fsck_rules *rules, const struct oid *oid)
{
	uint32_t value;

	return rules->skip.nr && oidmap_get(&rules->skip, oid, &value);
}

/* ---- reports */

void fsck_init(struct fsck *f, const struct fsck_rules *rules)
{
	memset(f, 0, sizeof(*f));
	f->rules = rules;
	buf_init(&f->text);
}

void fsck_release(struct fsck *f)
{
	buf_release(&f->text);
	free(f->names);
	f->names = NULL;
	f->name_alloc = 0;
}

static int say(struct fsck *f, const struct oid *oid, enum object_type type,
	       enum fsck_msg msg, struct error *err, const char *fmt,
	       va_list ap)
{
	struct fsck_report report = {
		.msg = msg,
		.is_error = f->rules->severity[msg] >= FSCK_ERROR,
		.oid = oid,
		.type = type,
	};
	int ret = 0;

	if (f->rules->severity[msg] == FSCK_IGNORE)
		return 0;
	buf_reset(&f->text);
	if (buf_vprintf(&f->text, fmt, ap) < 0)
		return error_nomem(err);
	report.text = f->text.data;
	if (f->report)
		ret = f->report(f->ctx, &report, err);
	return ret < 0 ? ret : report.is_error;
}

int fsck_say(const struct fsck_check *c, enum fsck_msg msg, const char *fmt,
	     ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = say(c->f, c->oid, c->type, msg, c->err, fmt, ap);
	va_end(ap);
	return ret;
}

int fsck_complain(struct fsck *f, const struct oid *oid, enum object_type type,
		  enum fsck_msg msg, struct error *err, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = say(f, oid, type, msg, err, fmt, ap);
	va_end(ap);
	return ret;
}
