/* SPDX-License-Identifier: MIT */
/*
 * A relay for unit tests. The relay is a thread of the test that serves one
 * node (copynode.h). Pushes to the node pass their changes to the relay, and
 * the relay publishes these changes in the store. A test can let the relay end
 * while it handles a change. Include this header after cmocka.h.
 */
#ifndef T_UNIT_RELAYNODE_H
#define T_UNIT_RELAYNODE_H

#include <sys/socket.h>
#include <unistd.h>

#include "copies/relay.h"
#include "store/relay-message.h"
#include "store/relay.h"
#include "sys/io.h"
#include "sys/passing.h"
#include "sys/thread.h"
#include "t/unit/copynode.h"

enum relaynode_end {
	RELAYNODE_STAYS,
	/* The relay ends before it has published the change. */
	RELAYNODE_BEFORE,
	/* The relay publishes the change, and ends without a response. */
	RELAYNODE_AFTER,
};

struct relaynode {
	/* Owned: the node whose local copies the relay uses. */
	struct stored_node *node;
	struct relay_commits *commits;
	struct buf warnings;
	char path[4096];
	int listener;
	/*
	 * Number of changes for which the relay sends a response. The next
	 * change ends the relay in the way that `end` says.
	 */
	unsigned answers;
	enum relaynode_end end;
	pthread_t thread;
	bool is_joined;
	unsigned commit_nr;
	/* The last message that a relay with RELAYNODE_BEFORE has received. */
	struct buf last;
};

static inline void relaynode_warn(void *ctx, const char *message)
{
	buf_printf(ctx, "%s\n", message);
}

/*
 * Handles one message from a push. Returns true if the relay goes on, false if
 * it ends.
 */
static inline bool relaynode_answer(struct relaynode *r, int fd,
				    const struct buf *question)
{
	struct cursor c = cursor_make(question->data, question->len);
	struct relay_repository *used = NULL;
	struct buf out = BUF_INIT;
	enum relaynode_end end = r->commit_nr < r->answers ? RELAYNODE_STAYS
							   : r->end;
	uint8_t kind = 0;
	int ret = ERR_PEER;

	cursor_u8(&c, &kind);
	assert_int_equal(kind, RELAY_COMMIT);
	r->commit_nr++;
	if (end == RELAYNODE_BEFORE)
		buf_append(&r->last, question->data, question->len);
	else
		ret = relay_commit(r->commits, &used, &out, &c, NULL);
	if (end == RELAYNODE_STAYS && !ret)
		relay_message_send(fd, &out, NULL);
	relay_commit_end(r->commits, used);
	buf_release(&out);
	return end == RELAYNODE_STAYS;
}

/* Waits for the end of the relay's thread. Later calls do nothing. */
static inline void relaynode_join(struct relaynode *r)
{
	if (!r->is_joined)
		sys_thread_join(r->thread);
	r->is_joined = true;
}

/*
 * A relay with RELAYNODE_BEFORE has received a change, and has ended before it
 * published the change. This function publishes the change now. The sender got
 * no answer, so for the sender the change takes effect late.
 */
static inline void relaynode_make_late(struct relaynode *r)
{
	struct relay_repository *used = NULL;
	struct buf out = BUF_INIT;
	struct cursor c;
	uint8_t kind = 0;

	relaynode_join(r);
	c = cursor_make(r->last.data, r->last.len);
	assert_true(cursor_u8(&c, &kind));
	assert_int_equal(relay_commit(r->commits, &used, &out, &c, NULL), 0);
	relay_commit_end(r->commits, used);
	buf_release(&out);
}

static inline void *relaynode_run(void *arg)
{
	struct relaynode *r = arg;
	struct buf greeting = BUF_INIT, question = BUF_INIT;
	bool goes_on = true;
	int fd;

	buf_append_str(&greeting, RELAY_GREETING);
	while (goes_on && (fd = sys_passing_accept(r->listener, NULL)) >= 0) {
		relay_message_send(fd, &greeting, NULL);
		while (goes_on && !relay_message_receive(fd, &question, NULL))
			goes_on = relaynode_answer(r, fd, &question);
		if (!goes_on)
			unlink(r->path);
		sys_close(fd);
	}
	buf_release(&greeting);
	buf_release(&question);
	return NULL;
}

/*
 * Starts a relay that publishes changes by means of the local copies in the
 * cache directory `cache`. The node of *c then sends its changes to this relay.
 * The relay responds to `answers` changes. The next change ends the relay in
 * the way `end`.
 */
static inline void relaynode_start_with(struct relaynode *r, struct copynode *c,
					const char *cache, unsigned answers,
					enum relaynode_end end)
{
	struct relay_commits_options options = {NULL, relaynode_warn,
						&r->warnings};

	memset(r, 0, sizeof(*r));
	buf_init(&r->warnings);
	buf_init(&r->last);
	r->answers = answers;
	r->end = end;
	if (stored_node_open(&r->node, cache, &c->err))
		fail_msg("%s", c->err.msg);
	options.node = r->node;
	r->commits = relay_commits_new(&options);
	assert_non_null(r->commits);
	snprintf(r->path, sizeof(r->path), "%s/relay", c->node->dir);
	r->listener = sys_passing_listen(r->path, &c->err);
	assert_true(r->listener >= 0);
	sys_passing_block(r->listener);
	assert_int_equal(sys_thread_start(&r->thread, relaynode_run, r), 0);
	c->node->relay = relay_new(r->path);
	assert_non_null(c->node->relay);
}

/*
 * Starts a relay that uses the same cache directory as the node of *c. This
 * node then sends its changes to the relay. For `answers` and `end`, see
 * relaynode_start_with().
 */
static inline void relaynode_start(struct relaynode *r, struct copynode *c,
				   unsigned answers, enum relaynode_end end)
{
	relaynode_start_with(r, c, c->node->dir, answers, end);
}

static inline void relaynode_stop(struct relaynode *r, struct copynode *c)
{
	relay_free(c->node->relay);
	c->node->relay = NULL;
	shutdown(r->listener, SHUT_RDWR);
	relaynode_join(r);
	sys_close(r->listener);
	unlink(r->path);
	relay_commits_free(r->commits);
	stored_node_close(r->node);
	buf_release(&r->warnings);
	buf_release(&r->last);
}

#endif
