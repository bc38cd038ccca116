/* SPDX-License-Identifier: MIT */
/* An answer on its way to the socket. */
#include "daemon/output.h"
#include "daemon/outbox.h"
#include "daemon/stream.h"

/* Gives up the output, because the client is lost. Returns ERR_PEER. */
static int fail(struct daemon_output *out)
{
	out->lost = outbox_unsent(&out->box);
	outbox_release(&out->box);
	atomic_store(&out->has_failed, true);
	return ERR_PEER;
}

/*
 * Writes the bytes that the socket accepts now, without waiting. Returns their
 * number, which may be 0, or ERR_PEER if the client is lost.
 */
static ssize_t try_writev(struct daemon_output *out, const struct iovec *iov,
			  size_t nr, struct error *err)
{
	ssize_t n = daemon_stream_try_writev(out->stream, iov, nr);

	if (n < 0) {
		error_set(err, ERR_PEER, "lost the connection to the client");
		return fail(out);
	}
	sys_patience_count(&out->patience, (size_t)n);
	return n;
}

static size_t total(const struct iovec *iov, size_t nr)
{
	size_t len = 0;

	for (size_t i = 0; i < nr; i++)
		len += iov[i].iov_len;
	return len;
}

ssize_t daemon_output_send(struct daemon_output *out, bool *is_full,
			   struct error *err)
{
	struct outbox_block block;
	ssize_t n;

	outbox_peek(&block, &out->box);
	n = try_writev(out, block.iov, block.nr, err);
	/*
	 * With TLS, a short write does not mean that the socket is full: one
	 * call sends at most one TLS record.
	 */
	*is_full = !n || (!daemon_stream_is_tls(out->stream) && n > 0 &&
			  (size_t)n < total(block.iov, block.nr));
	if (n > 0)
		outbox_drop(&out->box, (size_t)n);
	return n;
}

/*
 * Sends until the outbox is empty or the socket is full. Returns 0 or ERR_PEER.
 */
static int send_ready(struct daemon_output *out, struct error *err)
{
	bool is_full = false;
	ssize_t n = 0;

	while (n >= 0 && !is_full && !outbox_is_empty(&out->box))
		n = daemon_output_send(out, &is_full, err);
	return n < 0 ? (int)n : 0;
}

static int wait(struct daemon_output *out, struct error *err)
{
	return daemon_stream_wait_writable(out->stream, &out->patience, err) < 0
		       ? fail(out)
		       : 0;
}

int daemon_output_flush(struct daemon_output *out, struct error *err)
{
	int ret = 0;

	while (!ret && !outbox_is_empty(&out->box)) {
		ret = wait(out, err);
		if (!ret)
			ret = send_ready(out, err);
	}
	return ret;
}

/* Prepares to write. Returns 0, or ERR_PEER if the client was lost before. */
static int begin(struct daemon_output *out, struct error *err)
{
	/*
	 * The time limit starts again with each write. Earlier waits for the
	 * client's input do not count.
	 */
	out->patience.waited_ns = out->patience.moved = 0;
	return atomic_load(&out->has_failed)
		       ? error_set(err, ERR_PEER,
				   "the connection to the client was lost "
				   "earlier")
		       : send_ready(out, err);
}

static int keep(struct daemon_output *out, const struct iovec *iov, size_t nr,
		struct error *err)
{
	for (size_t i = 0; i < nr; i++)
		if (outbox_add_literal(&out->box, iov[i].iov_base,
				       iov[i].iov_len) < 0)
			return error_nomem(err);
	return 0;
}

int daemon_output_writev(struct daemon_output *out, struct iovec *iov,
			 size_t nr, struct error *err)
{
	int ret = begin(out, err);

	sys_spans_skip(&iov, &nr, 0);
	while (!ret && nr) {
		ssize_t n = 0;

		if (outbox_is_empty(&out->box))
			n = try_writev(out, iov, nr, err);
		if (n < 0)
			return (int)n;
		sys_spans_skip(&iov, &nr, (size_t)n);
		if (n)
			continue;
		if (outbox_has_room(&out->box, total(iov, nr)))
			return keep(out, iov, nr, err);
		ret = wait(out, err);
		if (!ret)
			ret = send_ready(out, err);
	}
	return ret;
}

int daemon_output_emit(struct daemon_output *out, const struct serve_span *span,
		       struct error *err)
{
	int ret = begin(out, err);

	while (!ret && outbox_is_full(&out->box)) {
		ret = wait(out, err);
		if (!ret)
			ret = send_ready(out, err);
	}
	if (!ret && outbox_add_span(&out->box, span) < 0)
		ret = error_nomem(err);
	return ret ? ret : send_ready(out, err);
}
