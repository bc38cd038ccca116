/* SPDX-License-Identifier: MIT */
/*
 * The variable-length numbers of offset deltas (gitformat-pack(5)) and
 * reftables. A byte holds seven bits, the most significant byte comes first,
 * and every byte but the last has its high bit set. Before each further byte,
 * the encoder subtracts one from the value that remains. So every number has
 * exactly one encoding:
 *
 * 	00 = 0   7f = 127   80 00 = 128   80 7f = 255   81 00 = 256
 */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include "base/cursor.h"

/* length in bytes of the longest encoding */
#define VARINT_MAX_LEN 10

/*
 * Takes a variable-length number. Returns false if the encoding is cut short or
 * the number is too large; then nothing is changed.
 */
static inline bool varint_take(struct cursor *c, uint64_t *out)
{
	struct cursor t = *c;
	uint64_t v;
	uint8_t byte;

	if (!cursor_u8(&t, &byte))
		return false;
	v = byte & 0x7f;
	while (byte & 0x80) {
		/*
		 * If v is UINT64_MAX >> 7 or more, (v + 1) << 7 does not fit
		 * into 64 bits.
		 */
		if (v >= UINT64_MAX >> 7 || !cursor_u8(&t, &byte))
			return false;
		v = (v + 1) << 7 | (byte & 0x7f);
	}
	*out = v;
	*c = t;
	return true;
}

/* Returns the length in bytes of the variable-length encoding of a number. */
static inline size_t varint_len(uint64_t v)
{
	size_t len = 1;

	while (v >>= 7) {
		v--;
		len++;
	}
	return len;
}

/*
 * Writes the variable-length encoding of a number to `out`, which has room for
 * the encoding. Returns the length in bytes.
 */
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
