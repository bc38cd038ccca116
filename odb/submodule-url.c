/* SPDX-License-Identifier: MIT */
/* Checks the names, paths and URLs of submodules in .gitmodules. */
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "odb/fsck-blob.h"

#define PORT_MAX 65535

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

bool submodule_url_name_is_good(const char *name, size_t len)
{
	size_t start = 0, i;

	if (!len)
		return false;
	for (i = 0; i <= len; i++) {
		if (i < len && !is_separator(name[i]))
			continue;
		if (i - start == 2 && !memcmp(name + start, "..", 2))
			return false;
		start = i + 1;
	}
	return true;
}

bool submodule_url_is_option(const char *value)
{
	return value[0] == '-';
}

/* ---- percent signs */

static bool has_newline(const char *url)
{
	for (; *url; url++)
		if (*url == '\n' || quote_percent_byte(url) == '\n')
			return true;
	return false;
}

/* ---- relative URLs */

static bool is_relative(const char *url)
{
	if (url[0] != '.')
		return false;
	return is_separator(url[1]) || (url[1] == '.' && is_separator(url[2]));
}

/*
 * Skips the leading "./" and "../" of a URL. Sets *up to whether there was at
 * least one "../". Returns the rest of the URL.
 */
static const char *skip_dots(const char *url, bool *up)
{
	*up = false;
	for (;;) {
		if (url[0] == '.' && is_separator(url[1])) {
			url += 2;
		} else if (url[0] == '.' && url[1] == '.' &&
			   is_separator(url[2])) {
			url += 3;
			*up = true;
		} else {
			return url;
		}
	}
}

static bool relative_is_good(const char *url)
{
	bool up;

	if (has_newline(url))
		return false;
	url = skip_dots(url, &up);
	return !up || (*url != ':' && !is_separator(*url));
}

/* ---- absolute URLs */

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

static bool escapes_are_good(const char *p, const char *end)
{
	for (; p < end; p++)
		if (*p == '%' && (end - p < 3 || quote_percent_byte(p) < 0))
			return false;
	return true;
}

static bool port_is_good(const char *p, const char *end)
{
	unsigned long port = 0;

	if (p == end)
		return true;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		port = port * 10 + (unsigned long)(*p - '0');
		if (port > PORT_MAX)
			return false;
	}
	return port > 0;
}

/*
 * Returns whether the part "[user[:password]@]host[:port]" of a URL is
 * well-formed. A file URL needs no host.
 */
static bool authority_is_good(const char *p, const char *end, bool is_file)
{
	const char *at = memchr(p, '@', (size_t)(end - p));
	const char *host = at ? at + 1 : p;
	const char *colon, *i;

	if (at && !escapes_are_good(p, at))
		return false;
	colon = memrchr(host, ':', (size_t)(end - host));
	/*
	 * A colon before the "]" belongs to an IPv6 address and does not start
	 * a port.
	 */
	if (colon && memchr(colon, ']', (size_t)(end - colon)))
		colon = NULL;
	if (colon && !port_is_good(colon + 1, end))
		return false;
	if (colon)
		end = colon;
	if (host == end)
		return is_file;
	for (i = host; i < end; i++)
		if (!is_alnum(*i) && !strchr(".-_[]:", *i))
			return false;
	return true;
}

/*
 * Returns the length of a dot at p, which may be written "." or "%2e". Returns
 * 0 if there is no dot.
 */
static size_t dot_len(const char *p, const char *end)
{
	if (p < end && *p == '.')
		return 1;
	return end - p >= 3 && quote_percent_byte(p) == '.' ? 3 : 0;
}

/*
 * Returns 1 if the path segment at p is ".", 2 if it is "..", and otherwise 0.
 * The dots may be percent-encoded.
 */
static unsigned dots(const char *p, const char *end)
{
	unsigned nr = 0;
	size_t len;

	while ((len = dot_len(p, end)) > 0) {
		p += len;
		nr++;
	}
	return p == end && nr <= 2 ? nr : 0;
}

/* Returns whether no ".." segment of a path leads above the root. */
static bool path_is_good(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		const char *stop;

		p++; /* the slash */
		stop = memchr(p, '/', (size_t)(end - p));
		if (!stop)
			stop = end;
		switch (dots(p, stop)) {
		case 0:
			depth++;
			break;
		case 2:
			if (!depth)
				return false;
			depth--;
			break;
		}
		p = stop;
	}
	return true;
}

/*
 * Returns whether the string is a URL
 * "<scheme>://<authority><path>[?query][#fragment]".
 */
static bool is_well_formed(const char *url)
{
	const char *scheme_end = strstr(url, "://");
	const char *authority, *path, *path_end, *end = url + strlen(url);
	bool is_file;

	if (!scheme_end || scheme_end == url || !is_alnum(*url) ||
	    (*url >= '0' && *url <= '9'))
		return false;
	for (const char *p = url; p < scheme_end; p++)
		if (!is_alnum(*p) && !strchr("+.-", *p))
			return false;
	is_file = scheme_end - url == 4 && !memcmp(url, "file", 4);
	authority = scheme_end + 3;
	path = authority + strcspn(authority, "/?#");
	path_end = path + strcspn(path, "?#");
	return authority_is_good(authority, path, is_file) &&
	       escapes_are_good(path, end) && path_is_good(path, path_end);
}

/*
 * Returns the URL that libcurl would receive for `url`. If the scheme of `url`
 * is http, https, ftp or ftps, this is `url` itself. If `url` begins with one
 * of these names and "::", as in "https::", it is the part after "::". Returns
 * NULL for any other URL.
 */
static const char *curl_url(const char *url)
{
	static const char *const schemes[] = {"http", "https", "ftp", "ftps"};

	for (size_t i = 0; i < ARRAY_NR(schemes); i++) {
		size_t len = strlen(schemes[i]);

		if (strncmp(url, schemes[i], len))
			continue;
		if (!strncmp(url + len, "::", 2))
			return url + len + 2;
		if (!strncmp(url + len, "://", 3))
			return url;
	}
	return NULL;
}

bool submodule_url_is_good(const char *url)
{
	const char *curl;

	if (submodule_url_is_option(url))
		return false;
	if (is_relative(url))
		return relative_is_good(url);
	if (!strncmp(url, "git://", 6))
		return !has_newline(url);
	curl = curl_url(url);
	return !curl || (is_well_formed(curl) && !has_newline(curl));
}
