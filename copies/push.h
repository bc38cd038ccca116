/* SPDX-License-Identifier: MIT */
/*
 * A push into the local copy of a repository in a store. The push takes effect
 * when the store has the record of the next generation (version) of the
 * repository.
 *
 *	stored_push_open      brings the copy to the newest generation
 *	(the push is received into the quarantine, checked and accepted)
 *	stored_push_upload    uploads packs into the store, and adds them to
 *	                      the cache: a round trip, without any lock
 *	stored_push_publish   makes the record: a round trip. Then brings the
 *	                      copy to the new generation
 *	stored_push_close
 *
 * The record is made only if each ref has the old value that the push expects.
 * So a push never overwrites a push through another node. If a ref has another
 * value, its update is rejected, and the record is tried again with the other
 * updates. Nothing is deleted in the store.
 *
 * The relay of the node (copies/relay.h) makes one record for several pushes.
 * If there is no relay, the pushes of one node to one repository make their
 * records one by one: each locks the file "store-pushes" in the copy. A push
 * then starts from the generation that the previous push has made. The file
 * "store-made" names this generation. The copy is brought to the new generation
 * after the lock is released.
 *
 * The lock only avoids conflicts. Without it, the pushes of a node would
 * compete like pushes through different nodes, and the result would still be
 * correct. So a push waits only some seconds for the lock.
 */
#ifndef COPIES_PUSH_H
#define COPIES_PUSH_H

#include "copies/copy.h"
#include "object/oid.h"
#include "refs-write/ref-transaction.h"

struct stored_push;

struct stored_push_options {
	enum hash_algo algo; /* hash of the repository */
	/* borrowed: names of the node and the user in the record */
	const char *node, *user;
	/*
	 * true: after the request for this push arrived, the copy was found to
	 * have the newest generation. In this case the store is not asked
	 * again. If the caller sets this flag wrongly, the push may be refused,
	 * but no change is lost.
	 */
	bool was_asked;
	/*
	 * Prints a message for the administrator: one line without a prefix.
	 * The client should not see it, because it can contain names of
	 * machines. NULL: messages are dropped.
	 */
	void (*warn)(void *ctx, const char *message);
	void *ctx;
};

/*
 * Begins a push into `copy`, which is borrowed. Refreshes the copy, unless
 * options->was_asked is set. Call this function before the refs of the copy are
 * read. Returns 0 with *out owned by the caller, or an error code of
 * stored_copy_refresh() with a message for the client.
 */
int stored_push_open(struct stored_push **out, struct stored_copy *copy,
		     const struct stored_push_options *options,
		     struct error *err);
/* Ends a push. NULL is allowed. */
void stored_push_close(struct stored_push *push);

/*
 * Uploads the packs in "<dir>/pack", each with its .idx and .rev, and adds the
 * files to the cache. The files must be durable. If the generation of the copy
 * already has a pack, this pack is not uploaded. Each file is read once to
 * compute its SHA-256. Returns 0, or a negative error code with a message for
 * the client. This function can be used as the callback receive_target.store.
 */
int stored_push_upload(void *push, const char *dir, struct error *err);

/*
 * Publishes the changes of a transaction: writes one record into the store. The
 * record makes a new generation (version) of the repository. Then updates the
 * local copy of the repository to the new generation.
 *
 * If another node has changed a ref since the push read it, this push's change
 * of the ref is rejected. If no change remains, or no ref gets another value,
 * no record is written. The first record of the push also lists the files that
 * stored_push_upload() has uploaded.
 *
 * Returns 0 if all changes that were not rejected are in the store. This is
 * also the result if the local copy could not be updated: the next refresh of
 * the copy tries again. Returns ERR_INVALID if a change was rejected and the
 * option keep_going of the transaction is false: such a transaction does not
 * continue without the rejected change. Returns ERR_PEER if it is unknown
 * whether the refs were changed, or another negative error code. *err has a
 * message for the client. This function can be used as the callback
 * ref_transaction_options.publish.
 */
int stored_push_publish(void *push, struct ref_transaction *tx,
			struct error *err);

#endif
