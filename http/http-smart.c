/* SPDX-License-Identifier: MIT */
/*
 * Answers smart HTTP clients with the services upload-pack, receive-pack and
 * upload-archive, one request each.
 *
 * A web server may pass on the whole request before it reads any of the answer.
 * A program that answers before it has read the whole request would then wait
 * for the web server, and the web server for the program. Therefore a request
 * for a fetch or an archive is first read into memory completely. Its size is
 * limited by http.maxRequestBuffer. receive-pack, too, reads a push completely
 * before it answers. But receive-pack writes the pushed pack to the disk while
 * it reads, and not into memory. So the size of a push is not limited.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "config/ident.h"
#include "http/http-exchange.h"
#include "http/http-request.h"
#include "receive/receive-pack.h"
#include "serve/upload-pack.h"
#include "sys/process.h"
#include "sys/spawn.h"
#include "wire/pktline.h"
#include "wire/summary.h"

/* The body of an HTTP request and the reply to the request. */
struct stream {
	struct http_reply *reply; /* borrowed */
	/* owned; NULL: the request has no body */
	struct http_body *body;
	/* the decompressed body; valid if is_held is set */
	struct buf held;
	size_t at; /* read position in `held` */
	bool is_held;
};

static ssize_t stream_read(void *ctx, void *bytes, size_t len,
			   struct error *err)
{
	struct stream *s = ctx;
	size_t left = s->held.len - s->at;

	if (!s->is_held)
		return http_body_read(s->body, bytes, len, err);
	if (len > left)
		len = left;
	memcpy(bytes, s->held.data + s->at, len);
	s->at += len;
	return (ssize_t)len;
}

static int stream_writev(void *ctx, struct iovec *iov, size_t nr,
			 struct error *err)
{
	struct stream *s = ctx;

	return http_reply_writev(s->reply, iov, nr, err);
}

static int stream_writev_last(void *ctx, struct iovec *iov, size_t nr,
			      struct error *err)
{
	struct stream *s = ctx;

	return http_reply_writev_last(s->reply, iov, nr, err);
}

static int stream_send_file(void *ctx, const void *head, size_t len,
			    const struct sys_file_span *span, struct error *err)
{
	struct stream *s = ctx;

	return http_reply_send_file(s->reply, head, len, span, err);
}

static int stream_emit(void *ctx, const struct serve_span *span,
		       struct error *err)
{
	struct stream *s = ctx;

	return http_reply_emit(s->reply, span, err);
}

static bool stream_end_later(void *ctx, struct summary *summary,
			     bool has_failed)
{
	struct stream *s = ctx;

	return s->reply->io->end_later(s->reply->io->ctx, summary, has_failed);
}

static struct serve_io stream_io(struct stream *s)
{
	const struct serve_io *io = s->reply->io;

	return (struct serve_io){
		.read = stream_read,
		.writev = stream_writev,
		.writev_last = stream_writev_last,
		.send_file = io->send_file ? stream_send_file : NULL,
		.emit = io->emit ? stream_emit : NULL,
		.end_later = io->end_later ? stream_end_later : NULL,
		.ctx = s,
	};
}

static void warn(void *ctx, const char *message)
{
	const struct http_options *o = ctx;

	o->log(o->ctx, message);
}

static int upload(const struct http_exchange *x, struct stream *s,
		  bool advertise_only, struct error *err)
{
	const struct http_options *o = x->options;
	struct serve_io io = stream_io(s);
	struct serve_options options = {
		.repo = x->repo,
		.version = serve_protocol_version(o->git_protocol),
		.stateless_rpc = true,
		.advertise_only = advertise_only,
		.agent = o->agent,
		.session_id = o->session_id,
		.namespace = o->namespace,
		.is_fresh_copy = o->is_fresh_copy,
		.objects = o->objects,
		.objects_ctx = o->ctx,
		.make_pack = o->make_pack,
		.make_pack_ctx = o->ctx,
		.warn = warn,
		.warn_ctx = (void *)o,
		.about = o->about,
	};

	return serve_upload_pack(&options, &io, err);
}

