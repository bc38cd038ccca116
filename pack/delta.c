/* SPDX-License-Identifier: MIT */
/*
 * Reads and applies deltas. delta-create.c makes them.
 *
 * Every delta is treated as hostile. Before an instruction copies bytes, it is
 * checked against the sizes of the delta, the base and the result.
 */
#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"
#include "pack/delta.h"

/* the most bytes that one copy instruction produces */
enum { COPY_MAX = 0xffffff };

/*
 * Takes a number of 7 bits per byte, the lowest bits first (base 128). Returns
 * false if the number is incomplete or exceeds 64 bits.
 */
static bool take_size(struct cursor *c, uint64_t *out)
{
	uint64_t size = 0;
	uint8_t byte;

	for (unsigned shift = 0; cursor_u8(c, &byte); shift += 7) {
		uint64_t bits = byte & 0x7f;

		if (shift > 63 || bits << shift >> shift != bits)
			return false;
		size |= bits << shift;
		if (!(byte & 0x80)) {
			*out = size;
			return true;
		}
	}
	return false;
}

int delta_sizes(const void *delta, size_t len, uint64_t *base_size,
		uint64_t *result_size, size_t *header_len)
{
	struct cursor c = cursor_make(delta, len);
	uint64_t base, result;

	if (!take_size(&c, &base) || !take_size(&c, &result))
		return ERR_CORRUPT;
	*base_size = base;
	*result_size = result;
	if (header_len)
		*header_len = len - cursor_left(&c);
	return 0;
}

bool delta_can_make(uint64_t len, size_t delta_len, size_t base_len)
{
	uint64_t most = base_len < COPY_MAX ? base_len : COPY_MAX;

	return len / (most ? most : 1) <= delta_len;
}

/*
 * Takes the offset and the length that follow the first byte of a copy
 * instruction. Returns false if bytes are missing.
 */
static bool take_copy(struct cursor *c, uint8_t op, size_t *off, size_t *len)
{
	uint32_t value[2] = {0, 0};
	uint8_t byte;

	for (unsigned bit = 0; bit < 7; bit++) {
		if (!(op & 1u << bit))
			continue;
		if (!cursor_u8(c, &byte))
			return false;
		value[bit >= 4] |= (uint32_t)byte << 8 * (bit & 3);
	}
	*off = value[0];
	*len = value[1] ? value[1] : 0x10000;
	return true;
}

/*
 * Takes the next instruction of a delta. The caller has checked that the delta
 * has more bytes. Returns false if the instruction is malformed or copies bytes
 * outside of the base.
 */
static inline bool take_op(struct delta_op *op, struct cursor *c,
			   size_t base_len)
{
	uint8_t code = *c->p++;

	if (!(code & 0x80)) {
		op->len = code;
		return code && cursor_bytes(c, &op->insert, code);
	}
	op->insert = NULL;
	return take_copy(c, code, &op->off, &op->len) && op->off <= base_len &&
	       op->len <= base_len - op->off;
}

int delta_next(struct delta_op *op, struct cursor *c, size_t base_len)
{
	if (!cursor_left(c))
		return 0;
	return take_op(op, c, base_len) ? 1 : ERR_CORRUPT;
}

int delta_apply(void *dst, size_t result_len, const void *base, size_t base_len,
		const void *delta, size_t delta_len)
{
	struct cursor c = cursor_make(delta, delta_len);
	uint64_t base_size, result_size;
	uint8_t *out = dst;
	size_t left = result_len;

	if (!take_size(&c, &base_size) || !take_size(&c, &result_size) ||
	    base_size != base_len || result_size != result_len)
		return ERR_CORRUPT;
	while (cursor_left(&c)) {
		struct delta_op op;

		if (!take_op(&op, &c, base_len) || op.len > left)
			return ERR_CORRUPT;
		memcpy(out,
		       op.insert ? op.insert : (const uint8_t *)base + op.off,
		       op.len);
		out += op.len;
		left -= op.len;
	}
	return left ? ERR_CORRUPT : 0;
}
