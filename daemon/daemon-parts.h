/* SPDX-License-Identifier: MIT */
/*
 * A connection and the files that share it:
 *
 *	conn.c     the log of a connection, and the fields of a head
 *	answer.c   the state of an answer until its last byte is sent
 *	request.c  one HTTP request, in a thread
 *	output.c   the bytes of an answer on the way to the socket
 *	login.c    the user of an HTTP request; asks the access helper
 *	child.c    an HTTP request that a child process answers
 *	git.c      one connection of git://, in a thread
 *	ssh.c      one request of a client of ssh, in a thread
 *	admit.c    waiting for a token before a pack is made; refusals
 *	talk.c     a request in Git's own protocol, without HTTP
 *	talk-run.c    the answer to such a request, in a thread or in a child
 *	              process
 *	talk-fetch.c  a fetch in this protocol, in turns of a thread
 *	place.c    where the repository of a request is: below the base path, or
 *	           a local copy of a repository in a store
 *	guard.c    requests for repositories that crash workers
 *	admin.c    a request for the status of the server
 */
#ifndef DAEMON_DAEMON_PARTS_H
#define DAEMON_DAEMON_PARTS_H

#include "access/access.h"
#include "admission/admission.h"
#include "copies/copies.h"
#include "daemon/lanes.h"
#include "daemon/options.h"
#include "daemon/outbox.h"
#include "daemon/snapshots.h"
#include "daemon/stream.h"
#include "daemon/suspects.h"
#include "http/http.h"
#include "http1/body.h"
#include "http1/head.h"
#include "plans/plan-cache.h"
#include "repo/repo.h"
#include "status/board.h"
#include "status/statistics.h"
#include "sys/passing.h"
#include "sys/tcp.h"
#include "wire/summary.h"
#include "wire/traceparent.h"

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
	/* waits for the next command of a client in Git's own protocol */
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
	 * The thread sets this field to the state that follows its work.
	 * DAEMON_BUSY: the loop must close the connection.
	 */
	enum daemon_state after;
	uint64_t deadline_ns;
	/*
	 * borrowed: the output of an answer that is made, but not completely
	 * sent; NULL: none
	 */
	struct daemon_output *unsent;
	/*
	 * owned: the HTTP request that a thread answers, or whose answer is
	 * `unsent`; NULL: none
	 */
	struct daemon_request *request;
	/* owned: the request in Git's own protocol; NULL: none */
	struct daemon_talk *talk;
	/* in DAEMON_SENDING: bytes sent since the deadline was set */
	uint64_t moved;
	/* borrowed: the board slot of the thread that has the connection */
	struct status_slot *slot;
	const struct daemon_shared *shared; /* borrowed */
	struct access_helper *helper;       /* borrowed; NULL: none */
	struct daemon_snapshots *snapshots; /* borrowed */
	struct plan_cache *plans;           /* borrowed; NULL: none */
	/*
	 * borrowed: the local copies of the repositories in a store; NULL:
	 * repositories are on the local disk
	 */
	struct stored_copies *copies;
	/* the connection is closed after the next answer */
	bool is_last;
	/* the request had a wrong password */
	bool is_denied;
	/* true: a connection of the listener --admin */
	bool is_admin;
	/* the thread has told epoll to report the bytes of the next request */
	bool is_armed;
	/* admission_connect() has counted the connection */
	bool is_counted;
	/* too many requests of this client wait, so this request is refused */
	bool is_excess;
	/*
	 * The link in a lane (daemon/lanes.h). In use while the connection
	 * waits for a thread, and while the thread works.
	 */
	struct lane_item lane;
	struct daemon_input *input; /* owned; NULL: no bytes */
	enum daemon_protocol protocol;
	char address[SYS_ADDRESS_MAX];
	/* buffer for the result of daemon_principal(), if it is an address */
	char client[SYS_ADDRESS_MAX];
};

