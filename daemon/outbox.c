/* SPDX-License-Identifier: MIT */
/* The bytes of an answer that the socket has not taken yet. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/outbox.h"
#include "http1/body.h"
#include "sys/tcp.h"

/*
 * maximum number of spans for one group: the head of the chunk, headers and
 * data of packets, and the end of line
 */
#define GROUP_SPANS (2 * OUTBOX_GROUP_PACKETS + 2)
#define GROUP_TEXT                                                             \
	(OUTBOX_GROUP_PACKETS * PKTLINE_BAND_HEADER + HTTP1_CHUNK_HEAD_MAX)

void outbox_release(struct outbox *box)
{
	buf_release(&box->literals);
	free(box->items);
	*box = (struct outbox)OUTBOX_INIT;
}

bool outbox_has_room(const struct outbox *box, size_t len)
{
	size_t used = box->literals.len - box->literal_at;

	return !outbox_is_full(box) && len <= OUTBOX_LITERAL_MAX - used;
}

bool outbox_is_full(const struct outbox *box)
{
	return box->nr - box->first >= OUTBOX_ITEM_MAX;
}

static struct serve_span *last_item(const struct outbox *box)
{
	return outbox_is_empty(box) ? NULL : &box->items[box->nr - 1];
}

static int add_item(struct outbox *box, const struct serve_span *item)
{
	if (box->first && box->nr == box->alloc) {
		box->nr -= box->first;
		memmove(box->items, box->items + box->first,
			box->nr * sizeof(*box->items));
		box->first = 0;
	}
	if (mem_grow(&box->items, &box->alloc, box->nr + 1,
		     sizeof(*box->items)) < 0)
		return ERR_NOMEM;
	box->items[box->nr++] = *item;
	return 0;
}

/*
 * The buffer box->literals holds literals (copied bytes). Those at its start
 * were sent already. Removes them, and moves the rest to the start of the
 * buffer. Does nothing while the sent bytes are less than half of the buffer,
 * so that not too many bytes are moved.
 */
static void pack_literals(struct outbox *box)
{
	struct buf *b = &box->literals;
	size_t left = b->len - box->literal_at;

	if (box->literal_at < left)
		return;
	memmove(b->data, b->data + box->literal_at, left);
	buf_set_len(b, left);
	box->literal_at = 0;
}

int outbox_add_literal(struct outbox *box, const void *bytes, size_t len)
{
	struct serve_span *last = last_item(box), item = {.len = len};

	if (!len)
		return 0;
	if (box->literal_at)
		pack_literals(box);
	if (buf_append(&box->literals, bytes, len) < 0)
		return ERR_NOMEM;
	if (last && !last->bytes) {
		last->len += len;
		return 0;
	}
	if (!add_item(box, &item))
		return 0;
	buf_set_len(&box->literals, box->literals.len - len);
	return ERR_NOMEM;
}

/*
 * A span is sent in pieces of limited length, called groups (see
 * OUTBOX_GROUP_PACKETS). Returns the maximum number of data bytes in one group
 * of *span. If the data are sent in packets, this is the number of data bytes
 * in OUTBOX_GROUP_PACKETS full packets. Otherwise it is OUTBOX_GROUP_BYTES.
 */
static size_t group_max(const struct serve_span *span)
{
	return span->packet_max
		       ? (size_t)OUTBOX_GROUP_PACKETS * span->packet_max
		       : OUTBOX_GROUP_BYTES;
}

/*
 * Returns whether the bytes of `next` follow those of `span`, so that both can
 * become one span.
 *
 * The bytes of a span are sent in groups of group_max() bytes, and each group
 * may be one HTTP chunk. Only the last group of a span may be shorter. If the
 * last group of `span` is shorter, `next` must stay a span of its own. The
 * reason: the head of the group's chunk may already have been sent, and it has
 * the length of the group, so the group cannot grow.
 */
static bool continues(const struct serve_span *span,
		      const struct serve_span *next)
{
	return span && span->bytes && span->bytes + span->len == next->bytes &&
	       span->packet_max == next->packet_max &&
	       span->band == next->band &&
	       span->is_chunked == next->is_chunked &&
	       span->len % group_max(span) == 0;
}

int outbox_add_span(struct outbox *box, const struct serve_span *span)
{
	struct serve_span *last = last_item(box);

	if (!continues(last, span))
		return add_item(box, span);
	last->len += span->len;
	return 0;
}

uint64_t outbox_unsent(const struct outbox *box)
{
	uint64_t len = 0;

	for (size_t i = box->first; i < box->nr; i++)
		len += pktline_span_len(&box->items[i]);
	return len > box->group_sent ? len - box->group_sent : 0;
}

