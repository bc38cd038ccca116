/* SPDX-License-Identifier: MIT */
/* Reading from and writing to descriptors, with a limit on silence. */
#include "serve/fdio.h"
#include "sys/alarm.h"
#include "sys/io.h"

static ssize_t fd_read(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct fdio *f = ctx;
	ssize_t n;

	if (f->timeout)
		sys_alarm_set(f->timeout);
	n = sys_read_some(f->in, bytes, len, "the client", err);
	if (f->timeout)
		sys_alarm_set(0);
	return n;
}

/* One packet at a time: a slow peer is not a silent one. */
static int write_slowly(struct fdio *f, struct iovec *iov, size_t nr,
			struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i += 2) {
		sys_alarm_set(f->timeout);
		ret = sys_writev_all(f->out, iov + i, nr - i < 2 ? nr - i : 2,
				     "the client", err);
	}
	sys_alarm_set(0);
	return ret;
}

static int fd_writev(void *ctx, struct iovec *iov, size_t nr, struct error *err)
{
	struct fdio *f = ctx;

	if (f->timeout)
		return write_slowly(f, iov, nr, err);
	return sys_writev_all(f->out, iov, nr, "the client", err);
}

/*
 * With room for a few packets the reader is not woken for every one of them,
 * and a header does not wait for it.
 */
#define WIDE (1 << 20)

static int fd_send_file(void *ctx, const void *head, size_t len,
			const struct sys_file_span *span, struct error *err)
{
	struct fdio *f = ctx;
	int ret;

	if (!f->is_wide)
		sys_pipe_widen(f->out, WIDE);
	f->is_wide = true;
	if (f->timeout)
		sys_alarm_set(f->timeout);
	ret = sys_write_all(f->out, head, len, "the client", err);
	if (!ret)
		ret = sys_send_file(f->out, span, "the client", err);
	if (f->timeout)
		sys_alarm_set(0);
	return ret;
}

struct serve_io fdio_io(struct fdio *f)
{
	return (struct serve_io){fd_read, fd_writev, f, fd_send_file};
}
