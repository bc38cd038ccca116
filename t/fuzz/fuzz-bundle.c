/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for headers of bundles (pack/bundle.c). A header that can be
 * parsed is written again. Parsing the written header must give the same
 * header.
 */
#include "pack/bundle.h"
#include "t/fuzz/fuzz.h"

static void check_same(const struct bundle_items *a,
		       const struct bundle_items *b)
{
	require(a->nr == b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		require(oid_equal(&a->items[i].oid, &b->items[i].oid));
		require(!strcmp(a->items[i].text, b->items[i].text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct bundle_header h, again;
	struct buf text = BUF_INIT;
	size_t header_len;

	if (bundle_header_parse(&h, &header_len, bytes, len, len % 2, "x",
				NULL) > 0) {
		require(header_len <= len);
		require(bundle_header_format(&text, &h) == 0);
		require(bundle_header_parse(&again, &header_len, text.data,
					    text.len, false, "x", NULL) == 1);
		require(header_len == text.len);
		check_same(&h.refs, &again.refs);
		check_same(&h.prerequisites, &again.prerequisites);
		bundle_header_release(&again);
	}
	bundle_header_release(&h);
	buf_release(&text);
	return 0;
}