static int receive(const struct http_exchange *x, struct stream *s,
		   bool advertise_only, struct error *err)
{
	const struct http_options *o = x->options;
	struct serve_io io = stream_io(s);
	struct buf committer = BUF_INIT;
	struct receive_options options = {
		.repo = x->repo,
		/*
		 * Use "." as the path, like stock Git, whose program enters the
		 * directory of the repository first. Nonces of signed pushes
		 * depend on this path.
		 */
		.path = ".",
		.version = serve_protocol_version(o->git_protocol),
		.stateless_rpc = true,
		.advertise_only = advertise_only,
		.agent = o->agent,
		.session_id = o->session_id,
		.namespace = o->namespace,
		.tell = o->tell,
		.tell_ctx = o->ctx,
		.about = o->about,
	};
	int ret = 0;

	if (o->begin_push)
		ret = o->begin_push(o->ctx, &options.repo, &options.target,
				    err);
	if (ret < 0)
		return ret;
	/*
	 * Continue without an identity of the server's user, because only refs
	 * with a reflog need one.
	 */
	if (!ident_committer(&committer, &options.repo->config, NULL))
		options.committer = committer.data;
	ret = receive_pack_serve(&options, &io, err);
	buf_release(&committer);
	return ret;
}

static int put_archive(void *ctx, const char *bytes, size_t len,
		       struct error *err)
{
	struct iovec iov = {(void *)bytes, len};

	return stream_writev(ctx, &iov, 1, err);
}

/*
 * Send the request to the program `git upload-archive`, and the output of the
 * program to the client.
 */
static int run_archive(const struct http_options *o, struct stream *s,
		       struct trace *trace, struct error *err)
{
	const char *argv[] = {"git", "upload-archive", ".", NULL};
	const struct sys_talk talk = {
		.input = s->held.data,
		.input_len = s->held.len,
		.output = put_archive,
		.ctx = s,
	};
	struct trace_child told;
	struct sys_child child;
	int ret = o->before_child ? o->before_child(err) : 0, status;

	if (ret < 0)
		return ret;
	trace_child_start(trace, &told, argv, NULL);
	ret = sys_spawn(&child, (char *const *)argv, NULL,
			SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT, err);
	if (ret < 0) {
		trace_child_exit(trace, &told, -1, -1);
		return ret;
	}
	ret = sys_spawn_talk(&child, &talk, err);
	status = sys_spawn_wait(&child, ret < 0 ? NULL : err);
	trace_child_exit(trace, &told, child.pid, status);
	if (ret < 0 || status <= 0)
		return ret < 0 ? ret : status;
	return error_set(err, ERR_IO, "upload-archive failed with status %d",
			 status);
}

static int archive(const struct http_exchange *x, struct stream *s,
		   bool advertise_only, struct error *err)
{
	struct summary summary;
	int ret;

	(void)advertise_only;
	summary_init(&summary, x->repo, x->options->about, "http-backend");
	s->reply->tap = summary_tap(&summary);
	summary_begin(&summary, "archive");
	summary_phase(&summary, SUMMARY_ANSWER);
	ret = run_archive(x->options, s, x->repo->trace, err);
	s->reply->tap = NULL;
	summary_end(&summary, ret < 0 ? err : NULL);
	summary_release(&summary);
	return ret;
}

struct service {
	const char *name; /* without "git-" */
	enum http_route route;
	/*
	 * Offset in struct http_exchange of the bool that says whether the
	 * service is enabled.
	 */
	size_t enabled;
	/*
	 * true: the service has an advertisement, which GET
	 * info/refs?service=git-<name> returns
	 */
	bool has_refs;
	int (*run)(const struct http_exchange *x, struct stream *s,
		   bool advertise_only, struct error *err);
};

static const struct service services[] = {
	{"upload-pack", HTTP_UPLOAD_PACK,
	 offsetof(struct http_exchange, upload_pack), true, upload},
	{"receive-pack", HTTP_RECEIVE_PACK,
	 offsetof(struct http_exchange, receive_pack), true, receive},
	{"upload-archive", HTTP_UPLOAD_ARCHIVE,
	 offsetof(struct http_exchange, upload_archive), false, archive},
};

/*
 * Returns 1 if the service is enabled, 0 if not (an error status was sent), or
 * a negative error code.
 */
static int check_enabled(struct http_exchange *x, const struct service *service,
			 struct error *err)
{
	if (*(const bool *)((const char *)x + service->enabled))
		return 1;
	return http_refuse_user(x, "403 Forbidden", "Service not enabled",
				service->name, err);
}

/*
 * Returns the service with this name if it has an advertisement, otherwise
 * NULL.
 */
static const struct service *find_service(const char *name)
{
	if (strncmp(name, "git-", 4))
		return NULL;
	for (size_t i = 0; i < ARRAY_NR(services); i++)
		if (services[i].has_refs && !strcmp(services[i].name, name + 4))
			return &services[i];
	return NULL;
}

/*
 * Send "# service=git-<name>" and a flush packet. With protocol version 2,
 * nothing is sent.
 */
