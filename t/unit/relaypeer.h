/* SPDX-License-Identifier: MIT */
/*
 * A relay process for the tests of the client in store/relay.h. A thread of the
 * test plays this process. It answers requests with the help of a store in
 * memory, and can end during a request.
 */
#ifndef RELAYPEER_H
#define RELAYPEER_H

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/relay-message.h"
#include "store/relay.h"
#include "sys/io.h"
#include "sys/passing.h"
#include "sys/tempdir.h"
#include "sys/thread.h"
#include "t/unit/memstore.h"

/* How the peer handles the request at which it ends. */
enum relaypeer_end {
	/* The peer ends without executing the request. */
	RELAYPEER_BEFORE,
	/* The request takes effect, but the peer sends no response. */
	RELAYPEER_AFTER,
	/* The peer sends a response that is truncated by one byte. */
	RELAYPEER_BAD,
};

struct relaypeer {
	struct sys_tempdir dir;
	char path[256];
	struct memstore mem;
	struct filestore
		/*
		 * Borrowed: the store in memory (`mem`), or a store that the
		 * test sets.
		 */
		*store;
	int listener;
	pthread_t thread;
	const char *greeting;
	/*
	 * Number of requests that the peer answers. At the next request, the
	 * peer ends in the way that `end` says.
	 */
	unsigned answers;
	enum relaypeer_end end;
	/*
	 * Numbers of requests and connections so far. Tests read them after
	 * relaypeer_stop().
	 */
	unsigned questions, connections;
};

/* Handles one request. Returns true if the peer goes on, false if it ends. */
static inline bool relaypeer_answer(struct relaypeer *p, int fd,
				    const struct buf *question)
{
	struct cursor c = cursor_make(question->data, question->len);
	struct filestore *store = p->store;
	struct buf out = BUF_INIT;
	bool ends = p->questions++ >= p->answers, has_answer;
	uint8_t kind;

	/*
	 * Remove the socket first: a client that sees the connection end must
	 * not be able to connect again.
	 */
	if (ends)
		unlink(p->path);
	if (ends && p->end == RELAYPEER_BEFORE)
		return false;
	has_answer = cursor_u8(&c, &kind) &&
		     !relay_answer(&out, &store, 1, kind, &c, NULL);
	if (ends && p->end == RELAYPEER_BAD)
		buf_set_len(&out, out.len - 1);
	if (has_answer && (!ends || p->end == RELAYPEER_BAD))
		relay_message_send(fd, &out, NULL);
	buf_release(&out);
	return has_answer && !ends;
}

/* The thread of the peer: accepts one connection at a time. */
static inline void *relaypeer_run(void *arg)
{
	struct relaypeer *p = arg;
	struct buf greeting = BUF_INIT, question = BUF_INIT;
	bool goes_on = true;

	buf_append_str(&greeting, p->greeting);
	while (goes_on) {
		int fd = sys_passing_accept(p->listener, NULL);

		if (fd < 0)
			break;
		p->connections++;
		relay_message_send(fd, &greeting, NULL);
		while (goes_on && !relay_message_receive(fd, &question, NULL))
			goes_on = relaypeer_answer(p, fd, &question);
		sys_close(fd);
	}
	buf_release(&greeting);
	buf_release(&question);
	return NULL;
}

static inline void relaypeer_init(struct relaypeer *p)
{
	memset(p, 0, sizeof(*p));
	memstore_init(&p->mem);
	memstore_check(!sys_tempdir_create(&p->dir, "/tmp", "relay-", NULL));
	snprintf(p->path, sizeof(p->path), "%s/relay", p->dir.path);
	p->store = &p->mem.store;
	p->listener = -1;
	p->greeting = RELAY_GREETING;
	p->answers = 1000;
}

static inline void relaypeer_start(struct relaypeer *p)
{
	p->listener = sys_passing_listen(p->path, NULL);
	memstore_check(p->listener >= 0);
	sys_passing_block(p->listener);
	memstore_check(!sys_thread_start(&p->thread, relaypeer_run, p));
}

/* Ends the peer. The test must have closed all connections before. */
static inline void relaypeer_stop(struct relaypeer *p)
{
	/* The shutdown wakes the peer's thread if it waits for a connection. */
	shutdown(p->listener, SHUT_RDWR);
	sys_thread_join(p->thread);
	sys_close(p->listener);
}

static inline void relaypeer_release(struct relaypeer *p)
{
	memstore_release(&p->mem);
	sys_tempdir_release(&p->dir);
}

#endif
