/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for records of generations, the text files that list the files of
 * a repository in a store. A record that can be parsed is printed. The printed
 * bytes must equal the parsed ones. Each input is also tried with the right
 * checksum in its last line, because a fuzzer cannot guess a checksum.
 */
#include "generations/record.h"
#include "object/hash.h"
#include "t/fuzz/fuzz.h"

static void check(const char *bytes, size_t len)
{
	struct generation g = {0}, copy;
	struct buf again = BUF_INIT;

	if (generation_parse(&g, bytes, len, "record", NULL) < 0) {
		require(!g.files && !g.updates && !g.node);
		return;
	}
	require(generation_print(&again, NULL, &g, NULL) == 0);
	require(again.len == len && !memcmp(again.data, bytes, len));
	require(generation_copy(&copy, &g, NULL) == 0);
	for (size_t i = 0; i < g.file_nr; i++)
		require(generation_find_file(&g, g.files[i].path) ==
			&g.files[i]);
	for (size_t i = 0; i < g.update_nr; i++)
		require(generation_find_update(&g, g.updates[i].ref) ==
			&g.updates[i]);
	generation_release(&g);
	buf_reset(&again);
	require(generation_print(&again, NULL, &copy, NULL) == 0);
	require(again.len == len && !memcmp(again.data, bytes, len));
	generation_release(&copy);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;
	struct hash_ctx hash;
	struct oid sum;

	require(buf_append(&text, bytes, len) == 0);
	check(text.data, text.len);
	require(hash_init(&hash, HASH_SHA256) == 0);
	hash_update(&hash, bytes, len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	require(buf_printf(&text, "end %s\n",
			   oid_to_hex(hex, &sum, HASH_SHA256)) == 0);
	check(text.data, text.len);
	buf_release(&text);
	return 0;
}
