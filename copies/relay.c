/* SPDX-License-Identifier: MIT */
/* The relay of a cache directory. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "copies/relay.h"
#include "store/relay-message.h"
#include "store/relay.h"
#include "sys/io.h"
#include "sys/passing.h"
#include "sys/tempdir.h"
#include "sys/tempfile.h"
#include "sys/thread.h"

struct stored_relay {
	struct stored_node *node;      /* owned */
	struct filestore *stores[2];   /* borrowed from the node */
	struct relay_commits *commits; /* owned */
	int listener;                  /* -1: none */
	pthread_mutex_t lock;          /* guards the fields below */
	/* signalled when a connection ends */
	pthread_cond_t ended;
	unsigned busy;
	struct connection *connections; /* owned: a list of `busy` */
};

struct connection {
	struct stored_relay *relay; /* borrowed */
	int fd;                     /* owned */
	/*
	 * the next and the previous connection in the list of the relay;
	 * guarded by the relay's lock
	 */
	struct connection *next, *prev;
};

/* ---- connections */

/*
 * Answers one question. If the question is to make the record of a push
 * (RELAY_COMMIT), *used is set to the repository of the push, for
 * relay_commit_end(). Returns 0 or a negative error code.
 */
static int answer(struct stored_relay *relay, struct relay_repository **used,
		  struct buf *out, const struct buf *question,
		  struct error *err)
{
	struct cursor c = cursor_make(question->data, question->len);
	uint8_t kind;

	if (!cursor_u8(&c, &kind))
		return error_set(err, ERR_PEER,
				 "a message to the relay is empty");
	if (kind == RELAY_COMMIT)
		return relay_commit(relay->commits, used, out, &c, err);
	return relay_answer(out, relay->stores, ARRAY_NR(relay->stores), kind,
			    &c, err);
}

/*
 * Reads questions from the connection and answers them, until the other process
 * closes the connection.
 */
static void talk(struct connection *c)
{
	struct buf question = BUF_INIT, out = BUF_INIT;
	int ret = buf_append_str(&out, RELAY_GREETING);

	if (!ret)
		ret = relay_message_send(c->fd, &out, NULL);
	while (!ret) {
		struct relay_repository *used = NULL;

		ret = relay_message_receive(c->fd, &question, NULL);
		if (!ret)
			ret = answer(c->relay, &used, &out, &question, NULL);
		if (!ret)
			ret = relay_message_send(c->fd, &out, NULL);
		relay_commit_end(c->relay->commits, used);
	}
	buf_release(&question);
	buf_release(&out);
}

/* Adds a connection to the list of the relay. The caller holds the lock. */
static void enlist(struct stored_relay *relay, struct connection *c)
{
	c->next = relay->connections;
	if (c->next)
		c->next->prev = c;
	relay->connections = c;
	relay->busy++;
}

/*
 * Removes a connection from the list of the relay. The caller holds the lock.
 */
static void unlist(struct stored_relay *relay, struct connection *c)
{
	if (c->prev)
		c->prev->next = c->next;
	else
		relay->connections = c->next;
	if (c->next)
		c->next->prev = c->prev;
	relay->busy--;
}

static void end(struct connection *c)
{
	struct stored_relay *relay = c->relay;

	pthread_mutex_lock(&relay->lock);
	unlist(relay, c);
	/*
	 * Close the descriptor under the lock, after unlist():
	 * stored_relay_refuse() uses the descriptors of all listed connections.
	 */
	sys_close(c->fd);
	pthread_cond_broadcast(&relay->ended);
	pthread_mutex_unlock(&relay->lock);
	free(c);
}

static void *run(void *arg)
{
	talk(arg);
	end(arg);
	return NULL;
}

/*
 * Starts a thread for the connection `fd`, which this function owns from now
 * on.
 */
