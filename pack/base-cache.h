/* SPDX-License-Identifier: MIT */
/*
 * Decoded objects, kept as bases for deltas to come: a hash table by pack and
 * offset, and a list of those not in use, least recently used last.
 *
 * A node is pinned while somebody uses its bytes. Pinned nodes neither count
 * against the limit nor leave; the others leave, oldest first, when their
 * bytes pass it. One thread.
 */
#ifndef PACK_BASE_CACHE_H
#define PACK_BASE_CACHE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/type.h"

struct pack;

/* A decoded object. Made by base_cache_alloc(), owned by its cache. */
struct base_cache_node {
	struct base_cache_node *next;          /* in the hash bucket */
	struct base_cache_node *newer, *older; /* while not pinned */
	const struct pack *pack;               /* borrowed; with offset: key */
	uint64_t offset;
	size_t len; /* bytes of data, without the NUL */
	uint32_t pin_nr;
	enum object_type type;
	bool is_cached;                   /* in the hash table */
	alignas(uint64_t) uint8_t data[]; /* len bytes and a NUL */
};

struct base_cache {
	struct base_cache_node **buckets; /* owned; a power of two, or NULL */
	size_t bucket_nr;
	size_t nr;           /* nodes in the table */
	size_t limit, bytes; /* of nodes that are not pinned */
	struct base_cache_node *newest, *oldest;
};

/* Nothing is allocated yet; 0 or ERR_NOMEM. */
int base_cache_init(struct base_cache *cache, size_t limit);

/* Free all nodes; none may be pinned any more. */
void base_cache_release(struct base_cache *cache);

/* A new node for `len` bytes, pinned once, not in the table. NULL: no memory */
struct base_cache_node *base_cache_alloc(size_t len);

/* Find and pin; NULL when absent. */
struct base_cache_node *base_cache_get(struct base_cache *cache,
				       const struct pack *pack,
				       uint64_t offset);

/*
 * Put a pinned node, whose bytes are complete, into the table under a key
 * that is not there. A node too large for the cache stays outside.
 */
void base_cache_add(struct base_cache *cache, struct base_cache_node *node,
		    const struct pack *pack, uint64_t offset);

/* Undo one pin. The last one frees a node that is not in the table. */
void base_cache_unpin(struct base_cache *cache, struct base_cache_node *node);

/* Forget the nodes of a pack, before it is closed. O(nodes). */
void base_cache_forget(struct base_cache *cache, const struct pack *pack);

#endif
