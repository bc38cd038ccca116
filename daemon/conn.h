/* SPDX-License-Identifier: MIT */
/*
 * The state of a connection, which the loop of a worker and one thread pass to
 * each other. Also its log, and the fields of the head of its HTTP request.
 */
#ifndef DAEMON_CONN_H
#define DAEMON_CONN_H

#include "daemon/lanes.h"
#include "daemon/options.h"
#include "daemon/stream.h"
#include "http1/head.h"
#include "status/board.h"
#include "sys/tcp.h"

#define DAEMON_HEAD_MAX 16384

/* room for a user and a password, each with a NUL */
#define DAEMON_USER_MAX (2 * HTPASSWD_TEXT_MAX)
#define DAEMON_INPUT_MAX (DAEMON_HEAD_MAX + 8192)

/* The memory that all processes of the server share. */
struct daemon_shared {
	struct status_boards *boards;
	struct daemon_suspects *suspects;
	struct statistics *statistics;
	struct admission *admission;
};

/*
 * The bytes that a client has sent and that are not used yet. A connection
 * without such bytes has no struct daemon_input.
 */
struct daemon_input {
	struct http1_head head;
	size_t len;
	char bytes[DAEMON_INPUT_MAX];
};

/*
 * The state of a connection: the event for which the loop waits, or BUSY while
 * a thread has the connection.
 */
enum daemon_state {
	/* waits for the rest of a TLS handshake */
	DAEMON_HANDSHAKE,
	/* waits for the first byte of a request */
	DAEMON_IDLE,
	/* waits for the rest of a request's head */
	DAEMON_HEAD,
	/* waits for some time, before a wrong password is refused */
	DAEMON_DELAY,
	/*
	 * after the last answer: waits until the client closes the connection
	 */
	DAEMON_LINGER,
	/* waits for room in the socket, to send an answer that is made */
	DAEMON_SENDING,
	/* git:// or ssh: waits for the next command of the client */
	DAEMON_WAITING,
	/* a thread has the connection */
	DAEMON_BUSY,
	DAEMON_STATES,
};

struct daemon_request;
struct daemon_talk;
struct daemon_output;

struct daemon_conn {
	struct daemon_conn *next, *prev; /* in the list of its state */
	struct daemon_stream stream;     /* owned */
	enum daemon_state state;
	/*
	 * The thread sets this field to the state that follows its work:
	 * DAEMON_IDLE, DAEMON_DELAY, DAEMON_WAITING or DAEMON_LINGER.
	 */
	enum daemon_state after;
	uint64_t deadline_ns;
	/*
	 * borrowed: the output of an answer that is made, but not completely
	 * sent; NULL: none
	 */
	struct daemon_output *unsent;
	/*
	 * owned: the HTTP request that a thread answers, or the request to
	 * which the bytes in *unsent belong; NULL: none
	 */
	struct daemon_request *request;
	/* owned: the request in Git's own protocol; NULL: none */
	struct daemon_talk *talk;
	/* in DAEMON_SENDING: number of bytes sent since deadline_ns was set */
	uint64_t moved;
	/*
	 * borrowed: memory in which the thread that has the connection shows
	 * its request (status/board.h)
	 */
	struct status_slot *slot;
	/* the same for the loop, in DAEMON_SENDING; NULL: none */
	struct status_slot *send_slot;
	const struct daemon_shared *shared; /* borrowed */
	struct access_helper *helper;       /* borrowed; NULL: none */
	/*
	 * borrowed: how many threads of the worker wait for pushes that have
	 * given their places back (daemon_admit_end())
	 */
	atomic_uint *lost_pushes;
	struct daemon_snapshots *snapshots; /* borrowed */
	struct plan_cache *plans;           /* borrowed; NULL: none */
	/*
	 * borrowed: the local copies of the repositories in a store; NULL:
	 * repositories are on the local disk
	 */
	struct stored_copies *copies;
	/*
	 * time at which the thread of this connection began to wait for the
	 * client, which must send or accept bytes; 0: the thread does not wait
	 */
	_Atomic uint64_t stalled_ns;
	/* the connection is closed after the next answer */
	bool is_last;
	/* the request had a wrong password */
	bool is_denied;
	/* true: a connection of the listener --admin */
	bool is_admin;
	/* the thread has told epoll to report the bytes of the next request */
	bool is_armed;
	/* true: the connection counts for the limits of admission_connect() */
	bool is_counted;
	/* too many requests of this client wait, so this request is refused */
	bool is_excess;
	/*
	 * Links the connection into the lane of its client, the line of
	 * requests that wait for a thread (daemon/lanes.h). In use until the
	 * thread has done its work.
	 */
	struct lane_item lane;
	struct daemon_input *input; /* owned; NULL: no bytes */
	enum daemon_protocol protocol;
	char address[SYS_ADDRESS_MAX];
	/* buffer for the result of daemon_principal(), if it is an address */
	char client[SYS_ADDRESS_MAX];
};

extern const struct http1_limits daemon_limits;

/* Writes a line about the connection to the log. */
void daemon_log(const struct daemon_options *options,
		const struct daemon_conn *conn, const char *line);

/*
 * Describes conn->request or conn->talk for the status page. The strings belong
 * to the request. If an HTTP request is refused before its repository is known,
 * out->path_len is 0.
 */
void daemon_describe(struct status_request *out,
		     const struct daemon_conn *conn);

/*
 * Called when the loop begins to send the answer of the connection. Shows this
 * on the board of the worker. The loop passes conn->send_slot to
 * status_send_end() at the end of the answer. Does nothing for an answer that
 * belongs to no repository.
 */
void daemon_show_sending(struct status_board *board, struct daemon_conn *conn);

/*
 * Returns the input of the connection, or NULL if memory runs out. If the
 * connection has no input yet, allocates one.
 */
struct daemon_input *daemon_give_input(struct daemon_conn *conn);

/*
 * daemon_string_at() returns a part of the head as a string. daemon_field()
 * returns the value of a field, or NULL if the head does not have the field.
 * The byte after the string, a space or CR, is overwritten with a NUL.
 */
const char *daemon_string_at(struct daemon_input *in, struct http1_part part);
const char *daemon_field(struct daemon_input *in, const char *name);

/* Returns how often a field occurs in the head. */
size_t daemon_field_nr(const struct daemon_input *in, const char *name);

#endif
