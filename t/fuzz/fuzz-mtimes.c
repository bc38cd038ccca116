/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for pack/mtimes.c: any bytes are opened as the .mtimes file of a
 * pack of three objects.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "pack/mtimes.h"
#include "t/fuzz/fuzz.h"

/*
 * Look up the times in an opened .mtimes file. If the file is valid, write a
 * file with the same times; its bytes must be the same.
 */
static void use(const struct pack_mtimes *m, const struct oid *checksum)
{
	struct buf again = BUF_INIT;
	uint32_t mtimes[3];

	for (uint32_t i = 0; i < 3; i++)
		mtimes[i] = pack_mtimes_get(m, i);
	if (pack_mtimes_write(&again, mtimes, 3, checksum, HASH_SHA1, NULL) < 0)
		abort();
	if (!pack_mtimes_verify(m, "mtimes", NULL) &&
	    (again.len != m->len || memcmp(again.data, m->bytes, m->len) != 0))
		abort();
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t ids[3][20] = {{1}, {2}, {3}};
	static const struct pack_idx_entry entries[3] = {
		{ids[0], 90, 0}, {ids[1], 12, 0}, {ids[2], 50, 0}};
	struct oid checksum = OID_ZERO_INIT;
	struct buf file = BUF_INIT;
	struct pack_mtimes mtimes;
	struct pack_idx idx;

	if (pack_idx_write(&file, entries, 3, &checksum, 2, HASH_SHA1, NULL) <
		    0 ||
	    pack_idx_parse(&idx, file.data, file.len, HASH_SHA1, "idx", NULL) <
		    0)
		abort();
	if (!pack_mtimes_parse(&mtimes, &idx, data, len, "mtimes", NULL))
		use(&mtimes, &checksum);
	pack_idx_release(&idx);
	buf_release(&file);
	return 0;
}
