/* SPDX-License-Identifier: MIT */
/*
 * Finds the bytes of a request's body in its framing, and writes the framing of
 * a chunked answer.
 */
#include "http1/body.h"

/*
 * maximum number of hexadecimal digits in the size of a chunk: 16, for 64 bits
 */
#define DIGITS_MAX 16

void http1_body_init(struct http1_body *body, const struct http1_head *head)
{
	*body = (struct http1_body){.state = HTTP1_BODY_SIZE};
	body->is_chunked = head->framing == HTTP1_CHUNKED;
	if (body->is_chunked)
		return;
	body->left = head->framing == HTTP1_LENGTH ? head->body_len : 0;
	body->state = body->left ? HTTP1_BODY_DATA : HTTP1_BODY_END;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_text(char c)
{
	return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

static bool take_digit(struct http1_body *b, char c)
{
	int value = hex_value(c);

	if (value < 0 || b->digit_nr == DIGITS_MAX)
		return false;
	b->left = b->left << 4 | (uint64_t)value;
	b->digit_nr++;
	return true;
}

/*
 * Takes one byte of an extension or a trailer. Returns false if the byte is a
 * control byte, or if there are more than HTTP1_BODY_EXTRA_MAX such bytes.
 */
static bool take_extra(struct http1_body *b, char c)
{
	return is_text(c) && ++b->extra <= HTTP1_BODY_EXTRA_MAX;
}

static bool expect(struct http1_body *b, char c, char expected,
		   enum http1_body_state next)
{
	b->state = next;
	return c == expected;
}

static bool take_size(struct http1_body *b, char c)
{
	if (b->digit_nr && c == '\r')
		b->state = HTTP1_BODY_SIZE_LF;
	else if (b->digit_nr && c == ';')
		b->state = HTTP1_BODY_EXT;
	else
		return take_digit(b, c);
	return true;
}

/*
 * Takes one byte of a text that ends at a CR. At the CR, the next state is
 * `after_cr`. Returns false if the byte is not allowed.
 */
static bool take_text(struct http1_body *b, char c,
		      enum http1_body_state after_cr)
{
	if (c != '\r')
		return take_extra(b, c);
	b->state = after_cr;
	return true;
}

static bool take_trailer(struct http1_body *b, char c)
{
	/*
	 * A line that begins with white space would continue the line before
	 * it. Such lines are not allowed.
	 */
	if (c == ' ' || c == '\t')
		return false;
	b->state = HTTP1_BODY_FIELD;
	return take_text(b, c, HTTP1_BODY_LAST_LF);
}

/* Takes one byte of framing. Returns whether the byte is valid there. */
static bool take_byte(struct http1_body *b, char c)
{
	switch (b->state) {
	case HTTP1_BODY_SIZE:
		return take_size(b, c);
	case HTTP1_BODY_EXT:
		return take_text(b, c, HTTP1_BODY_SIZE_LF);
	case HTTP1_BODY_SIZE_LF:
		return expect(b, c, '\n',
			      b->left ? HTTP1_BODY_DATA : HTTP1_BODY_TRAILER);
	case HTTP1_BODY_DATA_CR:
		return expect(b, c, '\r', HTTP1_BODY_DATA_LF);
	case HTTP1_BODY_DATA_LF:
		b->digit_nr = 0;
		return expect(b, c, '\n', HTTP1_BODY_SIZE);
	case HTTP1_BODY_TRAILER:
		return take_trailer(b, c);
	case HTTP1_BODY_FIELD:
		return take_text(b, c, HTTP1_BODY_FIELD_LF);
	case HTTP1_BODY_FIELD_LF:
		return expect(b, c, '\n', HTTP1_BODY_TRAILER);
	default:
		return expect(b, c, '\n', HTTP1_BODY_END);
	}
}

static void take_data(struct http1_body *b, size_t len,
		      struct http1_piece *piece)
{
	piece->len = len < b->left ? len : (size_t)b->left;
	b->left -= piece->len;
	if (!b->left)
		b->state = b->is_chunked ? HTTP1_BODY_DATA_CR : HTTP1_BODY_END;
}

int http1_body_next(struct http1_body *body, const char *bytes, size_t len,
		    struct http1_piece *piece, struct error *err)
{
	size_t off = 0;

	*piece = (struct http1_piece){0, 0};
	while (off < len && body->state != HTTP1_BODY_DATA &&
	       body->state != HTTP1_BODY_END)
		if (!take_byte(body, bytes[off++]))
			return error_set(err, ERR_PEER,
					 "the request's chunks are not valid");
	piece->off = off;
	if (body->state == HTTP1_BODY_END)
		return 1;
	if (body->state == HTTP1_BODY_DATA)
		take_data(body, len - off, piece);
	return 0;
}

static void line_end(char **p)
{
	*(*p)++ = '\r';
	*(*p)++ = '\n';
}

size_t http1_chunk_head(char *out, uint64_t len, bool is_first)
{
	char *p = out;
	int shift = 60;

	if (!is_first)
		line_end(&p);
	while (shift && !(len >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[len >> shift & 15];
	line_end(&p);
	if (!len)
		line_end(&p);
	return (size_t)(p - out);
}
