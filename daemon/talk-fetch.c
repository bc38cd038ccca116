/* SPDX-License-Identifier: MIT */
/*
 * A fetch in Git's own protocol. The work of threads on one connection is
 * divided into turns. In a turn, a thread works for this connection. Between
 * two turns, the connection needs no thread: the loop of the worker process
 * sends the rest of an answer, or waits for the next command of the client.
 *
 *	version 2    turn 1: the capabilities; each further turn: one command
 *	version 0, 1 one turn: refs, negotiation, pack
 *
 * Bytes of the client are read into conn->input, and are passed on packet by
 * packet. So the bytes of a further command stay there for the next turn.
 */
#include <string.h>

#include "daemon/daemon-parts.h"
#include "daemon/stream.h"
#include "serve/upload-pack.h"
#include "wire/pktline.h"

/* ---- input */

static size_t input_left(const struct daemon_talk *t)
{
	const struct daemon_input *in = t->answer.conn->input;

	return in ? in->len - t->at : 0;
}

/*
 * Reads more bytes of the client, and waits if there are none yet. Unsent bytes
 * of the answer are sent first, because the client may wait for them before it
 * writes. Returns 1 if bytes were read, 0 at the end of the input, or a
 * negative error code.
 */
static int refill(struct daemon_talk *t, struct error *err)
{
	struct daemon_output *out = &t->answer.output;
	struct daemon_input *in = daemon_give_input(t->answer.conn);
	ssize_t n;

	if (!in)
		return error_nomem(err);
	in->len -= t->at;
	memmove(in->bytes, in->bytes + t->at, in->len);
	t->at = 0;
	n = daemon_output_flush(out, err);
	if (!n)
		n = daemon_stream_read(&t->in, in->bytes + in->len,
				       sizeof(in->bytes) - in->len,
				       &out->patience, err);
	in->len += n > 0 ? (size_t)n : 0;
	return n < 0 ? (int)n : n > 0;
}

/*
 * Reads until the header of the next packet is complete. Returns 1 if it is
 * complete, 0 at the end of the input, or a negative error code.
 */
static int await_header(struct daemon_talk *t, struct error *err)
{
	int ret = 1;

	while (ret > 0 && input_left(t) < PKTLINE_HEADER)
		ret = refill(t, err);
	return ret;
}

static const char *next_bytes(const struct daemon_talk *t)
{
	return t->answer.conn->input->bytes + t->at;
}

static ssize_t read_client(void *ctx, void *bytes, size_t len,
			   struct error *err)
{
	struct daemon_talk *t = ctx;
	size_t left;
	int ret = 1;

	if (!t->packet_left) {
		ret = await_header(t, err);
		/*
		 * If the input ends within the header of a packet, pass on the
		 * incomplete header: the code that parses packets reports the
		 * error.
		 */
		left = input_left(t);
		t->packet_left = ret > 0 ? pktline_announced(next_bytes(t))
					 : left;
	} else if (!input_left(t)) {
		ret = refill(t, err);
	}
	if (ret < 0)
		return ret;
	left = input_left(t);
	if (left > t->packet_left)
		left = t->packet_left;
	if (len > left)
		len = left;
	if (!len)
		return 0;
	memcpy(bytes, next_bytes(t), len);
	t->at += len;
	t->packet_left -= len;
	return (ssize_t)len;
}

int daemon_talk_listen(struct daemon_talk *talk, struct error *err)
{
	int ret;

	sys_patience_renew(&talk->answer.output.patience);
	talk->packet_left = 0;
	ret = await_header(talk, err);
	if (ret <= 0)
		return ret < 0 ? ret : input_left(talk) > 0;
	return memcmp(next_bytes(talk), "0000", PKTLINE_HEADER) != 0;
}

/* ---- output */

static int emit(void *ctx, const struct serve_span *span, struct error *err)
{
	struct daemon_talk *t = ctx;

	return daemon_output_emit(&t->answer.output, span, err);
}

static bool end_later(void *ctx, struct summary *summary, bool has_failed)
{
	struct daemon_talk *t = ctx;

	/*
	 * In versions 0 and 1, the same request goes on after the refs: the
	 * client reads all refs before it sends its wants. So send the refs
	 * completely now.
	 */
	if (t->version < 2 && !strcmp(summary->command, "advertise"))
		daemon_output_flush(&t->answer.output, NULL);
	return daemon_answer_end_later(&t->answer, summary, has_failed);
}

static int objects(void *ctx, struct odb **odb, struct error *warning,
		   struct error *err)
{
	struct daemon_talk *t = ctx;

	return daemon_answer_objects(&t->answer, odb, warning, err);
}

static int make_pack(void *ctx, const struct odb *odb,
		     const struct packing_request *request,
		     const struct packing_send_options *options,
		     struct pack_sink sink, struct packing_report *report,
		     struct error *err)
{
	struct daemon_talk *t = ctx;

	t->answer.principal = daemon_talk_principal(t);
	return daemon_answer_make_pack(&t->answer, odb, request, options, sink,
				       report, err);
}

static void warn(void *ctx, const char *message)
{
	daemon_talk_tell(ctx, "warning", message);
}

/* ---- one turn */

static int serve(struct daemon_talk *t, const struct repo *repo,
		 struct error *err)
{
	const struct daemon_options *o = t->answer.options;
	const struct serve_io io = {
		.read = read_client,
		.writev = daemon_talk_write,
		.ctx = t,
		.emit = emit,
		.end_later = end_later,
	};
	const bool is_v2 = t->version == 2;
	const struct serve_options options = {
		.repo = repo,
		.version = t->version,
		.stateless_rpc = is_v2 && t->has_begun,
		.advertise_only = is_v2 && !t->has_begun,
		.agent = o->agent,
		.session_id = o->session_id,
		.namespace = o->namespace,
		.is_fresh_copy = stored_copies_is_fresh(t->answer.conn->copies,
							&t->place.use),
		.objects = objects,
		.objects_ctx = t,
		.warn = warn,
		.warn_ctx = t,
		.make_pack = make_pack,
		.make_pack_ctx = t,
		.about = &t->answer.about,
	};

	t->answer.about.client = *t->address ? t->address : NULL;
	t->answer.about.user = *t->user ? t->user : NULL;
	return serve_upload_pack(&options, &io, err);
}

int daemon_talk_fetch(struct daemon_talk *talk)
{
	struct error err = ERROR_INIT;
	const struct repo *repo;
	int ret = daemon_answer_repo(&repo, &talk->answer, &err);

	if (!ret)
		ret = serve(talk, repo, &err);
	talk->has_begun = true;
	if (ret < 0) {
		daemon_talk_tell(talk, "fatal", err.msg);
		daemon_answer_record(&talk->answer, &err);
		return 128;
	}
	if (talk->version == 2)
		talk->answer.conn->after = DAEMON_WAITING;
	return 0;
}
