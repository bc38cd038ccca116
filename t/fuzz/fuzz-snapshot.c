/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for packs/snapshot.c: any bytes are parsed as a file with the
 * tips of refs, one id on each line.
 */
#include "packs/snapshot.h"
#include "t/fuzz/fuzz.h"

static void check(const char *bytes, size_t len, enum hash_algo algo)
{
	struct snapshot snapshot = {0};
	int ret;

	ret = snapshot_parse(&snapshot, bytes, len, algo, NULL);
	require(ret == 0 || ret == ERR_INVALID);
	require(snapshot.nr <= len / hash_hex_len(algo));
	snapshot_release(&snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_exactly(data, len, check);
	return 0;
}
