/* SPDX-License-Identifier: MIT */
/*
 * Inside a node: the messages between processes and their relay
 * (store/relay.h), over a socket of sys/passing.h.
 *
 *	packet    1 byte: 1 if another packet of the message follows, else 0
 *	          up to RELAY_PACKET_MAX bytes
 *	message   the bytes of its packets: fields, which both ends know
 *	field     be32, be64, or text: be32 length, bytes
 */
#ifndef STORE_RELAY_MESSAGE_H
#define STORE_RELAY_MESSAGE_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"

/* maximum number of bytes of a packet, without its first byte */
#define RELAY_PACKET_MAX ((size_t)64 << 10)
/* maximum length of the file content in one message */
#define RELAY_FILE_MAX ((size_t)1 << 20)
/* maximum number of bytes of a message */
#define RELAY_MESSAGE_MAX (RELAY_FILE_MAX + 8192)

/*
 * Sends a message, of up to RELAY_MESSAGE_MAX bytes. Returns 0, ERR_NOMEM, or
 * ERR_PEER if the message is too long or cannot be sent. After an error, the
 * peer does not get the whole message.
 */
int relay_message_send(int fd, const struct buf *message, struct error *err);

/*
 * Replaces *message by the next message. Returns 0, ERR_NOMEM, or ERR_PEER if
 * the peer is gone, is silent for too long, or sends a malformed packet.
 */
int relay_message_receive(int fd, struct buf *message, struct error *err);

/* Appends a text. Returns 0 or ERR_NOMEM. */
int relay_message_add(struct buf *message, const void *bytes, size_t len);

/*
 * Takes a text of up to `max` bytes. *text points into the message. Returns
 * false if the message has no such text.
 */
bool relay_message_take(struct cursor *c, const char **text, size_t *len,
			size_t max);

/*
 * Takes a text without NUL bytes, and copies it to *out, which has room for
 * `max` + 1 bytes. Returns false if the message has no such text.
 */
bool relay_message_take_word(struct cursor *c, char *out, size_t max);

/*
 * Appends the result of answering a question, and the message of *why.
 * `why` may be NULL. Returns 0 or ERR_NOMEM.
 */
int relay_message_add_result(struct buf *message, int result,
			     const struct error *why);

/*
 * Takes a result. If the result is not 0, also sets *why, unless `why` is NULL.
 * Returns false if the message has no result.
 */
bool relay_message_take_result(struct cursor *c, int *result,
			       struct error *why);

#endif
