/* SPDX-License-Identifier: MIT */
/*
 * Finds the user or address (the principal) for which a request counts, refuses
 * requests, and lets a fetch or a push wait for admission.
 */
#ifndef DAEMON_ADMIT_H
#define DAEMON_ADMIT_H

#include "admission/admission.h"
#include "daemon/conn.h"
#include "packing/send.h"
#include "repo/repo.h"
#include "sys/spawn.h"

/* The message for a client that should try again later. */
#define DAEMON_BUSY_TEXT "the server is busy, try again later"

/*
 * Writes the numeric address of the client to `out`: usually the address of the
 * connection. If a trusted proxy made the connection, X-Forwarded-For is read.
 * Then the client is the last address in this field that does not belong to a
 * trusted proxy.
 */
void daemon_client_address(char out[SYS_ADDRESS_MAX],
			   const struct daemon_options *options,
			   const struct daemon_conn *conn);

/*
 * Returns the principal of an HTTP request: the user, if a trusted proxy names
 * one. Otherwise returns the client's address (daemon_client_address()) as
 * trusted_client_name() writes it. A user who is known only by a password is
 * not found here. The string is borrowed from *conn or from conn->input.
 */
const char *daemon_principal(const struct daemon_options *options,
			     struct daemon_conn *conn);

/*
 * Returns a key for the client of a request: a hash of its user, or of its
 * address if there is no user. Requests with the same key wait for a thread in
 * the same line (daemon/lanes.h).
 *
 * For ssh, user and address are in the message that the forced command of sshd
 * sends to the server (daemon/ssh-request.h). The message is still unread in
 * the socket. This function looks at it, and leaves it there.
 */
uint64_t daemon_lane_key(const struct daemon_options *options,
			 struct daemon_conn *conn);

/*
 * Returns whether a request may be refused because the server is busy. True for
 * git:// and for GET over HTTP: stock Git repeats a GET after status 429. False
 * for POST, because Git does not repeat a POST, and for all other requests.
 */
bool daemon_may_refuse(const struct daemon_conn *conn);

/*
 * Returns after how many seconds a client should try again. The number is
 * random, so that clients do not all come back at once.
 */
unsigned daemon_retry_after(void);

/*
 * Writes to the log and to the client that a new connection is refused, because
 * there are too many. The answer is short, so it is sent without waiting.
 * Clients of ssh get no answer: their forced command prints a message. Clients
 * of TLS get none, because the answer would have to wait for a handshake.
 */
void daemon_turn_away(const struct daemon_options *options,
		      struct daemon_conn *conn, enum admission_refusal why);

/*
 * Appends the name of a repository's fork network. This is the object directory
 * from which the repository borrows objects (objects/info/alternates). If it
 * borrows none, the name is its own object directory. If memory runs out, the
 * name is empty.
 */
void daemon_network_name(struct buf *out, const struct repo *repo);

/* A fetch that asks for admission before its pack is made. */
struct daemon_admit {
	int work_nice;                      /* daemon_options.work_nice */
	const struct daemon_shared *shared; /* borrowed */
	/* borrowed: a user or an address */
	const char *principal;
	/* borrowed: whether the client is lost */
	const atomic_bool *is_lost;
	/* the thread that makes the pack */
	pthread_t owner;
	/*
	 * The permission of the fetch to do expensive work. It holds tokens, or
	 * a place in the queue, only during daemon_admit_send().
	 */
	struct admission_pass pass;
	/* The fields below are valid during daemon_admit_send(). */
	const struct repo *repo; /* borrowed */
	/*
	 * name of the fork network (the repositories that share objects); empty
	 * before admission_enter()
	 */
	struct buf network;
	const struct progress_out *outer;
	const struct packing_report *report;
	/*
	 * nanoseconds of waiting for admission that report->count_ns includes,
	 * and that must be subtracted from it
	 */
	uint64_t counted_ns;
	bool has_told;
	/* the place in the queue that the last message to the client named */
	unsigned ahead;
};

/*
 * Prepares *ad for a request of this thread. The other arguments become fields
 * of *ad, and are borrowed.
 */
void daemon_admit_init(struct daemon_admit *ad,
		       const struct daemon_options *options,
		       const struct daemon_shared *shared,
		       const char *principal, const atomic_bool *is_lost);

/*
 * Works like packing_send(), but waits for admission first. While the request
 * waits, the client gets messages with its place in the queue. If the work is
 * not cheap, the calling thread has the nice value ad->work_nice afterwards.
 * `ctx` is a struct daemon_admit.
 */
int daemon_admit_send(void *ctx, const struct odb *odb,
		      const struct packing_request *request,
		      const struct packing_send_options *options,
		      struct pack_sink sink, struct packing_report *report,
		      struct error *err);

/*
 * Called before each wait for the client (`begins` is true) and after it
 * (false), see struct sys_patience. An expensive request holds tokens while it
 * works. A token is the permission for one thread to work on an expensive
 * request (admission/admission.h). During the wait, the request gives its
 * tokens back, so that other requests can work. A call has no effect if another
 * thread than that of the request makes it, for example the thread that sends
 * keep-alives. While such a thread waits, the pack is still being made, and
 * this work needs the tokens. `ctx` is a struct daemon_admit.
 */
void daemon_admit_rest(void *ctx, bool begins);

/*
 * Returns whether a new fetch or push must be refused, because too many others
 * wait: fetches of its fork network, pushes to its repository, or requests of
 * its user or address.
 */
bool daemon_is_busy(const struct daemon_shared *shared, const char *principal,
		    const struct repo *repo, bool is_push);

/*
 * Waits until the limit of pushes to the repository allows one more. Returns 0,
 * and the caller passes *pass to admission_leave() after the push. Returns
 * ERR_DENIED if the time limit of the wait has passed.
 */
int daemon_admit_push(struct admission_pass *pass,
		      const struct daemon_shared *shared, const char *principal,
		      const struct repo *repo, struct error *err);

/*
 * Waits for the end of the child process of a push, and gives the place of the
 * push back if its client is lost: a hook that never ends must not keep other
 * pushes waiting for ever. The child keeps the place for options->timeout
 * seconds after the loss, because it may still work for the push. It keeps the
 * place longer while a quarter of the worker's threads wait for children
 * without a place. So the hooks of one repository cannot occupy all threads.
 *
 * `fd`: a descriptor to which the child writes, so that its loss shows the loss
 * of the client; -1: the client is lost already. Returns at once if the push
 * has no place. The caller calls sys_spawn_wait() and admission_leave() in any
 * case.
 */
void daemon_admit_end(struct admission_pass *pass,
		      const struct daemon_options *options,
		      const struct daemon_conn *conn, struct sys_child *child,
		      int fd);

#endif
