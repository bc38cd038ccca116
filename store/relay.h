/* SPDX-License-Identifier: MIT */
/*
 * A relay: one process of a node that sends requests to a store for the other
 * processes of the node. The relay keeps its connections to the service. So a
 * process that lives for one push neither loads libcurl nor connects to the
 * service.
 *
 *	process                          relay
 *	connects        -------------->  accepts
 *	                <--------------  RELAY_GREETING
 *	a question      -------------->  store/relay-message.h
 *	                <--------------  its answer
 *	(further questions, one after the other)
 *
 * store_relay_open() makes a store that asks the relay. Two kinds of requests
 * to this store go through the relay: requests that read, and requests that put
 * (write) a file of up to RELAY_FILE_MAX bytes. All other requests go to a
 * store of the process itself, `direct`. The store `direct` is also used if
 * there is no relay, or if the relay has ended. There is one exception: if the
 * relay ends after it got a conditional put, the outcome is unknown
 * (STORE_AMBIGUOUS).
 *
 * Both ends run as the same user. A process that can connect can write to the
 * store, so the relay refuses other users (sys_passing_is_own()).
 */
#ifndef STORE_RELAY_H
#define STORE_RELAY_H

#include "base/cursor.h"
#include "store/filestore.h"

/*
 * The first message of a relay: says which version of the questions it knows.
 */
#define RELAY_GREETING "gitreach relay 1"

/* The kinds of questions: the first byte of a message. */
enum relay_question {
	RELAY_READ = 1,
	RELAY_PUT = 2,
	/* makes the record of a push (generations/passing.h) */
	RELAY_COMMIT = 3,
};

/* ---- for the processes */

/* Connections to a relay. Threads may share this struct. */
struct relay;

/*
 * Prepares connections to the relay that listens on the socket file `path`. The
 * relay may not have started yet, or may have ended. If a connection cannot be
 * made, the next one is tried half a minute later. Returns NULL if memory
 * runs out.
 */
struct relay *relay_new(const char *path);
/* NULL is allowed. */
void relay_free(struct relay *relay);

enum relay_outcome {
	RELAY_ANSWERED = 0,
	/* no relay has got the whole question, for example because none runs */
	RELAY_AWAY = 1,
	/* the relay has ended or is silent, and may have got the question */
	RELAY_LOST = 2,
};

/*
 * Sends a question to the relay, and replaces *answer by the answer of the
 * relay. Returns a value of relay_outcome or ERR_NOMEM. If the value is not
 * RELAY_ANSWERED, *err has the reason.
 */
int relay_ask(struct relay *relay, struct buf *answer,
	      const struct buf *question, struct error *err);

/*
 * Opens a store that sends its requests through a relay. `relay` is borrowed.
 * `which` is the number of the store in the relay. `direct` is a store in the
 * same place that does not use the relay. The new store owns `direct`; after an
 * error, `direct` is closed.
 *
 * The relay itself counts the requests that it sends to the store. So call
 * filestore_watch() for `direct` only: a watcher of the new store would count
 * these requests a second time. Returns 0 with *out owned by the caller, or
 * ERR_NOMEM.
 */
int store_relay_open(struct filestore **out, struct relay *relay, uint8_t which,
		     struct filestore *direct, struct error *err);

/* ---- for the relay */

/*
 * Answers one question of a client of the relay. `kind` is RELAY_READ or
 * RELAY_PUT. *question holds the fields that follow the kind. `stores` is an
 * array of `store_nr` stores. The answer replaces the content of *answer.
 * Returns 0; ERR_PEER if the question has no valid form; or ERR_NOMEM.
 */
int relay_answer(struct buf *answer, struct filestore *const *stores,
		 size_t store_nr, uint8_t kind, struct cursor *question,
		 struct error *err);

#endif
