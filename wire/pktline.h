/* SPDX-License-Identifier: MIT */
/*
 * pkt-lines (gitprotocol-common(5)): parsing from bytes, reading from an
 * input, writing to an output.
 *
 *	 0       4              len
 *	+-------+----------------+      len  in hexadecimal, counts itself
 *	|  len  |  data          |      0000 flush, 0001 delim,
 *	+-------+----------------+      0002 response end, 0003 invalid
 *
 *	30 30 30 36 61 0a   "0006a\n": data "a\n"
 *	30 30 30 30         "0000": flush
 *
 * A peer can make a reader hold one packet, PKTLINE_MAX bytes, and no more.
 * Readers and writers belong to one thread.
 */
#ifndef WIRE_PKTLINE_H
#define WIRE_PKTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "sys/trace.h"
#include "wire/io.h"

#define PKTLINE_HEADER 4  /* bytes of the length field */
#define PKTLINE_MAX 65520 /* longest packet, length field included */
#define PKTLINE_DATA_MAX (PKTLINE_MAX - PKTLINE_HEADER)

enum pktline_kind {
	PKTLINE_EOF, /* only from a reader: the input ended between packets */
	PKTLINE_FLUSH,
	PKTLINE_DELIM,
	PKTLINE_RESPONSE_END,
	PKTLINE_DATA,
};

struct pktline {
	enum pktline_kind kind;
	const char *data; /* borrowed from the parsed bytes or the reader */
	size_t len;       /* bytes of data; 0 for all other kinds */
};

/*
 * Take one packet. Returns 1; 0 when the bytes end before the packet does
 * (cursor untouched); or ERR_PEER for a length that is no hexadecimal number
 * or not allowed.
 */
int pktline_parse(struct pktline *pkt, struct cursor *c, struct error *err);

/*
 * Who listens to a connection: every packet is told to the trace, and what
 * passes is counted. Borrowed by readers and writers; NULL: nobody.
 */
struct pktline_tap {
	struct trace *trace;             /* borrowed; not NULL */
	const char *who;                 /* the service, static */
	uint64_t bytes_read, bytes_sent; /* from and to the peer */
	uint64_t read_ns, send_ns;       /* waited for it */
};

/* An input with at most one packet's worth of bytes read ahead. */
struct pktline_reader {
	const struct serve_io *io; /* borrowed */
	uint8_t *bytes;            /* owned: PKTLINE_MAX bytes */
	size_t from, to;           /* unread bytes: [from, to) of `bytes` */
	char *line;                /* owned: data of the last packet */
	bool ended;                /* the peer went away */
	struct pktline_tap *tap;   /* borrowed; NULL after init */
};

/* 0 or ERR_NOMEM; release in any case. */
int pktline_reader_init(struct pktline_reader *r, const struct serve_io *io);
void pktline_reader_release(struct pktline_reader *r);

/*
 * Read a packet of text: one line feed at the end of the data is dropped, and
 * a NUL follows it. Valid until the next call. The input's end is PKTLINE_EOF
 * between packets and ERR_PEER ("the remote end hung up unexpectedly") within
 * one; r->ended is set for both.
 */
int pktline_read(struct pktline_reader *r, struct pktline *pkt,
		 struct error *err);

/*
 * Read what follows the packets (a pack): up to `len` bytes as they are.
 * Returns their number, 0 at the end of the input, or negative.
 */
ssize_t pktline_read_raw(struct pktline_reader *r, void *bytes, size_t len,
			 struct error *err);

/* The error of a peer that went away: ERR_PEER. */
int pktline_hung_up(struct pktline_reader *r, struct error *err);

/* Longest quotation of a peer's line in a message, NUL included. */
#define PKTLINE_QUOTE_MAX 256

/*
 * A peer's text for use in messages: cut to PKTLINE_QUOTE_MAX, with '?' for
 * what is not printable. Returns `out`.
 */
const char *pktline_quote(char out[PKTLINE_QUOTE_MAX], const char *text);

/* An output that collects packets and sends them in large pieces. */
struct pktline_writer {
	const struct serve_io *io; /* borrowed */
	struct buf pending;        /* packets not sent yet */
	bool failed;               /* the output refused bytes */
	/*
	 * With sideband-all, the band that pktline_write() puts in front of a
	 * packet's data; 0: none.
	 */
	uint8_t band;
	struct pktline_tap *tap; /* borrowed; NULL after init */
};

void pktline_writer_init(struct pktline_writer *w, const struct serve_io *io);
void pktline_writer_release(struct pktline_writer *w);

/*
 * Append one packet. Returns 0, ERR_NOMEM, ERR_INVALID for more than
 * PKTLINE_DATA_MAX bytes, or the output's error.
 */
int pktline_write(struct pktline_writer *w, const void *data, size_t len,
		  struct error *err);

/*
 * The same in two steps, for who writes `len` bytes of data in their place, at
 * *data. What is not ended was not begun.
 */
int pktline_begin(char **data, struct pktline_writer *w, size_t len,
		  struct error *err);
int pktline_end(struct pktline_writer *w, size_t len, struct error *err);

/* As pktline_write() for formatted text; no line feed is added. */
int pktline_printf(struct pktline_writer *w, struct error *err, const char *fmt,
		   ...) __attribute__((format(printf, 3, 4)));

/* Append a flush or delim packet. */
int pktline_write_flush(struct pktline_writer *w, struct error *err);
int pktline_write_delim(struct pktline_writer *w, struct error *err);

/* Send what was appended. */
int pktline_send(struct pktline_writer *w, struct error *err);

/*
 * Send what was appended, then `nr` spans as they are: for callers that frame
 * large data themselves. The array is used up as scratch. What is small and
 * follows something is copied behind it, and both are one write.
 */
int pktline_send_spans(struct pktline_writer *w, struct iovec *iov, size_t nr,
		       struct error *err);

/*
 * The same for `len` bytes at `head` and then bytes of a file. Only where
 * w->io->send_file is not NULL.
 */
int pktline_send_file(struct pktline_writer *w, const void *head, size_t len,
		      const struct sys_file_span *span, struct error *err);

/* Write the four digits of a packet of `len` bytes, header included. */
void pktline_header(char out[PKTLINE_HEADER], size_t len);

#endif
