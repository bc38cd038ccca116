/* SPDX-License-Identifier: MIT */
/* Fuzz target for repo/grafts.c: any bytes are read as the file info/grafts. */
#include "repo/grafts.h"
#include "t/fuzz/fuzz.h"

static int count(void *ctx, const struct oid *oid)
{
	size_t *left = ctx;

	(void)oid;
	require(*left > 0);
	--*left;
	return 0;
}

static void check(const char *bytes, size_t len, enum hash_algo algo)
{
	/*
	 * Maximum number of ids that fit into the file. An id takes its digits
	 * and one byte that separates the id from the next one.
	 */
	size_t most = (len + 1) / (hash_hex_len(algo) + 1);

	require(grafts_each(bytes, len, algo, count, &most) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_exactly(data, len, check);
	return 0;
}
