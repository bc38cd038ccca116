/* SPDX-License-Identifier: MIT */
/* repack/snapshot.c: any bytes as a list of tips. */
#include "repack/snapshot.h"
#include "t/fuzz/fuzz.h"

static void check(const void *bytes, size_t len, enum hash_algo algo)
{
	struct snapshot snapshot = {0};

	require(snapshot_parse(&snapshot, bytes, len, algo) == 0);
	require(snapshot.nr <= len / hash_hex_len(algo));
	snapshot_release(&snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* Of exactly that size, so that a byte too far is noticed. */
	uint8_t *bytes = malloc(len ? len : 1);

	if (!bytes)
		return 0;
	if (len)
		memcpy(bytes, data, len);
	check(bytes, len, HASH_SHA1);
	check(bytes, len, HASH_SHA256);
	free(bytes);
	return 0;
}
