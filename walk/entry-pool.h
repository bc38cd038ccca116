/* SPDX-License-Identifier: MIT */
/*
 * Numbers for tree entries.
 *
 * Successive trees of a directory share nearly all of their entries. Each
 * distinct entry (mode, name and id, byte for byte) is kept once here and
 * named by `entry_nr`, so that a tree becomes an array of numbers and equal
 * entries are equal numbers. The reverse holds nearly always: entries are
 * found again through a table with a bounded search, and one that is not
 * found gets a second number. Callers fall back on comparing bytes.
 *
 * One thread. Numbers and pointers are good until the pool is reset;
 * pointers also end with the next entry added.
 */
#ifndef WALK_ENTRY_POOL_H
#define WALK_ENTRY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "object/parse.h"

#define ENTRY_POOL_NONE UINT32_MAX

struct pool_entry {
	uint32_t start;   /* in `bytes`; it ends where the next one starts */
	uint32_t obj_pos; /* of its object, noted by the pool's user, or
			     ENTRY_POOL_NONE */
	uint32_t next;    /* entry_nr that came after it last time, or
			     ENTRY_POOL_NONE */
};

struct pool_slot {
	uint32_t hash;
	uint32_t entry_nr; /* plus one; 0: free */
};

struct entry_pool {
	uint8_t *bytes; /* owned: entries one after the other */
	size_t len, alloc;
	struct pool_entry *entries; /* owned: nr and one that ends the last */
	size_t nr, entry_alloc;
	struct pool_slot *slots; /* owned: a power of two of them */
	size_t slot_nr;
};

/* 0 or ERR_NOMEM; release in any case. */
int entry_pool_init(struct entry_pool *pool);
void entry_pool_release(struct entry_pool *pool);

/* Forget all entries; keeps the memory. */
void entry_pool_reset(struct entry_pool *pool);

/* Bytes in use. */
size_t entry_pool_size(const struct entry_pool *pool);

/*
 * The number of the entry of `len` bytes at `raw`, which tree_next() has
 * accepted; not in the pool's own memory. `prev` is the entry before it in
 * the tree, or ENTRY_POOL_NONE: the one that followed that last time is tried
 * first. 0 or ERR_NOMEM (also when four gigabytes are full).
 */
int entry_pool_add(struct entry_pool *pool, uint32_t prev, const uint8_t *raw,
		   size_t len, uint32_t *entry_nr);

/* An entry's bytes. */
static inline const uint8_t *entry_pool_raw(const struct entry_pool *pool,
					    uint32_t entry_nr)
{
	return pool->bytes + pool->entries[entry_nr].start;
}

static inline size_t entry_pool_len(const struct entry_pool *pool,
				    uint32_t entry_nr)
{
	return pool->entries[entry_nr + 1].start -
	       pool->entries[entry_nr].start;
}

/* An entry, taken apart. */
static inline void entry_pool_get(struct tree_entry *entry,
				  const struct entry_pool *pool,
				  uint32_t entry_nr, enum hash_algo algo)
{
	const uint8_t *raw = entry_pool_raw(pool, entry_nr);
	struct cursor c = cursor_make(raw, entry_pool_len(pool, entry_nr));

	tree_next(entry, &c, algo);
}

/* Whether two entries are the same bytes. */
static inline bool entry_pool_equal(const struct entry_pool *pool, uint32_t a,
				    uint32_t b)
{
	size_t len;

	if (a == b)
		return true;
	len = entry_pool_len(pool, a);
	return len == entry_pool_len(pool, b) &&
	       !memcmp(entry_pool_raw(pool, a), entry_pool_raw(pool, b), len);
}

#endif
