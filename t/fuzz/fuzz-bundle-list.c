/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for lists of published bundles (publish/bundle-list.c). A list
 * that can be parsed is written again. Parsing the written list must give the
 * same list.
 */
#include "publish/bundle-list.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct bundle_list list, again;
	struct buf text = BUF_INIT;

	if (bundle_list_parse(&list, (const char *)bytes, len, HASH_SHA1,
			      NULL) < 0)
		return 0;
	require(list.nr > 0 && list.nr <= BUNDLE_LIST_MAX);
	require(bundle_list_format(&text, &list) == 0);
	require(bundle_list_parse(&again, text.data, text.len, HASH_SHA1,
				  NULL) == 0);
	require(list.nr == again.nr);
	for (size_t i = 0; i < list.nr; i++) {
		require(oid_equal(&list.items[i].hash, &again.items[i].hash));
		require(list.items[i].token == again.items[i].token);
	}
	buf_release(&text);
	return 0;
}
