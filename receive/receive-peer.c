/* SPDX-License-Identifier: MIT */
/* Connects to the client of a push, and sends messages to the client. */
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "receive/receive.h"

/*
 * Write to the client. While refs change, a failed write does not stop the
 * push. Otherwise the hooks would not run for refs that have changed already.
 */
static int write_client(void *ctx, struct iovec *iov, size_t nr,
			struct error *err)
{
	struct receive_peer *peer = ctx;
	int ret;

	if (peer->gone.code)
		return 0;
	if (!peer->is_settling)
		return peer->client->writev(peer->client->ctx, iov, nr, err);
	ret = peer->client->writev(peer->client->ctx, iov, nr, &peer->gone);
	if (!ret)
		peer->gone = (struct error)ERROR_INIT;
	return 0;
}

int receive_peer_init(struct receive_peer *peer,
		      const struct receive_options *options,
		      const struct serve_io *io, struct error *err)
{
	*peer = (struct receive_peer){
		.tell = options->tell,
		.tell_ctx = options->tell_ctx,
		.client = io,
	};
	peer->io = (struct serve_io){.writev = write_client, .ctx = peer};
	pktline_writer_init(&peer->out, &peer->io);
	sideband_init(&peer->band, &peer->out, SIDEBAND_NONE);
	if (pktline_reader_init(&peer->in, io) < 0)
		return error_nomem(err);
	return 0;
}

void receive_peer_release(struct receive_peer *peer)
{
	sideband_release(&peer->band);
	pktline_reader_release(&peer->in);
	pktline_writer_release(&peer->out);
}

bool receive_peer_has_band(const struct receive_peer *peer)
{
	return peer->band.mode != SIDEBAND_NONE;
}

int receive_peer_tell_text(struct receive_peer *peer, const char *text,
			   size_t len, struct error *err)
{
	if (peer->band.mode != SIDEBAND_NONE)
		return sideband_put(&peer->band, SIDEBAND_PROGRESS, text, len,
				    err);
	if (peer->tell)
		peer->tell(peer->tell_ctx, text, len);
	return 0;
}

void receive_peer_tell(struct receive_peer *peer, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	if (!buf_vprintf(&text, fmt, ap))
		receive_peer_tell_text(peer, text.data, text.len, NULL);
	va_end(ap);
	buf_release(&text);
}

/*
 * Send a keep-alive packet to the client. An error of the sending is ignored,
 * because the next message fails in the same way.
 */
static void keep_alive(void *ctx)
{
	struct receive_peer *peer = ctx;

	sideband_keep_alive(&peer->band, NULL);
}

int receive_peer_start_ticker(struct sys_ticker **ticker,
			      struct receive_peer *peer, uint64_t seconds,
			      struct error *err)
{
	if (!seconds || !receive_peer_has_band(peer))
		return 0;
	return sys_ticker_start(ticker, seconds, keep_alive, peer, err);
}

/*
 * Returns the end of a path that starts at `p`; `before` is the character
 * before the path. If `before` is a quote, the path ends at the next quote of
 * the same kind. After another character, the path ends at a colon or at the
 * end of the line; the result may then include text after the path.
 */
static const char *path_end(const char *p, char before)
{
	const char *end = NULL;

	if (before == '\'' || before == '"')
		end = strchr(p, before);
	return end ? end : p + strcspn(p, ":\n");
}

void receive_hide_paths(char *msg)
{
	const char *p = msg;
	char *out = msg, before = ' ';

	while (*p) {
		if (*p == '/' && strchr(" '\"(", before)) {
			const char *end = path_end(p, before);

			while (end[-1] != '/')
				end--;
			p = end;
		}
		if (*p)
			before = *out++ = *p++;
	}
	*out = '\0';
}

void receive_peer_tell_failure(struct receive_peer *peer, int code,
			       const char *msg)
{
	struct buf text = BUF_INIT;

	if (code == ERR_IO && !peer->failure.code)
		error_set(&peer->failure, code, "%s", msg);
	if (buf_printf(&text, "error: %s\n", msg) < 0)
		goto out;
	if (code == ERR_IO && peer->band.mode != SIDEBAND_NONE && peer->tell)
		peer->tell(peer->tell_ctx, text.data, text.len);
	if (peer->band.mode != SIDEBAND_NONE)
		receive_hide_paths(text.data);
	receive_peer_tell_text(peer, text.data, strlen(text.data), NULL);
out:
	buf_release(&text);
}

void receive_peer_tell_end(struct receive_peer *peer, const char *msg)
{
	if (!peer->in.bytes || peer->in.ended || peer->out.failed)
		return;
	if (peer->band.mode != SIDEBAND_NONE)
		sideband_put(&peer->band, SIDEBAND_ERROR, msg, strlen(msg),
			     NULL);
	else if (!pktline_printf(&peer->out, NULL, "ERR %s", msg))
		pktline_send(&peer->out, NULL);
}
