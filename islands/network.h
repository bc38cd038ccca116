/* SPDX-License-Identifier: MIT */
/*
 * A fork network: a bare repository, the store, that has what its members
 * share, and members that borrow from it through objects/info/alternates.
 * What a member's references name, the store has under refs/virtual/<id>/ as
 * of the last time that the member was brought up to date.
 *
 *	<store>/network/members   the registry (network-registry.h)
 *	<store>/network/lock      locks, see enum network_lock
 *	<store>/refs/virtual/<id>/<x>   what refs/<x> of the member is
 *
 * The store is closed: of each object in it, it has all that this reaches.
 * Whatever puts objects into it or takes some away keeps it so at every moment
 * (Documentation/design/networks.md).
 *
 * One thread.
 */
#ifndef ISLANDS_NETWORK_H
#define ISLANDS_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "islands/network-registry.h"
#include "repo/repo.h"

/*
 * Locks, in the order in which they are taken. They end with the process. A
 * member's is NETWORK_LOCK_MEMBERS + its id; who takes several takes them by
 * ascending ids, but for that of a member that nobody knows yet.
 */
enum network_lock {
	/* Shared by who relies on objects of the store before a member's
	   reference or the registry says so; alone: who removes some. */
	NETWORK_LOCK_OBJECTS,
	NETWORK_LOCK_REGISTRY, /* alone: who writes it. Taken last */
	NETWORK_LOCK_MEMBERS,  /* alone: who changes a member */
};

struct network {
	struct repo *store; /* owned */
	char *object_dir;   /* owned: its objects, without symlinks */
	int lock_fd;
	struct network_registry registry; /* as last read */
	enum sys_fsync_method fsync;      /* of the registry: as packed-refs */
};

/*
 * Make a store, a bare repository, at `path`: 0, or ERR_INVALID when there is
 * a repository. What is left of an attempt that was killed is completed.
 */
int network_init(const char *path, enum hash_algo algo, struct error *err);

/*
 * The store of a repository: itself, or what it borrows from. 1 with *git_dir
 * owned by the caller, 0 when it has none, or negative.
 */
int network_find(char **git_dir, const struct repo *repo, struct error *err);

/* Open a store and read the registry. 0 with *out owned, or negative. */
int network_open(struct network **out, const char *git_dir, struct error *err);
void network_close(struct network *network);

/* Take a lock; see sys_rangelock_take(). */
int network_lock(struct network *network, uint32_t lock, bool shared, bool wait,
		 struct error *err);
void network_unlock(struct network *network, uint32_t lock);

/*
 * Change the registry: begin locks and reads it anew, save writes what is in
 * memory. End in any case. 0 or negative.
 */
int network_edit_begin(struct network *network, struct error *err);
int network_edit_save(struct network *network, enum sys_fsync_method method,
		      struct error *err);
void network_edit_end(struct network *network);

/* Read the registry anew. */
int network_reload(struct network *network, struct error *err);

/*
 * Set the state of an entry, or remove it, as an edit of its own. An entry
 * that is gone is ERR_MISSING when it should be set.
 */
int network_set_state(struct network *network, uint32_t id,
		      enum network_state state, enum sys_fsync_method method,
		      struct error *err);
int network_forget(struct network *network, uint32_t id, struct error *err);

/*
 * The entry that is meant: by its id, or by a path to its repository or to
 * where that was. NULL with *err set when there is none. Valid until the
 * registry is read or changed.
 */
struct network_entry *network_lookup(struct network *network, const char *name,
				     struct error *err);

/* Append the absolute path of a member's repository. 0 or ERR_NOMEM. */
int network_path(struct buf *out, const struct network *network,
		 const struct network_entry *entry);

/* Append the path that the registry has for an absolute one. 0 or ERR_NOMEM. */
int network_registry_path(struct buf *out, const struct network *network,
			  const char *path);

#endif
