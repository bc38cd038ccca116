/* SPDX-License-Identifier: MIT */
/* Splits commits and tags into the parts that --format fields print. */
#include <string.h>

#include "base/mem.h"
#include "builtin/message.h"

static struct message_span span(const char *start, const char *end)
{
	struct message_span s = {start, (size_t)(end - start)};

	return s;
}

/* Returns the end of the line at p: the position of its newline, or `end`. */
static const char *line_end(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? nl : end;
}

static const char *skip_blank_lines(const char *p, const char *end)
{
	while (p < end && *p == '\n')
		p++;
	return p;
}

static bool starts_signature(const char *p, const char *end)
{
	static const char *const starts[] = {
		"-----BEGIN PGP SIGNATURE-----",
		"-----BEGIN PGP MESSAGE-----",
		"-----BEGIN SIGNED MESSAGE-----",
		"-----BEGIN SSH SIGNATURE-----",
	};
	size_t i;

	for (i = 0; i < ARRAY_NR(starts); i++) {
		size_t len = strlen(starts[i]);

		if ((size_t)(end - p) >= len && !memcmp(p, starts[i], len))
			return true;
	}
	return false;
}

/* Returns the start of the last signature in the message, or `end`. */
static const char *find_signature(const char *p, const char *end)
{
	const char *found = end;

	while (p < end) {
		const char *nl = line_end(p, end);

		if (starts_signature(p, end))
			found = p;
		p = nl < end ? nl + 1 : end;
	}
	return found;
}

/*
 * Returns the first byte of the message, which follows the header and its blank
 * line.
 */
static const char *find_message(const char *p, const char *end)
{
	while (p < end && *p != '\n') {
		p = line_end(p, end);
		p += p < end;
	}
	return skip_blank_lines(p, end);
}

/*
 * Returns the end of the subject, which is the first blank line. A blank line
 * that ends in CR LF counts only if there is no other blank line.
 */
static const char *find_subject_end(const char *p, const char *end)
{
	const char *blank = memmem(p, (size_t)(end - p), "\n\n", 2);

	if (!blank)
		blank = memmem(p, (size_t)(end - p), "\r\n\r\n", 4);
	return blank ? blank : end;
}

void message_parse(struct message *m, const void *data, size_t len)
{
	const char *end = (const char *)data + len;
	const char *start = find_message(data, end);
	const char *signature = find_signature(start, end);
	const char *p = find_subject_end(start, signature);

	m->whole = span(start, end);
	m->subject = span(start, p);
	while (m->subject.len && (p[-1] == '\n' || p[-1] == '\r')) {
		m->subject.len--;
		p--;
	}
	while (p < signature && (*p == '\n' || *p == '\r'))
		p++;
	m->body = span(p, signature);
	m->signature = span(signature, end);
}

bool message_header(struct message_span *value, const void *data, size_t len,
		    const char *name)
{
	const char *p = data;
	const char *end = p + len;
	size_t name_len = strlen(name);

	while (p < end && *p != '\n') {
		const char *nl = line_end(p, end);

		if ((size_t)(nl - p) > name_len && !memcmp(p, name, name_len) &&
		    p[name_len] == ' ') {
			*value = span(p + name_len + 1, nl);
			return true;
		}
		p = nl < end ? nl + 1 : end;
	}
	return false;
}

struct message_span message_person_name(struct message_span person)
{
	const char *end = person.p + person.len;
	const char *p;

	for (p = person.p; p + 1 < end; p++)
		if (p[0] == ' ' && p[1] == '<')
			return span(person.p, p);
	return span(person.p, person.p);
}

struct message_span message_person_email(struct message_span person, bool trim,
					 bool local)
{
	const char *end = person.p + person.len;
	const char *open = memchr(person.p, '<', person.len);
	const char *close = NULL;

	if (open)
		close = memchr(open, '>', (size_t)(end - open));
	if (!close)
		return span(person.p, person.p);
	if (!trim)
		return span(open, close + 1);
	if (local) {
		const char *at = memchr(open, '@', (size_t)(close - open));

		if (at)
			close = at;
	}
	return span(open + 1, close);
}

int message_append_subject(struct buf *out, const struct message *m)
{
	const char *p = m->subject.p;
	const char *end = p + m->subject.len;
	int ret = 0;

	while (!ret && p < end) {
		const char *nl = line_end(p, end);

		if (p > m->subject.p)
			ret = buf_append_char(out, ' ');
		if (!ret)
			ret = buf_append(out, p,
					 (size_t)(nl - p) -
						 (nl > p && nl[-1] == '\r'));
		p = nl < end ? nl + 1 : end;
	}
	return ret;
}

int message_append_lines(struct buf *out, const struct message *m, size_t nr)
{
	const char *p = m->subject.p;
	const char *end = m->body.p + m->body.len;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < nr && p < end; i++) {
		const char *nl = line_end(p, end);

		if (i)
			ret = buf_append_str(out, "\n    ");
		if (!ret)
			ret = buf_append(out, p, (size_t)(nl - p));
		p = nl < end ? nl + 1 : end;
	}
	return ret;
}
