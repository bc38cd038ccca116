/* SPDX-License-Identifier: MIT */
/*
 * The relay of a cache directory (store/relay.h): it sends requests to the
 * store for the processes that receive pushes into local copies.
 *
 *	<dir>/relay    the socket file; a new relay replaces it
 *
 * A thread answers each connection. The relay has no state that must survive
 * it: if it ends, the other processes send their requests to the store
 * themselves.
 */
#ifndef COPIES_RELAY_H
#define COPIES_RELAY_H

#include "base/cursor.h"
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
 * not arrive notices this. It then asks another relay, or does without a relay.
 */
void stored_relay_refuse(struct stored_relay *relay);

/* Returns the number of connections. */
unsigned stored_relay_busy(struct stored_relay *relay);

/*
 * Works like stored_relay_refuse(), waits for the end of all connections, and
 * frees the relay. NULL is allowed.
 */
void stored_relay_close(struct stored_relay *relay);

/*
 * The part of the relay that makes the records of pushes. The relay sends
 * requests to the store for the processes that receive pushes on its node. A
 * record is the file in the store that makes a new generation of a repository.
 * Pushes to one repository that wait at the same time get one record. Then the
 * local copy of the repository on this node is advanced to this record.
 * Meanwhile, the relay may already make the next record.
 *
 *	process                             relay
 *	writes its files
 *	its change   ------------------>    waits, or makes the record of all
 *	(generations/passing.h)             waiting changes; advances the copy
 *	             <------------------    its result
 *	                                    writes the hint
 */

/*
 * The repositories into which processes push through this relay. Threads may
 * share the struct.
 */
struct relay_commits;

struct relay_commits_options {
	struct stored_node *node; /* borrowed */
	/* prints a line for the administrator; NULL: messages are dropped */
	void (*warn)(void *ctx, const char *message);
	void *ctx;
};

/* Returns a new struct, or NULL if memory runs out. */
struct relay_commits *relay_commits_new(
	const struct relay_commits_options *options);
/* Frees the struct. No thread may use it any more. NULL is allowed. */
void relay_commits_free(struct relay_commits *commits);

/*
 * A repository to which a process pushes now: from relay_commit() to
 * relay_commit_end().
 */
struct relay_repository;

/*
 * Makes the change in *question, and replaces *answer by the result
 * (relay_message_add_result()): a value of generation_commit_result or a
 * negative error code. If the result is GENERATION_COMMITTED, the local copy of
 * the repository on this node was updated too. If this update has failed, the
 * administrator was warned.
 *
 * Sets *used to the repository to which the change belongs, or to NULL if the
 * repository is not known because of an error. In each case, pass *used to
 * relay_commit_end(). Returns 0, ERR_PEER if the question has no valid form, or
 * ERR_NOMEM.
 */
int relay_commit(struct relay_commits *commits, struct relay_repository **used,
		 struct buf *answer, struct cursor *question,
		 struct error *err);

/*
 * Writes the hint (a file with the number of a recent record) for the newest
 * record, unless another thread is writing it. Call this function after the
 * answer was sent, because no process waits for the hint.
 */
void relay_commit_end(struct relay_commits *commits,
		      struct relay_repository *used);

#endif
