/* SPDX-License-Identifier: MIT */
/* Printing of sizes. */
#include <inttypes.h>
#include <stdio.h>

#include "builtin/human.h"

void human_print(uint64_t bytes)
{
	static const char units[] = "KMG";
	unsigned unit = bytes > UINT64_C(1) << 30   ? 2
			: bytes > UINT64_C(1) << 20 ? 1
						    : 0;
	unsigned shift = 10 * (unit + 1);
	uint64_t rest = bytes & ((UINT64_C(1) << shift) - 1);
	uint64_t half = unit < 2 ? UINT64_C(1) << (shift - 1) : 0;
	uint64_t hundredths = (rest * 100 + half) >> shift;

	if (bytes <= 1024) {
		printf("%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return;
	}
	printf("%" PRIu64 ".%02" PRIu64 " %ciB",
	       (bytes >> shift) + hundredths / 100, hundredths % 100,
	       units[unit]);
}