static int announce(struct http_exchange *x, const struct service *service,
		    struct stream *s, struct error *err)
{
	struct serve_io io = {.writev = stream_writev, .ctx = s};
	struct pktline_writer out;
	int ret;

	if (serve_protocol_version(x->options->git_protocol) == 2)
		return 0;
	pktline_writer_init(&out, &io);
	ret = pktline_printf(&out, err, "# service=git-%s\n", service->name);
	if (!ret)
		ret = pktline_write_flush(&out, err);
	if (!ret)
		ret = pktline_send(&out, err);
	pktline_writer_release(&out);
	return ret;
}

int http_smart_advertise(struct http_exchange *x, const char *name,
			 struct error *err)
{
	const struct service *service = find_service(name);
	struct stream s = {.reply = &x->reply, .is_held = true};
	char quoted[PKTLINE_QUOTE_MAX], type[64];
	int ret;

	if (!service)
		return http_refuse(x, "403 Forbidden", err,
				   "Unsupported service: '%s'",
				   pktline_quote(quoted, name));
	ret = check_enabled(x, service, err);
	if (ret <= 0)
		return ret;
	snprintf(type, sizeof(type), "application/x-git-%s-advertisement",
		 service->name);
	ret = http_reply_never_cache(&x->reply, err);
	if (!ret)
		ret = http_reply_header(&x->reply, "Content-Type", type, err);
	buf_init(&s.held);
	if (!ret)
		ret = announce(x, service, &s, err);
	if (!ret)
		ret = service->run(x, &s, true, err);
	return ret;
}

/*
 * Returns 1 if the request has the expected Content-Type, 0 if not (an error
 * status was sent), or a negative error code.
 */
static int check_type(struct http_exchange *x, const char *expected,
		      struct error *err)
{
	const char *type = x->options->content_type;
	char quoted[PKTLINE_QUOTE_MAX];
	struct buf text = BUF_INIT;
	int ret;

	if (type && !strcmp(type, expected))
		return 1;
	ret = buf_printf(&text,
			 "Expected POST with Content-Type '%s', but received "
			 "'%s' instead.\n",
			 expected, pktline_quote(quoted, type ? type : ""));
	ret = ret < 0 ? error_nomem(err)
		      : http_reply_refuse(&x->reply,
					  "415 Unsupported Media Type", NULL,
					  text.data, err);
	buf_release(&text);
	return ret;
}

/*
 * Open the body of the request. For a fetch or an archive, also read the whole
 * body. Returns 1 if the body can be read, 0 if an error status was sent, or a
 * negative error code.
 */
static int take_body(struct http_exchange *x, struct stream *s,
		     struct error *err)
{
	const struct http_options *o = x->options;
	int ret = http_body_open(&s->body, x->io, o->content_length,
				 o->content_encoding, err);

	if (ret == ERR_UNSUPPORTED)
		return http_refuse(x, "415 Unsupported Media Type", err, "%s",
				   err->msg);
	if (ret < 0 || x->url.route == HTTP_RECEIVE_PACK)
		return ret < 0 ? ret : 1;
	ret = http_body_read_all(s->body, &s->held, x->request_buffer, err);
	if (ret == ERR_DENIED)
		return http_refuse(x, "413 Content Too Large", err, "%s",
				   err->msg);
	s->is_held = true;
	return ret < 0 ? ret : 1;
}

static int answer(struct http_exchange *x, const struct service *service,
		  struct stream *s, struct error *err)
{
	char type[64];
	int ret;

	snprintf(type, sizeof(type), "application/x-git-%s-result",
		 service->name);
	ret = http_reply_never_cache(&x->reply, err);
	if (!ret)
		ret = http_reply_header(&x->reply, "Content-Type", type, err);
	if (!ret)
		ret = service->run(x, s, false, err);
	/* If the service wrote no byte, send the headers now. */
	return ret < 0 ? ret : http_reply_begin(&x->reply, err);
}

int http_smart_serve(struct http_exchange *x, struct error *err)
{
	const struct service *service = services;
	struct stream s = {.reply = &x->reply};
	char type[64];
	int ret;

	while (service->route != x->url.route)
		service++;
	ret = check_enabled(x, service, err);
	snprintf(type, sizeof(type), "application/x-git-%s-request",
		 service->name);
	if (ret > 0)
		ret = check_type(x, type, err);
	if (ret <= 0)
		return ret;
	buf_init(&s.held);
	ret = take_body(x, &s, err);
	if (ret > 0)
		ret = answer(x, service, &s, err);
	http_body_close(s.body);
	buf_release(&s.held);
	return ret;
}
