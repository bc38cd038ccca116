/* SPDX-License-Identifier: MIT */
/*
 * The relay is one process of a machine that sends requests to a store of files
 * for the other processes of the machine. This file is the client side: the
 * other processes send their requests as questions to the relay. In
 * store/relay-answer.c, the relay answers them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/relay-message.h"
#include "store/relay.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/passing.h"

/* maximum number of connections that are kept while no question uses them */
#define IDLE_MAX 8
/*
 * Limits in seconds. GREETING_SECONDS: until the relay accepts a connection,
 * and again until it sends its greeting. ANSWER_SECONDS: until the relay
 * answers a question.
 */
#define GREETING_SECONDS 5
#define ANSWER_SECONDS 600
/*
 * Number of nanoseconds after a failed connection in which no further
 * connection is tried. Then one thread tries again.
 */
#define AWAY_NS UINT64_C(30000000000)

struct relay {
	char *path;           /* owned */
	pthread_mutex_t lock; /* guards the fields below */
	int idle[IDLE_MAX];   /* owned */
	size_t idle_nr;
	/*
	 * sys_clock_ns() before which the relay is not asked, because no
	 * connection could be made; 0: ask; UINT64_MAX: never ask
	 */
	uint64_t away_until_ns;
};

struct relay *relay_new(const char *path)
{
	struct relay *relay = mem_calloc(1, sizeof(*relay));

	if (!relay)
		return NULL;
	relay->path = mem_strdup(path);
	if (!relay->path || pthread_mutex_init(&relay->lock, NULL)) {
		free(relay->path);
		free(relay);
		return NULL;
	}
	return relay;
}

void relay_free(struct relay *relay)
{
	if (!relay)
		return;
	while (relay->idle_nr)
		sys_close(relay->idle[--relay->idle_nr]);
	pthread_mutex_destroy(&relay->lock);
	free(relay->path);
	free(relay);
}

/* ---- connections */

/*
 * Connects to the relay, and checks that it runs as the same user and sends the
 * right greeting. Returns a descriptor or a negative error code.
 */
static int connect_new(const struct relay *relay, struct error *err)
{
	int fd = sys_passing_connect(relay->path, GREETING_SECONDS, err), ret;
	struct buf greeting = BUF_INIT;

	if (fd < 0)
		return fd;
	ret = sys_passing_is_own(fd)
		      ? relay_message_receive(fd, &greeting, err)
		      : error_set(err, ERR_PEER,
				  "the relay belongs to another user");
	if (!ret && strcmp(greeting.data, RELAY_GREETING) != 0)
		ret = error_set(err, ERR_PEER,
				"the relay is of another version of gitreach");
	buf_release(&greeting);
	sys_passing_limit(fd, ANSWER_SECONDS);
	if (!ret)
		return fd;
	sys_close(fd);
	return ret;
}

/*
 * Returns whether the relay must not be asked now. If the pause after a failed
 * connection is over, returns false to one thread, which then tries again. The
 * caller holds the lock.
 */
static bool is_away(struct relay *relay)
{
	uint64_t now = sys_clock_ns();

	if (now < relay->away_until_ns)
		return true;
	if (relay->away_until_ns)
		relay->away_until_ns = now + AWAY_NS;
	return false;
}

/*
 * Notes whether a connection could be made. If not, the relay is away for a
 * while. A relay that must never be asked stays away.
 */
static void note_connection(struct relay *relay, bool is_made)
{
	pthread_mutex_lock(&relay->lock);
	if (relay->away_until_ns != UINT64_MAX)
		relay->away_until_ns = is_made ? 0 : sys_clock_ns() + AWAY_NS;
	pthread_mutex_unlock(&relay->lock);
}

/*
 * Returns the descriptor of a connection to the relay, or a negative error
 * code. If *is_new is false, takes a kept connection if there is one. Otherwise
 * makes a new connection, and sets *is_new to true.
 */
static int take(struct relay *relay, bool *is_new, struct error *err)
{
	bool away;
	int fd = -1;

	pthread_mutex_lock(&relay->lock);
	away = is_away(relay);
	if (!*is_new && !away && relay->idle_nr) {
		fd = relay->idle[--relay->idle_nr];
		relay->away_until_ns = 0;
	}
	pthread_mutex_unlock(&relay->lock);
	if (away)
		return error_set(err, ERR_PEER, "there is no relay");
	if (fd >= 0)
		return fd;
	*is_new = true;
	fd = connect_new(relay, err);
	note_connection(relay, fd >= 0);
	return fd;
}

