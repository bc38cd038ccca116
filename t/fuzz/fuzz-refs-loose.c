/* SPDX-License-Identifier: MIT */
/* repo/refs-loose.c: any bytes as the file of a ref. */
#include "repo/refs-loose.h"
#include "object/refs-name.h"
#include "t/fuzz/fuzz.h"

static void check(const char *bytes, size_t len, enum hash_algo algo)
{
	struct refs_loose ref = {0};
	struct oid oid;

	require(refs_loose_parse(&ref, bytes, len, algo) == 0);
	/* An id or a name that it has stands there. */
	if (ref.kind == REFS_LOOSE_OID)
		require(oid_from_hex(&oid, bytes, len, algo) &&
			oid_equal(&oid, &ref.oid));
	if (ref.kind == REFS_LOOSE_SYMBOLIC)
		require(refs_name_is_valid_len(ref.target, strlen(ref.target),
					       true) &&
			strlen(ref.target) < len);
	refs_loose_release(&ref);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* Of exactly that size, so that a byte too far is noticed. */
	char *bytes = malloc(len ? len : 1);

	if (!bytes)
		return 0;
	if (len)
		memcpy(bytes, data, len);
	check(bytes, len, HASH_SHA1);
	check(bytes, len, HASH_SHA256);
	free(bytes);
	return 0;
}
