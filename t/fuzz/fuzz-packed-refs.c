/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for refs/packed-refs.c: any bytes are read as a packed-refs file.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "refs/packed-refs.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const keys[] = {"", "refs/heads/main", "refs/tags/",
					   "~"};
	struct packed_refs refs;
	struct packed_ref ref;
	size_t off = 0;

	if (packed_refs_parse(&refs, data, len, HASH_SHA1, "fuzz", NULL) < 0)
		return 0;
	while (packed_refs_next(&refs, &off, &ref, NULL) > 0)
		;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		packed_refs_seek(&refs, keys[i], strlen(keys[i]), &off, NULL);
		packed_refs_find(&refs, keys[i], &ref, NULL);
		for (size_t hint = 0; hint < len; hint += 1 + len / 3) {
			off = 0;
			packed_refs_seek_on(&refs, keys[i], strlen(keys[i]),
					    hint, &off, NULL);
		}
	}
	packed_refs_release(&refs);
	return 0;
}
