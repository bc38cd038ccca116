/* SPDX-License-Identifier: MIT */
/*
 * A cache of decoded objects, which are likely to be delta bases. It has a hash
 * table keyed by pack and offset, and a list of the unpinned nodes, most
 * recently used first.
 *
 * A node is pinned while its bytes are in use. Pinned nodes do not count
 * against the limit and are never evicted. Other nodes are evicted, least
 * recently used first, when their total size exceeds the limit. For one thread.
 */
#ifndef PACK_BASE_CACHE_H
#define PACK_BASE_CACHE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/type.h"

struct pack;

/*
 * A node of the cache: a decoded object. Made by base_cache_alloc(), owned by
 * its cache.
 */
struct base_cache_node {
	/* the next node in the same hash bucket */
	struct base_cache_node *next;
	/* neighbours in the list of unpinned nodes */
	struct base_cache_node *newer, *older;
	/* borrowed; `pack` and `offset` are the key of the node */
	const struct pack *pack;
	uint64_t offset;
	/* number of bytes in `data`, not counting the NUL */
	size_t len;
	uint32_t pin_nr;
	enum object_type type;
	/* true: the node is in the hash table of its cache */
	bool is_cached;
	alignas(uint64_t) uint8_t data[]; /* len bytes and a NUL */
};

struct base_cache {
	/* owned array of `bucket_nr` buckets (a power of two), or NULL */
	struct base_cache_node **buckets;
	size_t bucket_nr;
	/* number of nodes in the hash table */
	size_t nr;
	/*
	 * total size in bytes of the unpinned nodes: the maximum, and the
	 * present value
	 */
	size_t limit, bytes;
	struct base_cache_node *newest, *oldest;
};

/* Initialises a cache. Returns 0 or ERR_NOMEM. */
int base_cache_init(struct base_cache *cache, size_t limit);

/* Frees all nodes of a cache. No node may be pinned. */
void base_cache_release(struct base_cache *cache);

/*
 * Makes a node for an object of `len` bytes. The node has one pin and is not in
 * the hash table. Returns NULL if memory runs out.
 */
struct base_cache_node *base_cache_alloc(size_t len);

/*
 * Finds the cached object of `pack` at an offset, and adds a pin to its node.
 * Returns NULL if the object is not in the cache.
 */
struct base_cache_node *base_cache_get(struct base_cache *cache,
				       const struct pack *pack,
				       uint64_t offset);

/*
 * Inserts a node, which is pinned and has all its bytes, into the cache. The
 * cache must not have this pack and offset yet. A node that is larger than the
 * cache's limit is not inserted.
 */
void base_cache_add(struct base_cache *cache, struct base_cache_node *node,
		    const struct pack *pack, uint64_t offset);

/*
 * Removes one pin from a node. A node that is not in the hash table is freed
 * with its last pin.
 */
void base_cache_unpin(struct base_cache *cache, struct base_cache_node *node);

/*
 * Removes all nodes of a pack from the cache. Call this before the pack is
 * closed. O(nodes).
 */
void base_cache_forget(struct base_cache *cache, const struct pack *pack);

#endif
