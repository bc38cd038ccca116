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
#include "object/oid.h"
#include "sys/trace.h"
#include "wire/io.h"

/* bytes of the length field of a packet */
#define PKTLINE_HEADER 4
/* bytes of the length field and the number of the side band */
#define PKTLINE_BAND_HEADER 5
/* maximum bytes of a packet, with the length field */
#define PKTLINE_MAX 65520
#define PKTLINE_DATA_MAX (PKTLINE_MAX - PKTLINE_HEADER)

enum pktline_kind {
	/*
	 * The input ended between two packets. pktline_parse() never sets this.
	 */
	PKTLINE_EOF,
	PKTLINE_FLUSH,
	PKTLINE_DELIM,
	PKTLINE_RESPONSE_END,
	PKTLINE_DATA,
};

/* One packet. */
struct pktline {
	enum pktline_kind kind;
	/* borrowed from the parsed bytes or from the reader */
	const char *data;
	/* bytes of `data`; 0 if the kind is not PKTLINE_DATA */
	size_t len;
};

/*
 * Parse one packet at the cursor. Returns 1 if a packet was parsed, 0 if the
 * packet is not complete, or ERR_PEER if the length field is not hexadecimal
 * or not allowed. The cursor moves only if a packet was parsed.
 */
int pktline_parse(struct pktline *pkt, struct cursor *c, struct error *err);

/*
 * An observer of a connection: writes each packet to the trace, and counts
 * bytes and waiting time. Readers and writers borrow a tap. If their tap is
 * NULL, nothing is observed.
 */
struct pktline_tap {
	/* borrowed; NULL: packets are not traced */
	struct trace *trace;
	const char *who; /* the service, static */
	/* bytes received from and sent to the peer */
	uint64_t bytes_read, bytes_sent;
	/* nanoseconds spent waiting for the peer */
	uint64_t read_ns, send_ns;
	/*
	 * time when the first byte was sent (sys_clock_ns()); 0: none was sent
	 */
	uint64_t first_ns;
};

/* A reader of packets. It reads ahead at most PKTLINE_MAX bytes. */
struct pktline_reader {
	const struct serve_io *io; /* borrowed */
	uint8_t *bytes;            /* owned: PKTLINE_MAX bytes */
	/* offsets in `bytes` of the unread bytes: [from, to) */
	size_t from, to;
	/* owned: a copy of the last packet's data, with a NUL at the end */
	char *line;
	/* true: the input ended or failed */
	bool ended;
	/*
	 * borrowed: observes all packets; pktline_reader_init() sets NULL (no
	 * observer)
	 */
	struct pktline_tap *tap;
};

/*
 * Initialise a reader. Returns 0 or ERR_NOMEM. The caller releases the reader
 * in both cases.
 */
int pktline_reader_init(struct pktline_reader *r, const struct serve_io *io);
void pktline_reader_release(struct pktline_reader *r);

/*
 * Read one packet of text. If the data ends in a line feed, this line feed is
 * dropped. A NUL follows the data. The data is valid until the next call.
 * Returns 0 or a negative error code. If the input ends between two packets,
 * pkt->kind is PKTLINE_EOF. If the input ends inside a packet, returns ERR_PEER
 * ("the remote end hung up unexpectedly"). r->ended is set in both cases.
 */
int pktline_read(struct pktline_reader *r, struct pktline *pkt,
		 struct error *err);

/*
 * Read raw bytes that follow the packets (a pack): up to `len` bytes. Returns
 * their number, 0 at the end of the input, or a negative error code.
 */
ssize_t pktline_read_raw(struct pktline_reader *r, void *bytes, size_t len,
			 struct error *err);

/*
 * Report that the peer closed the connection. Sets r->ended. Returns ERR_PEER.
 */
int pktline_hung_up(struct pktline_reader *r, struct error *err);

/* Size of a buffer for pktline_quote(), NUL included. */
#define PKTLINE_QUOTE_MAX 256

/*
 * Copy a peer's text for use in a message. The copy is truncated to
 * PKTLINE_QUOTE_MAX bytes, and each byte that is not printable ASCII becomes
 * '?'. Returns `out`.
 */
const char *pktline_quote(char out[PKTLINE_QUOTE_MAX], const char *text);

/*
 * A writer of packets, which collects packets in memory and sends many of them
 * in one large write.
 */
struct pktline_writer {
	const struct serve_io *io; /* borrowed */
	struct buf pending;        /* packets not sent yet */
	bool failed;               /* a write has failed */
	size_t write_nr;           /* number of writes so far */
	/*
	 * The number of the side band, which is written before the data of each
	 * packet (capability sideband-all). 0: no band number is written.
	 */
	uint8_t band;
	/* borrowed; pktline_writer_init() sets NULL */
	struct pktline_tap *tap;
};

