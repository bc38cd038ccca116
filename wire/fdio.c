/* SPDX-License-Identifier: MIT */
/* Reads from and writes to file descriptors. Each wait has a time limit. */
#include "sys/clock.h"
#include "sys/io.h"
#include "wire/fdio.h"

#define SECOND_NS UINT64_C(1000000000)

/*
 * The timeout starts again after each piece of this many bytes (64 KiB, one
 * large packet). So a slow peer is not cut off as long as each piece is done
 * within the timeout. A larger write, such as a whole pack without side-band,
 * is split into pieces.
 */
#define PIECE (1 << 16)

static void start_clock(const struct fdio *f)
{
	sys_alarm_set(f->timeout * SECOND_NS);
}

/*
 * Start a new 64 KiB piece of input: set the number of bytes read and the time
 * spent waiting to 0.
 */
static void forget_wait(struct fdio *f)
{
	f->heard = f->waited_ns = 0;
}

/*
 * Read, and fail after the timeout. Only the time inside read() counts, and
 * not the time that the server works between two reads. Returns the number of
 * bytes read, 0 at the end of the input, or a negative error code.
 */
static ssize_t read_in_time(struct fdio *f, void *bytes, size_t len,
			    struct error *err)
{
	uint64_t limit = f->timeout * SECOND_NS, start = sys_clock_ns();
	ssize_t n;

	sys_alarm_set(f->waited_ns < limit ? limit - f->waited_ns : 1);
	n = sys_read_some(f->in, bytes, len, "the client", err);
	sys_alarm_set(0);
	f->waited_ns += sys_clock_ns() - start;
	f->heard += n > 0 ? (uint64_t)n : 0;
	if (f->heard >= PIECE)
		forget_wait(f);
	return n;
}

static ssize_t fd_read(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct fdio *f = ctx;

	return f->timeout ? read_in_time(f, bytes, len, err)
			  : sys_read_some(f->in, bytes, len, "the client", err);
}

static int write_pieces(struct fdio *f, const struct iovec *iov,
			struct error *err)
{
	const uint8_t *bytes = iov->iov_base;
	size_t left = iov->iov_len;
	int ret = 0;

	while (!ret && left) {
		size_t len = left < PIECE ? left : PIECE;

		start_clock(f);
		ret = sys_write_all(f->out, bytes, len, "the client", err);
		bytes += len;
		left -= len;
	}
	return ret;
}

/*
 * Write under the timeout, two spans at a time: the header and the data of one
 * packet. Returns 0 or a negative error code.
 */
static int write_slowly(struct fdio *f, struct iovec *iov, size_t nr,
			struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i += 2) {
		bool is_pair = i + 1 < nr;

		if (iov[i].iov_len > PIECE ||
		    (is_pair && iov[i + 1].iov_len > PIECE)) {
			ret = write_pieces(f, &iov[i], err);
			if (!ret && is_pair)
				ret = write_pieces(f, &iov[i + 1], err);
			continue;
		}
		start_clock(f);
		ret = sys_writev_all(f->out, iov + i, is_pair ? 2 : 1,
				     "the client", err);
	}
	sys_alarm_set(0);
	return ret;
}

static int send_slowly(struct fdio *f, const struct sys_file_span *span,
		       struct error *err)
{
	struct sys_file_span piece = *span;
	size_t left = span->len;
	int ret = 0;

	while (!ret && left) {
		piece.len = left < PIECE ? left : PIECE;
		start_clock(f);
		ret = sys_send_file(f->out, &piece, "the client", err);
		piece.bytes += piece.len;
		piece.off += piece.len;
		left -= piece.len;
	}
	return ret;
}

static int fd_writev(void *ctx, struct iovec *iov, size_t nr, struct error *err)
{
	struct fdio *f = ctx;

	forget_wait(f);
	if (f->timeout)
		return write_slowly(f, iov, nr, err);
	return sys_writev_all(f->out, iov, nr, "the client", err);
}

/*
 * Requested capacity of the output pipe, in bytes. Many packets fit, so the
 * peer does not have to wake up for each packet. fd_send_file() writes the
 * header of a packet, and then the span of a file that is its content. With
 * room for many packets, the server seldom waits for the peer before it can
 * write the header.
 */
#define WIDE (1 << 20)

static int fd_send_file(void *ctx, const void *head, size_t len,
			const struct sys_file_span *span, struct error *err)
{
	struct fdio *f = ctx;
	int ret;

	forget_wait(f);
	if (!f->is_wide)
		sys_pipe_widen(f->out, WIDE);
	f->is_wide = true;
	if (f->timeout)
		start_clock(f);
	ret = sys_write_all(f->out, head, len, "the client", err);
	if (!ret)
		ret = f->timeout
			      ? send_slowly(f, span, err)
			      : sys_send_file(f->out, span, "the client", err);
	if (f->timeout)
		sys_alarm_set(0);
	return ret;
}

struct serve_io fdio_io(struct fdio *f)
{
	return (struct serve_io){
		.read = fd_read,
		.writev = fd_writev,
		.ctx = f,
		.send_file = fd_send_file,
	};
}
