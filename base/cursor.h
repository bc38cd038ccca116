/* SPDX-License-Identifier: MIT */
/*
 * A cursor: the unread rest of a byte string that is being parsed.
 *
 * Each function that takes bytes first checks that the cursor has enough of
 * them. If the cursor has too few, the function returns false, and does not
 * change the cursor or its output. A cursor borrows its bytes.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct cursor {
	/* next byte; points into the parsed bytes */
	const uint8_t *p;
	const uint8_t *end; /* one past the last byte */
};

static inline struct cursor cursor_make(const void *bytes, size_t len)
{
	struct cursor c = {bytes, (const uint8_t *)bytes + len};

	return c;
}

/* Returns the number of unread bytes. */
static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* Takes `len` bytes. *out points into the parsed bytes. */
static inline bool cursor_bytes(struct cursor *c, const uint8_t **out,
				size_t len)
{
	if (cursor_left(c) < len)
		return false;
	*out = c->p;
	c->p += len;
	return true;
}

static inline bool cursor_skip(struct cursor *c, size_t len)
{
	if (cursor_left(c) < len)
		return false;
	c->p += len;
	return true;
}

static inline bool cursor_u8(struct cursor *c, uint8_t *out)
{
	if (c->p == c->end)
		return false;
	*out = *c->p++;
	return true;
}

static inline bool cursor_be16(struct cursor *c, uint16_t *out)
{
	if (cursor_left(c) < 2)
		return false;
	*out = load_be16(c->p);
	c->p += 2;
	return true;
}

static inline bool cursor_be32(struct cursor *c, uint32_t *out)
{
	if (cursor_left(c) < 4)
		return false;
	*out = load_be32(c->p);
	c->p += 4;
	return true;
}

static inline bool cursor_be64(struct cursor *c, uint64_t *out)
{
	if (cursor_left(c) < 8)
		return false;
	*out = load_be64(c->p);
	c->p += 8;
	return true;
}

#endif
