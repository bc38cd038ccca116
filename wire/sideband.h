/* SPDX-License-Identifier: MIT */
/*
 * Multiplexing of pack data, progress and errors (side-band and side-band-64k
 * of gitprotocol-capabilities(5)).
 *
 *	+-------+------+----------------+   band 1: pack data
 *	|  len  | band |  data          |   band 2: progress, for the terminal
 *	+-------+------+----------------+   band 3: error, ends the stream
 *
 * Pack data is not copied for framing. One gathered write sends the headers and
 * the caller's spans. For data in a file, each header is written before its
 * part of the file. A pinned pack stays open and mapped until the response was
 * sent. For data of such a pack, this module makes no headers: the code that
 * sends the bytes to the client later also makes the headers (struct serve_span
 * in wire/io.h).
 *
 * Several threads may send progress while one thread sends data. Packets never
 * interleave.
 */
#ifndef WIRE_SIDEBAND_H
#define WIRE_SIDEBAND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "config/config.h"
#include "pack/writer.h"
#include "sys/progress.h"
#include "wire/pktline.h"

enum sideband_mode {
	/*
	 * no side-band: only pack bytes are sent; progress and errors are
	 * dropped
	 */
	SIDEBAND_NONE,
	/* side-band: packets have at most 1000 bytes */
	SIDEBAND_SMALL,
	/* side-band-64k: packets have at most 65520 bytes */
	SIDEBAND_LARGE,
};

enum sideband_band {
	SIDEBAND_DATA = 1,
	SIDEBAND_PROGRESS = 2,
	SIDEBAND_ERROR = 3,
};

/* The sender of a side-band stream: pack data, progress and errors. */
struct sideband {
	/* the lock that guards `out`, is_said and is_held */
	pthread_mutex_t lock;
	struct pktline_writer *out; /* borrowed */
	enum sideband_mode mode;
	/*
	 * true: a packet was sent after the last call of
	 * sideband_keep_alive_if_quiet()
	 */
	bool is_said;
	/*
	 * true: progress and keep-alive packets are dropped, because packets of
	 * another kind must be sent first.
	 */
	bool is_held;
	/*
	 * true: pack data was sent. Only the thread that sends data uses this
	 * field.
	 */
	bool has_data;
	/*
	 * true: the pack is tiny, and the end of the answer follows
	 * immediately. So pack data is only appended, as by sideband_add(), and
	 * one write sends the pack together with the end. Set this field before
	 * data is sent. Each piece of data must fit into one packet.
	 */
	bool is_tiny;
};

void sideband_init(struct sideband *sb, struct pktline_writer *out,
		   enum sideband_mode mode);
void sideband_release(struct sideband *sb);

/*
 * true: from now on, drop progress and keep-alive packets; false: send them
 * again
 */
void sideband_hold(struct sideband *sb, bool is_held);

/*
 * Send bytes on a band, in as many packets as necessary. Returns 0 or a
 * negative error code.
 */
int sideband_put(struct sideband *sb, enum sideband_band band,
		 const void *bytes, size_t len, struct error *err);

/*
 * Append bytes on a band. They must fit into one packet, and are sent with the
 * next packet at the latest. Returns 0 or a negative error code.
 */
int sideband_add(struct sideband *sb, enum sideband_band band,
		 const void *bytes, size_t len, struct error *err);

/*
 * Send an empty progress packet, which shows that the connection is alive. Does
 * nothing without side-band. Returns 0 or a negative error code.
 */
int sideband_keep_alive(struct sideband *sb, struct error *err);

/*
 * Read `key`: the seconds of silence before a keep-alive packet. The default is
 * 5. 0 means never, and negative values count as 0. The maximum is the number
 * of seconds whose milliseconds fit into an unsigned int. Returns 0, or
 * ERR_INVALID if the value is not a number.
 */
int sideband_load_keep_alive(uint64_t *seconds, const struct config *config,
			     const char *key, struct error *err);

/*
 * Send an empty progress packet if no packet was sent since the last call of
 * this function. Returns 0 or a negative error code.
 */
int sideband_keep_alive_if_quiet(struct sideband *sb, struct error *err);

/* Returns a sink that sends a pack on band 1. The sink borrows sb. */
struct pack_sink sideband_sink(struct sideband *sb);

/*
 * Returns an output that sends progress on band 2. The first meter is shown
 * without a delay. The output borrows sb. A failed write is ignored here; the
 * next write of pack data reports the failure.
 */
struct progress_out sideband_progress(struct sideband *sb);

#endif
