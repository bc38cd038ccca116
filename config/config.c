/* SPDX-License-Identifier: MIT */
/* Queries on a loaded configuration, and types of values. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/affix.h"
#include "base/buf.h"
#include "base/mem.h"
#include "config/config-internal.h"
#include "sys/io.h"

int config_add(struct config *config, const char *key, const char *value,
	       enum config_scope scope)
{
	struct config_entry entry = {NULL, NULL, scope};

	if (mem_grow(&config->entries, &config->alloc, config->nr + 1,
		     sizeof(entry)) < 0)
		return ERR_NOMEM;
	entry.key = mem_strdup(key);
	entry.value = value ? mem_strdup(value) : NULL;
	if (!entry.key || (value && !entry.value)) {
		free(entry.key);
		free(entry.value);
		return ERR_NOMEM;
	}
	config->entries[config->nr++] = entry;
	return 0;
}

void config_release(struct config *config)
{
	for (size_t i = 0; i < config->nr; i++) {
		free(config->entries[i].key);
		free(config->entries[i].value);
	}
	free(config->entries);
	*config = (struct config)CONFIG_INIT;
}

const struct config_entry *config_find(const struct config *config,
				       const char *key)
{
	for (size_t i = config->nr; i-- > 0;)
		if (!strcmp(config->entries[i].key, key))
			return &config->entries[i];
	return NULL;
}

const char *config_string(const struct config *config, const char *key)
{
	const struct config_entry *entry = config_find(config, key);

	if (!entry)
		return NULL;
	return entry->value ? entry->value : "";
}

int config_each(const struct config *config, const char *key,
		int (*fn)(void *ctx, const struct config_entry *entry),
		void *ctx)
{
	size_t len = strlen(key);
	bool prefix = len && key[len - 1] == '.';

	for (size_t i = 0; i < config->nr; i++) {
		const struct config_entry *entry = &config->entries[i];
		int ret;

		if (prefix ? strncmp(entry->key, key, len)
			   : strcmp(entry->key, key))
			continue;
		ret = fn(ctx, entry);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Returns the factor that the unit after a number means: 1024, 1024^2 or 1024^3
 * for k, m or g, 1 for "", and 0 for any other text.
 */
static uint64_t unit_factor(const char *unit)
{
	if (!*unit)
		return 1;
	if (unit[1])
		return 0;
	switch (*unit) {
	case 'k':
	case 'K':
		return UINT64_C(1) << 10;
	case 'm':
	case 'M':
		return UINT64_C(1) << 20;
	case 'g':
	case 'G':
		return UINT64_C(1) << 30;
	default:
		return 0;
	}
}

/*
 * Parses an integer with an optional unit into *out. Returns NULL, or a
 * description of the error as a static string.
 */
static const char *parse_i64(int64_t *out, const char *value, int64_t max)
{
	char *end;
	intmax_t number;
	uint64_t factor;

	errno = 0;
	number = strtoimax(value, &end, 0);
	if (errno == ERANGE)
		return "out of range";
	factor = end == value ? 0 : unit_factor(end);
	if (!factor)
		return "invalid unit";
	if (__builtin_mul_overflow(number, (int64_t)factor, &number) ||
	    number > max || number < -max)
		return "out of range";
	*out = number;
	return NULL;
}

static const char *parse_u64(uint64_t *out, const char *value)
{
	char *end;
	uintmax_t number;
	uint64_t factor;

	if (strchr(value, '-'))
		return "invalid unit";
	errno = 0;
	number = strtoumax(value, &end, 0);
	if (errno == ERANGE)
		return "out of range";
	factor = end == value ? 0 : unit_factor(end);
	if (!factor)
		return "invalid unit";
	if (__builtin_mul_overflow(number, factor, &number))
		return "out of range";
	*out = number;
	return NULL;
}

int config_parse_bool_word(const char *value)
{
	static const char *const yes[] = {"true", "yes", "on"};
	static const char *const no[] = {"false", "no", "off", ""};

	if (!value)
		return 1;
	for (size_t i = 0; i < ARRAY_NR(yes); i++)
		if (!strcasecmp(value, yes[i]))
			return 1;
	for (size_t i = 0; i < ARRAY_NR(no); i++)
		if (!strcasecmp(value, no[i]))
			return 0;
	return ERR_INVALID;
}

int config_parse_bool(const char *value)
{
	int ret = config_parse_bool_word(value);
	int64_t number;

	if (ret < 0 && !parse_i64(&number, value, INT_MAX))
		ret = number != 0;
	return ret;
}

