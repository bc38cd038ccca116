/* SPDX-License-Identifier: MIT */
/*
 * The cache directory of a node: a machine that serves repositories of a store.
 *
 *	<dir>/store               the store (copies/marker.h)
 *	<dir>/file/...            cached files of repositories
 *	                          (stored/cache.h)
 *	<dir>/repo/<path>/_       the local copy of a repository (copies/copy.h)
 *	<dir>/tmp/<name>          copies that are being made or removed
 *	<dir>/locks               locks, see sys/rangelock.h
 *	<dir>/counts-1            counters (stored/counts.h)
 *	<dir>/probed              an empty file; exists if store_probe() has
 *	                          found that the store keeps its promises
 *	                          (store/probe.h)
 *	<dir>/relay               the socket file of the process that sends the
 *	                          requests of this node (copies/relay.h)
 *
 * <path> is the name of the repository, quoted as in generations/names.h. So
 * the copy of "a/b" is not in the directory of the copy of "a".
 */
#ifndef COPIES_NODE_H
#define COPIES_NODE_H

#include "copies/marker.h"
#include "generations/history.h"
#include "store/relay.h"
#include "stored/cache.h"
#include "stored/counts.h"

struct stored_node {
	/* owned: absolute, without symlinks */
	char *dir;
	struct filestore *store; /* owned */
	/*
	 * owned: the same store as `store`, but with short time limits, for
	 * questions whose answer a client waits for. NULL: the store is a
	 * directory, and needs no time limits.
	 */
	struct filestore *probe;
	struct stored_cache *cache; /* owned */
	/*
	 * owned: the process that sends the requests of `store` and `probe` for
	 * this process (copies/relay.h); NULL: this process sends them itself
	 */
	struct relay *relay;
	/*
	 * owned: counts the requests that are sent by `store` and `probe`;
	 * NULL: nothing is counted
	 */
	struct stored_counts *counts;
	struct generation_host host;
};

/*
 * Opens a cache directory that exists. No request is sent to the store. Returns
 * 0 with *out owned by the caller, or ERR_MISSING if the directory is no cache.
 * Returns ERR_IO if the store is a directory that does not exist, or another
 * negative error code.
 */
int stored_node_open(struct stored_node **out, const char *dir,
		     struct error *err);

/*
 * Works like stored_node_open(), for a process that lives for one push. A relay
 * is a process that sends requests to the store for other processes
 * (copies/relay.h). If the cache directory has the socket of a relay, the relay
 * sends most requests of this process. Returns the codes of stored_node_open().
 */
int stored_node_open_relayed(struct stored_node **out, const char *dir,
			     struct error *err);

/*
 * Works like stored_node_open(). If the directory is no cache yet, it first
 * becomes a cache of the store `origin`. Returns ERR_INVALID if the directory
 * is the cache of another store. The file "store" in the directory contains the
 * region and the ca-file of the store. If they differ from those in *origin,
 * the file is replaced by a new one with the values of *origin.
 */
int stored_node_make(struct stored_node **out, const char *dir,
		     const struct stored_origin *origin, struct error *err);

/*
 * Tests whether the store of a cache directory keeps the promises that gitreach
 * needs (store/probe.h). Does nothing if the directory has the file "probed":
 * then the store has passed this test before. Returns 0 if the store passed,
 * ERR_UNSUPPORTED if it broke a promise, ERR_IO if it does not answer, or
 * another negative error code. Cost: one system call, or about 300 requests.
 */
int stored_node_probe(const struct stored_node *node, struct error *err);

/*
 * Opens only the store of a cache directory; requests to this store are not
 * counted. No request is sent. Returns 0 with *out owned by the caller, or the
 * errors of stored_node_open().
 */
int stored_node_open_store(struct filestore **out, const char *dir,
			   struct error *err);

/* Closes a cache directory. NULL is allowed. */
void stored_node_close(struct stored_node *node);

/*
 * Appends the path of the local copy of a repository. Returns 0, ERR_INVALID if
 * a store cannot have a repository of this name, or ERR_NOMEM.
 */
int stored_node_copy(struct buf *path, const struct stored_node *node,
		     const char *name, struct error *err);

/*
 * Splits the absolute path `copy` of a local copy into the cache directory and
 * the name of the repository; the inverse of stored_node_copy().
 *
 * A directory is a cache if it has a readable file "store" of the form in
 * copies/marker.h. If several parent directories are caches, the outermost one
 * is taken. Returns 0 with both texts appended, 1 if the path has another form,
 * or ERR_NOMEM.
 */
int stored_node_split(struct buf *dir, struct buf *name, const char *copy,
		      struct error *err);

/* ---- the relay */

/* the name of the socket file in the cache directory */
#define STORED_RELAY_FILE "relay"
/*
 * Numbers by which a process tells the relay whether a request is for
 * node->store or for node->probe.
 */
#define STORED_RELAY_STORE 0
#define STORED_RELAY_PROBE 1

/* ---- locks */

/*
 * number of the lock of a process that removes copies from the cache directory
 */
#define STORED_LOCK_TRIM 0
/* number of the lock of a process that makes the file "store" */
#define STORED_LOCK_STORE 1

/*
 * Return the numbers of the two locks of a copy, which are computed from
 * `name`. Two repositories may have the same numbers by chance. The only effect
 * is that their users wait for each other.
 *
 * USE: users of the copy hold it in shared mode. A process that holds it in
 * exclusive mode may remove the copy. CHANGE: a process that changes the copy
 * holds it in exclusive mode, and also holds USE.
 */
uint32_t stored_node_use_lock(const char *name);
uint32_t stored_node_change_lock(const char *name);

/*
 * Opens the file "locks". Locks that are taken with the same descriptor do not
 * exclude each other. So each user of a lock opens the file itself, also each
 * thread. Returns a descriptor for sys_close(), or ERR_IO.
 */
int stored_node_locks(const struct stored_node *node, struct error *err);

#endif