void pktline_writer_init(struct pktline_writer *w, const struct serve_io *io);
void pktline_writer_release(struct pktline_writer *w);

/*
 * Append one packet. Returns 0, ERR_NOMEM, ERR_INVALID if `len` is more than
 * PKTLINE_DATA_MAX, or the error of the output.
 */
int pktline_write(struct pktline_writer *w, const void *data, size_t len,
		  struct error *err);

/*
 * Write one packet in two steps: pktline_begin() sets *data to a buffer of
 * `len` bytes, the caller fills the buffer, and pktline_end() appends the
 * packet. Without pktline_end() nothing is sent. Both functions have the return
 * values of pktline_write().
 */
int pktline_begin(char **data, struct pktline_writer *w, size_t len,
		  struct error *err);
int pktline_end(struct pktline_writer *w, size_t len, struct error *err);

/*
 * Append one packet of formatted text. No line feed is added. Returns 0,
 * ERR_NOMEM, ERR_INVALID if the text is longer than PKTLINE_DATA_MAX, or the
 * error of the output.
 */
int pktline_printf(struct pktline_writer *w, struct error *err, const char *fmt,
		   ...) __attribute__((format(printf, 3, 4)));

/*
 * Append the packet of one ref. All ref lists that a server sends use this line
 * (gitprotocol-pack(5), gitprotocol-v2(5)):
 *
 * 30 30 33 64  <40 or 64 digits>  20  refs/heads/main  [rest]  0a
 *
 * `rest` has `rest_len` bytes: "^{}", " peeled:<id>", or a NUL and
 * capabilities. Servers call this function more often than any other. So the
 * line is formatted directly in the writer's buffer. Returns 0, ERR_NOMEM,
 * ERR_INVALID if the line is longer than PKTLINE_DATA_MAX, or the error of the
 * output.
 */
int pktline_write_ref(struct pktline_writer *w, enum hash_algo algo,
		      const struct oid *oid, const char *name, const void *rest,
		      size_t rest_len, struct error *err);

/* Append a flush or delim packet. Returns 0 or ERR_NOMEM. */
int pktline_write_flush(struct pktline_writer *w, struct error *err);
int pktline_write_delim(struct pktline_writer *w, struct error *err);

/* Send all pending packets. Returns 0 or the error of the output. */
int pktline_send(struct pktline_writer *w, struct error *err);

/*
 * Works like pktline_send(), for the last packets of an answer. The caller
 * writes nothing afterwards. So the end of the answer in the underlying
 * protocol, such as HTTP's last chunk, can be sent in the same write. Returns 0
 * or the error of the output.
 */
int pktline_send_last(struct pktline_writer *w, struct error *err);

/*
 * Send all pending packets, then the bytes of `nr` spans, which are not framed.
 * The function may change the array `iov`. Small spans are copied behind the
 * pending packets, and one write sends both. Returns 0, ERR_NOMEM or the error
 * of the output.
 */
int pktline_send_spans(struct pktline_writer *w, struct iovec *iov, size_t nr,
		       struct error *err);

/*
 * Send all pending packets, then `len` bytes at `head`, then a span of a file.
 * w->io->send_file must not be NULL. Returns 0, ERR_NOMEM or the error of the
 * output.
 */
int pktline_send_file(struct pktline_writer *w, const void *head, size_t len,
		      const struct sys_file_span *span, struct error *err);

/*
 * Send all pending packets, then pass `span`, a range of bytes of a pack, to
 * w->io->emit(). emit() may keep the span, and send the bytes after it has
 * returned. w->io->emit must not be NULL. Returns 0, ERR_NOMEM or the error of
 * the output.
 */
int pktline_emit(struct pktline_writer *w, const struct serve_span *span,
		 struct error *err);

/*
 * Returns the number of bytes that the span takes up as packets, with their
 * headers, but without HTTP chunks.
 */
uint64_t pktline_span_len(const struct serve_span *span);

/*
 * Returns the length in bytes of the packet that starts at `header`, which has
 * PKTLINE_HEADER bytes. The length is PKTLINE_HEADER if the packet has no data
 * (such as a flush packet), or if the header is not valid.
 */
size_t pktline_announced(const void *header);

/* Write the 4 digits of a packet's length. `len` includes these 4 bytes. */
void pktline_header(char out[PKTLINE_HEADER], size_t len);

#endif
