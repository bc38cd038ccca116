/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for messages that pass the change of a push to another process,
 * the relay. A change that can be parsed is printed. The printed bytes must
 * equal the input.
 */
#include "generations/passing.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct cursor c = cursor_make(bytes, len);
	struct generation_passed p;
	struct buf again = BUF_INIT;

	if (!generation_passed_parse(&p, &c, NULL)) {
		require(!generation_passed_print(&again, p.repository,
						 &p.change, &p.session, NULL));
		require(again.len == len && !memcmp(again.data, bytes, len));
	}
	generation_passed_release(&p);
	buf_release(&again);
	return 0;
}
