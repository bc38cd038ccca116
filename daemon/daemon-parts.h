/* SPDX-License-Identifier: MIT */
/*
 * The functions and types that the files of a request share:
 *
 *	answer.c   the state of an answer until its last byte is sent
 *	request.c  one HTTP request, in a thread
 *	login.c    the user of an HTTP request; asks the access helper
 *	child.c    an HTTP request that a child process answers
 *	admin.c    a request for the status of the server
 *	git.c      one connection of git://, in a thread
 *	ssh.c      one request of a client of ssh, in a thread
 *	talk.c     a request in Git's own protocol, without HTTP
 *	talk-run.c    the answer to such a request, in a thread or in a child
 *	              process
 *	talk-fetch.c  a fetch in this protocol: a thread answers one command
 *	              of the client at a time, and gives the connection back
 */
#ifndef DAEMON_DAEMON_PARTS_H
#define DAEMON_DAEMON_PARTS_H

#include "access/access.h"
#include "daemon/admit.h"
#include "daemon/conn.h"
#include "daemon/guard.h"
#include "daemon/output.h"
#include "daemon/place.h"
#include "daemon/snapshots.h"
#include "http/http.h"
#include "http1/body.h"
#include "sys/passing.h"
#include "wire/summary-times.h"
#include "wire/summary.h"
#include "wire/traceparent.h"

/* ---- answer.c */

/*
 * The state of an answer until its last byte is sent. First a thread has the
 * answer. If the thread is done before all bytes are sent, the loop has the
 * answer next.
 */
struct daemon_answer {
	const struct daemon_options *options; /* borrowed */
	struct daemon_conn *conn;             /* borrowed */
	struct daemon_output output;
	/* the caller sets `client`, `user` and `traceparent` */
	struct summary_about about;
	/*
	 * The record of an answer that is made but not completely sent. At all
	 * other times this field is not in use, and measures nothing
	 * (summary_init_off()).
	 */
	struct summary summary;
	/*
	 * the plan (a cached response) whose bytes are sent; NULL: the pack is
	 * sent without a plan
	 */
	struct plan_entry *plan;
	/*
	 * keeps the repository and its packs open; zero before the repository
	 * is open
	 */
	struct daemon_use use;
	/* the repository, borrowed from `use`; NULL: not opened yet */
	const struct repo *entered;
	/*
	 * Valid if requests are traced or refs are hidden: a private copy of
	 * the struct repo to which `entered` points. In the copy, `trace` is
	 * the trace of this answer, or the configuration hides the refs, or
	 * both.
	 */
	struct repo repo;
	/* valid if repo.trace is set */
	struct trace trace;
	/*
	 * the answer of the access helper; kept until daemon_answer_release()
	 */
	struct access_answer access;
	/*
	 * borrowed while a pack is made. Before daemon_answer_make_pack(), the
	 * caller sets this to the user or address for which the request counts.
	 */
	const char *principal;
	struct daemon_admit admit;
	/* daemon_answer_make_pack() is running */
	bool makes_pack;
};

/*
 * Initialises an answer whose bytes go to a stream. All arguments are borrowed.
 */
void daemon_answer_init(struct daemon_answer *a,
			const struct daemon_options *options,
			struct daemon_conn *conn, struct daemon_stream *stream);

/*
 * Opens the repository at a path, as daemon_snapshots_enter() does. Does
 * nothing if the answer already has an open repository. Returns 0 with the
 * repository in a->entered, or a negative error code.
 */
int daemon_answer_enter(struct daemon_answer *a, const char *path, bool exact,
			struct error *err);

/*
 * Sets *repo to the repository that daemon_answer_enter() has opened, with the
 * trace of this answer and without the refs that a->access hides. Called at
 * most once before daemon_answer_end(). Returns 0 or ERR_NOMEM.
 */
int daemon_answer_repo(const struct repo **repo, struct daemon_answer *a,
		       struct error *err);

/*
 * These functions are the callbacks objects() and make_pack() of struct
 * serve_options and struct http_options, and have the same results. `ctx` is
 * the struct daemon_answer. The packs are pinned until daemon_answer_end().
 */
int daemon_answer_objects(void *ctx, struct odb **odb, struct error *warning,
			  struct error *err);
int daemon_answer_make_pack(void *ctx, const struct odb *odb,
			    const struct packing_request *request,
			    const struct packing_send_options *options,
			    struct pack_sink sink,
			    struct packing_report *report, struct error *err);

