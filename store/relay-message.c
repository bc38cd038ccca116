/* SPDX-License-Identifier: MIT */
/* Messages between processes of a node and their relay. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/relay-message.h"
#include "sys/passing.h"

/*
 * length of the longest packet: RELAY_PACKET_MAX does not count its first byte
 */
#define ROOM (RELAY_PACKET_MAX + 1)

int relay_message_send(int fd, const struct buf *message, struct error *err)
{
	size_t at = 0;
	char *packet;
	int ret;

	if (message->len > RELAY_MESSAGE_MAX)
		return error_set(err, ERR_PEER,
				 "a message to or from the relay is too long");
	packet = mem_alloc(
		message->len < RELAY_PACKET_MAX ? message->len + 1 : ROOM, 1);
	if (!packet)
		return error_nomem(err);
	do {
		size_t len = message->len - at;

		len = len < RELAY_PACKET_MAX ? len : RELAY_PACKET_MAX;
		packet[0] = at + len < message->len;
		memcpy(packet + 1, message->data + at, len);
		ret = sys_passing_send(fd, packet, len + 1, NULL, 0, err);
		at += len;
	} while (!ret && at < message->len);
	free(packet);
	return ret;
}

int relay_message_receive(int fd, struct buf *message, struct error *err)
{
	bool has_more = true;

	buf_reset(message);
	while (has_more) {
		size_t before = message->len;
		ssize_t n;
		char *at;

		if (before > RELAY_MESSAGE_MAX)
			return error_set(
				err, ERR_PEER,
				"a message to or from the relay is too long");
		if (buf_reserve(message, ROOM) < 0)
			return error_nomem(err);
		at = message->data + before;
		n = sys_passing_receive(fd, at, ROOM, NULL, 0, err);
		if (n < 0)
			return (int)n;
		if ((unsigned char)*at > 1 || (*at && n == 1))
			return error_set(
				err, ERR_PEER,
				"a message to or from the relay is malformed");
		has_more = *at;
		memmove(at, at + 1, (size_t)n - 1);
		buf_set_len(message, before + (size_t)n - 1);
	}
	return 0;
}

int relay_message_add(struct buf *message, const void *bytes, size_t len)
{
	int ret = len > UINT32_MAX ? ERR_NOMEM
				   : buf_append_be32(message, (uint32_t)len);

	return ret ? ret : buf_append(message, bytes, len);
}

bool relay_message_take(struct cursor *c, const char **text, size_t *len,
			size_t max)
{
	const uint8_t *bytes;
	uint32_t n;

	if (!cursor_be32(c, &n) || n > max || !cursor_bytes(c, &bytes, n))
		return false;
	*text = (const char *)bytes;
	*len = n;
	return true;
}

bool relay_message_take_word(struct cursor *c, char *out, size_t max)
{
	const char *text;
	size_t len;

	if (!relay_message_take(c, &text, &len, max) || memchr(text, '\0', len))
		return false;
	memcpy(out, text, len);
	out[len] = '\0';
	return true;
}

int relay_message_add_result(struct buf *message, int result,
			     const struct error *why)
{
	int ret = buf_append_be32(message, (uint32_t)result);

	if (!ret)
		ret = buf_append_be32(message, why ? (uint32_t)why->code : 0);
	return ret ? ret
		   : relay_message_add(message, why ? why->msg : "",
				       why ? strlen(why->msg) : 0);
}

bool relay_message_take_result(struct cursor *c, int *result, struct error *why)
{
	char text[ERROR_MESSAGE_MAX];
	uint32_t value, code;

	if (!cursor_be32(c, &value) || !cursor_be32(c, &code) ||
	    !relay_message_take_word(c, text, sizeof(text) - 1))
		return false;
	*result = (int)value;
	if (*result)
		error_set(why,
			  *result < 0 ? (enum error_code) * result
				      : (enum error_code)(int)code,
			  "%s", text);
	return true;
}
