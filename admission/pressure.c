/* SPDX-License-Identifier: MIT */
/* Adjusts the number of tokens to the pressure. */
#include <string.h>

#include "admission/pressure.h"

/* The text before the number in a file of /proc/pressure. */
static const char prefix[] = "some avg10=";

int admission_pressure_parse(const char *text, size_t len)
{
	size_t at = sizeof(prefix) - 1;
	int value = 0, digits = -1;

	if (len < at || memcmp(text, prefix, at) != 0)
		return -1;
	/*
	 * Read up to the second digit after the point, as the kernel writes it.
	 * The highest value is 100.00.
	 */
	for (; at < len && value <= 10000 && digits < 2; at++) {
		if (text[at] == '.' && digits < 0) {
			digits = 0;
			continue;
		}
		if (text[at] < '0' || text[at] > '9')
			return -1;
		value = value * 10 + (text[at] - '0');
		digits += digits >= 0;
	}
	return digits == 2 && value <= 10000 ? value : -1;
}

unsigned admission_pressure_adjust(unsigned token_nr, unsigned max, int cpu,
				   int memory)
{
	if (cpu > ADMISSION_PRESSURE_CPU || memory > ADMISSION_PRESSURE_MEMORY)
		token_nr /= 2;
	else
		token_nr++;
	if (token_nr > max)
		token_nr = max;
	return token_nr ? token_nr : 1;
}
