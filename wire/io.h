/* SPDX-License-Identifier: MIT */
/*
 * The input and output of a protocol: file descriptors in a command, memory in
 * a test. The state machines of the protocols read and write their bytes only
 * through this struct.
 */
#ifndef WIRE_IO_H
#define WIRE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/error.h"
#include "sys/io.h"

struct summary;

/*
 * Bytes that stay valid until the whole answer has been sent: see
 * serve_io.emit(). The output adds the headers of packets and of HTTP chunks,
 * as packet_max, `band` and is_chunked say.
 */
struct serve_span {
	const uint8_t *bytes; /* borrowed */
	size_t len;           /* > 0 */
	/*
	 * maximum bytes of one side-band packet without its header; 0: the
	 * bytes are sent without packets
	 */
	uint32_t packet_max;
	uint8_t band;
	/* true: the packets are sent in HTTP/1.1 chunks of their own */
	bool is_chunked;
};

struct serve_io {
	/*
	 * Read up to `len` (> 0) bytes; waits for the first byte. Returns the
	 * number of bytes read, 0 at the end of the input, or a negative error
	 * code.
	 */
	ssize_t (*read)(void *ctx, void *bytes, size_t len, struct error *err);
	/*
	 * Write all bytes of `nr` spans, in order. The function may change the
	 * array. The bytes are borrowed for the call. Returns 0 or a negative
	 * error code.
	 */
	int (*writev)(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err);
	void *ctx;
	/*
	 * Write the last bytes of the answer like writev(). Then write the end
	 * of the answer in the underlying protocol, such as HTTP's last chunk.
	 * May be NULL: then callers use writev().
	 */
	int (*writev_last)(void *ctx, struct iovec *iov, size_t nr,
			   struct error *err);
	/*
	 * Write `len` bytes at `head`, then the bytes of the file that `span`
	 * describes. May be NULL: then callers use writev() instead. Returns 0
	 * or a negative error code.
	 */
	int (*send_file)(void *ctx, const void *head, size_t len,
			 const struct sys_file_span *span, struct error *err);
	/*
	 * Write a span that may still be unsent when the function returns. May
	 * be NULL: then callers use writev() instead.
	 *
	 * The bytes must stay mapped and unchanged until the answer is over:
	 * its last byte is sent, or the peer is lost. Only the owner of the
	 * serve_io can guarantee this. In the daemon, the owner pins a snapshot
	 * of the repository for the answer, and marks the packs of the snapshot
	 * (`is_pinned` in pack/pack.h). Everything else is written with
	 * writev(), which copies the bytes or waits for the peer. Examples are
	 * the files of prepared answers and bitmaps, which a request opens for
	 * itself, and packs that a reader finds after the snapshot was made.
	 *
	 * The order with writev() is kept. Returns 0 or a negative error code.
	 */
	int (*emit)(void *ctx, const struct serve_span *span,
		    struct error *err);
	/*
	 * Called when a request has ended. NULL: there is no need for this
	 * call, because writev() sends all bytes before it returns.
	 *
	 * If the request has succeeded and bytes of the answer are still
	 * unsent, the function moves the content of *summary to the owner of
	 * the serve_io, and returns true. The caller's *summary is then
	 * switched off and measures nothing. The owner calls summary_end() when
	 * the bytes are sent or lost.
	 *
	 * Otherwise, the function returns false. Until then,
	 * summary->tap.bytes_sent counts all bytes that were written. Before
	 * the function returns false, it subtracts from this counter the bytes
	 * that have not reached the peer.
	 */
	bool (*end_later)(void *ctx, struct summary *summary, bool has_failed);
};

#endif
