/* SPDX-License-Identifier: MIT */
/* Reads and writes pkt-lines. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "wire/pktline.h"

/* Pending packets are sent when they have this many bytes together. */
#define SEND_AT 65536

/*
 * If all spans together have at most this many bytes, they are copied behind
 * the pending packets, and one write sends both.
 */
#define JOINED_MAX 4096

static int hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static int bad_header(const uint8_t *header, struct error *err)
{
	char text[PKTLINE_HEADER + 1], quoted[PKTLINE_QUOTE_MAX];

	memcpy(text, header, PKTLINE_HEADER);
	text[PKTLINE_HEADER] = '\0';
	return error_set(err, ERR_PEER,
			 "protocol error: bad line length character: %s",
			 pktline_quote(quoted, text));
}

/*
 * Returns the length that the 4 hexadecimal digits give (0 to 2, or 4 to
 * PKTLINE_MAX), or ERR_PEER.
 */
static int parse_header(const uint8_t *header, struct error *err)
{
	int len = 0;

	for (int i = 0; i < PKTLINE_HEADER; i++) {
		int digit = hex_value(header[i]);

		if (digit < 0)
			return bad_header(header, err);
		len = len * 16 + digit;
	}
	if (len == 3 || len > PKTLINE_MAX)
		return error_set(err, ERR_PEER,
				 "protocol error: bad line length %d", len);
	return len;
}

size_t pktline_announced(const void *header)
{
	int len = parse_header(header, NULL);

	return len > PKTLINE_HEADER ? (size_t)len : PKTLINE_HEADER;
}

static enum pktline_kind special_kind(int len)
{
	static const enum pktline_kind kinds[] = {
		PKTLINE_FLUSH,
		PKTLINE_DELIM,
		PKTLINE_RESPONSE_END,
	};

	return kinds[len];
}

int pktline_parse(struct pktline *pkt, struct cursor *c, struct error *err)
{
	int len;

	if (cursor_left(c) < PKTLINE_HEADER)
		return 0;
	len = parse_header(c->p, err);
	if (len < 0)
		return len;
	*pkt = (struct pktline){PKTLINE_DATA, "", 0};
	if (len < PKTLINE_HEADER) {
		pkt->kind = special_kind(len);
		c->p += PKTLINE_HEADER;
		return 1;
	}
	if (cursor_left(c) < (size_t)len)
		return 0;
	pkt->data = (const char *)c->p + PKTLINE_HEADER;
	pkt->len = (size_t)len - PKTLINE_HEADER;
	c->p += len;
	return 1;
}

int pktline_reader_init(struct pktline_reader *r, const struct serve_io *io)
{
	*r = (struct pktline_reader){.io = io};
	r->bytes = mem_alloc(PKTLINE_MAX, 1);
	r->line = mem_alloc(PKTLINE_DATA_MAX + 1, 1);
	return r->bytes && r->line ? 0 : ERR_NOMEM;
}

void pktline_reader_release(struct pktline_reader *r)
{
	free(r->bytes);
	free(r->line);
	*r = (struct pktline_reader){.io = r->io};
}

int pktline_hung_up(struct pktline_reader *r, struct error *err)
{
	r->ended = true;
	return error_set(err, ERR_PEER, "the remote end hung up unexpectedly");
}

/*
 * Read the bytes that are available, and add their number and the waiting time
 * to the tap (the connection's counters). Returns the number of bytes, 0 at
 * the end of the input, or a negative error code.
 */
static ssize_t read_some(struct pktline_reader *r, void *bytes, size_t len,
			 struct error *err)
{
	struct pktline_tap *tap = r->tap;
	uint64_t start = tap ? sys_clock_ns() : 0;
	ssize_t n = r->io->read(r->io->ctx, bytes, len, err);

	if (tap) {
		tap->read_ns += sys_clock_ns() - start;
		tap->bytes_read += n > 0 ? (uint64_t)n : 0;
	}
	return n;
}

/*
 * Read more bytes into the buffer. Returns 1 if bytes were read, 0 at the end
 * of the input, or a negative error code.
 */
static int fill(struct pktline_reader *r, struct error *err)
{
	ssize_t n;

	memmove(r->bytes, r->bytes + r->from, r->to - r->from);
	r->to -= r->from;
	r->from = 0;
	n = read_some(r, r->bytes + r->to, PKTLINE_MAX - r->to, err);
	if (n < 0) {
		r->ended = true;
		return (int)n;
	}
	r->to += (size_t)n;
	return n > 0;
}

static void trace_pkt(const struct pktline_tap *tap, bool is_sent,
		      const struct pktline *pkt)
{
	static const char *const names[] = {
		[PKTLINE_FLUSH] = "0000",
		[PKTLINE_DELIM] = "0001",
		[PKTLINE_RESPONSE_END] = "0002",
	};

	if (pkt->kind == PKTLINE_DATA)
		trace_packet(tap->trace, tap->who, is_sent, pkt->data,
			     pkt->len);
	else
		trace_packet(tap->trace, tap->who, is_sent, names[pkt->kind],
			     PKTLINE_HEADER);
}

