/* SPDX-License-Identifier: MIT */
/*
 * Multiplexing a pack with progress and errors (side-band, side-band-64k of
 * gitprotocol-capabilities(5)).
 *
 *	+-------+------+----------------+   band 1: pack data
 *	|  len  | band |  data          |   band 2: progress, for the terminal
 *	+-------+------+----------------+   band 3: error, ends the stream
 *
 * Pack data is framed without being copied: headers and spans of the caller
 * go out together in one gathered write; of what lies in a file, each header
 * before a part of the file.
 *
 * Several threads may put progress while one puts data; packets never
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
	SIDEBAND_NONE,  /* bare pack bytes; progress and errors are dropped */
	SIDEBAND_SMALL, /* side-band: packets of at most 1000 bytes */
	SIDEBAND_LARGE, /* side-band-64k: at most 65520 bytes */
};

enum sideband_band {
	SIDEBAND_DATA = 1,
	SIDEBAND_PROGRESS = 2,
	SIDEBAND_ERROR = 3,
};

struct sideband {
	pthread_mutex_t lock;       /* guards `out`, is_said and is_held */
	struct pktline_writer *out; /* borrowed */
	enum sideband_mode mode;
	bool is_said; /* a packet since the last quiet look */
	/*
	 * Nothing but pack data goes out yet: progress and keep-alives are
	 * dropped, as packets of another kind come first.
	 */
	bool is_held;
	bool has_data; /* some pack data was accepted; only the
			  thread that puts data uses it */
};

void sideband_init(struct sideband *sb, struct pktline_writer *out,
		   enum sideband_mode mode);
void sideband_release(struct sideband *sb);

/* From now on, or no longer: is_held. */
void sideband_hold(struct sideband *sb, bool is_held);

/* Send bytes on a band, in as many packets as it takes. 0 or the error. */
int sideband_put(struct sideband *sb, enum sideband_band band,
		 const void *bytes, size_t len, struct error *err);

/*
 * The same for what fits into one packet, and need not go out before what comes
 * next.
 */
int sideband_add(struct sideband *sb, enum sideband_band band,
		 const void *bytes, size_t len, struct error *err);

/*
 * Send an empty packet of progress, so that a line on which nothing is said is
 * not taken for dead. Nothing without side bands. 0 or the error.
 */
int sideband_keep_alive(struct sideband *sb, struct error *err);

/*
 * The seconds of silence after which to do so, the value of `key`: 5 by
 * default; 0, and so a negative value: never. At most what fits into an
 * unsigned int as milliseconds. 0, or ERR_INVALID for what is no number.
 */
int sideband_load_keep_alive(uint64_t *seconds, const struct config *config,
			     const char *key, struct error *err);

/* As sideband_keep_alive(), if nothing was said since the last call. */
int sideband_keep_alive_if_quiet(struct sideband *sb, struct error *err);

/* The sink that carries a pack on band 1; borrows sb. */
struct pack_sink sideband_sink(struct sideband *sb);

/*
 * Progress to band 2, shown from the first moment; borrows sb. A failed write
 * is left for the pack data to meet.
 */
struct progress_out sideband_progress(struct sideband *sb);

#endif
