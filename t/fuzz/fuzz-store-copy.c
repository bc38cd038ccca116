/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for two text files of a cache directory. One is the marker of a
 * local copy, which has the number of the copied generation (version). The
 * other names the store. A file that can be parsed is printed. The printed
 * bytes must equal the input.
 */
#include "copies/marker.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	struct stored_marker m;
	struct stored_origin o;
	struct buf again = BUF_INIT;

	if (stored_marker_parse(&m, text, len, NULL) < 0) {
		require(!m.boot && !m.name && !m.g.files);
	} else {
		require(stored_marker_print(&again, &m, NULL) == 0);
		require(again.len == len && !memcmp(again.data, text, len));
		stored_marker_release(&m);
	}
	buf_reset(&again);
	if (stored_origin_parse(&o, text, len, NULL) < 0) {
		require(!o.url && !o.ca_file);
	} else {
		require(stored_origin_print(&again, &o, NULL) == 0);
		require(again.len == len && !memcmp(again.data, text, len));
		stored_origin_release(&o);
	}
	buf_release(&again);
	return 0;
}
