/* SPDX-License-Identifier: MIT */
/*
 * Where a protocol's bytes come from and go to: descriptors in a command,
 * memory in a test. The state machines of this room know nothing else of the
 * outside.
 */
#ifndef WIRE_IO_H
#define WIRE_IO_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/error.h"
#include "sys/io.h"

struct serve_io {
	/*
	 * Read up to `len` (> 0) bytes, waiting for the first. Returns how
	 * many, 0 at the end of the input, or a negative error.
	 */
	ssize_t (*read)(void *ctx, void *bytes, size_t len, struct error *err);
	/*
	 * Write all bytes of `nr` spans, in order; the array is used up as
	 * scratch, the spans are valid during the call. 0 or negative.
	 */
	int (*writev)(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err);
	void *ctx;
	/*
	 * Write `len` bytes at `head`, then those of a file. 0 or negative.
	 * NULL: writev() does it as well.
	 */
	int (*send_file)(void *ctx, const void *head, size_t len,
			 const struct sys_file_span *span, struct error *err);
};

#endif