int config_entry_bool(const struct config_entry *entry, struct error *err)
{
	int ret = config_parse_bool(entry->value);

	if (ret < 0)
		return error_set(err, ERR_INVALID,
				 "bad boolean config value '%s' for '%s'",
				 entry->value, entry->key);
	return ret;
}

int config_bool(const struct config *config, const char *key, bool *out,
		struct error *err)
{
	const struct config_entry *entry = config_find(config, key);
	int ret;

	if (!entry)
		return 0;
	ret = config_entry_bool(entry, err);
	if (ret < 0)
		return ret;
	*out = ret;
	return 1;
}

static int bad_number(const char *value, const char *key, const char *why,
		      struct error *err)
{
	return error_set(err, ERR_INVALID,
			 "bad numeric config value '%s' for '%s': %s", value,
			 key, why);
}

int config_i64(const struct config *config, const char *key, int64_t *out,
	       struct error *err)
{
	const char *value = config_string(config, key);
	const char *why;

	if (!value)
		return 0;
	why = parse_i64(out, value, INT64_MAX);
	return why ? bad_number(value, key, why, err) : 1;
}

int config_int(const struct config *config, const char *key, int *out,
	       struct error *err)
{
	const char *value = config_string(config, key);
	const char *why;
	int64_t number;

	if (!value)
		return 0;
	why = parse_i64(&number, value, INT_MAX);
	if (why)
		return bad_number(value, key, why, err);
	*out = (int)number;
	return 1;
}

int config_u64(const struct config *config, const char *key, uint64_t *out,
	       struct error *err)
{
	const char *value = config_string(config, key);
	const char *why;

	if (!value)
		return 0;
	why = parse_u64(out, value);
	return why ? bad_number(value, key, why, err) : 1;
}

int config_parse_u64(uint64_t *out, const char *value)
{
	return parse_u64(out, value) ? ERR_INVALID : 0;
}

int config_env_bool(const char *name, bool dflt, struct error *err)
{
	const char *value = getenv(name);
	int ret = value ? config_parse_bool(value) : dflt;

	if (ret < 0)
		error_set(err, ERR_INVALID,
			  "bad boolean environment value '%s' for '%s'", value,
			  name);
	return ret;
}

/*
 * Appends the home directory of the user whose name is the `len` bytes at
 * `user`. An empty name means the current user. Returns 0, ERR_MISSING if the
 * directory is unknown, or ERR_NOMEM.
 */
static int append_home(struct buf *out, const char *user, size_t len)
{
	struct passwd pw, *found = NULL;
	char *name, scratch[4096];
	const char *home = getenv("HOME");

	if (!len)
		return home ? buf_append_str(out, home) : ERR_MISSING;
	name = mem_strndup(user, len);
	if (!name)
		return ERR_NOMEM;
	if (getpwnam_r(name, &pw, scratch, sizeof(scratch), &found))
		found = NULL;
	free(name);
	return found ? buf_append_str(out, found->pw_dir) : ERR_MISSING;
}

char *config_expand_path(const char *value)
{
	static const char prefix[] = "%(prefix)/";
	struct buf out = BUF_INIT;
	int ret = 0;

	if (starts_with(value, prefix)) {
		value += sizeof(prefix) - 1;
		if (*value != '/')
			ret = buf_append_str(&out, GITREACH_PREFIX "/");
	} else if (*value == '~') {
		size_t user_len = strcspn(value + 1, "/");

		ret = append_home(&out, value + 1, user_len);
		value += 1 + user_len;
	}
	if (ret < 0 || buf_append_str(&out, value) < 0) {
		buf_release(&out);
		return NULL;
	}
	return buf_detach(&out, NULL);
}

/* Returns whether a path exists. A relative path starts in `dir`. */
static bool path_exists(const char *path, const char *dir)
{
	struct buf full = BUF_INIT;
	bool exists;

	if (!dir || *path == '/')
		return sys_exists(path);
	exists = *path && buf_printf(&full, "%s/%s", dir, path) == 0 &&
		 sys_exists(full.data);
	buf_release(&full);
	return exists;
}

int config_path(char **path, const char *value, const char *dir)
{
	static const char optional[] = ":(optional)";
	bool is_optional = starts_with(value, optional);

	*path = config_expand_path(value +
				   (is_optional ? sizeof(optional) - 1 : 0));
	if (!*path)
		return ERR_INVALID;
	if (!is_optional || path_exists(*path, dir))
		return 1;
	free(*path);
	*path = NULL;
	return 0;
}
