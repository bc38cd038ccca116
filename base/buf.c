/* SPDX-License-Identifier: MIT */
/* A growable byte buffer. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/mem.h"

const char buf_empty[1] = "";

void buf_init(struct buf *b)
{
	b->data = (char *)buf_empty;
	b->len = 0;
	b->alloc = 0;
}

void buf_release(struct buf *b)
{
	if (b->alloc)
		free(b->data);
	buf_init(b);
}

void buf_reset(struct buf *b)
{
	buf_set_len(b, 0);
}

int buf_reserve(struct buf *b, size_t extra)
{
	char *data = b->alloc ? b->data : NULL;
	size_t need;

	if (extra < b->alloc - b->len)
		return 0;
	if (!mem_add(&need, b->len, extra) || !mem_add(&need, need, 1))
		return ERR_NOMEM;
	if (mem_grow(&data, &b->alloc, need, 1) < 0)
		return ERR_NOMEM;
	b->data = data;
	b->data[b->len] = '\0';
	return 0;
}

void buf_set_len(struct buf *b, size_t len)
{
	b->len = len;
	if (b->alloc)
		b->data[len] = '\0';
}

int buf_append(struct buf *b, const void *bytes, size_t len)
{
	if (!len)
		return 0;
	if (len >= b->alloc - b->len && buf_reserve(b, len) < 0)
		return ERR_NOMEM;
	memcpy(b->data + b->len, bytes, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

int buf_append_str(struct buf *b, const char *s)
{
	return buf_append(b, s, strlen(s));
}

int buf_append_char(struct buf *b, char c)
{
	if (b->alloc - b->len <= 1 && buf_reserve(b, 1) < 0)
		return ERR_NOMEM;
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
	return 0;
}

int buf_append_be32(struct buf *b, uint32_t v)
{
	uint8_t bytes[4];

	store_be32(bytes, v);
	return buf_append(b, bytes, sizeof(bytes));
}

int buf_append_be64(struct buf *b, uint64_t v)
{
	uint8_t bytes[8];

	store_be64(bytes, v);
	return buf_append(b, bytes, sizeof(bytes));
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0 || buf_reserve(b, (size_t)n) < 0)
		return ERR_NOMEM;
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
	return 0;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = buf_vprintf(b, fmt, ap);
	va_end(ap);
	return ret;
}

char *buf_detach(struct buf *b, size_t *len)
{
	char *data;

	if (!b->alloc && buf_reserve(b, 0) < 0)
		return NULL;
	data = b->data;
	if (len)
		*len = b->len;
	buf_init(b);
	return data;
}