/* ---- blocks */

static void put(struct outbox_block *block, const void *bytes, size_t len)
{
	block->spans[block->nr++] = (struct iovec){(void *)bytes, len};
}

static char *take_text(struct outbox_block *block, size_t len)
{
	char *text = block->text + block->text_len;

	block->text_len += len;
	return text;
}

static void put_packets(struct outbox_block *block,
			const struct serve_span *group)
{
	const uint8_t *p = group->bytes, *end = p + group->len;

	while (p < end) {
		size_t left = (size_t)(end - p);
		size_t n = left < group->packet_max ? left : group->packet_max;
		char *header = take_text(block, PKTLINE_BAND_HEADER);

		pktline_header(header, n + PKTLINE_BAND_HEADER);
		header[PKTLINE_HEADER] = (char)group->band;
		put(block, header, PKTLINE_BAND_HEADER);
		put(block, p, n);
		p += n;
	}
}

static struct serve_span first_group(const struct serve_span *span)
{
	struct serve_span group = *span;
	size_t max = group_max(span);

	if (group.len > max)
		group.len = max;
	return group;
}

static void put_group(struct outbox_block *block,
		      const struct serve_span *group)
{
	char *head;
	size_t len;

	if (group->is_chunked) {
		head = block->text + block->text_len;
		len = http1_chunk_head(head, pktline_span_len(group), true);
		put(block, take_text(block, len), len);
	}
	if (group->packet_max)
		put_packets(block, group);
	else
		put(block, group->bytes, group->len);
	if (group->is_chunked)
		put(block, "\r\n", 2);
}

/* Returns the number of bytes that put_group() adds. */
static size_t group_len(const struct serve_span *group)
{
	size_t len = (size_t)pktline_span_len(group);
	char head[HTTP1_CHUNK_HEAD_MAX];

	return group->is_chunked ? http1_chunk_head(head, len, true) + len + 2
				 : len;
}

/*
 * The bytes of a span are sent in groups (OUTBOX_GROUP_PACKETS). Adds whole
 * groups to the block, with the headers of their packets and HTTP chunks. Stops
 * when `max` bytes or more were added, or when the block is full. Returns the
 * number of bytes added.
 */
static size_t put_span(struct outbox_block *block, struct serve_span span,
		       size_t max)
{
	size_t len = 0;

	while (span.len && len < max &&
	       block->nr + GROUP_SPANS <= ARRAY_NR(block->spans) &&
	       block->text_len + GROUP_TEXT <= sizeof(block->text)) {
		struct serve_span group = first_group(&span);

		put_group(block, &group);
		len += group_len(&group);
		span.bytes += group.len;
		span.len -= group.len;
	}
	return len;
}

void outbox_peek(struct outbox_block *block, const struct outbox *box)
{
	size_t literal_at = box->literal_at, len = 0;
	size_t max = OUTBOX_GROUP_BYTES + box->group_sent;

	block->nr = block->text_len = 0;
	for (size_t i = box->first; i < box->nr && len < max; i++) {
		const struct serve_span *item = &box->items[i];

		if (block->nr + GROUP_SPANS > ARRAY_NR(block->spans) ||
		    block->text_len + GROUP_TEXT > sizeof(block->text))
			break;
		if (item->bytes) {
			len += put_span(block, *item, max - len);
			continue;
		}
		put(block, box->literals.data + literal_at, item->len);
		literal_at += item->len;
		len += item->len;
	}
	block->iov = block->spans;
	sys_spans_skip(&block->iov, &block->nr, box->group_sent);
}

/*
 * Drops up to `n` bytes of the first item. Returns the number of dropped bytes.
 */
static size_t drop_some(struct outbox *box, struct serve_span *item, size_t n)
{
	struct serve_span group;
	size_t left;

	if (!item->bytes) {
		if (n > item->len)
			n = item->len;
		box->literal_at += n;
		item->len -= n;
		return n;
	}
	group = first_group(item);
	left = group_len(&group) - box->group_sent;
	if (n < left) {
		box->group_sent += n;
		return n;
	}
	box->group_sent = 0;
	item->bytes += group.len;
	item->len -= group.len;
	return left;
}

void outbox_drop(struct outbox *box, size_t n)
{
	while (n && !outbox_is_empty(box)) {
		struct serve_span *item = &box->items[box->first];

		n -= drop_some(box, item, n);
		if (!item->len)
			box->first++;
	}
	if (!outbox_is_empty(box))
		return;
	box->first = box->nr = 0;
	buf_reset(&box->literals);
	box->literal_at = 0;
}
