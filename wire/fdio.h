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
	 * Seconds that the server waits for the peer before the process ends
	 * (git upload-pack --timeout); 0: no limit. Within this time the peer
	 * must accept 64 KiB, send 64 KiB, or finish its message. So a peer
	 * that only sends a few bytes now and then is also disconnected.
	 */
	unsigned timeout;
	/* whether the capacity of the output pipe was enlarged */
	bool is_wide;
	/*
	 * number of bytes read so far of the current piece of 64 KiB; see
	 * `timeout`
	 */
	uint64_t heard;
	/* nanoseconds spent waiting for the `heard` bytes */
	uint64_t waited_ns;
};

/* Returns functions that read from and write to the descriptors. Borrows f. */
struct serve_io fdio_io(struct fdio *f);

#endif