/*
 * Copy the packet's data to r->line, because later reads overwrite the bytes
 * that pkt->data points to.
 */
static void take_line(struct pktline_reader *r, struct pktline *pkt)
{
	if (pkt->len && pkt->data[pkt->len - 1] == '\n')
		pkt->len--;
	memcpy(r->line, pkt->data, pkt->len);
	r->line[pkt->len] = '\0';
	pkt->data = r->line;
}

int pktline_read(struct pktline_reader *r, struct pktline *pkt,
		 struct error *err)
{
	for (;;) {
		struct cursor c = cursor_make(r->bytes + r->from,
					      r->to - r->from);
		int ret = pktline_parse(pkt, &c, err);

		if (ret < 0)
			return ret;
		if (ret) {
			r->from = r->to - cursor_left(&c);
			if (r->tap)
				trace_pkt(r->tap, false, pkt);
			take_line(r, pkt);
			return 0;
		}
		ret = fill(r, err);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
	}
	if (r->to)
		return pktline_hung_up(r, err);
	r->ended = true;
	*pkt = (struct pktline){PKTLINE_EOF, "", 0};
	return 0;
}

ssize_t pktline_read_raw(struct pktline_reader *r, void *bytes, size_t len,
			 struct error *err)
{
	size_t n = r->to - r->from < len ? r->to - r->from : len;
	ssize_t ret;

	if (n) {
		memcpy(bytes, r->bytes + r->from, n);
		r->from += n;
		return (ssize_t)n;
	}
	ret = read_some(r, bytes, len, err);
	r->ended = ret <= 0;
	return ret;
}

const char *pktline_quote(char out[PKTLINE_QUOTE_MAX], const char *text)
{
	size_t len = strnlen(text, PKTLINE_QUOTE_MAX - 1);

	for (size_t i = 0; i < len; i++)
		out[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
	out[len] = '\0';
	return out;
}

void pktline_writer_init(struct pktline_writer *w, const struct serve_io *io)
{
	*w = (struct pktline_writer){.io = io};
	buf_init(&w->pending);
}

void pktline_writer_release(struct pktline_writer *w)
{
	buf_release(&w->pending);
}

void pktline_header(char out[PKTLINE_HEADER], size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < PKTLINE_HEADER; i++)
		out[i] = digits[len >> (12 - 4 * i) & 15];
}

/*
 * Add `len` sent bytes to the tap (the connection's counters). Returns the
 * current time for end_write(), or 0 if there is no tap.
 */
static uint64_t begin_write(struct pktline_writer *w, size_t len)
{
	uint64_t now;

	if (!w->tap)
		return 0;
	now = sys_clock_ns();
	w->tap->bytes_sent += len;
	if (!w->tap->first_ns)
		w->tap->first_ns = now;
	return now;
}

static void end_write(struct pktline_writer *w, uint64_t start)
{
	if (w->tap)
		w->tap->send_ns += sys_clock_ns() - start;
}

static int write_spans(struct pktline_writer *w, struct iovec *iov, size_t nr,
		       bool is_last, struct error *err)
{
	const struct serve_io *io = w->io;
	size_t len = 0;
	uint64_t start;
	int ret;

	for (size_t i = 0; i < nr; i++)
		len += iov[i].iov_len;
	start = begin_write(w, len);
	w->write_nr++;
	ret = (is_last && io->writev_last ? io->writev_last
					  : io->writev)(io->ctx, iov, nr, err);
	end_write(w, start);
	return ret;
}

