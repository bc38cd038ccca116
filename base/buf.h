/* SPDX-License-Identifier: MIT */
/*
 * A growable byte buffer. A NUL byte always follows the content, so that the
 * content can be used as a string. A buffer has one owner and one thread.
 *
 * A function that grows the buffer returns 0 or ERR_NOMEM. After an error, the
 * content is unchanged.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	/* owned; never NULL after init */
	char *data;
	/* bytes in use, without the NUL */
	size_t len;
	/* bytes allocated; 0 if `data` is `buf_empty` */
	size_t alloc;
};

/*
 * The shared empty string to which `data` of an unallocated buffer points. Read
 * only.
 */
extern const char buf_empty[1];

#define BUF_INIT                                                               \
	{                                                                      \
		(char *)buf_empty, 0, 0                                        \
	}

void buf_init(struct buf *b);

/* Frees the memory and leaves a valid empty buffer. */
void buf_release(struct buf *b);

/* Makes the buffer empty and keeps its memory. */
void buf_reset(struct buf *b);

/* Makes room for `extra` more bytes and the NUL. */
int buf_reserve(struct buf *b, size_t extra);

/*
 * Sets the length of the content to `len` bytes. The caller has made room for
 * them with buf_reserve() and written them.
 */
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
 * Transfers the bytes to the caller, who frees them with free(). The buffer is
 * empty afterwards. `len` may be NULL. An empty buffer may own no memory, so
 * memory for the NUL is allocated. Returns NULL if this allocation fails.
 */
char *buf_detach(struct buf *b, size_t *len);

#endif
