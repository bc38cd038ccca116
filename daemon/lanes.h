/* SPDX-License-Identifier: MIT */
/*
 * Requests that wait for a thread, in one lane for each client. Lanes take
 * turns. A client gets another thread only if it uses fewer threads than are
 * free ("dynamic thresholds": Choudhury, Hahne 1998). So one greedy client gets
 * at most half of the threads. Two greedy clients get a third each. Some
 * threads always stay free for other clients.
 *
 * The functions take no lock: the caller must hold one.
 */
#ifndef DAEMON_LANES_H
#define DAEMON_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lanes;

/*
 * A request that waits for a thread, or that a thread is serving. It is a part
 * of a struct of the caller.
 */
struct lane_item {
	struct lane_item *next;
	/* key of the lane: a hash of the client's name */
	uint64_t key;
	/* time at which the wait for a thread began; the caller sets it */
	uint64_t since_ns;
};

/*
 * Returns a struct without requests, which will share `thread_nr` threads among
 * clients, or NULL if memory runs out.
 */
struct lanes *lanes_new(unsigned thread_nr);

/* Frees the lanes, and drops waiting items. NULL is allowed. */
void lanes_free(struct lanes *lanes);

/*
 * Returns the key of a client's lane (its waiting line). The key is at least
 * 16. Callers can use smaller keys for lanes with other purposes.
 */
uint64_t lanes_key(const char *client);

/*
 * Adds a request, whose key the caller has set, to the lane (the waiting line)
 * of its client. If there is no memory for a new lane, the request waits in a
 * lane that several clients share.
 */
void lanes_put(struct lanes *lanes, struct lane_item *item);

/*
 * Takes the next request that a thread may answer now, or returns NULL. When
 * the request ends, the caller passes the key of the returned item to
 * lanes_done().
 *
 * The end of one request can allow two others to start. So after lanes_take(),
 * the caller calls lanes_has_ready(), and wakes another thread if it returns
 * true.
 */
struct lane_item *lanes_take(struct lanes *lanes);

/* Returns whether lanes_take() would return a request. */
bool lanes_has_ready(const struct lanes *lanes);

/*
 * Records that a request has ended. Must be called for each request that
 * lanes_take() has returned. `key` is the value of item->key after
 * lanes_take(). It may differ from the key that the caller had set: lanes_put()
 * sets item->key to 0 if the request waits in the lane that several clients
 * share.
 */
void lanes_done(struct lanes *lanes, uint64_t key);

/* Returns how many requests with this key wait for a thread. */
unsigned lanes_waiting(const struct lanes *lanes, uint64_t key);

/*
 * Returns whether there is a client that uses no thread and has waited for a
 * thread since `since_ns` or longer. Lanes that do not belong to one client are
 * ignored.
 */
bool lanes_starve(const struct lanes *lanes, uint64_t since_ns);

/*
 * Returns the number of threads that the client with this key uses, if the
 * client uses at least two, and more than an equal share of all threads.
 * Otherwise returns 0.
 */
unsigned lanes_excess(const struct lanes *lanes, uint64_t key);

#endif
