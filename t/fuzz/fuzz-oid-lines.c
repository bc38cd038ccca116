/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for object/oid.c: any bytes are read as a file with one object id
 * on each line.
 */
#include <stddef.h>
#include <stdint.h>

#include "object/oid.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (size_t i = 0; i < 2; i++) {
		struct cursor c = cursor_make(data, len);
		struct error err = ERROR_INIT;
		struct oid oid;

		while (oid_lines_next(&oid, &c, algos[i], "fuzz", &err) > 0)
			;
	}
	return 0;
}
