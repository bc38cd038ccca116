/* SPDX-License-Identifier: MIT */
/*
 * The input and output of a protocol: file descriptors in a command, memory in
 * a test. The state machines of the protocols read and write their bytes only
 * through this struct.
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
	 * Write `len` bytes at `head`, then the bytes of the file that `span`
	 * describes. May be NULL: then callers use writev() instead. Returns 0
	 * or a negative error code.
	 */
	int (*send_file)(void *ctx, const void *head, size_t len,
			 const struct sys_file_span *span, struct error *err);
};

#endif