/*
 * Does the work of the callback end_later() of a struct serve_io (wire/io.h).
 * Returns true if bytes of the answer are still unsent, and then takes over
 * *summary. Otherwise returns false.
 */
bool daemon_answer_end_later(struct daemon_answer *a, struct summary *summary,
			     bool has_failed);

/*
 * Writes the record of a request to the log. The record is made from the
 * summary that daemon_answer_end_later() has taken over. `err`: NULL if the
 * whole answer was sent, otherwise the reason why the rest of the answer cannot
 * be sent.
 */
void daemon_answer_record(struct daemon_answer *a, const struct error *err);

/*
 * Called when an answer has ended: its last byte was sent, or the rest of the
 * answer cannot be sent. Writes the record, and ends the use of the repository.
 * Afterwards, *a can be used for the next answer to the same client. `err`:
 * NULL if the whole answer was sent, otherwise the reason why the rest cannot
 * be sent.
 */
void daemon_answer_end(struct daemon_answer *a, const struct error *err);

/* Ends the answer, and releases all that *a owns. */
void daemon_answer_release(struct daemon_answer *a);

/* ---- request.c */

/*
 * A request, until its answer is sent. First a thread has the request. If the
 * thread is done before all bytes of the answer are sent, the loop has the
 * request next.
 */
struct daemon_request {
	const struct daemon_options *options; /* borrowed */
	struct daemon_conn *conn;             /* borrowed */
	struct daemon_answer answer;
	struct http1_body body;
	/* read position in conn->input->bytes */
	size_t at;
	/* the client waits for "100 Continue", which was not sent yet */
	bool wants_continue;
	/* the request, for http_serve(); valid until the thread is done */
	struct http_options http;
	/* reads the body of the request, and writes to answer.output */
	struct serve_io io;
	/* owned: the path of the request, without the query */
	struct buf path;
	/* number of bytes at the front of `path` that name the repository */
	size_t repo_len;
	/* where the repository is; released when the answer is made */
	struct daemon_place place;
	/* the access helper has denied the request, and the log says so */
	bool is_denied;
	/*
	 * why the repository was not found; code 0: it was found, or nobody has
	 * looked for it yet
	 */
	struct error place_error;
	char user[DAEMON_USER_MAX];
	/* numeric address of the client, which may be behind a proxy */
	char client[SYS_ADDRESS_MAX];
	char traceparent[TRACEPARENT_LEN + 1]; /* "": none */
	/* exit status as from sys_spawn_wait(); 0: no child process */
	int child_status;
	uint64_t child_cpu_us;
	/* what the child has told about its times; 0: nothing */
	struct summary_times child_times;
};

/*
 * Answers the request whose head is in conn->input. Sets conn->after to the
 * next state of the connection, and leaves the bytes of the next request in
 * conn->input. If the answer is not completely sent, also sets conn->request
 * and conn->unsent; conn->after is then the state that follows when the last
 * byte was sent.
 */
void daemon_serve(const struct daemon_options *options,
		  struct daemon_conn *conn);

/*
 * Ends conn->request: writes its record, and ends the use of the repository.
 * `err`: NULL if the whole answer was sent, otherwise the reason why the rest
 * cannot be sent.
 */
void daemon_end_request(struct daemon_conn *conn, const struct error *err);

/* ---- login.c */

/* How the user of a request was identified, or why not. */
enum daemon_login {
	DAEMON_LOGIN_NONE, /* there is no user */
	/* a trusted proxy names the user */
	DAEMON_LOGIN_PROXY,
	/* the user has sent the right password */
	DAEMON_LOGIN_USER,
	/* wrong user or password, which is logged */
	DAEMON_LOGIN_WRONG,
	/* the password came over a connection that others could read */
	DAEMON_LOGIN_FORBIDDEN,
	/* the field that names the user occurs twice or is malformed */
	DAEMON_LOGIN_MALFORMED,
};

/*
 * Finds the user of a request. Returns how the user was found, or why there is
 * none. *user is borrowed from the request, or NULL.
 */
enum daemon_login daemon_login(const char **user, struct daemon_request *q);

/*
 * Returns the value of WWW-Authenticate if the client may send a password, or
 * NULL.
 */
const char *daemon_challenge(const struct daemon_request *q);

/*
 * Asks the access helper about a request. Returns 0 if the request is allowed,
 * or ERR_DENIED if it is not. Returns ERR_PEER if there is no answer; the log
 * then has the reason. The caller releases *out in any case.
 */
int daemon_ask(struct access_answer *out, const struct daemon_options *options,
	       const struct daemon_conn *conn,
	       const struct access_question *question);

