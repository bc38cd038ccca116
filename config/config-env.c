/* SPDX-License-Identifier: MIT */
/*
 * Configuration from the environment.
 *
 * -c passes its variables to child processes in GIT_CONFIG_PARAMETERS. The
 * value is a list of items separated by white space, with shell quoting. An
 * item of the older form is 'key=value', or 'key' for the value true. An item
 * of the newer form is 'key'='value', or 'key'= for the value true. In the
 * newer form, the key may contain "=".
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config-internal.h"

/* The callback that receives the variables, and its context. */
struct taker {
	config_var_fn *fn;
	void *ctx;
};

static int add_var(const struct taker *taker, const char *key, size_t len,
		   const char *value, struct error *err)
{
	struct buf name = BUF_INIT;
	int ret = config_normalise_key(&name, key, len, err);

	if (!ret)
		ret = taker->fn(taker->ctx, name.data, value, err);
	buf_release(&name);
	return ret;
}

static int load_pair(const struct taker *taker, unsigned long i,
		     struct error *err)
{
	char name[64];
	const char *key, *value;

	snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%lu", i);
	key = getenv(name);
	if (!key)
		return error_set(err, ERR_INVALID, "missing config key %s",
				 name);
	snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%lu", i);
	value = getenv(name);
	if (!value)
		return error_set(err, ERR_INVALID, "missing config value %s",
				 name);
	return add_var(taker, key, strlen(key), value, err);
}

static int load_count(const struct taker *taker, struct error *err)
{
	const char *text = getenv("GIT_CONFIG_COUNT");
	unsigned long count;
	char *end;
	int ret = 0;

	if (!text || !*text)
		return 0;
	errno = 0;
	count = strtoul(text, &end, 10);
	if (*end || end == text)
		return error_set(err, ERR_INVALID,
				 "bogus count in GIT_CONFIG_COUNT");
	if (errno || count > INT_MAX)
		return error_set(err, ERR_INVALID,
				 "too many entries in GIT_CONFIG_COUNT");
	for (unsigned long i = 0; i < count && !ret; i++)
		ret = load_pair(taker, i, err);
	return ret;
}

/*
 * Removes the shell quoting of the word at `p`. The word is in single quotes;
 * in it, a single quote is written as '\'' and an exclamation mark as '\!'
 * (four characters each). Returns the end of the word, or NULL if the word is
 * malformed. If memory runs out, returns NULL and sets *nomem.
 */
static const char *unquote(struct buf *out, const char *p, bool *nomem)
{
	if (*p++ != '\'')
		return NULL;
	for (;;) {
		size_t len = strcspn(p, "'");

		if (buf_append(out, p, len) < 0)
			goto nomem;
		p += len;
		if (!*p++)
			return NULL;
		if (*p != '\\')
			return p;
		if ((p[1] != '\'' && p[1] != '!') || p[2] != '\'')
			return NULL;
		if (buf_append_char(out, p[1]) < 0)
			goto nomem;
		p += 3;
	}
nomem:
	*nomem = true;
	return NULL;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * Adds an item of the older form, which is a single word: 'key=value'. Returns
 * 0, ERR_INVALID, ERR_NOMEM, or the result of the callback.
 */
static int add_word(const struct taker *taker, const struct buf *word,
		    struct error *err)
{
	const char *equals = strchr(word->data, '=');
	const char *key = word->data;
	const char *end = equals ? equals : key + word->len;

	while (key < end && is_space(*key))
		key++;
	while (end > key && is_space(end[-1]))
		end--;
	if (key == end)
		return error_set(err, ERR_INVALID, "bogus config parameter: %s",
				 word->data);
	return add_var(taker, key, (size_t)(end - key),
		       equals ? equals + 1 : NULL, err);
}

/*
 * Adds the variable of the item at *p in GIT_CONFIG_PARAMETERS, and moves *p
 * behind the item. Returns 0, ERR_INVALID, ERR_NOMEM, or the result of the
 * callback.
 */
static int load_item(const struct taker *taker, const char **p, struct buf *key,
		     struct buf *value, struct error *err)
{
	bool nomem = false, has_value = false, one_word = true;

	buf_reset(key);
	buf_reset(value);
	*p = unquote(key, *p, &nomem);
	if (*p && **p == '=') {
		one_word = false;
		has_value = *++*p && !is_space(**p);
		if (has_value)
			*p = unquote(value, *p, &nomem);
	}
	if (nomem)
		return error_nomem(err);
	if (!*p || (**p && !is_space(**p)))
		return error_set(err, ERR_INVALID,
				 "bogus format in GIT_CONFIG_PARAMETERS");
	if (one_word)
		return add_word(taker, key, err);
	return add_var(taker, key->data, key->len,
		       has_value ? value->data : NULL, err);
}

static int load_parameters(const struct taker *taker, struct error *err)
{
	const char *p = getenv("GIT_CONFIG_PARAMETERS");
	struct buf key = BUF_INIT, value = BUF_INIT;
	int ret = 0;

	while (p && *p && !ret) {
		ret = load_item(taker, &p, &key, &value, err);
		while (!ret && is_space(*p))
			p++;
	}
	buf_release(&key);
	buf_release(&value);
	return ret;
}

int config_parse_env(config_var_fn *fn, void *ctx, struct error *err)
{
	const struct taker taker = {fn, ctx};
	struct error why = ERROR_INIT;
	int ret = load_count(&taker, &why);

	if (!ret)
		ret = load_parameters(&taker, &why);
	if (ret == ERR_INVALID)
		return error_set(err, ret,
				 "unable to parse command-line config: %s",
				 why.msg);
	if (ret < 0 && err)
		*err = why;
	return ret;
}
