/* SPDX-License-Identifier: MIT */
/* Parses the request of a client of git://. */
#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"
#include "daemon/git-request.h"
#include "wire/pktline.h"

/* Returns the value of a hexadecimal digit, or 16. */
static size_t digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	char lower = c >= 'A' && c <= 'F' ? (char)(c + 'a' - 'A') : c;
	const char *at = memchr(digits, lower, 16);

	return at ? (size_t)(at - digits) : 16;
}

size_t git_request_missing(const char *bytes, size_t len)
{
	size_t total = 0;

	if (len < PKTLINE_HEADER)
		return PKTLINE_HEADER - len;
	for (int i = 0; i < PKTLINE_HEADER; i++) {
		size_t value = digit(bytes[i]);

		if (value == 16)
			return 0;
		total = total * 16 + value;
	}
	return total > len && total <= GIT_REQUEST_MAX ? total - len : 0;
}

static int refuse(struct error *err, const char *what)
{
	return error_set(err, ERR_PEER, "invalid request: %s", what);
}

static bool is_text(char c, bool is_path)
{
	unsigned char byte = (unsigned char)c;

	return byte >= ' ' && byte != 0x7f && (byte < 0x7f || is_path);
}

/*
 * Takes the text up to the next NUL, or to the end, and appends it to the
 * string `out` of `size` bytes. Returns false if the text is too long or has a
 * character that is_text() forbids. `is_path`: the text is a path.
 */
static bool take(struct cursor *c, char *out, size_t size, bool is_path)
{
	size_t used = strlen(out);
	uint8_t byte;

	while (cursor_u8(c, &byte) && byte) {
		if (!is_text((char)byte, is_path) || used + 1 == size)
			return false;
		out[used++] = (char)byte;
	}
	out[used] = '\0';
	return true;
}

/*
 * Takes "git-<service> " from the front. Returns false if the text has another
 * form.
 */
static bool take_service(struct cursor *c, enum service *service)
{
	const char *text = (const char *)c->p;
	const char *blank = memchr(text, ' ', cursor_left(c));

	if (!blank || blank - text < 4 || memcmp(text, "git-", 4))
		return false;
	if (!service_find(service, text + 4, (size_t)(blank - text) - 4))
		return false;
	return cursor_skip(c, (size_t)(blank - text) + 1);
}

/*
 * Takes the path, which ends at a NUL or at the end of the request. A line feed
 * at the end of the path is dropped. Returns false if the path is not valid.
 */
static bool take_path(struct cursor *c, struct git_request *out)
{
	size_t left = cursor_left(c);
	const uint8_t *nul = memchr(c->p, '\0', left);
	size_t len = nul ? (size_t)(nul - c->p) : left;
	struct cursor path = cursor_make(c->p, len);

	if (len && path.p[len - 1] == '\n')
		path.end--;
	return take(&path, out->path, sizeof(out->path), true) && *out->path &&
	       cursor_skip(c, len + (nul != NULL));
}

/*
 * Takes "host=<host>" and a NUL, if they are next. Returns false if the host is
 * not valid.
 */
static bool take_host(struct cursor *c, struct git_request *out)
{
	static const char key[] = "host=";
	size_t len = sizeof(key) - 1;

	if (cursor_left(c) < len || memcmp(c->p, key, len))
		return true;
	return cursor_skip(c, len) &&
	       take(c, out->host, sizeof(out->host), false);
}

/*
 * Takes the parameters, which an empty string separates from the host. Empty
 * parameters are dropped. Returns false if a parameter is not valid.
 */
static bool take_parameters(struct cursor *c, struct git_request *out)
{
	size_t size = sizeof(out->protocol);
	uint8_t byte;

	if (!cursor_u8(c, &byte))
		return true;
	if (byte)
		return false;
	while (cursor_left(c)) {
		size_t used = strlen(out->protocol);
		bool is_next = used && *c->p;

		if (is_next && used + 2 > size)
			return false;
		if (is_next)
			memcpy(out->protocol + used, ":", 2);
		if (!take(c, out->protocol, size, false))
			return false;
	}
	return true;
}

int git_request_parse(struct git_request *out, const char *bytes, size_t len,
		      struct error *err)
{
	struct cursor c = cursor_make(bytes, len);
	struct pktline line;

	memset(out, 0, sizeof(*out));
	if (len > GIT_REQUEST_MAX || pktline_parse(&line, &c, NULL) != 1 ||
	    line.kind != PKTLINE_DATA || cursor_left(&c))
		return refuse(err, "not exactly one pkt-line");
	c = cursor_make(line.data, line.len);
	if (!take_service(&c, &out->service))
		return refuse(err, "unknown service");
	if (!take_path(&c, out))
		return refuse(err, "bad path");
	if (!take_host(&c, out))
		return refuse(err, "bad host");
	if (!take_parameters(&c, out))
		return refuse(err, "bad parameters");
	return 0;
}