static void give(struct relay *relay, int fd)
{
	bool is_kept;

	pthread_mutex_lock(&relay->lock);
	is_kept = relay->idle_nr < IDLE_MAX;
	if (is_kept)
		relay->idle[relay->idle_nr++] = fd;
	pthread_mutex_unlock(&relay->lock);
	if (!is_kept)
		sys_close(fd);
}

int relay_ask(struct relay *relay, struct buf *answer,
	      const struct buf *question, struct error *err)
{
	bool is_new = false;
	int fd = take(relay, &is_new, err);
	int ret = fd < 0 ? fd : relay_message_send(fd, question, err);

	/*
	 * The relay may have closed the kept connection. Ask again over a new
	 * one.
	 */
	if (fd >= 0 && ret == ERR_PEER && !is_new) {
		sys_close(fd);
		is_new = true;
		fd = take(relay, &is_new, err);
		ret = fd < 0 ? fd : relay_message_send(fd, question, err);
	}
	if (fd < 0)
		return ret == ERR_NOMEM ? ret : RELAY_AWAY;
	if (ret) {
		/*
		 * The relay did not receive the whole question, so the relay
		 * will not act on this question.
		 */
		ret = ret == ERR_NOMEM ? ret : RELAY_AWAY;
	} else {
		ret = relay_message_receive(fd, answer, err);
		if (ret) {
			error_set(err, ERR_PEER,
				  "the relay (the process that sends this "
				  "node's requests to the store) has exited");
			ret = RELAY_LOST;
		}
	}
	if (ret)
		sys_close(fd);
	else
		give(relay, fd);
	return ret;
}

/* ---- the store */

struct relayed {
	struct filestore store;
	struct relay *relay;      /* borrowed */
	struct filestore *direct; /* owned */
	uint8_t which;
};

static struct relayed *of(struct filestore *store)
{
	return (struct relayed *)store;
}

static int begin_question(struct buf *q, const struct relayed *r,
			  enum relay_question kind, const char *name)
{
	int ret = buf_append_char(q, (char)kind);

	if (!ret)
		ret = buf_append_char(q, (char)r->which);
	return ret ? ret : relay_message_add(q, name, strlen(name));
}

/*
 * Handles a malformed answer: returns RELAY_LOST with *err set. The relay is
 * not asked again, because its next answers may be malformed, too.
 */
static int malformed(struct relayed *r, struct error *err)
{
	pthread_mutex_lock(&r->relay->lock);
	r->relay->away_until_ns = UINT64_MAX;
	pthread_mutex_unlock(&r->relay->lock);
	error_set(err, ERR_PEER, "the answer of the relay is malformed");
	return RELAY_LOST;
}

/*
 * Sends a question to the relay, and reads the result of the request from the
 * answer. *c is set to the fields after the result, in *answer. Returns 0 with
 * *result set. Returns RELAY_AWAY or RELAY_LOST if there is no such result, or
 * ERR_NOMEM. A malformed answer counts as RELAY_LOST.
 */
static int ask(struct relayed *r, struct cursor *c, int *result,
	       struct buf *answer, const struct buf *question,
	       struct error *err)
{
	int ret = relay_ask(r->relay, answer, question, err);

	if (ret)
		return ret;
	*c = cursor_make(answer->data, answer->len);
	return relay_message_take_result(c, result, err) ? 0
							 : malformed(r, err);
}

/* A file in the answer of a relay. */
struct found {
	struct filestore_info info;
	const char *bytes; /* borrowed from the answer */
	size_t len;
	/* true: the file is too long for the relay, which did not read it */
	bool is_long;
};

static bool take_found(struct cursor *c, struct found *f)
{
	uint64_t mtime;
	uint8_t is_long;

	if (!cursor_u8(c, &is_long) || !cursor_be64(c, &f->info.size) ||
	    !cursor_be64(c, &mtime) ||
	    !relay_message_take_word(c, f->info.etag, STORE_ETAG_MAX) ||
	    !relay_message_take(c, &f->bytes, &f->len, RELAY_FILE_MAX))
		return false;
	f->info.mtime = (int64_t)mtime;
	f->is_long = is_long;
	return true;
}

/*
 * Asks the relay for a part of a file. Returns 0 with *result set; if *result
 * is 0, *f is set, too. Returns RELAY_AWAY or RELAY_LOST if the relay gave no
 * answer, or ERR_NOMEM.
 */
static int ask_file(struct relayed *r, struct found *f, int *result,
		    struct buf *answer, const char *name, uint64_t off,
		    uint64_t len, struct error *err)
{
	struct buf question = BUF_INIT;
	struct cursor c;
	int ret = begin_question(&question, r, RELAY_READ, name);

	if (!ret)
		ret = buf_append_be64(&question, off);
	if (!ret)
		ret = buf_append_be64(&question, len);
	if (!ret)
		ret = ask(r, &c, result, answer, &question, err);
	if (!ret && !*result && !take_found(&c, f))
		ret = malformed(r, err);
	buf_release(&question);
	return ret;
}

