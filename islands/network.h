/* SPDX-License-Identifier: MIT */
/*
 * A fork network: a bare repository, the store, has the objects that all
 * members share. Members borrow from the store through objects/info/alternates.
 * Under refs/virtual/<id>/ the store has copies of a member's references, from
 * the last time that the member was synced.
 *
 * <store>/network/members         the registry (network-registry.c)
 * <store>/network/lock            locks, see enum network_lock
 * <store>/refs/virtual/<id>/<x>   copy of refs/<x> of the member
 *
 * The store is closed under reachability: with each object, it has all objects
 * that the object reaches. The store is closed at every moment of an operation
 * that adds or removes objects (Documentation/design/networks.md).
 *
 * For use by one thread.
 */
#ifndef ISLANDS_NETWORK_H
#define ISLANDS_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/* ---- the registry of members (network-registry.c) */

/*
 * The registry of a fork network, the file network/members of its store. It
 * lists the members and their paths (Documentation/format/network.md).
 *
 * # gitreach network 1
 * next 4                            the id of the next new member
 * member 1 ../git.git               id, path; ascending ids
 * forking 3 ../forks/new.git
 *
 * Lines end with a newline. Ids are decimal numbers from 1 on and are never
 * reused. A path goes to the end of its line. It is absolute, or relative to
 * the directory of the store. The first word of a member's line is its state.
 *
 * Example: a registry with one member. Its path is ../r, so the directory "r"
 * is beside the directory of the store:
 *
 * 00  23206769 74726561 6368206e 6574776f 726b2031 0a
 * 15  6e657874 20320a
 * 1c  6d656d62 65722031 202e2e2f 720a
 */

/* The operation that a member is in; see Documentation/design/networks.md. */
enum network_state {
	/* no operation: the repository is a member */
	NETWORK_MEMBER,
	/* a fork is not complete; perhaps there is no repository yet */
	NETWORK_FORKING,
	/*
	 * an add is not complete; perhaps the repository does not borrow from
	 * the store yet
	 */
	NETWORK_ADDING,
	/*
	 * a leave is not complete: the repository does not need the store any
	 * more
	 */
	NETWORK_LEAVING,
	/*
	 * a delete is not complete: the repository is being removed, or is gone
	 */
	NETWORK_DELETING,
};

/*
 * Returns the first word of a member's line: "member", "forking" and so on. The
 * string is static.
 */
const char *network_state_name(enum network_state state);

struct network_entry {
	uint32_t id;
	enum network_state state;
	/* owned: the member's path as the file has it */
	char *path;
};

struct network_registry {
	uint32_t next_id;
	/* owned: sorted by id, ascending */
	struct network_entry *entries;
	size_t nr, alloc;
};

#define NETWORK_REGISTRY_INIT                                                  \
	{                                                                      \
		1, NULL, 0, 0                                                  \
	}

/*
 * Parses a file into *registry, which is released first. `name` is used in
 * messages. Returns 0 or a negative error code: ERR_CORRUPT with the number of
 * the bad line, ERR_UNSUPPORTED for another version, or ERR_NOMEM. After an
 * error, *registry is empty.
 */
int network_registry_parse(struct network_registry *registry, const void *bytes,
			   size_t len, const char *name, struct error *err);
void network_registry_release(struct network_registry *registry);

/* Appends the bytes of the registry's file to *out. Returns 0 or ERR_NOMEM. */
int network_registry_format(struct buf *out,
			    const struct network_registry *registry);

/*
 * Returns the registry entry of a member id, or NULL. Valid until the registry
 * changes.
 */
struct network_entry *network_registry_find(
	const struct network_registry *registry, uint32_t id);

/*
 * Returns the registry entry of a path (as the file has it), or NULL. Valid
 * until the registry changes.
 */
struct network_entry *network_registry_find_path(
	const struct network_registry *registry, const char *path);

/*
 * Appends an entry with the next id and sets *out to the entry. Returns 0;
 * ERR_INVALID if the path is empty or has a newline, or if all ids are used; or
 * ERR_NOMEM.
 */
int network_registry_add(struct network_entry **out,
			 struct network_registry *registry,
			 enum network_state state, const char *path,
			 struct error *err);

/* Removes the registry entry of a member id, if there is one. */
void network_registry_remove(struct network_registry *registry, uint32_t id);

/* ---- the network */