extern const struct http1_limits daemon_limits;

/* ---- conn.c */

/* Write a line about the connection to the log. */
void daemon_log(const struct daemon_options *options,
		const struct daemon_conn *conn, const char *line);

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

/* ---- guard.c */

/*
 * Whether a request for a repository must be answered by a child process, or
 * refused, because earlier requests for the repository have crashed.
 */
struct daemon_guard {
	const struct daemon_conn *conn; /* borrowed */
	/* borrowed: path of the repository, without a NUL at its end */
	const char *path;
	size_t len;
	/*
	 * true: a child process must answer; this thread may still open the
	 * repository
	 */
	bool is_suspect;
	/* true: the request must be refused */
	bool is_refused;
};

/*
 * Called at the start of a request for the repository at a path. Returns 0, or
 * ERR_DENIED if the request must be refused. After ERR_DENIED,
 * daemon_guard_leave() must not be called.
 */
int daemon_guard_enter(struct daemon_guard *guard,
		       const struct daemon_conn *conn, const char *path,
		       size_t len, struct error *err);

/*
 * Records that a child process answers the request. A crash of the worker is
 * then not blamed on this request.
 */
void daemon_guard_hand_over(struct daemon_guard *guard);

/*
 * Called at the end of a request. `child_status`: the result of
 * sys_spawn_wait(); 0 if no child process answered.
 */
void daemon_guard_leave(struct daemon_guard *guard, int child_status);

/* ---- place.c */

/*
 * Where the repository of a request is on the local disk. The caller sets the
 * struct to zero first.
 */
struct daemon_place {
	char *path; /* owned; NULL: none */
	/*
	 * The local copy of a repository in a store. The copy is not removed
	 * before daemon_place_release(). After that call, files of the copy can
	 * be read only if they are open already.
	 */
	struct stored_use use;
};

/*
 * A question to the access helper. daemon_place_find() repeats it for each
 * repository name that the path of the request may mean. All pointers are
 * borrowed.
 */
struct daemon_inquiry {
	/* daemon_place_find() sets the repository */
	struct access_question question;
	/* the answer about the repository that was found */
	struct access_answer *answer;
};

/*
 * Finds the repository of a request. The first `len` bytes of `path` name the
 * repository. If no repository has this name, "<path>.git" is tried, unless
 * `strict` is set.
 *
 * If repositories are in a store, this function makes or refreshes the local
 * copy. If `inquiry` is not NULL, the access helper is asked first: the store
 * gets no request about a repository that the helper denies.
 *
 * Returns 0, even if no directory with this path exists. Returns ERR_MISSING if
 * the store has no such repository, ERR_DENIED if the helper denies it, or
 * ERR_PEER if the helper does not answer. Returns another negative error code
 * if the local copy of a repository in a store cannot be served. Then the log
 * has the reason, and *err has only what a client may know.
 */
int daemon_place_find(struct daemon_place *place,
		      const struct daemon_options *options,
		      const struct daemon_conn *conn, const char *path,
		      size_t len, bool strict, struct daemon_inquiry *inquiry,
		      struct error *err);
void daemon_place_release(struct daemon_place *place);

/* ---- admit.c */

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
 * Returns the key of the lane of a request (daemon/lanes.h): a hash of its
 * principal. For ssh, the user is read from the message that waits in the
 * socket.
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
 * Appends the name of a repository's fork network: the object directory from
 * which the repository borrows objects, or its own one. If memory runs out, the
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
	 * The admission of the fetch. It holds a place in the queue or tokens
	 * only during daemon_admit_send().
	 */
	struct admission_pass pass;
	/* The fields below are valid during daemon_admit_send(). */
	const struct repo *repo; /* borrowed */
	/* name of the fork network; empty before admission_enter() */
	struct buf network;
	const struct progress_out *outer;
	const struct packing_report *report;
	/*
	 * nanoseconds of the wait for admission that report->count_ns includes
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
 * (false), see struct sys_patience. During the wait, the request gives its
 * tokens back. Only a call by the thread that makes the pack has an effect: the
 * thread that sends keep-alives does no work. `ctx` is a struct daemon_admit.
 */
