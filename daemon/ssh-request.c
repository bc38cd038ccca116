/* SPDX-License-Identifier: MIT */
/* Parses the request of a client of ssh. */
#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"
#include "daemon/ssh-request.h"

static int refuse(struct error *err, const char *what)
{
	return error_set(err, ERR_PEER, "%s", what);
}

/*
 * Takes the string up to the next NUL into `out` of `size` bytes. Returns false
 * if there is no NUL, the string is too long, or it is not printable ASCII.
 */
static bool take_string(struct cursor *c, char *out, size_t size)
{
	size_t nr = 0;
	uint8_t byte;

	while (cursor_u8(c, &byte)) {
		if (!byte) {
			out[nr] = '\0';
			return true;
		}
		if (byte < ' ' || byte > '~' || nr + 1 == size)
			return false;
		out[nr++] = (char)byte;
	}
	return false;
}

/* The unquoted path while it is being parsed. */
struct path {
	char *out;
	size_t nr, size;
};

static bool put(struct path *p, char c)
{
	unsigned char byte = (unsigned char)c;

	if (byte < ' ' || byte == 0x7f || p->nr + 1 == p->size)
		return false;
	p->out[p->nr++] = c;
	return true;
}

/*
 * Removes the quotes of a whole string: 'a'\''b' is a'b. Returns false if the
 * string has another form.
 */
static bool unquote(struct path *p, const char *text)
{
	for (;;) {
		if (*text++ != '\'')
			return false;
		for (; *text != '\''; text++)
			if (!*text || !put(p, *text))
				return false;
		if (!*++text)
			break;
		if (text[0] != '\\' || (text[1] != '\'' && text[1] != '!') ||
		    !put(p, text[1]))
			return false;
		text += 2;
	}
	p->out[p->nr] = '\0';
	return true;
}

static bool parse_path(struct ssh_request *out, const char *text)
{
	struct path p = {out->path, 0, sizeof(out->path)};

	if (text[0] == '\'' && text[1] != '/')
		put(&p, '/');
	return unquote(&p, text) && p.nr > 1;
}

int ssh_request_parse(struct ssh_request *out, const char *bytes, size_t len,
		      struct error *err)
{
	struct cursor c = cursor_make(bytes, len);
	const char *command = bytes, *blank;

	memset(out, 0, sizeof(*out));
	if (len > SSH_REQUEST_MAX || !memchr(bytes, '\0', len) ||
	    !cursor_skip(&c, strlen(command) + 1))
		return refuse(err, "the command is too long");
	if (strncmp(command, "git-", 4) && strncmp(command, "git ", 4))
		return refuse(err, "only Git's services are allowed");
	command += 4;
	blank = strchr(command, ' ');
	if (!blank ||
	    !service_find(&out->service, command, (size_t)(blank - command)))
		return refuse(err, "only Git's services are allowed");
	if (!parse_path(out, blank + 1))
		return refuse(err, "the path is not one quoted word");
	if (!take_string(&c, out->protocol, sizeof(out->protocol)) ||
	    !take_string(&c, out->user, sizeof(out->user)) ||
	    !take_string(&c, out->address, sizeof(out->address)) ||
	    cursor_left(&c))
		return refuse(err, "GIT_PROTOCOL, the user name or the address "
				   "is not valid");
	return 0;
}

int ssh_request_format(struct buf *out, const char *command,
		       const char *protocol, const char *user,
		       const char *address)
{
	const char *const texts[] = {command, protocol, user, address};
	int ret = 0;

	for (int i = 0; !ret && i < 4; i++) {
		const char *text = texts[i] ? texts[i] : "";

		ret = buf_append(out, text, strlen(text) + 1);
	}
	return ret < 0 ? ERR_NOMEM : 0;
}
