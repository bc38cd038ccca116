/* SPDX-License-Identifier: MIT */
/* Decodes base64, strictly. */
#include <stdint.h>
#include <string.h>

#include "base/base64.h"

/* Returns the value of a character, 0 to 63, or -1. */
static int value_of(char c)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "abcdefghijklmnopqrstuvwxyz"
				       "0123456789+/";
	const char *found = c ? strchr(alphabet, c) : NULL;

	return found ? (int)(found - alphabet) : -1;
}

ssize_t base64_decode(void *out, size_t max, const char *text, size_t len)
{
	uint8_t *bytes = out;
	size_t nr = 0, pad = 0;

	if (len % 4)
		return -1;
	while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < len; i += 4) {
		uint32_t group = 0;
		size_t missing = i + 4 == len ? pad : 0;

		for (size_t k = 0; k < 4; k++) {
			int value = k < 4 - missing ? value_of(text[i + k]) : 0;

			if (value < 0)
				return -1;
			group = group << 6 | (uint32_t)value;
		}
		/*
		 * The text encodes whole bytes, so some bits of the last
		 * character before the padding may be unused. These bits must
		 * be zero.
		 */
		if (group & ((UINT32_C(1) << 8 * missing) - 1))
			return -1;
		for (size_t k = 0; k < 3 - missing; k++) {
			if (nr == max)
				return -1;
			bytes[nr++] = (uint8_t)(group >> (16 - 8 * k));
		}
	}
	return (ssize_t)nr;
}
