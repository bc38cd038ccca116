/* SPDX-License-Identifier: MIT */
/*
 * Turns a hex dump from the comment of a file format into bytes, so that a test
 * can parse the example. Include this header after cmocka.h.
 *
 * A dump is words of hexadecimal digits. "x <n>" after a word means that the
 * word occurs n times.
 */
#ifndef T_UNIT_HEXDUMP_H
#define T_UNIT_HEXDUMP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static inline void hexdump_word(struct buf *out, const char *word, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2) {
		char digits[3] = {word[i], word[i + 1], '\0'};

		assert_int_equal(
			buf_append_char(out, (char)strtoul(digits, NULL, 16)),
			0);
	}
}

/* Parse `dump` and append its bytes to *out. */
static inline void hexdump_parse(struct buf *out, const char *dump)
{
	const char *last = "";
	size_t last_len = 0;

	while (*(dump += strspn(dump, " \n"))) {
		size_t len = strcspn(dump, " \n");

		if (*dump == 'x') {
			char *end;
			unsigned long n = strtoul(dump + 1, &end, 10);

			for (dump = end; n > 1; n--)
				hexdump_word(out, last, last_len);
			continue;
		}
		hexdump_word(out, dump, len);
		last = dump;
		last_len = len;
		dump += len;
	}
}

#endif
