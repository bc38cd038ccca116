/* SPDX-License-Identifier: MIT */
/* Parses paths and query strings of URLs. */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/quote.h"
#include "http/http-request.h"
#include "pack/pack-name.h"

/*
 * The form of the end of a URL path: text `a`, `x` hexadecimal digits, text
 * `b`, `y` hexadecimal digits, text `c`.
 */
struct shape {
	enum http_route route;
	const char *a;
	size_t x;
	const char *b;
	size_t y;
	const char *c;
};

static const struct shape shapes[] = {
	{HTTP_HEAD, "/HEAD", 0, "", 0, ""},
	{HTTP_INFO_REFS, "/info/refs", 0, "", 0, ""},
	{HTTP_ALTERNATES, "/objects/info/alternates", 0, "", 0, ""},
	{HTTP_ALTERNATES, "/objects/info/http-alternates", 0, "", 0, ""},
	{HTTP_INFO_PACKS, "/objects/info/packs", 0, "", 0, ""},
	{HTTP_LOOSE, "/objects/", 2, "/", 38, ""},
	{HTTP_LOOSE, "/objects/", 2, "/", 62, ""},
	{HTTP_UPLOAD_PACK, "/git-upload-pack", 0, "", 0, ""},
	{HTTP_RECEIVE_PACK, "/git-receive-pack", 0, "", 0, ""},
	{HTTP_UPLOAD_ARCHIVE, "/git-upload-archive", 0, "", 0, ""},
};

bool http_path_is_plain(const char *path)
{
	if (*path != '/')
		return false;
	while (*path) {
		size_t len = strcspn(++path, "/");

		if ((!len && *path) || (len == 1 && *path == '.') ||
		    (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += len;
	}
	return true;
}

bool http_path_climbs(const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += len + (path[len] == '/');
	}
	return false;
}

static bool take_text(const char **p, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*p, text, len))
		return false;
	*p += len;
	return true;
}

static bool take_digits(const char **p, size_t nr)
{
	if (strspn(*p, "0123456789abcdef") < nr)
		return false;
	*p += nr;
	return true;
}

static bool has_shape(const char *p, const struct shape *s)
{
	return take_text(&p, s->a) && take_digits(&p, s->x) &&
	       take_text(&p, s->b) && take_digits(&p, s->y) &&
	       take_text(&p, s->c) && !*p;
}

/* Like http_url_parse(), but only for the routes HTTP_PACK and HTTP_IDX. */
static bool parse_pack(struct http_url *url, const char *path)
{
	static const char dir[] = "/objects/pack/";
	const size_t dir_len = sizeof(dir) - 1;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t before = (size_t)(name - path), name_len = pack_name_len(name);

	if (!name_len || before < dir_len ||
	    strncmp(name - dir_len, dir, dir_len) != 0)
		return false;
	if (!strcmp(name + name_len, ".pack"))
		url->route = HTTP_PACK;
	else if (!strcmp(name + name_len, ".idx"))
		url->route = HTTP_IDX;
	else
		return false;
	url->repo_len = before - dir_len;
	url->name = path + url->repo_len + 1;
	return true;
}

bool http_url_parse(struct http_url *url, const char *path)
{
	size_t path_len = strlen(path);

	for (size_t i = 0; i < ARRAY_NR(shapes); i++) {
		const struct shape *s = &shapes[i];
		size_t len = strlen(s->a) + s->x + strlen(s->b) + s->y +
			     strlen(s->c);

		if (len > path_len || !has_shape(path + path_len - len, s))
			continue;
		url->route = s->route;
		url->repo_len = path_len - len;
		url->name = path + url->repo_len + 1;
		return true;
	}
	return parse_pack(url, path);
}

/*
 * Decode one character at `p` and append it. Returns the end of the encoded
 * character, or NULL if there is no memory.
 */
static const char *decode_one(struct buf *out, const char *p)
{
	int byte = quote_percent_byte(p);
	char c = *p == '+' ? ' ' : *p;

	if (byte > 0) {
		c = (char)byte;
		p += 2;
	}
	return buf_append_char(out, c) < 0 ? NULL : p + 1;
}

/*
 * Decode the text at `p` into *out, up to the first character that `ends`
 * contains. Returns the end of the text, or NULL if there is no memory.
 */
static const char *decode(struct buf *out, const char *p, const char *ends)
{
	buf_reset(out);
	while (p && *p && !strchr(ends, *p))
		p = decode_one(out, p);
	return p;
}

int http_query_get(struct buf *out, const char *query, const char *name)
{
	struct buf key = BUF_INIT, value = BUF_INIT;
	const char *p = query;
	int ret = 0;

	while (p && *p) {
		p = decode(&key, p, "=&");
		if (p && !key.len)
			break;
		if (p)
			p = decode(&value, p + (*p == '='), "&");
		if (!p)
			break;
		p += *p == '&';
		if (strcmp(key.data, name))
			continue;
		buf_reset(out);
		ret = buf_append(out, value.data, value.len) < 0 ? ERR_NOMEM
								 : 1;
		if (ret < 0)
			break;
	}
	buf_release(&key);
	buf_release(&value);
	return query && !p ? ERR_NOMEM : ret;
}

bool http_url_verify(const struct http_url *url, const char *path)
{
	size_t len = strlen(path), objects = strlen("objects/");
	const char *name = path + url->repo_len + 1;

	if (url->repo_len >= len || path[url->repo_len] != '/' ||
	    url->name != name || !*name)
		return false;
	/*
	 * The component ".." would lead out of the repository. The name of a
	 * pack may contain two dots.
	 */
	if (http_path_climbs(name) || strstr(name, "//") || *name == '/')
		return false;
	switch (url->route) {
	case HTTP_LOOSE:
		return strlen(name) == objects + 41 ||
		       strlen(name) == objects + 65;
	case HTTP_ALTERNATES:
	case HTTP_INFO_PACKS:
	case HTTP_PACK:
	case HTTP_IDX:
		return !strncmp(name, "objects/", objects);
	case HTTP_INFO_REFS:
		return !strcmp(name, "info/refs");
	default:
		return !strchr(name, '/');
	}
}
