/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for odb/loose.c: any bytes are read as the file of a loose
 * object, and as the inflated content of such a file.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "odb/loose.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct inflater *inf = inflater_new();
	struct loose_header header;
	struct loose_object obj;

	if (!inf)
		return 0;
	loose_header_parse(&header, data, len, NULL);
	if (!loose_read(&obj, inf, data, len, "fuzz", NULL))
		free(obj.memory);
	inflater_free(inf);
	return 0;
}
