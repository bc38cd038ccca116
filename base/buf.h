/* SPDX-License-Identifier: MIT */
/*
 * A growable byte buffer, always NUL-terminated past its length so that it
 * can be used as a string. One owner, one thread.
 *
 * Functions that grow it return 0 or ERR_NOMEM; the content is then as it
 * was before the call.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data;   /* owned; never NULL after init */
	size_t len;   /* bytes in use, without the NUL */
	size_t alloc; /* bytes allocated; 0: `data` is the shared empty string
		       */
};

/* The shared empty string that an unallocated buffer points at; read only. */
extern const char buf_empty[1];

#define BUF_INIT                                                               \
	{                                                                      \
		(char *)buf_empty, 0, 0                                        \
	}

void buf_init(struct buf *b);

/* Free the memory and leave a valid empty buffer. */
void buf_release(struct buf *b);

/* Forget the content, keep the memory. */
void buf_reset(struct buf *b);

/* Make room for `extra` more bytes (and the NUL). */
int buf_reserve(struct buf *b, size_t extra);

/* Shorten (or, within what was reserved, lengthen) to `len` bytes. */
void buf_set_len(struct buf *b, size_t len);

int buf_append(struct buf *b, const void *bytes, size_t len);
int buf_append_str(struct buf *b, const char *s);
int buf_append_char(struct buf *b, char c);
int buf_append_be32(struct buf *b, uint32_t v);
int buf_append_be64(struct buf *b, uint64_t v);

int buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap);

/*
 * Hand the bytes to the caller, who frees them with free(); NULL when out of
 * memory (only possible for an empty buffer). The buffer is empty afterwards.
 */
char *buf_detach(struct buf *b, size_t *len);

#endif
