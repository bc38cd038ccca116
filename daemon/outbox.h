/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an answer that the socket has not taken yet, in order:
 *
 *	literal   copied bytes; all literals are in one buffer
 *	span      borrowed bytes of a pinned pack (serve_io.emit in wire/io.h)
 *
 * The headers of packets and chunks are added to a span only when the span is
 * sent. So a clone of any size is a short list. The bytes of a span are sent in
 * groups of up to 16 packets. If the answer has chunks of HTTP/1.1, a group is
 * one chunk:
 *
 *	+------------+--------+-------+--------+-----+- - -+-------+
 *	| chunk head | header | data  | header | ... |     | CR LF |
 *	+------------+--------+-------+--------+-----+- - -+-------+
 *	 "fff00" CR LF   5      65515     5                 2  bytes
 *
 * The hexadecimal length fff00 is that of 16 full packets: 16 * (5 + 65515).
 *
 * An outbox belongs to one thread at a time, and does no input or output.
 */
#ifndef DAEMON_OUTBOX_H
#define DAEMON_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "wire/io.h"
#include "wire/pktline.h"

/*
 * Limits of an outbox: bytes of literals, and number of items. Callers must
 * check them with outbox_has_room() and outbox_is_full() before they add an
 * item.
 */
#define OUTBOX_LITERAL_MAX ((size_t)256 << 10)
#define OUTBOX_ITEM_MAX 256

/*
 * The bytes of a span are sent in groups. A group has at most
 * OUTBOX_GROUP_PACKETS packets, or at most OUTBOX_GROUP_BYTES bytes if the span
 * has no packets.
 */
#define OUTBOX_GROUP_PACKETS 16
#define OUTBOX_GROUP_BYTES ((size_t)1 << 20)

struct outbox {
	struct buf literals;
	/* literals before this offset were sent */
	size_t literal_at;
	/*
	 * Owned. An item whose `bytes` is NULL is a literal: its `len` bytes
	 * are in `literals`, in the order of the items.
	 */
	struct serve_span *items;
	/* items [first, nr) are unsent */
	size_t first, nr, alloc;
	/*
	 * If the first group (OUTBOX_GROUP_PACKETS) of items[first] was sent in
	 * part: the number of its sent bytes. Groups that were sent whole are
	 * no longer in the item.
	 */
	size_t group_sent;
};

#define OUTBOX_INIT                                                            \
	{                                                                      \
		.literals = BUF_INIT                                           \
	}

void outbox_release(struct outbox *box);

static inline bool outbox_is_empty(const struct outbox *box)
{
	return box->first == box->nr;
}

/* Returns whether a literal of `len` bytes may be added. */
bool outbox_has_room(const struct outbox *box, size_t len);

/* Returns whether no item may be added. */
bool outbox_is_full(const struct outbox *box);

/* Adds a copy of bytes. Returns 0 or ERR_NOMEM. */
int outbox_add_literal(struct outbox *box, const void *bytes, size_t len);

/*
 * Adds a span. If its bytes directly follow those of the last span, the two
 * become one. Returns 0 or ERR_NOMEM.
 */
int outbox_add_span(struct outbox *box, const struct serve_span *span);

/*
 * Returns the number of unsent bytes of literals (copied bytes) and spans
 * (borrowed bytes of a pack), with the headers of packets. The heads and ends
 * of HTTP chunks around spans do not count, because they are added when a span
 * is sent.
 */
uint64_t outbox_unsent(const struct outbox *box);

/* The next bytes of an outbox, for one system call. */
struct outbox_block {
	struct iovec *iov; /* points into `spans` */
	size_t nr;
	/* Private: */
	struct iovec spans[128];
	size_t text_len;
	/* headers of packets and heads of chunks */
	char text[1024];
};

/*
 * Sets *block to the next bytes, about a megabyte. The block is valid until the
 * outbox changes. An empty outbox gives an empty block.
 */
void outbox_peek(struct outbox_block *block, const struct outbox *box);

/* Drops `n` bytes, which were sent from the block of the last outbox_peek(). */
void outbox_drop(struct outbox *box, size_t n);

#endif
