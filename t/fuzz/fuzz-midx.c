/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for pack/midx.c. The input is opened as a multi-pack-index, its
 * pack order is read, and both are verified. No packs exist, so no object is
 * read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/midx.h"
#include "t/fuzz/fuzz.h"

static void ignore(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

static void look_up(const struct pack_midx *midx, uint32_t midx_pos)
{
	uint32_t found;

	pack_midx_pack(midx, midx_pos);
	pack_midx_offset(midx, midx_pos);
	if (pack_midx_find(midx, pack_midx_oid(midx, midx_pos), &found) &&
	    found >= midx->nr)
		abort();
}

static void order(const struct pack_midx *midx)
{
	struct pack_midx_order o;
	uint64_t nr = 0;

	if (pack_midx_order_init(&o, midx, NULL, 0, NULL) < 0)
		return;
	for (uint32_t i = 0; i < midx->nr; i++)
		if (pack_midx_order_pos(&o, i) >= midx->nr)
			abort();
	for (uint32_t i = 0; i < midx->pack_nr; i++)
		nr += o.spans[i].nr;
	if (nr != midx->nr)
		abort();
	pack_midx_order_release(&o);
}

static void parse(const uint8_t *data, size_t len, enum hash_algo algo)
{
	struct pack_midx_check check = {.report = ignore};
	const struct pack_idx **packs;
	struct pack_midx midx;

	if (pack_midx_parse(&midx, data, len, algo, "fuzz", NULL) < 0)
		return;
	for (uint32_t i = 0; i < midx.nr; i++)
		look_up(&midx, i);
	order(&midx);
	packs = mem_calloc(midx.pack_nr, sizeof(const struct pack_idx *));
	check.packs = packs;
	if (packs)
		pack_midx_verify(&midx, &check, NULL);
	free(packs);
	pack_midx_release(&midx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	parse(data, len, HASH_SHA1);
	parse(data, len, HASH_SHA256);
	return 0;
}
