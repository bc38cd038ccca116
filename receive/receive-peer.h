/* SPDX-License-Identifier: MIT */
/*
 * The client at the other end of a push: the connection to the client, and
 * messages for the client's terminal.
 *
 * A message goes out on band 2 if the client asked for side bands. Without
 * side bands, a message goes to the `tell` function of struct receive_options,
 * usually standard error.
 *
 * Threads: one thread uses a peer. Other threads may send messages and
 * keep-alives while that thread sends messages too, because the side band has
 * a lock.
 */
#ifndef RECEIVE_RECEIVE_PEER_H
#define RECEIVE_RECEIVE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "receive/receive-pack.h"
#include "sys/ticker.h"
#include "wire/io.h"
#include "wire/pktline.h"
#include "wire/sideband.h"

struct receive_peer {
	struct pktline_reader in;
	struct pktline_writer out;
	/* mode NONE until the client asks for a band */
	struct sideband band;
	/* As in struct receive_options. NULL: no such messages. */
	void (*tell)(void *ctx, const char *text, size_t len);
	void *tell_ctx;
	const struct serve_io *client; /* borrowed: the connection */
	/* `out` writes through this */
	struct serve_io io;
	/*
	 * Refs are being changed, and the push goes on without the client: a
	 * failed write is noted in `gone`, and nothing more is written.
	 */
	bool is_settling;
	/* code 0, or why the client cannot be reached */
	struct error gone;
};

/*
 * Connect a peer. `io` must outlive the peer, and the peer must not be moved in
 * memory. Returns 0 or ERR_NOMEM. Release the peer in both cases.
 */
int receive_peer_init(struct receive_peer *peer,
		      const struct receive_options *options,
		      const struct serve_io *io, struct error *err);
void receive_peer_release(struct receive_peer *peer);

/* Returns true if the client asked for side bands. */
bool receive_peer_has_band(const struct receive_peer *peer);

/*
 * Send text to the client's terminal as it is, for instance the output of a
 * hook. Returns 0 or a negative error code.
 */
int receive_peer_tell_text(struct receive_peer *peer, const char *text,
			   size_t len, struct error *err);

/*
 * Send a message to the client's terminal. The caller gives the prefix
 * ("error: ") and the line feed. A message that cannot be sent is lost.
 */
void receive_peer_tell(struct receive_peer *peer, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Send "error: <msg>". Absolute paths are removed from a message on a side
 * band. If `code` is ERR_IO, the whole message also goes to the server's
 * log (`peer->tell`), because its administrator needs the paths.
 */
void receive_peer_tell_failure(struct receive_peer *peer, int code,
			       const char *msg);

/*
 * Start a thread that sends a keep-alive every `seconds` seconds. Nothing is
 * started, and *ticker is not changed, without side bands or if `seconds` is 0.
 * The caller stops *ticker with sys_ticker_stop() before the peer is released.
 * Returns 0 or a negative error code.
 */
int receive_peer_start_ticker(struct sys_ticker **ticker,
			      struct receive_peer *peer, uint64_t seconds,
			      struct error *err);

/*
 * Tell the client that the conversation ends with an error: on band 3, or in
 * an "ERR" packet without side bands. Nothing is sent if the client has sent
 * nothing, closed its side, or cannot be written to.
 */
void receive_peer_tell_end(struct receive_peer *peer, const char *msg);

/*
 * Remove the directories from all absolute paths in a message: clients must
 * not learn where on this machine a file is. The last component of each path
 * stays. `msg` is changed in place.
 */
void receive_hide_paths(char *msg);

#endif
