/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for refs/refs-loose.c: any bytes are parsed as the file of a ref.
 */
#include "object/refs-name.h"
#include "refs/refs-loose.h"
#include "t/fuzz/fuzz.h"

static void check(const char *bytes, size_t len, enum hash_algo algo)
{
	struct refs_loose ref = {0};
	struct oid oid;

	require(refs_loose_parse(&ref, bytes, len, algo) == 0);
	/* The parsed id or name must be found in the input. */
	if (ref.kind == REFS_LOOSE_OID)
		require(oid_from_hex(&oid, bytes, len, algo) &&
			oid_equal(&oid, &ref.oid));
	if (ref.kind == REFS_LOOSE_SYMBOLIC && !ref.leads_nowhere)
		require(refs_name_is_valid_len(ref.target, strlen(ref.target),
					       true) &&
			strlen(ref.target) < len);
	refs_loose_release(&ref);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_exactly(data, len, check);
	return 0;
}
