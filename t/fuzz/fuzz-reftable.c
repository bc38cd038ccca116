/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for reftable/: any bytes are opened as a table. The checksum of
 * the footer is corrected first. Otherwise almost all inputs would be refused
 * for a wrong checksum.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "reftable/stack.h"
#include "reftable/table.h"
#include "t/fuzz/fuzz.h"

/*
 * Copy the header of a reftable to the start of its footer, and set the
 * footer's checksum.
 */
static void repair(uint8_t *bytes, size_t len)
{
	size_t header, footer;

	if (len < 5)
		return;
	header = reftable_header_len(bytes[4]);
	footer = reftable_footer_len(bytes[4]);
	if (len < header + footer)
		return;
	memcpy(bytes + len - footer, bytes, header);
	store_be32(bytes + len - 4,
		   (uint32_t)crc32(0, bytes + len - footer, (uInt)footer - 4));
}

static void look(struct reftable *table, enum reftable_block_type type)
{
	static const char *const keys[] = {"", "HEAD", "refs/heads/main",
					   "refs/tags/", "~"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct reftable_iter *it;
		struct reftable_merged m;
		struct reftable *tables[] = {table, table};

		if (reftable_merged_init(&m, tables, 2, i % 2, NULL) < 0)
			abort();
		if (!reftable_merged_seek(&m, type, keys[i], strlen(keys[i]),
					  NULL))
			while (reftable_merged_next(&m, &it, NULL) > 0)
				;
		reftable_merged_release(&m);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	enum hash_algo algo = len > 4 && data[4] == 2 ? HASH_SHA256 : HASH_SHA1;
	uint8_t *bytes = malloc(len + 1);
	struct reftable *table;

	if (!bytes)
		return 0;
	memcpy(bytes, data, len);
	repair(bytes, len);
	if (!reftable_parse(&table, bytes, len, algo, "fuzz", NULL)) {
		look(table, REFTABLE_REFS);
		look(table, REFTABLE_LOGS);
		reftable_verify(table, NULL, NULL);
		reftable_close(table);
	}
	free(bytes);
	return 0;
}