static void start(struct stored_relay *relay, int fd)
{
	struct connection *c = mem_alloc(1, sizeof(*c));
	pthread_t thread;
	bool is_full;

	if (c)
		*c = (struct connection){.relay = relay, .fd = fd};
	pthread_mutex_lock(&relay->lock);
	is_full = relay->busy >= STORED_RELAY_MAX;
	if (c && !is_full)
		enlist(relay, c);
	pthread_mutex_unlock(&relay->lock);
	if (!c || is_full) {
		free(c);
		sys_close(fd);
		return;
	}
	if (sys_passing_is_own(fd) && !sys_thread_start(&thread, run, c))
		pthread_detach(thread);
	else
		end(c);
}

int stored_relay_accept(struct stored_relay *relay, struct error *err)
{
	int fd = 0;

	while (relay->listener >= 0 &&
	       (fd = sys_passing_accept(relay->listener, err)) >= 0)
		start(relay, fd);
	return fd < 0 && fd != ERR_MISSING ? fd : 0;
}

/* ---- opening */

/*
 * Listens on a socket file with a temporary name, and then renames it to its
 * final name. So processes always find a relay under the final name: the old
 * relay or the new one.
 */
static int listen_at(struct stored_relay *relay, struct error *err)
{
	const struct generation_host *host = &relay->node->host;
	struct buf path = BUF_INIT, own = BUF_INIT;
	uint8_t random[8];
	int ret = host->random(host->ctx, random, sizeof(random), err);

	if (!ret &&
	    (buf_printf(&path, "%s/" STORED_RELAY_FILE, relay->node->dir) ||
	     buf_printf(&own, "%s.%016" PRIx64, path.data, load_be64(random))))
		ret = error_nomem(err);
	if (!ret) {
		relay->listener = sys_passing_listen(own.data, err);
		ret = relay->listener < 0
			      ? relay->listener
			      : sys_rename(own.data, path.data, err);
	}
	buf_release(&path);
	buf_release(&own);
	return ret;
}

int stored_relay_open(struct stored_relay **out,
		      const struct stored_relay_options *options,
		      struct error *err)
{
	struct stored_relay *relay = mem_calloc(1, sizeof(*relay));
	int ret;

	*out = NULL;
	if (!relay)
		return error_nomem(err);
	relay->listener = -1;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->ended, NULL);
	ret = stored_node_make(&relay->node, options->dir, &options->origin,
			       err);
	if (!ret) {
		relay->stores[STORED_RELAY_STORE] = relay->node->store;
		relay->stores[STORED_RELAY_PROBE] =
			relay->node->probe ? relay->node->probe
					   : relay->node->store;
		ret = listen_at(relay, err);
	}
	if (!ret) {
		const struct relay_commits_options commits = {
			relay->node, options->warn, options->ctx};

		relay->commits = relay_commits_new(&commits);
		ret = relay->commits ? 0 : error_nomem(err);
	}
	if (ret)
		stored_relay_close(relay);
	else
		*out = relay;
	return ret;
}

int stored_relay_listener(const struct stored_relay *relay)
{
	return relay->listener;
}

void stored_relay_refuse(struct stored_relay *relay)
{
	sys_close(relay->listener);
	relay->listener = -1;
	pthread_mutex_lock(&relay->lock);
	for (struct connection *c = relay->connections; c; c = c->next)
		sys_passing_end_input(c->fd);
	pthread_mutex_unlock(&relay->lock);
}

unsigned stored_relay_busy(struct stored_relay *relay)
{
	unsigned busy;

	pthread_mutex_lock(&relay->lock);
	busy = relay->busy;
	pthread_mutex_unlock(&relay->lock);
	return busy;
}

void stored_relay_close(struct stored_relay *relay)
{
	if (!relay)
		return;
	stored_relay_refuse(relay);
	pthread_mutex_lock(&relay->lock);
	while (relay->busy)
		pthread_cond_wait(&relay->ended, &relay->lock);
	pthread_mutex_unlock(&relay->lock);
	relay_commits_free(relay->commits);
	stored_node_close(relay->node);
	pthread_cond_destroy(&relay->ended);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
}
