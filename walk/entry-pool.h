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
 * Where an entry is known from is a random place of a few megabytes. So
 * entries are put down some at a time, and then numbered together, so that the
 * waits for memory overlap:
 *
 *	words  | obj_pos, len | "100644 a\0..id.." | obj_pos, len | ...
 *	         ^ entry_nr 0                        ^ entry_nr 5
 *
 * One thread. Numbers and pointers are good until the pool is reset;
 * pointers also end with the next entry put down.
 */
#ifndef WALK_ENTRY_POOL_H
#define WALK_ENTRY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "object/parse.h"

#define ENTRY_POOL_NONE UINT32_MAX

/* Entries that can wait for their numbers. */
#define ENTRY_POOL_WAIT_MAX 32

struct pool_entry {
	uint32_t obj_pos; /* of its object, noted by the pool's user, or
			     ENTRY_POOL_NONE */
	uint32_t len;
	uint8_t raw[]; /* len bytes, and zeros up to a whole word */
};

struct pool_slot {
	uint32_t hash;
	uint32_t entry_nr; /* plus one; 0: free */
};

struct entry_pool {
	/* Owned: entries one after the other, each at a whole word. Its place
	 * is its number. Those that wait are behind `used`. */
	uint64_t *words;
	size_t used, end, alloc;
	size_t nr;               /* entries with a number */
	struct pool_slot *slots; /* owned: a power of two of them */
	size_t slot_nr;
	struct pool_slot waiting[ENTRY_POOL_WAIT_MAX]; /* at places that are
							  not numbers yet */
	uint32_t waiting_nr;
};

/* 0 or ERR_NOMEM; release in any case. */
int entry_pool_init(struct entry_pool *pool);
void entry_pool_release(struct entry_pool *pool);

/* Forget all entries; keeps the memory. */
void entry_pool_reset(struct entry_pool *pool);

/* Bytes in use. */
size_t entry_pool_size(const struct entry_pool *pool);

/*
 * Put down the entry of `len` bytes at `raw`, which tree_next() has accepted;
 * not in the pool's own memory. While fewer than ENTRY_POOL_WAIT_MAX wait. 0 or
 * ERR_NOMEM (also when 32 gigabytes are full).
 */
int entry_pool_put(struct entry_pool *pool, const uint8_t *raw, size_t len);

/* Number those that wait, in the order in which they were put down. */
void entry_pool_settle(struct entry_pool *pool, uint32_t *entry_nrs);

static inline struct pool_entry *entry_pool_at(const struct entry_pool *pool,
					       uint32_t entry_nr)
{
	return (struct pool_entry *)(void *)(pool->words + entry_nr);
}

/* The number of the entry behind this one in memory; pool->used: none. */
static inline uint32_t entry_pool_after(const struct entry_pool *pool,
					uint32_t entry_nr)
{
	size_t len = sizeof(struct pool_entry) +
		     entry_pool_at(pool, entry_nr)->len;

	return entry_nr + (uint32_t)((len + 7) / 8);
}

/* An entry's bytes. */
static inline const uint8_t *entry_pool_raw(const struct entry_pool *pool,
					    uint32_t entry_nr)
{
	return entry_pool_at(pool, entry_nr)->raw;
}

static inline size_t entry_pool_len(const struct entry_pool *pool,
				    uint32_t entry_nr)
{
	return entry_pool_at(pool, entry_nr)->len;
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
