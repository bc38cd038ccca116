/* SPDX-License-Identifier: MIT */
/* A connection over two descriptors: standard input and output of a command. */
#ifndef WIRE_FDIO_H
#define WIRE_FDIO_H

#include <stdbool.h>

#include "wire/io.h"

struct fdio {
	int in, out; /* borrowed */
	/*
	 * Seconds that the peer may let us wait before the process is ended
	 * (git upload-pack --timeout); 0: for ever. In that time it takes
	 * 64 KiB, or gives as many or all that it has to say before the next
	 * answer: a few bytes now and then do not do.
	 */
	unsigned timeout;
	bool is_wide;       /* `out` was given room for much data */
	uint64_t heard;     /* bytes of these 64 KiB, */
	uint64_t waited_ns; /*   and what we have waited for them */
};

/* The input and output interface; borrows f. */
struct serve_io fdio_io(struct fdio *f);

#endif
