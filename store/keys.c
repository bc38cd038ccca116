/* SPDX-License-Identifier: MIT */
/* Keys from the environment, and from a file of AWS's shared credentials. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/keys.h"
#include "sys/map.h"

static void forget(char **key)
{
	if (*key)
		explicit_bzero(*key, strlen(*key));
	free(*key);
	*key = NULL;
}

void store_keys_release(struct store_keys *keys)
{
	forget(&keys->id);
	forget(&keys->secret);
	forget(&keys->token);
}

/*
 * Stores a key. A key is sent in a header, so it must be one word of visible
 * ASCII.
 */
static int set_key(char **key, const char *value, size_t len, struct error *err)
{
	forget(key);
	if (!len || len > STORE_KEY_MAX)
		return error_set(
			err, ERR_INVALID,
			"an access key of the store is empty or too long");
	for (size_t i = 0; i < len; i++)
		if (value[i] <= ' ' || value[i] > '~')
			return error_set(err, ERR_INVALID,
					 "an access key of the store has a "
					 "character that is not allowed");
	*key = mem_strndup(value, len);
	return *key ? 0 : error_nomem(err);
}

/* ---- a file */

/* A piece of a line. */
struct word {
	const char *p;
	size_t len;
};

static struct word trim(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	while (p < end &&
	       (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return (struct word){p, (size_t)(end - p)};
}

static bool is_word(struct word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.p, text, w.len);
}

static bool is_profile(struct word line, const char *profile)
{
	return line.len >= 2 && line.p[line.len - 1] == ']' &&
	       is_word(trim(line.p + 1, line.p + line.len - 1), profile);
}

/* Reads "<name> = <value>". */
static int read_setting(struct store_keys *keys, struct word line,
			struct error *err)
{
	const char *equal = memchr(line.p, '=', line.len);
	struct word name, value;

	if (!equal)
		return 0;
	name = trim(line.p, equal);
	value = trim(equal + 1, line.p + line.len);
	if (is_word(name, "aws_access_key_id"))
		return set_key(&keys->id, value.p, value.len, err);
	if (is_word(name, "aws_secret_access_key"))
		return set_key(&keys->secret, value.p, value.len, err);
	if (is_word(name, "aws_session_token"))
		return set_key(&keys->token, value.p, value.len, err);
	return 0;
}

int store_keys_parse(struct store_keys *keys, const char *bytes, size_t len,
		     const char *profile, struct error *err)
{
	const char *p = bytes, *end = bytes + len;
	struct store_keys found = {NULL, NULL, NULL};
	bool ours = false;
	int ret = 0;

	while (!ret && p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		struct word line = trim(p, stop ? stop : end);

		p = stop ? stop + 1 : end;
		if (!line.len || *line.p == '#' || *line.p == ';')
			continue;
		if (*line.p == '[')
			ours = is_profile(line, profile);
		else if (ours)
			ret = read_setting(&found, line, err);
	}
	if (!ret && (!found.id || !found.secret))
		ret = error_set(
			err, ERR_MISSING,
			"the file of access keys has no keys of profile '%s'",
			profile);
	if (ret < 0) {
		store_keys_release(&found);
		return ret;
	}
	store_keys_release(keys);
	*keys = found;
	return 0;
}

/* ---- this process */

static int read_environment(struct store_keys *keys, const char *id,
			    const char *secret, struct error *err)
{
	const char *token = getenv("AWS_SESSION_TOKEN");
	struct store_keys found = {NULL, NULL, NULL};
	int ret = set_key(&found.id, id, strlen(id), err);

	if (!ret)
		ret = set_key(&found.secret, secret, strlen(secret), err);
	if (!ret && token && *token)
		ret = set_key(&found.token, token, strlen(token), err);
	if (ret < 0) {
		store_keys_release(&found);
		return ret;
	}
	store_keys_release(keys);
	*keys = found;
	return 0;
}

static int find_file(struct buf *path, struct error *err)
{
	const char *named = getenv("AWS_SHARED_CREDENTIALS_FILE");
	const char *home = getenv("HOME");
	int ret = 0;

	if (named && *named)
		ret = buf_append_str(path, named);
	else if (home && *home)
		ret = buf_printf(path, "%s/.aws/credentials", home);
	return ret < 0 ? error_nomem(err) : 0;
}

static int read_file(struct store_keys *keys, const char *path,
		     struct error *err)
{
	const char *profile = getenv("AWS_PROFILE");
	struct buf text = BUF_INIT;
	int ret = sys_read_file(&text, path, err);

	if (!ret && text.len > STORE_KEYS_FILE_MAX)
		ret = error_set(err, ERR_INVALID, "'%s' is too large", path);
	if (!ret)
		ret = store_keys_parse(
			keys, text.data, text.len,
			profile && *profile ? profile : "default", err);
	if (text.alloc)
		explicit_bzero(text.data, text.len);
	buf_release(&text);
	return ret;
}

int store_keys_find(struct store_keys *keys, struct error *err)
{
	const char *id = getenv("AWS_ACCESS_KEY_ID");
	const char *secret = getenv("AWS_SECRET_ACCESS_KEY");
	struct buf path = BUF_INIT;
	int ret;

	if (id && *id && secret && *secret)
		return read_environment(keys, id, secret, err);
	ret = find_file(&path, err);
	if (!ret)
		ret = path.len ? read_file(keys, path.data, err) : ERR_MISSING;
	buf_release(&path);
	if (ret == ERR_MISSING)
		return error_set(
			err, ret,
			"no access keys for the store: set AWS_ACCESS_KEY_ID "
			"and AWS_SECRET_ACCESS_KEY, or name a file with "
			"AWS_SHARED_CREDENTIALS_FILE");
	return ret;
}
