/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for prepared/kept-deltas.c. Any bytes are read as a file of kept
 * deltas (deltas stored beside a pack). Each row with a right CRC must lie
 * within the file. If the file passes its check, all rows can be found, and can
 * be written again.
 */
#include "base/mem.h"
#include "object/hash.h"
#include "prepared/kept-deltas.h"
#include "t/fuzz/fuzz.h"

static void write_again(const struct kept_deltas *k)
{
	struct kept_delta *rows = mem_calloc(k->nr, sizeof(*rows));
	struct kept_deltas again;
	struct buf file = BUF_INIT;

	if (!rows && k->nr)
		abort();
	for (uint32_t i = 0; i < k->nr; i++) {
		uint32_t row;

		require(!kept_deltas_get(&rows[i], k, i, NULL));
		require(kept_deltas_find(k, rows[i].target.bytes, &row));
		require(row <= i);
	}
	if (kept_deltas_write(&file, k->algo, rows, k->nr) < 0)
		abort();
	require(!kept_deltas_parse(&again, file.data, file.len, k->algo, "file",
				   NULL));
	require(again.nr == k->nr && !kept_deltas_check(&again, NULL));
	kept_deltas_close(&again);
	buf_release(&file);
	free(rows);
}

static void use(const char *bytes, size_t len, enum hash_algo algo)
{
	struct kept_deltas k;
	struct kept_delta row;

	if (kept_deltas_parse(&k, bytes, len, algo, "file", NULL) < 0)
		return;
	for (uint32_t i = 0; i < k.nr; i++)
		if (!kept_deltas_get(&row, &k, i, NULL))
			require(row.stream >= k.bytes &&
				row.stream + row.len <= k.bytes + len);
	if (!kept_deltas_check(&k, NULL))
		write_again(&k);
	kept_deltas_close(&k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf file = BUF_INIT;

	fuzz_exactly(data, len, use);
	if (buf_append(&file, data, len) < 0 ||
	    hash_append_trailer(&file, 0, HASH_SHA1, NULL) < 0)
		abort();
	use(file.data, file.len, HASH_SHA1);
	buf_release(&file);
	return 0;
}
