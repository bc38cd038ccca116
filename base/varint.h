/* SPDX-License-Identifier: MIT */
/*
 * The varint of offset deltas (gitformat-pack(5)) and reftables: seven bits
 * to a byte, the most significant first, each byte but the last with its high
 * bit set. One is subtracted from what stands before a further byte, so that
 * every number has one encoding:
 *
 *	00 = 0   7f = 127   80 00 = 128   80 7f = 255   81 00 = 256
 */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include "base/cursor.h"

#define VARINT_MAX_LEN 10 /* bytes of the longest one */

/* Take a number; false, with all untouched, when it is cut off or too large. */
static inline bool varint_take(struct cursor *c, uint64_t *out)
{
	struct cursor t = *c;
	uint64_t v;
	uint8_t byte;

	if (!cursor_u8(&t, &byte))
		return false;
	v = byte & 0x7f;
	while (byte & 0x80) {
		/* The sum of v + 1 shifted must fit. */
		if (v >= UINT64_MAX >> 7 || !cursor_u8(&t, &byte))
			return false;
		v = (v + 1) << 7 | (byte & 0x7f);
	}
	*out = v;
	*c = t;
	return true;
}

/* How many bytes a number takes. */
static inline size_t varint_len(uint64_t v)
{
	size_t len = 1;

	while (v >>= 7) {
		v--;
		len++;
	}
	return len;
}

/* Write a number to `out`, which has the room; returns its length. */
static inline size_t varint_put(uint8_t *out, uint64_t v)
{
	size_t len = varint_len(v);
	size_t i = len - 1;

	out[i] = v & 0x7f;
	while (v >>= 7)
		out[--i] = (uint8_t)(0x80 | (--v & 0x7f));
	return len;
}

#endif
