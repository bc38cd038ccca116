/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for pack/idx.c: any bytes are opened as a pack index. If the
 * verification of the index succeeds, a look-up must find every id. If it
 * fails, look-ups must still not read outside of the bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pack/idx.h"
#include "pack/rev.h"
#include "t/fuzz/fuzz.h"

static void look_up(const struct pack_idx *idx, uint32_t idx_pos, bool sound)
{
	const uint8_t *raw = pack_idx_oid(idx, idx_pos);
	uint32_t found, first, last;
	struct oid oid;

	pack_idx_offset(idx, idx_pos);
	pack_idx_crc(idx, idx_pos);
	if (pack_idx_find(idx, raw, &found)) {
		/*
		 * If the index has an id twice, the look-up may return either
		 * position.
		 */
		if (found >= idx->nr || memcmp(pack_idx_oid(idx, found), raw,
					       hash_len(idx->algo)) != 0)
			abort();
	} else if (sound) {
		abort();
	}
	oid_from_raw(&oid, raw, idx->algo);
	for (size_t hex_len = 0; hex_len < 6; hex_len++) {
		pack_idx_find_prefix(idx, &oid, hex_len, &first, &last);
		if (first > last || last > idx->nr)
			abort();
		if (sound && (idx_pos < first || idx_pos >= last))
			abort();
	}
}

static void sort_and_search(const struct pack_idx *idx)
{
	struct pack_rev rev;
	uint32_t pack_pos;

	if (pack_rev_compute(&rev, idx, UINT64_MAX) < 0)
		return;
	for (uint32_t i = 0; i < idx->nr; i++)
		if (!pack_rev_find(&rev, pack_rev_offset(&rev, i), &pack_pos))
			abort();
	pack_rev_release(&rev);
}

static void parse(const uint8_t *data, size_t len, enum hash_algo algo)
{
	struct pack_idx idx;
	bool sound;

	if (pack_idx_parse(&idx, data, len, algo, "fuzz", NULL) < 0)
		return;
	sound = !pack_idx_verify(&idx, NULL);
	for (uint32_t i = 0; i < idx.nr; i++)
		look_up(&idx, i, sound);
	sort_and_search(&idx);
	pack_idx_release(&idx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	parse(data, len, HASH_SHA1);
	parse(data, len, HASH_SHA256);
	return 0;
}
