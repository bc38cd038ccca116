/* SPDX-License-Identifier: MIT */
/*
 * A connection and the files that share it:
 *
 *	daemon.c   the master
 *	worker.c   the loop of a worker: sockets, time limits, heads of requests
 *	request.c  one HTTP request, in a thread
 *	child.c    an HTTP request that a child process answers
 *	git.c      one connection of git://, in a thread
 *	ssh.c      one request of a client of ssh, in a thread
 *	talk.c     a request in Git's own protocol, without HTTP
 */
#ifndef DAEMON_DAEMON_PARTS_H
#define DAEMON_DAEMON_PARTS_H

#include "daemon/board.h"
#include "daemon/daemon.h"
#include "daemon/snapshots.h"
#include "daemon/suspects.h"
#include "http/http.h"
#include "http1/body.h"
#include "http1/head.h"
#include "repo/repo.h"
#include "sys/tcp.h"

#define DAEMON_HEAD_MAX 16384
#define DAEMON_INPUT_MAX (DAEMON_HEAD_MAX + 8192)

/* Bytes that a client has sent. A connection without any has no such struct. */
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
	DAEMON_IDLE,   /* the first byte of a request */
	DAEMON_HEAD,   /* the rest of a head */
	DAEMON_LINGER, /* the client's end, after our last answer */
	DAEMON_BUSY,   /* a thread has the connection */
	DAEMON_STATES,
};

struct daemon_conn {
	struct daemon_conn *next, *prev; /* in the list of its state */
	int fd;                          /* owned */
	enum daemon_state state;
	/* set by the thread: the state to go to; DAEMON_BUSY: close */
	enum daemon_state after;
	uint64_t deadline_ns;
	/* borrowed: of the thread that has the connection */
	struct daemon_slot *slot;
	struct daemon_suspects *suspects; /* borrowed */
	bool is_last;               /* the next answer closes the connection */
	struct daemon_input *input; /* owned; NULL: no bytes */
	enum daemon_protocol protocol;
	char address[SYS_ADDRESS_MAX];
};

extern const struct http1_limits daemon_limits;

/* ---- worker.c */

/*
 * Serve connections until SIGTERM. When the worker serves, its board says so,
 * and `alarm` is woken. Returns 0 or a negative error code.
 */
int daemon_worker(const struct daemon_options *options,
		  struct daemon_board *board, struct daemon_suspects *suspects,
		  int alarm, struct error *err);

/* ---- request.c */

/* A request while a thread answers it. */
struct daemon_request {
	const struct daemon_options *options; /* borrowed */
	struct daemon_conn *conn;             /* borrowed */
	struct http1_body body;
	/* read position in conn->input->bytes */
	size_t at;
	bool wants_continue; /* "100 Continue" was not sent yet */
	struct sys_patience patience;
	struct http_options http;
	struct serve_io io;                 /* the socket */
	struct daemon_snapshots *snapshots; /* borrowed */
	/* zero before the repository is open */
	struct daemon_use use;
	/* valid if requests are traced: the repository with a trace of its own
	 */
	struct repo repo;
	struct trace trace; /* valid if repo.trace is set */
	const char *path;   /* http.path_info */
	int child_status;   /* as sys_spawn_wait(); 0: there was no child */
};

/*
 * Answer the request whose head is in conn->input. Sets conn->after, and leaves
 * the bytes of the next request in conn->input.
 */
void daemon_serve(const struct daemon_options *options,
		  struct daemon_snapshots *snapshots, struct daemon_conn *conn);

/* Write a line about the connection to the log. */
void daemon_log(const struct daemon_options *options,
		const struct daemon_conn *conn, const char *line);

/* ---- git.c */

/* Answer the client of git:// whose first pkt-line is in conn->input. */
void daemon_serve_git(const struct daemon_options *options,
		      struct daemon_conn *conn);

/* ---- ssh.c */

/* Answer the forced command of sshd whose message waits in the socket. */
void daemon_serve_ssh(const struct daemon_options *options,
		      struct daemon_conn *conn);

/* ---- talk.c */

/* A request in Git's own protocol. All pointers are borrowed. */
struct daemon_talk {
	const struct daemon_options *options;
	const struct daemon_conn *conn; /* for the log */
	enum service service;
	/* names a repository below the base path; begins with a slash */
	const char *path;
	const char *protocol; /* value of GIT_PROTOCOL */
	/* the client's descriptors, not blocking; may be one socket */
	int in, out;
	/* descriptor for messages to the user; 0: none, only the log */
	int err;
	const char *user;    /* "": none */
	const char *address; /* of the client; "": unknown */
	struct sys_patience patience;
};

/*
 * Open the repository that the request names. Returns 0 with *out owned by the
 * caller, ERR_DENIED if the path or the repository's owner is not allowed, or
 * ERR_MISSING or another negative error code.
 */
int daemon_talk_open(struct repo **out, const struct daemon_talk *talk,
		     struct error *err);

/*
 * Write "<kind>: <message>" to the log, and to the user if there is a
 * descriptor for it.
 */
void daemon_talk_tell(const struct daemon_talk *talk, const char *kind,
		      const char *message);

/*
 * Answer the request: fetches in this thread, other requests in a child
 * process. Errors are in the log. Returns the exit code of the service.
 */
int daemon_talk_run(struct daemon_talk *talk, const struct repo *repo);

/* ---- child.c */

/* Returns whether a child process must answer a request for this path. */
bool daemon_needs_child(const struct daemon_request *request);

/*
 * Answer by `git http-backend` in a child process. *is_kept as for
 * http_serve(). Returns 0 or a negative error code.
 */
int daemon_run_child(struct daemon_request *request, bool *is_kept,
		     struct error *err);

#endif
