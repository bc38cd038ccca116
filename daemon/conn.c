/* SPDX-License-Identifier: MIT */
/*
 * Functions for the threads that serve a connection: writing to the log, and
 * reading header fields of an HTTP request.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "daemon/conn.h"
#include "wire/pktline.h"

void daemon_log(const struct daemon_options *options,
		const struct daemon_conn *conn, const char *line)
{
	char text[1024], quoted[PKTLINE_QUOTE_MAX];

	snprintf(text, sizeof(text), "%s: %s", conn->address,
		 pktline_quote(quoted, line));
	options->log(options->log_ctx, text);
}

struct daemon_input *daemon_give_input(struct daemon_conn *conn)
{
	if (conn->input)
		return conn->input;
	conn->input = mem_alloc(1, sizeof(*conn->input));
	if (conn->input) {
		conn->input->len = 0;
		http1_head_init(&conn->input->head);
	}
	return conn->input;
}

const char *daemon_string_at(struct daemon_input *in, struct http1_part part)
{
	in->bytes[part.off + part.len] = '\0';
	return in->bytes + part.off;
}

const char *daemon_field(struct daemon_input *in, const char *name)
{
	const struct http1_field *f = http1_head_field(&in->head, in->bytes,
						       name);

	return f ? daemon_string_at(in, f->value) : NULL;
}

size_t daemon_field_nr(const struct daemon_input *in, const char *name)
{
	size_t nr = 0, len = strlen(name);

	for (size_t i = 0; i < in->head.field_nr; i++) {
		struct http1_part part = in->head.fields[i].name;

		nr += part.len == len &&
		      !strncasecmp(in->bytes + part.off, name, len);
	}
	return nr;
}
