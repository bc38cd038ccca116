/* SPDX-License-Identifier: MIT */
/* The bytes of an answer on the way to the socket. */
#ifndef DAEMON_OUTPUT_H
#define DAEMON_OUTPUT_H

#include "daemon/outbox.h"
#include "daemon/stream.h"
#include "sys/thread.h"
#include "wire/io.h"

/*
 * The output of a request. Bytes go to the socket as long as the socket accepts
 * them. The rest waits in the outbox, at most OUTBOX_LITERAL_MAX bytes and
 * OUTBOX_ITEM_MAX items. A thread that adds more than that waits for the
 * client.
 */
struct daemon_output {
	struct daemon_stream *stream; /* borrowed */
	struct sys_patience patience;
	struct outbox box;
	/*
	 * Set when the client is lost; the outbox is then emptied. Read by all
	 * threads.
	 */
	atomic_bool has_failed;
	/* number of unsent bytes in the outbox when the client was lost */
	uint64_t lost;
};

/*
 * These functions are the callbacks writev() and emit() of a struct serve_io
 * (wire/io.h), and have the same results. Both may wait for the client.
 */
int daemon_output_writev(struct daemon_output *out, struct iovec *iov,
			 size_t nr, struct error *err);
int daemon_output_emit(struct daemon_output *out, const struct serve_span *span,
		       struct error *err);

/*
 * Sends the whole outbox. Waits for the client. Returns 0, or ERR_PEER if the
 * client is lost.
 */
int daemon_output_flush(struct daemon_output *out, struct error *err);

/*
 * Sends up to about a megabyte of the outbox, with one system call. Sets
 * *is_full if the socket takes no more bytes now. Returns the number of bytes,
 * which may be 0, or ERR_PEER if the client is lost.
 */
ssize_t daemon_output_send(struct daemon_output *out, bool *is_full,
			   struct error *err);

#endif
