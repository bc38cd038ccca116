/* SPDX-License-Identifier: MIT */
/*
 * Checks a parsed head of a request: prints the head again from its parts, and
 * compares it with the original bytes.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http1/head.h"

/*
 * If `text` is at *p, moves *p past the text and returns true. Otherwise
 * returns false.
 */
static bool take(const char **p, const char *end, const char *text, size_t len)
{
	if ((size_t)(end - *p) < len || memcmp(*p, text, len))
		return false;
	*p += len;
	return true;
}

static bool take_part(const char **p, const char *end, const char *bytes,
		      struct http1_part part)
{
	return *p == bytes + part.off && part.len <= (size_t)(end - *p) &&
	       take(p, end, bytes + part.off, part.len);
}

static void skip_blanks(const char **p, const char *end)
{
	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
}

static bool verify_lines(const struct http1_head *head, const char *bytes)
{
	const char *p = bytes, *end = bytes + head->len;
	char version[] = "HTTP/1.x\r\n";

	version[7] = (char)('0' + head->minor);
	take(&p, end, "\r\n", 2);
	if (!take_part(&p, end, bytes, head->method) ||
	    !take(&p, end, " ", 1) ||
	    !take_part(&p, end, bytes, head->target) ||
	    !take(&p, end, " ", 1) || !take(&p, end, version, 10))
		return false;
	for (size_t i = 0; i < head->field_nr; i++) {
		const struct http1_field *f = &head->fields[i];

		if (!take_part(&p, end, bytes, f->name) ||
		    !take(&p, end, ":", 1))
			return false;
		skip_blanks(&p, end);
		if (!take_part(&p, end, bytes, f->value))
			return false;
		skip_blanks(&p, end);
		if (!take(&p, end, "\r\n", 2))
			return false;
	}
	return take(&p, end, "\r\n", 2) && p == end;
}

/*
 * Returns the number of header lines that begin with `name` and a colon. *value
 * is set to the bytes after the last such colon.
 */
static size_t count(const struct http1_head *head, const char *bytes,
		    const char *name, const char **value)
{
	const char *p = bytes, *end = bytes + head->len;
	size_t nr = 0, len = strlen(name);

	while ((p = memchr(p, '\n', (size_t)(end - p))) && ++p < end) {
		if ((size_t)(end - p) <= len || strncasecmp(p, name, len) ||
		    p[len] != ':')
			continue;
		*value = p + len + 1;
		nr++;
	}
	return nr;
}

static bool verify_framing(const struct http1_head *head, const char *bytes)
{
	const char *value = NULL;
	size_t coding_nr = count(head, bytes, "transfer-encoding", &value);
	size_t length_nr = count(head, bytes, "content-length", &value);

	switch (head->framing) {
	case HTTP1_NO_BODY:
		return !coding_nr && !length_nr;
	case HTTP1_CHUNKED:
		return head->minor && coding_nr == 1 && !length_nr;
	default:
		return !coding_nr && length_nr == 1 &&
		       strtoull(value, NULL, 10) == head->body_len;
	}
}

static bool verify_target(const struct http1_head *head, const char *bytes)
{
	const char *path = bytes + head->path.off;
	uint32_t end = head->target.off + head->target.len;
	uint32_t path_end = head->path.off + head->path.len;

	if (head->path.off < head->target.off || path_end > end ||
	    head->query.off + head->query.len != end)
		return false;
	if (path_end == end
		    ? head->query.len != 0
		    : bytes[path_end] != '?' || head->query.off != path_end + 1)
		return false;
	return head->path.len && *path == '/' &&
	       !memchr(path, '?', head->path.len);
}

bool http1_head_verify(const struct http1_head *head, const char *bytes)
{
	const char *host = NULL;
	size_t host_nr = count(head, bytes, "host", &host);

	return verify_lines(head, bytes) && verify_target(head, bytes) &&
	       verify_framing(head, bytes) &&
	       (head->minor ? host_nr == 1 : host_nr <= 1);
}