static int relayed_read(struct filestore *store, struct filestore_info *info,
			const struct filestore_sink *sink, const char *name,
			uint64_t off, uint64_t len, struct error *err)
{
	struct relayed *r = of(store);
	struct buf answer = BUF_INIT;
	struct found f = {.len = 0};
	int result = 0, ret = RELAY_AWAY;

	if (len == STORE_TO_END || len <= RELAY_FILE_MAX)
		ret = ask_file(r, &f, &result, &answer, name, off, len, err);
	if (ret || (!result && f.is_long)) {
		/* A read may be repeated. */
		result = filestore_read(r->direct, info, sink, name, off, len,
					err);
	} else if (!result) {
		if (info)
			*info = f.info;
		if (f.len)
			result = sink->write(sink->ctx, f.bytes, f.len, err);
	}
	buf_release(&answer);
	return result;
}

static int relayed_head(struct filestore *store, struct filestore_info *info,
			const char *name, struct error *err)
{
	return filestore_head(of(store)->direct, info, name, err);
}

/*
 * Asks the relay to write a file. Returns 0 with *result set; if *result is 0,
 * *etag is the entity tag of the file. Returns RELAY_AWAY or RELAY_LOST if the
 * relay gave no answer, or ERR_NOMEM.
 */
static int ask_put(struct relayed *r, char *etag, int *result, const char *name,
		   const void *bytes, size_t len,
		   const struct filestore_condition *condition,
		   struct error *err)
{
	const char *match = condition->kind == STORE_REPLACE ? condition->etag
							     : "";
	struct buf question = BUF_INIT, answer = BUF_INIT;
	struct cursor c;
	int ret = begin_question(&question, r, RELAY_PUT, name);

	if (!ret)
		ret = buf_append_char(&question, (char)condition->kind);
	if (!ret)
		ret = relay_message_add(&question, match, strlen(match));
	if (!ret)
		ret = relay_message_add(&question, bytes, len);
	if (ret)
		error_nomem(err);
	else
		ret = ask(r, &c, result, &answer, &question, err);
	if (!ret && !*result &&
	    !relay_message_take_word(&c, etag, STORE_ETAG_MAX))
		ret = malformed(r, err);
	buf_release(&question);
	buf_release(&answer);
	return ret;
}

static int relayed_put(struct filestore *store, char *etag, const char *name,
		       const void *bytes, size_t len,
		       const struct filestore_condition *condition,
		       struct error *err)
{
	struct relayed *r = of(store);
	int result = 0, ret = RELAY_AWAY;

	if (len <= RELAY_FILE_MAX)
		ret = ask_put(r, etag, &result, name, bytes, len, condition,
			      err);
	if (!ret || ret == ERR_NOMEM)
		return ret ? ret : result;
	if (ret == RELAY_LOST && condition->kind != STORE_ALWAYS)
		return STORE_AMBIGUOUS;
	return filestore_put(r->direct, etag, name, bytes, len, condition, err);
}

static int relayed_list(struct filestore *store, struct filestore_page *page,
			const char *prefix, size_t limit, struct error *err)
{
	return filestore_list(of(store)->direct, page, prefix, limit, err);
}

static int relayed_delete(struct filestore *store, const char *name,
			  struct error *err)
{
	return filestore_delete(of(store)->direct, name, err);
}

static int relayed_presign(struct filestore *store, struct buf *url,
			   const char *name, unsigned seconds,
			   struct error *err)
{
	return filestore_presign(of(store)->direct, url, name, seconds, err);
}

static void relayed_close(struct filestore *store)
{
	filestore_close(of(store)->direct);
	free(store);
}

int store_relay_open(struct filestore **out, struct relay *relay, uint8_t which,
		     struct filestore *direct, struct error *err)
{
	static const struct filestore_ops ops = {
		.read = relayed_read,
		.head = relayed_head,
		.put = relayed_put,
		.list = relayed_list,
		.delete = relayed_delete,
		.presign = relayed_presign,
		.close = relayed_close,
	};
	struct relayed *r = mem_calloc(1, sizeof(*r));

	*out = NULL;
	if (!r) {
		filestore_close(direct);
		return error_nomem(err);
	}
	*r = (struct relayed){
		.store.ops = &ops,
		.relay = relay,
		.direct = direct,
		.which = which,
	};
	*out = &r->store;
	return 0;
}
