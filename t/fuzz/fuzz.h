/* SPDX-License-Identifier: MIT */
/*
 * Common code of fuzz targets: their main function, a check that aborts, and
 * input that arrives in pieces.
 */
#ifndef T_FUZZ_FUZZ_H
#define T_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/error.h"
#include "object/oid.h"

/*
 * The function that each fuzz target defines. It runs the target on one input.
 * Returns 0. Aborts if the tested code is wrong.
 */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static inline void require(bool ok)
{
	if (!ok)
		abort();
}

/*
 * Call `check` with the input, once for each hash function. The input is copied
 * to memory of exactly its size, so that a sanitizer sees each read past its
 * end.
 */
static inline void fuzz_exactly(const void *data, size_t len,
				void (*check)(const char *bytes, size_t len,
					      enum hash_algo algo))
{
	char *bytes = malloc(len ? len : 1);

	if (!bytes)
		return;
	if (len)
		memcpy(bytes, data, len);
	check(bytes, len, HASH_SHA1);
	check(bytes, len, HASH_SHA256);
	free(bytes);
}

struct fuzz_input {
	const uint8_t *p, *end;
	/* Maximum number of bytes for one read; 0: no limit. */
	size_t piece;
};

/*
 * Callback for functions that read from a peer. Copies the next bytes of the
 * struct fuzz_input `ctx` to `bytes`. Returns their number; 0: end of the
 * input.
 */
static inline ssize_t fuzz_input_read(void *ctx, void *bytes, size_t len,
				      struct error *err)
{
	struct fuzz_input *in = ctx;
	size_t left = (size_t)(in->end - in->p);

	(void)err;
	require(len > 0);
	if (in->piece && len > in->piece)
		len = in->piece;
	len = left < len ? left : len;
	if (len)
		memcpy(bytes, in->p, len);
	in->p += len;
	return (ssize_t)len;
}

#endif
