/* SPDX-License-Identifier: MIT */
/*
 * Inside the relay of a node: makes the records of pushes. Pushes to one
 * repository that wait at the same time get one record. The next record does
 * not wait until the copy is advanced.
 *
 *	process                             relay
 *	writes its files
 *	its change   ------------------>    waits, or makes the record of all
 *	(generations/passing.h)             waiting changes; advances the copy
 *	             <------------------    its result
 *	                                    writes the hint
 */
#ifndef COPIES_RELAY_COMMIT_H
#define COPIES_RELAY_COMMIT_H

#include "base/cursor.h"
#include "copies/node.h"

/*
 * The repositories into which processes push through this relay. Threads may
 * share the struct.
 */
struct relay_commits;

struct relay_commits_options {
	struct stored_node *node; /* borrowed */
	/* prints a line for the administrator; NULL: messages are dropped */
	void (*warn)(void *ctx, const char *message);
	void *ctx;
};

/* Returns a new struct, or NULL if memory runs out. */
struct relay_commits *relay_commits_new(
	const struct relay_commits_options *options);
/* Frees the struct. No thread may use it any more. NULL is allowed. */
void relay_commits_free(struct relay_commits *commits);

/*
 * A repository to which a process pushes now: from relay_commit() to
 * relay_commit_end().
 */
struct relay_repository;

/*
 * Makes the change in *question, and replaces *answer by the result
 * (relay_message_add_result()): a value of generation_commit_result or a
 * negative error code. If the result is GENERATION_COMMITTED, the copy of the
 * node has the change, or the administrator was warned. Returns 0, ERR_PEER if
 * the question has no valid form, or ERR_NOMEM. In each case, pass *used to
 * relay_commit_end().
 */
int relay_commit(struct relay_commits *commits, struct relay_repository **used,
		 struct buf *answer, struct cursor *question,
		 struct error *err);

/*
 * Writes the hint (a file with the number of a recent record) for the newest
 * record, unless another thread is writing it. Call this function after the
 * answer was sent, because no process waits for the hint.
 */
void relay_commit_end(struct relay_commits *commits,
		      struct relay_repository *used);

#endif
