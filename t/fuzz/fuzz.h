/* SPDX-License-Identifier: MIT */
/*
 * What fuzz targets share: their entry, a check that fails them, and input that
 * comes in pieces.
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

/* 0. What is wrong with what is tested aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static inline void require(bool ok)
{
	if (!ok)
		abort();
}

/*
 * Check input for either hash function, in memory of exactly its size, so that
 * a byte too far is noticed.
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
	/* at most so many bytes at once; 0: any number */
	size_t piece;
};

/* The next bytes of a struct fuzz_input, as read functions give them. */
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
