/* SPDX-License-Identifier: MIT */
/*
 * Serves one connection of a client that fetches, from the advertisement to the
 * end.
 */
#include <string.h>

#include "serve/protocol.h"
#include "serve/session.h"
#include "serve/upload-pack.h"
#include "wire/sideband.h"

int serve_protocol_version(const char *git_protocol)
{
	static const char key[] = "version=";
	int version = 0;

	while (git_protocol && *git_protocol) {
		size_t len = strcspn(git_protocol, ":");
		int digit = git_protocol[len - (len > 0)] - '0';

		if (len == sizeof(key) && !memcmp(git_protocol, key, len - 1) &&
		    digit >= 0 && digit <= 2 && digit > version)
			version = digit;
		git_protocol += len;
		git_protocol += *git_protocol == ':';
	}
	return version;
}

static bool says_hello(const struct session *s)
{
	return s->options->advertise_only || !s->options->stateless_rpc;
}

static int say_hello(struct session *s,
		     int (*advertise)(struct session *s, struct error *err),
		     struct error *err)
{
	int ret;

	session_begin(s, "advertise");
	ret = advertise(s, err);
	if (!ret)
		ret = session_send(s, err);
	if (!ret)
		session_end(s, NULL);
	return ret;
}

static int serve_v0(struct session *s, struct error *err)
{
	int ret = serve_config_load_limit(&s->config, s->options->repo, err);

	if (!ret && says_hello(s))
		ret = say_hello(s, advertise_refs, err);
	if (!ret && !s->options->advertise_only)
		ret = upload_pack_v0_serve(s, err);
	return ret;
}

static int serve_v2(struct session *s, struct error *err)
{
	int ret = 0;

	if (says_hello(s))
		ret = say_hello(s, advertise_v2, err);
	if (ret < 0 || s->options->advertise_only)
		return ret;
	do
		ret = v2_serve(s, err);
	while (ret > 0 && !s->options->stateless_rpc);
	return ret < 0 ? ret : 0;
}

/*
 * Sends the error message of a bad request, if the client can still receive it.
 * The message is the end of the answer. If the answer had no end, an HTTP
 * client would report a broken connection.
 */
static void tell_client(struct session *s, const struct error *err)
{
	const char *text = err->msg;

	if (!s->in.bytes || s->in.ended || s->out.failed || s->in_pack)
		return;
	if (!strncmp(text, "git upload-pack: ", 17))
		text += 4;
	/* With sideband-all, send the error on band 3. */
	if (s->out.band)
		s->out.band = SIDEBAND_ERROR;
	if (!pktline_printf(&s->out, NULL, "%s%s", s->out.band ? "" : "ERR ",
			    text))
		pktline_send_last(&s->out, NULL);
}

void serve_trace_version(struct trace *trace, int version)
{
	const char text[] = {(char)('0' + version), '\0'};

	trace_data(trace, "transfer", "negotiated-version", text);
}

int serve_upload_pack(const struct serve_options *options,
		      const struct serve_io *io, struct error *err)
{
	struct error own = ERROR_INIT;
	struct session s;
	int ret = session_init(&s, options, io, &own);

	serve_trace_version(options->repo->trace, options->version);
	if (!ret)
		ret = options->version == 2 ? serve_v2(&s, &own)
					    : serve_v0(&s, &own);
	if (ret == ERR_PEER)
		tell_client(&s, &own);
	if (ret < 0)
		session_end(&s, &own);
	if (ret < 0 && own.code)
		trace_error(options->repo->trace, own.msg);
	if (ret < 0 && err)
		*err = own;
	session_release(&s);
	return ret;
}
