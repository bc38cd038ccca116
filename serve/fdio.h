/* SPDX-License-Identifier: MIT */
/* A connection over two descriptors: standard input and output of a command. */
#ifndef SERVE_FDIO_H
#define SERVE_FDIO_H

#include <stdbool.h>

#include "serve/io.h"

struct fdio {
	int in, out; /* borrowed */
	/*
	 * Seconds a read, or the write of 64 KiB, may wait for the peer before
	 * the process is ended (git upload-pack --timeout); 0: for ever.
	 */
	unsigned timeout;
	bool is_wide; /* `out` was given room for much data */
};

/* The input and output interface; borrows f. */
struct serve_io fdio_io(struct fdio *f);

#endif