/*
 * Works like daemon_ask(), for a repository below the base path. If `repo` is
 * not NULL, its path replaces the path in *question. Not used for repositories
 * of a store: daemon_place_find() has already asked about them.
 */
int daemon_authorize(struct access_answer *out,
		     const struct daemon_options *options,
		     const struct daemon_conn *conn,
		     struct access_question *question, const struct repo *repo);

/*
 * Writes one line to the log about a request that the access helper has denied,
 * and counts it. If `repo` is not NULL, its path replaces the path in
 * *question.
 */
void daemon_note_denial(const struct daemon_options *options,
			const struct daemon_conn *conn,
			const struct access_question *question,
			const struct repo *repo);

/* ---- admin.c */

/*
 * Answers a request for the status of the server. Errors are not reported,
 * because the caller closes the connection in any case.
 */
void daemon_admin_answer(struct daemon_request *request, const char *path);

/* ---- child.c */

/*
 * Returns the name of the service that a request is for, for example
 * "receive-pack". A request of a dumb client counts as a fetch.
 */
const char *daemon_service_of(const struct daemon_request *request);

/* Returns whether the request is for git-receive-pack. */
bool daemon_is_push(const struct daemon_request *request);

/*
 * Returns whether a child process must answer the request: a push or an
 * archive, or a fetch whose pack a hook makes (options->is_hooked).
 */
bool daemon_needs_child(const struct daemon_request *request);

/*
 * Answers by `git http-backend` in a child process. Sets *is_kept to whether
 * the client may send a further request on the connection. *pass has the place
 * of a push, which is given back early in the case of daemon_admit_end().
 * Returns 0 or a negative error code.
 */
int daemon_run_child(struct daemon_request *request,
		     struct admission_pass *pass, bool *is_kept,
		     struct error *err);

/* ---- git.c */

/*
 * Answers the first request of a client of git://, which is in conn->input. If
 * conn->talk is set, answers the client's next command instead, which has
 * arrived.
 */
void daemon_serve_git(const struct daemon_options *options,
		      struct daemon_conn *conn);

/* ---- ssh.c */

/*
 * Answers the first request of a client of ssh: a message that waits in the
 * socket (daemon/ssh-request.h). If conn->talk is set, answers the client's
 * next command instead, which has arrived.
 */
void daemon_serve_ssh(const struct daemon_options *options,
		      struct daemon_conn *conn);

/* ---- talk.c */

/*
 * A request in Git's own protocol, from the first message of a client to the
 * end of the connection. At each moment, either the loop or one thread uses
 * this struct.
 */
struct daemon_talk {
	/* the current answer */
	struct daemon_answer answer;
	enum service service;
	/* version of the protocol of a fetch */
	int version;
	/* owned: names a repository below the base path; begins with a slash */
	char *path;
	/* owned: value of GIT_PROTOCOL */
	char *protocol;
	char *user; /* owned; "": none */
	/* numeric address of the client; "": unknown */
	char address[64];
	/*
	 * the client's bytes in both directions; neither stream owns its
	 * descriptor
	 */
	struct daemon_stream in, out;
	/*
	 * with ssh: the descriptors 0, 1, 2 of the forced command, owned; else
	 * -1
	 */
	int fds[3];
	/*
	 * With ssh: ends[0] is for reading from fds[0], and ends[1] is for
	 * writing to fds[1]. The stream `in` borrows the descriptor ends[0].fd,
	 * and `out` borrows ends[1].fd.
	 */
	struct sys_passing_end ends[2];
	/*
	 * buffer for the result of daemon_talk_principal(), if the result is an
	 * address
	 */
	char client[SYS_ADDRESS_MAX];
	/* where the repository is; kept until the end of the connection */
	struct daemon_place place;
	/*
	 * owned: the git directory about which the access helper was asked;
	 * NULL: none
	 */
	char *asked;
	struct daemon_guard guard;
	/*
	 * true: daemon_guard_enter() was called for `guard`, and
	 * daemon_guard_leave() was not
	 */
	bool is_guarded;
	/* exit status as from sys_spawn_wait(); 0: no child process */
	int child_status;
	/* the access helper has denied the request, and the log says so */
	bool is_denied;
	/* an earlier call of daemon_talk_fetch() has begun the fetch */
	bool has_begun;
	/* read position in conn->input->bytes */
	size_t at;
	/* number of bytes of the current packet that were not read yet */
	size_t packet_left;
	/* exit code for the forced command of ssh */
	int code;
};

