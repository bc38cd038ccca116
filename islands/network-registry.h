/* SPDX-License-Identifier: MIT */
/*
 * The registry of a fork network, the file network/members of its store: who
 * is a member, and where (Documentation/format/network.md).
 *
 *	# gitreach network 1
 *	next 4                            the id of the next new member
 *	member 1 ../git.git               id, path; ascending ids
 *	forking 3 ../forks/new.git
 *
 * Lines end with a newline. Ids are decimal numbers from 1 on and are never
 * given twice. A path goes to the end of its line and is absolute, or relative
 * to the store's directory. The first word of a member's line is its state.
 *
 * For instance, of one member ("r" in the directory of the store):
 *
 *	00  23206769 74726561 6368206e 6574776f 726b2031 0a
 *	15  6e657874 20320a
 *	1c  6d656d62 65722031 202e2e2f 720a
 */
#ifndef ISLANDS_NETWORK_REGISTRY_H
#define ISLANDS_NETWORK_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* What is under way; see Documentation/design/networks.md. */
enum network_state {
	NETWORK_MEMBER,   /* nothing */
	NETWORK_FORKING,  /* fork has not ended: there may be no repository */
	NETWORK_ADDING,   /* add has not ended: it may not borrow yet */
	NETWORK_LEAVING,  /* leave: it needs the store no longer */
	NETWORK_DELETING, /* delete: the repository is about to go, or gone */
};

/* "member", "forking", ...; static. */
const char *network_state_name(enum network_state state);

struct network_entry {
	uint32_t id;
	enum network_state state;
	char *path; /* owned: as the file has it */
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
 * Parse a file's bytes into *registry, which is released first. `name` is for
 * messages. 0, or with nothing in *registry ERR_CORRUPT with the line that is
 * wrong, ERR_UNSUPPORTED for another version, ERR_NOMEM.
 */
int network_registry_parse(struct network_registry *registry, const void *bytes,
			   size_t len, const char *name, struct error *err);
void network_registry_release(struct network_registry *registry);

/* Append the bytes of the file to *out. 0 or ERR_NOMEM. */
int network_registry_format(struct buf *out,
			    const struct network_registry *registry);

/* The entry of an id, or NULL. Valid until the registry changes. */
struct network_entry *network_registry_find(
	const struct network_registry *registry, uint32_t id);

/* The entry of a path as the file has it, or NULL. */
struct network_entry *network_registry_find_path(
	const struct network_registry *registry, const char *path);

/*
 * Append an entry with the next id. 0 with *out set; ERR_INVALID for a path
 * that the file cannot hold (one with a newline, or empty), or where ids have
 * run out; ERR_NOMEM.
 */
int network_registry_add(struct network_entry **out,
			 struct network_registry *registry,
			 enum network_state state, const char *path,
			 struct error *err);

/* Take the entry of an id out, if there is one. */
void network_registry_remove(struct network_registry *registry, uint32_t id);

#endif
