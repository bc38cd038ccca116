/* SPDX-License-Identifier: MIT */
/*
 * Functions for all that serves a connection: writing to the log, showing the
 * request on the status page, and reading header fields of an HTTP request.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "wire/pktline.h"

void daemon_log(const struct daemon_options *options,
		const struct daemon_conn *conn, const char *line)
{
	char text[1024], quoted[PKTLINE_QUOTE_MAX];

	snprintf(text, sizeof(text), "%s: %s", conn->address,
		 pktline_quote(quoted, line));
	options->log(options->log_ctx, text);
}

void daemon_describe(struct status_request *out, const struct daemon_conn *conn)
{
	const struct daemon_request *q = conn->request;
	const struct daemon_talk *t = conn->talk;

	if (t)
		*out = (struct status_request){
			.path = t->path,
			.path_len = strlen(t->path),
			.client = t->address,
			.user = t->user,
		};
	else
		*out = (struct status_request){
			.path = q->path.data,
			.path_len = q->repo_len,
			.client = q->client,
			.user = q->answer.about.user ? q->answer.about.user
						     : "",
		};
}

void daemon_show_sending(struct status_board *board, struct daemon_conn *conn)
{
	struct status_request request;

	daemon_describe(&request, conn);
	conn->send_slot = request.path_len
				  ? status_send_begin(board, &request,
						      conn->lane.since_ns)
				  : NULL;
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