/*
 * Locks of a network. A process takes the lock of the objects first, then locks
 * of members by ascending id, then the lock of the registry. Exception: the
 * lock of a new member may be taken at any time, because no other process knows
 * the member yet. The lock of a member is NETWORK_LOCK_MEMBERS + its id. When a
 * process ends, the locks that it holds are released.
 */
enum network_lock {
	/*
	 * An operation that removes objects takes this lock exclusively. An
	 * operation takes this lock in shared mode if it relies on objects of
	 * the store that could be removed. These are objects that neither a
	 * reference of a member nor an entry of the registry protects yet.
	 */
	NETWORK_LOCK_OBJECTS,
	/* Taken exclusively to write the registry. This lock is taken last. */
	NETWORK_LOCK_REGISTRY,
	/*
	 * to change a member, take this lock exclusively: NETWORK_LOCK_MEMBERS
	 * plus the member's id
	 */
	NETWORK_LOCK_MEMBERS,
};

struct network {
	struct repo *store; /* owned */
	/* owned: the store's object directory; symlinks are resolved */
	char *object_dir;
	int lock_fd;
	/* the registry as it was last read */
	struct network_registry registry;
	/*
	 * how to sync changes of the registry to the disk; changes of
	 * packed-refs are synced in the same way
	 */
	enum sys_fsync_method fsync;
	/* Receives warnings. NULL (the default): warnings are dropped. */
	void (*warn)(const char *text);
};

/*
 * Makes the shared store of a network, a bare repository, at `path`. If an
 * earlier attempt was killed, completes the store. Returns 0 or a negative
 * error code: ERR_INVALID if there is a complete store or another repository at
 * `path`.
 */
int network_init(const char *path, enum hash_algo algo, struct error *err);

/*
 * Finds the shared store of a repository: the repository itself, or the store
 * that it borrows from. Returns 1 with *git_dir owned by the caller, 0 if there
 * is no store, or a negative error code.
 */
int network_find(char **git_dir, const struct repo *repo, struct error *err);

/*
 * Opens a shared store and reads its registry. *out is owned by the caller.
 * Returns 0 or a negative error code.
 */
int network_open(struct network **out, const char *git_dir, struct error *err);
void network_close(struct network *network);

/*
 * Takes a lock of the network; see sys_rangelock_take(). Returns 0, ERR_DENIED
 * if the lock is taken and `wait` is false, or another negative error code.
 */
int network_lock(struct network *network, uint32_t lock, bool shared, bool wait,
		 struct error *err);
void network_unlock(struct network *network, uint32_t lock);

/*
 * Takes all locks of the network exclusively, without waiting. The caller must
 * hold none. Returns 0, ERR_DENIED if another process has a lock, or another
 * negative error code.
 */
int network_lock_all(struct network *network, struct error *err);
void network_unlock_all(struct network *network);

/*
 * Passes the warning `text`, which has no newline, to network->warn, unless
 * that callback is NULL.
 */
void network_warn(const struct network *network, const char *text);

/*
 * An edit of the registry. network_edit_begin() takes the lock and reads the
 * registry. network_edit_save() writes network->registry to the file.
 * network_edit_end() releases the lock and must be called in any case. The
 * first two functions return 0 or a negative error code.
 */
int network_edit_begin(struct network *network, struct error *err);
int network_edit_save(struct network *network, enum sys_fsync_method method,
		      struct error *err);
void network_edit_end(struct network *network);

/* Reads the registry of members again. Returns 0 or a negative error code. */
int network_reload(struct network *network, struct error *err);

/*
 * network_set_state() sets the state of a member's entry, network_forget()
 * removes an entry. Each of these functions is a complete edit of the registry.
 * They return 0 or a negative error code; network_set_state() returns
 * ERR_MISSING if there is no such entry.
 */
int network_set_state(struct network *network, uint32_t id,
		      enum network_state state, enum sys_fsync_method method,
		      struct error *err);
int network_forget(struct network *network, uint32_t id, struct error *err);

/*
 * Finds a member's entry by its id, or by a path to its repository, which may
 * be gone. Returns NULL with *err set if there is no such entry. The entry is
 * valid until the registry is read or changed.
 */
struct network_entry *network_lookup(struct network *network, const char *name,
				     struct error *err);

/*
 * Appends the absolute path of a member's repository. Returns 0 or ERR_NOMEM.
 */
int network_path(struct buf *out, const struct network *network,
		 const struct network_entry *entry);

/*
 * Appends a path in the form that the registry stores. `path` is absolute.
 * Returns 0 or ERR_NOMEM.
 */
int network_registry_path(struct buf *out, const struct network *network,
			  const char *path);

#endif