void daemon_admit_rest(void *ctx, bool begins);

/*
 * Returns whether a new fetch or push must be refused, because too many
 * requests of its network or of its principal wait.
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

/* ---- output.c */

/*
 * The output of a request. Bytes go to the socket as long as the socket accepts
 * them. The rest waits in the outbox, at most OUTBOX_LITERAL_MAX bytes and
 * OUTBOX_ITEM_MAX items. A thread that adds more than that waits for the
 * client.
 */
struct daemon_output {
	struct daemon_stream *stream; /* borrowed */
	struct sys_patience patience;
	struct outbox box;
	/*
	 * Set when the client is lost; the outbox is then emptied. Read by all
	 * threads.
	 */
	atomic_bool has_failed;
	/* number of unsent bytes in the outbox when the client was lost */
	uint64_t lost;
};

/*
 * These functions are the callbacks writev() and emit() of a struct serve_io
 * (wire/io.h), and have the same results. Both may wait for the client.
 */
int daemon_output_writev(struct daemon_output *out, struct iovec *iov,
			 size_t nr, struct error *err);
int daemon_output_emit(struct daemon_output *out, const struct serve_span *span,
		       struct error *err);

/*
 * Sends the whole outbox. Waits for the client. Returns 0, or ERR_PEER if the
 * client is lost.
 */
int daemon_output_flush(struct daemon_output *out, struct error *err);

/*
 * Send up to about a megabyte of the outbox, with one system call. Sets
 * *is_full if the socket takes no more bytes now. Returns the number of bytes,
 * which may be 0, or ERR_PEER if the client is lost.
 */
ssize_t daemon_output_send(struct daemon_output *out, bool *is_full,
			   struct error *err);

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
	 * The record of an answer that is made but not completely sent. At
	 * other times this summary measures nothing (summary_init_off()).
	 */
	struct summary summary;
	/*
	 * the plan whose bytes are sent; NULL: the pack is sent without a plan
	 */
	struct plan_entry *plan;
	/* the use of the repository; zero before the repository is open */
	struct daemon_use use;
	/* the repository, borrowed from `use`; NULL: not opened yet */
	const struct repo *entered;
	/*
	 * Valid if requests are traced or refs are hidden: a copy of *entered.
	 * The copy has the trace of this answer, or the configuration that
	 * hides the refs, or both.
	 */
	struct repo repo;
	/* valid if repo.trace is set */
	struct trace trace;
	/*
	 * the answer of the access helper; kept until daemon_answer_release()
	 */
	struct access_answer access;
	/*
	 * borrowed while a pack is made: the caller sets the principal before
	 * daemon_answer_make_pack()
	 */
	const char *principal;
	struct daemon_admit admit;
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
 * Sets *repo to the entered repository, with the trace of this answer and
 * without the refs that a->access hides. Called at most once before
 * daemon_answer_end(). Returns 0 or ERR_NOMEM.
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
 * Returns true if bytes of the answer are still unsent: *summary was then taken
 * over. Otherwise returns false.
 */
bool daemon_answer_end_later(struct daemon_answer *a, struct summary *summary,
			     bool has_failed);

/*
 * Writes the record of a request whose summary daemon_answer_end_later() took
 * over. `err` says why the rest of the answer cannot be sent; NULL: all is
 * sent.
 */
void daemon_answer_record(struct daemon_answer *a, const struct error *err);