static int append(struct pktline_writer *w, const void *bytes, size_t len,
		  struct error *err)
{
	if (buf_append(&w->pending, bytes, len) < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Returns whether the spans are so small that copying them to the pending
 * packets costs less than a separate write.
 */
static bool are_small(const struct iovec *iov, size_t nr)
{
	size_t len = 0;

	for (size_t i = 0; i < nr && len <= JOINED_MAX; i++)
		len += iov[i].iov_len;
	return len <= JOINED_MAX;
}

int pktline_send_spans(struct pktline_writer *w, struct iovec *iov, size_t nr,
		       struct error *err)
{
	bool joins = w->pending.len && are_small(iov, nr);
	int ret = 0;

	for (size_t i = 0; joins && i < nr && !ret; i++)
		ret = append(w, iov[i].iov_base, iov[i].iov_len, err);
	if (!ret)
		ret = pktline_send(w, err);
	if (!ret && !joins)
		ret = write_spans(w, iov, nr, false, err);
	if (ret < 0)
		w->failed = true;
	return ret;
}

int pktline_send_file(struct pktline_writer *w, const void *head, size_t len,
		      const struct sys_file_span *span, struct error *err)
{
	const struct serve_io *io = w->io;
	int ret = pktline_send(w, err);

	if (!ret) {
		uint64_t start = begin_write(w, len + span->len);

		ret = io->send_file(io->ctx, head, len, span, err);
		end_write(w, start);
	}
	if (ret < 0)
		w->failed = true;
	return ret;
}

uint64_t pktline_span_len(const struct serve_span *span)
{
	uint64_t max = span->packet_max;

	return !max ? span->len
		    : span->len + (span->len + max - 1) / max *
					  PKTLINE_BAND_HEADER;
}

int pktline_emit(struct pktline_writer *w, const struct serve_span *span,
		 struct error *err)
{
	int ret = pktline_send(w, err);

	if (!ret) {
		uint64_t start = begin_write(w, pktline_span_len(span));

		ret = w->io->emit(w->io->ctx, span, err);
		end_write(w, start);
	}
	if (ret < 0)
		w->failed = true;
	return ret;
}

static int send_pending(struct pktline_writer *w, bool is_last,
			struct error *err)
{
	struct iovec iov = {w->pending.data, w->pending.len};
	int ret;

	if (!iov.iov_len)
		return 0;
	ret = write_spans(w, &iov, 1, is_last, err);
	buf_reset(&w->pending);
	if (ret < 0)
		w->failed = true;
	return ret;
}

int pktline_send(struct pktline_writer *w, struct error *err)
{
	return send_pending(w, false, err);
}

int pktline_send_last(struct pktline_writer *w, struct error *err)
{
	return send_pending(w, true, err);
}

int pktline_begin(char **data, struct pktline_writer *w, size_t len,
		  struct error *err)
{
	size_t band_len = w->band ? 1 : 0;
	char *at;

	if (len > PKTLINE_DATA_MAX - band_len)
		return error_set(err, ERR_INVALID,
				 "protocol error: impossibly long line");
	if (buf_reserve(&w->pending, PKTLINE_HEADER + band_len + len) < 0)
		return error_nomem(err);
	at = w->pending.data + w->pending.len;
	pktline_header(at, PKTLINE_HEADER + band_len + len);
	at[PKTLINE_HEADER] = (char)w->band;
	*data = at + PKTLINE_HEADER + band_len;
	return 0;
}

int pktline_end(struct pktline_writer *w, size_t len, struct error *err)
{
	size_t head_len = PKTLINE_HEADER + (w->band ? 1 : 0);
	const char *data = w->pending.data + w->pending.len + head_len;

	if (w->tap)
		trace_pkt(w->tap, true,
			  &(struct pktline){PKTLINE_DATA, data, len});
	buf_set_len(&w->pending, w->pending.len + head_len + len);
	return w->pending.len >= SEND_AT ? pktline_send(w, err) : 0;
}

int pktline_write(struct pktline_writer *w, const void *data, size_t len,
		  struct error *err)
{
	char *at;
	int ret = pktline_begin(&at, w, len, err);

	if (ret < 0)
		return ret;
	if (len)
		memcpy(at, data, len);
	return pktline_end(w, len, err);
}

int pktline_printf(struct pktline_writer *w, struct error *err, const char *fmt,
		   ...)
{
	struct buf text = BUF_INIT;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (ret < 0)
		ret = error_nomem(err);
	else
		ret = pktline_write(w, text.data, text.len, err);
	buf_release(&text);
	return ret;
}

int pktline_write_ref(struct pktline_writer *w, enum hash_algo algo,
		      const struct oid *oid, const char *name, const void *rest,
		      size_t rest_len, struct error *err)
{
	size_t hex_len = hash_hex_len(algo), name_len = strlen(name);
	size_t len = hex_len + 1 + name_len + rest_len + 1;
	char *at;
	int ret = pktline_begin(&at, w, len, err);

	if (ret < 0)
		return ret;
	oid_to_hex(at, oid, algo);
	at += hex_len;
	*at++ = ' ';
	memcpy(at, name, name_len);
	at += name_len;
	if (rest_len)
		memcpy(at, rest, rest_len);
	at[rest_len] = '\n';
	return pktline_end(w, len, err);
}

int pktline_write_flush(struct pktline_writer *w, struct error *err)
{
	if (w->tap)
		trace_pkt(w->tap, true,
			  &(struct pktline){.kind = PKTLINE_FLUSH});
	return append(w, "0000", PKTLINE_HEADER, err);
}

int pktline_write_delim(struct pktline_writer *w, struct error *err)
{
	if (w->tap)
		trace_pkt(w->tap, true,
			  &(struct pktline){.kind = PKTLINE_DELIM});
	return append(w, "0001", PKTLINE_HEADER, err);
}
