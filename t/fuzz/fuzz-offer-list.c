/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the list of published packs of a generation. A list that can
 * be parsed is printed. The printed bytes must equal the input.
 */
#include "stored/offer-list.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct stored_offer_list list;
	struct buf again = BUF_INIT;

	if (stored_offer_list_parse(&list, (const char *)bytes, len, HASH_SHA1,
				    NULL) < 0) {
		require(!list.items && !list.nr);
		return 0;
	}
	require(stored_offer_list_begin(&again) == 0);
	for (size_t i = 0; i < list.nr; i++)
		require(stored_offer_list_append(&again, &list.items[i],
						 HASH_SHA1) == 0);
	require(again.len == len && !memcmp(again.data, bytes, len));
	buf_release(&again);
	stored_offer_list_release(&list);
	return 0;
}
