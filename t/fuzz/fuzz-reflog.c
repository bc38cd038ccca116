/* SPDX-License-Identifier: MIT */
/* Fuzz target for refs/reflog.c: any bytes are parsed as a line of a reflog. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "refs/reflog.h"
#include "t/fuzz/fuzz.h"

/*
 * Check that the parts of a parsed line lie inside of the line, and in their
 * order.
 */
static void check(const char *bytes, size_t len, enum hash_algo algo)
{
	struct reflog_line line;
	const char *end = bytes + len;

	if (reflog_line_parse(&line, bytes, len, algo) < 0)
		return;
	if (line.text < bytes + 2 * hash_hex_len(algo) || line.text > end ||
	    line.text_len != (size_t)(end - line.text))
		abort();
	if (line.message_len && (line.message <= line.text ||
				 line.message + line.message_len > end))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_exactly(data, len, check);
	return 0;
}