/*
 * Called when the last byte of an answer was sent: writes the record, and ends
 * the use of the repository. Afterwards, *a can be used for the next answer to
 * the same client. `err` says why the rest of the answer cannot be sent; NULL:
 * all is sent.
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
	/*
	 * number of bytes at the front of http.path_info that name the
	 * repository
	 */
	size_t repo_len;
	/* where the repository is; released when the answer is made */
	struct daemon_place place;
	/*
	 * why there is no place; code 0: no place was searched, or there is a
	 * place
	 */
	struct error place_error;
	char user[DAEMON_USER_MAX];
	/* numeric address of the client, which may be behind a proxy */
	char client[SYS_ADDRESS_MAX];
	char traceparent[TRACEPARENT_LEN + 1]; /* "": none */
	/* exit status as from sys_spawn_wait(); 0: no child process */
	int child_status;
	uint64_t child_cpu_us;
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
 * `err` says why the rest of the answer cannot be sent; NULL: all is sent.
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

/* ---- git.c */

/*
 * Answers a client of git://: its first request, which is in conn->input, or
 * its next command, which has arrived (conn->talk is set).
 */
void daemon_serve_git(const struct daemon_options *options,
		      struct daemon_conn *conn);

/* ---- ssh.c */

/*
 * Answers a client of ssh: its first request, the message that waits in the
 * socket (daemon/ssh-request.h), or its next command, which has arrived
 * (conn->talk is set).
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
	 * with ssh: fds[0] and fds[1], opened for reading and for writing; the
	 * streams `in` and `out` borrow their descriptors
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
	/* the access helper has denied a repository of a store */
	bool is_denied;
	/* an earlier call of daemon_talk_fetch() has begun the fetch */
	bool has_begun;
	/* read position in conn->input->bytes */
	size_t at;
	/* bytes of the current packet that were not read yet */
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
 * Ends conn->talk. A forced command of ssh gets its exit code. Before this
 * call, the loop must remove the descriptors of the client from epoll.
 */
void daemon_talk_free(struct daemon_conn *conn);

/*
 * The loop calls daemon_talk_end_answer() when an answer is sent, or when it
 * cannot be sent because of *err. The loop calls daemon_talk_give_up() when no
 * command has come in time.
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
 * Ask the access helper about the entered repository. With a store,
 * daemon_talk_open() has asked already. Returns 1 if the helper allows the
 * request, or 0 if there is no helper. Returns ERR_DENIED if the helper denies
 * the request, or ERR_PEER if it does not answer.
 */
int daemon_talk_authorize(struct daemon_talk *talk);

/*
 * Open the repository that the request names. In protocol version 2, called
 * again before each command. Returns 0 with talk->answer.entered set, or a
 * negative error code:
 *
 * - ERR_DENIED: the path or the owner of the repository is not allowed, or
 *   requests for the repository crash. With talk->is_denied, the access helper
 *   denies a repository of a store.
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
 * Write "<kind>: <message>" to the log, and to the user if there is a
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
 * Answers the request about the entered repository: fetches in this thread,
 * other requests in a child process. Errors are in the log. If a further
 * command may come, sets conn->after to DAEMON_WAITING. Returns the exit code
 * of the service.
 */
int daemon_talk_run(struct daemon_talk *talk);

/* ---- talk-fetch.c */

/*
 * Waits for the next command of a fetch. Returns 1 if bytes of the command have
 * arrived, 0 if the client has ended its input, or a negative error code.
 */
int daemon_talk_listen(struct daemon_talk *talk, struct error *err);

/*
 * Runs one turn of a fetch. In version 2, a turn sends the capabilities or
 * answers one command. In versions 0 and 1, it is the whole fetch. Returns the
 * exit code of the service.
 */
int daemon_talk_fetch(struct daemon_talk *talk);

/* ---- admin.c */

/*
 * Answers a request for the status of the server. Errors are not reported to
 * the caller, because it closes the connection afterwards in any case.
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
 * the client may send a further request on the connection. Returns 0 or a
 * negative error code.
 */
int daemon_run_child(struct daemon_request *request, bool *is_kept,
		     struct error *err);

#endif
