/* SPDX-License-Identifier: MIT */
/* Reads fsck.* variables and lists of fsck messages on command lines. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "config/config.h"
#include "odb/fsck-config.h"
#include "sys/io.h"

/* ---- skip lists */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int skip_line(struct fsck_rules *rules, const char *p, size_t len,
		     struct error *err)
{
	const char *hash = memchr(p, '#', len);
	struct oid oid;

	if (hash)
		len = (size_t)(hash - p);
	while (len && is_space(p[len - 1]))
		len--;
	while (len && is_space(*p)) {
		p++;
		len--;
	}
	if (!len)
		return 0;
	if (len != hash_hex_len(rules->algo) ||
	    !oid_from_hex(&oid, p, len, rules->algo))
		return error_set(err, ERR_INVALID, "invalid object name: %.*s",
				 (int)len, p);
	if (fsck_rules_skip(rules, &oid) < 0)
		return error_nomem(err);
	return 0;
}

int fsck_config_skip_list(struct fsck_rules *rules, const char *path,
			  struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = sys_read_any(&text, path, NULL);
	size_t at = 0;

	if (ret < 0) {
		buf_release(&text);
		return ret == ERR_NOMEM
			       ? error_nomem(err)
			       : error_set(err, ERR_IO,
					   "could not open object name list: "
					   "%s",
					   path);
	}
	while (!ret && at < text.len) {
		const char *eol = memchr(text.data + at, '\n', text.len - at);
		size_t end = eol ? (size_t)(eol - text.data) : text.len;

		ret = skip_line(rules, text.data + at, end - at, err);
		at = end + 1;
	}
	buf_release(&text);
	return ret;
}

/* ---- configuration */

struct load {
	struct fsck_rules *rules;
	size_t prefix_len;
	void (*warn)(void *ctx, const char *name);
	void *ctx;
	struct error *err;
};

static int load_skip_list(const struct load *l, const char *value)
{
	char *path;
	int ret = config_path(&path, value, NULL);

	if (ret < 0)
		return error_set(l->err, ERR_INVALID,
				 "failed to expand user dir in: '%s'", value);
	if (ret)
		ret = fsck_config_skip_list(l->rules, path, l->err);
	free(path);
	return ret;
}

static int load_entry(void *ctx, const struct config_entry *entry)
{
	const struct load *l = ctx;
	const char *name = entry->key + l->prefix_len;
	enum fsck_msg msg;

	/*
	 * If the name has a dot after the prefix, the variable has a
	 * subsection. So it is not a variable of fsck.
	 */
	if (strchr(name, '.'))
		return 0;
	if (!entry->value)
		return error_set(l->err, ERR_INVALID, "missing value for '%s'",
				 entry->key);
	if (!strcmp(name, "skiplist"))
		return load_skip_list(l, entry->value);
	msg = fsck_msg_by_name(name, strlen(name));
	if (msg == FSCK_MSG_NR && l->warn) {
		l->warn(l->ctx, name);
		return 0;
	}
	return fsck_rules_set(l->rules, name, strlen(name), entry->value,
			      strlen(entry->value), l->err);
}

int fsck_config_load(struct fsck_rules *rules, const struct repo *repo,
		     const char *prefix,
		     void (*warn)(void *ctx, const char *name), void *ctx,
		     struct error *err)
{
	struct load l = {rules, strlen(prefix), warn, ctx, err};

	return config_each(&repo->config, prefix, load_entry, &l);
}

/* ---- lists */

/*
 * Reports an item without "=". Stock Git shows the item in lower case in this
 * message. Returns ERR_INVALID or ERR_NOMEM.
 */
static int missing_sign(const char *item, size_t len, struct error *err)
{
	char *lower = mem_strndup(item, len);
	int ret;

	if (!lower)
		return error_nomem(err);
	for (size_t i = 0; i < len; i++)
		if (lower[i] >= 'A' && lower[i] <= 'Z')
			lower[i] = (char)(lower[i] | 0x20);
	ret = error_set(err, ERR_INVALID, "Missing '=': '%s'", lower);
	free(lower);
	return ret;
}

static int apply_item(struct fsck_rules *rules, const char *item, size_t len,
		      struct error *err)
{
	static const char skip[] = "skiplist";
	const char *sign = memchr(item, '=', len);
	const char *value = sign ? sign + 1 : NULL;
	size_t name_len = sign ? (size_t)(sign - item) : len;
	char *path;
	int ret;

	if (!sign)
		return missing_sign(item, len, err);
	if (name_len != sizeof(skip) - 1 || strncasecmp(item, skip, name_len))
		return fsck_rules_set(rules, item, name_len, value,
				      len - name_len - 1, err);
	path = mem_strndup(value, len - name_len - 1);
	if (!path)
		return error_nomem(err);
	ret = fsck_config_skip_list(rules, path, err);
	free(path);
	return ret;
}

int fsck_config_list(struct fsck_rules *rules, const char *list,
		     struct error *err)
{
	static const char separators[] = " ,|";
	int ret = 0;

	while (!ret) {
		size_t len;

		list += strspn(list, separators);
		len = strcspn(list, separators);
		if (!len)
			return 0;
		ret = apply_item(rules, list, len, err);
		list += len;
	}
	return ret;
}
