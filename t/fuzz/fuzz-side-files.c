/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for side bundles: files that have the content of all small files
 * of a repository in a store. If a bundle can be parsed, each of its parts must
 * be found, and must lie inside of the input.
 */
#include "stored/side.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct stored_side side;
	uint64_t sum = 0;

	if (stored_side_parse(&side, bytes, len, NULL) < 0) {
		require(!side.parts && !side.nr);
		return 0;
	}
	for (size_t i = 0; i < side.nr; i++) {
		const struct stored_side_part *part = &side.parts[i];

		require(stored_side_find(&side, part->sha256) == part);
		require(part->bytes >= bytes && part->size <= len);
		require(part->bytes + part->size <= bytes + len);
		sum += part->size;
	}
	require(sum <= len);
	stored_side_verify(&side, NULL);
	stored_side_release(&side);
	return 0;
}
