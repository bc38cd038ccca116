/* SPDX-License-Identifier: MIT */
/*
 * The relay of a cache directory (store/relay.h): it answers the processes that
 * receive pushes into local copies.
 *
 *	<dir>/relay    the socket file; a new relay replaces it
 *
 * A thread answers each connection. The relay has no state that must survive
 * it: if it ends, the other processes send their requests themselves.
 */
#ifndef COPIES_RELAY_H
#define COPIES_RELAY_H

#include "copies/node.h"

/*
 * maximum number of connections at one time; the relay closes further ones at
 * once
 */
#define STORED_RELAY_MAX 512

struct stored_relay;

struct stored_relay_options {
	/* borrowed during the call: the cache directory */
	const char *dir;
	/* the store; borrowed during the call */
	struct stored_origin origin;
	/*
	 * Prints a message for the administrator, in any thread: one line.
	 * NULL: messages are dropped.
	 */
	void (*warn)(void *ctx, const char *message);
	void *ctx;
};

/*
 * Opens a relay, and listens. An earlier relay of the directory gets no new
 * connections from now on. Returns 0 with *out owned by the caller, or an error
 * code of stored_node_make() or sys_passing_listen().
 */
int stored_relay_open(struct stored_relay **out,
		      const struct stored_relay_options *options,
		      struct error *err);

/* Returns the listening socket; borrowed. */
int stored_relay_listener(const struct stored_relay *relay);

/*
 * Starts to answer the connections that wait. Does not block. Returns 0, or
 * ERR_IO if descriptors or memory run out: further connections then wait, and
 * the listening socket stays ready.
 */
int stored_relay_accept(struct stored_relay *relay, struct error *err);

/*
 * Stops listening, and takes no further questions. Each connection ends when
 * the questions that have arrived are answered. A process whose question did
 * not arrive knows this, and asks another relay or none.
 */
void stored_relay_refuse(struct stored_relay *relay);

/* Returns the number of connections. */
unsigned stored_relay_busy(struct stored_relay *relay);

/*
 * Works like stored_relay_refuse(), waits for the end of all connections, and
 * frees the relay. NULL is allowed.
 */
void stored_relay_close(struct stored_relay *relay);

#endif
