/* SPDX-License-Identifier: MIT */
/*
 * The registry of a fork network, the file network/members of its store. It
 * lists the members and their paths (Documentation/format/network.md).
 *
 *  # gitreach network 1
 *  next 4                            the id of the next new member
 *  member 1 ../git.git               id, path; ascending ids
 *  forking 3 ../forks/new.git
 *
 * Lines end with a newline. Ids are decimal numbers from 1 on and are never
 * reused. A path goes to the end of its line. It is absolute, or relative to
 * the store's directory. The first word of a member's line is its state.
 *
 * For instance, with one member ("r" in the directory of the store):
 *
 *  00  23206769 74726561 6368206e 6574776f 726b2031 0a
 *  15  6e657874 20320a
 *  1c  6d656d62 65722031 202e2e2f 720a
 */
#ifndef ISLANDS_NETWORK_REGISTRY_H
#define ISLANDS_NETWORK_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* The operation that a member is in; see Documentation/design/networks.md. */
enum network_state {
	NETWORK_MEMBER, /* none */
	/* Fork is not complete: the repository may not exist. */
	NETWORK_FORKING,
	/* Add is not complete: the repository may not borrow yet. */
	NETWORK_ADDING,
	/* Leave: the repository does not need the store any more. */
	NETWORK_LEAVING,
	/* Delete: the repository is being removed, or is gone. */
	NETWORK_DELETING,
};

/* "member", "forking", ...; static. */
const char *network_state_name(enum network_state state);

struct network_entry {
	uint32_t id;
	enum network_state state;
	char *path; /* owned: as in the file */
};

struct network_registry {
	uint32_t next_id;
	struct network_entry *entries; /* owned: by ascending id */
	size_t nr, alloc;
};

#define NETWORK_REGISTRY_INIT                                                  \
	{                                                                      \
		1, NULL, 0, 0                                                  \
	}

/*
 * Parse a file into *registry, which is released first. `name` is for messages.
 * Returns 0, or a negative error code with *registry empty: ERR_CORRUPT with
 * the number of the bad line, ERR_UNSUPPORTED for another version, or
 * ERR_NOMEM.
 */
int network_registry_parse(struct network_registry *registry, const void *bytes,
			   size_t len, const char *name, struct error *err);
void network_registry_release(struct network_registry *registry);

/* Append the bytes of the file to *out. Returns 0 or ERR_NOMEM. */
int network_registry_format(struct buf *out,
			    const struct network_registry *registry);

/* The entry of an id, or NULL. Valid until the registry changes. */
struct network_entry *network_registry_find(
	const struct network_registry *registry, uint32_t id);

/*
 * The entry of a path as in the file, or NULL. Valid until the registry
 * changes.
 */
struct network_entry *network_registry_find_path(
	const struct network_registry *registry, const char *path);

/*
 * Append an entry with the next id and set *out to it. Returns 0 or a negative
 * error code. ERR_INVALID: the path is empty or has a newline, or all ids are
 * used. ERR_NOMEM.
 */
int network_registry_add(struct network_entry **out,
			 struct network_registry *registry,
			 enum network_state state, const char *path,
			 struct error *err);

/* Remove the entry of an id, if there is one. */
void network_registry_remove(struct network_registry *registry, uint32_t id);

#endif
