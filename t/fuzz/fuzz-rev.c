/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for pack/rev.c: any bytes are opened as the .rev file of a pack
 * of three objects.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "pack/rev.h"
#include "t/fuzz/fuzz.h"

static void use(const struct pack_rev *rev)
{
	uint32_t *pack_pos = pack_rev_invert(rev);
	uint32_t found;

	if (!pack_pos)
		return;
	for (uint32_t i = 0; i < rev->idx->nr; i++) {
		if (pack_rev_idx_pos(rev, i) >= rev->idx->nr ||
		    pack_pos[i] >= rev->idx->nr)
			abort();
		if (pack_rev_find(rev, pack_rev_offset(rev, i), &found) &&
		    found >= rev->idx->nr)
			abort();
	}
	free(pack_pos);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t ids[3][20] = {{1}, {2}, {3}};
	static const struct pack_idx_entry entries[3] = {
		{ids[0], 90, 0}, {ids[1], 12, 0}, {ids[2], 50, 0}};
	struct oid checksum = OID_ZERO_INIT;
	struct buf file = BUF_INIT;
	struct pack_idx idx;
	struct pack_rev rev;

	if (pack_idx_write(&file, entries, 3, &checksum, 2, HASH_SHA1, NULL) <
		    0 ||
	    pack_idx_parse(&idx, file.data, file.len, HASH_SHA1, "idx", NULL) <
		    0)
		abort();
	if (!pack_rev_parse(&rev, &idx, 200, data, len, "rev", NULL)) {
		use(&rev);
		pack_rev_release(&rev);
	}
	pack_idx_release(&idx);
	buf_release(&file);
	return 0;
}