/*
 * Maximum milliseconds that a thread waits until a user's terminal or pipe
 * accepts a message.
 */
#define DAEMON_TELL_MS 1000

/*
 * Makes conn->talk. The caller sets the streams, the address and the
 * descriptors. Returns conn->talk, or NULL if memory runs out.
 */
struct daemon_talk *daemon_talk_new(const struct daemon_options *options,
				    struct daemon_conn *conn,
				    enum service service, const char *path,
				    const char *protocol, const char *user);

/*
 * Ends conn->talk. For ssh, also sends the exit code to the forced command,
 * which ends with this code. Before this call, the loop must remove the
 * descriptors of the client from epoll.
 */
void daemon_talk_free(struct daemon_conn *conn);

/*
 * The loop calls daemon_talk_end_answer() when an answer is sent (`err` is
 * NULL), or when the rest cannot be sent because of *err. The loop calls
 * daemon_talk_give_up() when the client has sent no further command within
 * options->timeout seconds.
 */
void daemon_talk_end_answer(struct daemon_conn *conn, const struct error *err);
void daemon_talk_give_up(struct daemon_conn *conn);

/*
 * Return the descriptor for which the loop waits, to read from the client or to
 * write to it.
 */
int daemon_input_fd(const struct daemon_conn *conn);
int daemon_output_fd(const struct daemon_conn *conn);

/*
 * Asks the access helper about the repository that daemon_talk_open() has
 * opened. Returns 1 if the request is allowed, or 0 if there is no helper.
 * Returns ERR_DENIED if the helper denies the request, or ERR_PEER if the
 * helper does not answer.
 *
 * If repositories are in a store, daemon_talk_open() has asked the helper, and
 * the helper has allowed the request. So this function returns 1 and does not
 * ask again.
 */
int daemon_talk_authorize(struct daemon_talk *talk);

/*
 * Opens the repository that the request names. In protocol version 2, called
 * again before each command. Returns 0 with talk->answer.entered set, or a
 * negative error code:
 *
 * - ERR_DENIED, and talk->is_denied is not set: the path or the owner of the
 *   repository is not allowed. Or earlier requests for the repository have
 *   crashed worker processes, so requests for it are refused for some time
 *   (daemon/guard.h).
 * - ERR_DENIED, and talk->is_denied is set: repositories are in a store, and
 *   the access helper has denied the request.
 * - ERR_PEER: the access helper does not answer.
 * - ERR_MISSING or another code: the repository cannot be opened.
 */
int daemon_talk_open(struct daemon_talk *talk, struct error *err);

/*
 * Called when a thread leaves the connection (in version 2, after each
 * command). Sets conn->unsent if bytes of the answer are unsent; otherwise ends
 * the answer.
 */
void daemon_talk_pause(struct daemon_talk *talk);

/*
 * Returns the principal of the request: the user, if there is one. Otherwise
 * returns the client's address as trusted_client_name() writes it, or "" if the
 * address is unknown. The string is valid as long as *talk.
 */
const char *daemon_talk_principal(struct daemon_talk *talk);

/*
 * Writes "<kind>: <message>" to the log, and to the user if there is a
 * descriptor for it.
 */
void daemon_talk_tell(const struct daemon_talk *talk, const char *kind,
		      const char *message);

/* Works like serve_io.writev(). `ctx` is the struct daemon_talk. */
int daemon_talk_write(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err);

/* ---- talk-run.c */

/* Refuses a client that has too many requests waiting for a thread. */
void daemon_talk_refuse_excess(struct daemon_talk *talk);

/*
 * Answers the request about the repository that daemon_talk_open() has opened:
 * fetches in this thread, other requests in a child process. Errors are in the
 * log. If a further command may come, sets conn->after to DAEMON_WAITING.
 * Returns the exit code of the service.
 */
int daemon_talk_run(struct daemon_talk *talk);

/* ---- talk-fetch.c */

/*
 * Waits for the next command of a fetch. Returns 1 if bytes of the command have
 * arrived, 0 if the client has ended its input, or a negative error code.
 */
int daemon_talk_listen(struct daemon_talk *talk, struct error *err);

/*
 * Runs one turn of a fetch: one call in a thread, after which the connection
 * may go back to the loop. In version 2, a turn sends the capabilities or
 * answers one command. In versions 0 and 1, one turn is the whole fetch.
 * Returns the exit code of the service.
 */
int daemon_talk_fetch(struct daemon_talk *talk);

#endif
