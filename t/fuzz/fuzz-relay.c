/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the requests that a relay gets. A relay is a process that
 * sends requests to a store for other processes. The relay must refuse an
 * invalid request. For any other request, the relay asks a store in memory, and
 * must answer with a valid result.
 */
#include "store/relay-message.h"
#include "store/relay.h"
#include "t/fuzz/fuzz.h"
#include "t/unit/memstore.h"

static void check_answer(const struct buf *answer)
{
	struct cursor c = cursor_make(answer->data, answer->len);
	struct error why = ERROR_INIT;
	int result;

	require(relay_message_take_result(&c, &result, &why));
	require(result <= STORE_UNAVAILABLE);
	require(result >= 0 || why.code < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct cursor c = cursor_make(bytes, len);
	struct buf answer = BUF_INIT;
	struct memstore mem;
	struct filestore *store = &mem.store;
	uint8_t kind;

	memstore_init(&mem);
	memstore_write(&mem, "a", "content", 7);
	if (cursor_u8(&c, &kind) &&
	    !relay_answer(&answer, &store, 1, kind, &c, NULL))
		check_answer(&answer);
	memstore_release(&mem);
	buf_release(&answer);
	return 0;
}
