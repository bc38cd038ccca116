/* SPDX-License-Identifier: MIT */
/*
 * A connection over two file descriptors: the standard input and output of a
 * command.
 */
#ifndef WIRE_FDIO_H
#define WIRE_FDIO_H

#include <stdbool.h>

#include "wire/io.h"

struct fdio {
	int in, out; /* borrowed */
	/*
	 * Seconds that the server waits for the peer before the process is
	 * ended (git upload-pack --timeout); 0: no limit. Within this time the
	 * peer must accept 64 KiB, or send 64 KiB, or finish its message. A
	 * message ends where the server has to answer. A peer that sends a few
	 * bytes now and then is cut off, too.
	 */
	unsigned timeout;
	/* the pipe of `out` was enlarged */
	bool is_wide;
	/* bytes of the current 64 KiB that were read */
	uint64_t heard;
	/* time spent waiting for these bytes */
	uint64_t waited_ns;
};

/* The input and output interface; borrows f. */
struct serve_io fdio_io(struct fdio *f);

#endif
