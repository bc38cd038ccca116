/* SPDX-License-Identifier: MIT */
/*
 * Gives numbers to tree entries, so that trees can be compared as arrays of
 * integers.
 *
 * Successive trees of a directory share nearly all of their entries. The pool
 * keeps each distinct entry (mode, name and id, byte for byte) once and gives
 * it a number, `entry_nr`. A tree becomes an array of numbers. Equal numbers
 * mean equal entries.
 *
 * Different numbers nearly always mean different entries, but not always. The
 * pool looks for an entry in a limited number of slots of a hash table. If an
 * entry that has a number is in none of these slots, it gets a second number.
 * So if two numbers differ, callers compare bytes with entry_pool_equal().
 *
 * A look-up in the table touches a random cache line of a few megabytes. So
 * callers put several entries first and number them together, and the waits for
 * memory overlap:
 *
 *	words  | obj_pos, len | "100644 a\0..id.." | obj_pos, len | ...
 *	         ^ entry_nr 0                        ^ entry_nr 5
 *
 * For use by one thread. Numbers and pointers are valid until the pool is
 * reset; pointers also become invalid when the next entry is put.
 */
#ifndef TREES_ENTRY_POOL_H
#define TREES_ENTRY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "object/parse.h"

#define ENTRY_POOL_NONE UINT32_MAX

/*
 * Maximum number of entries that are in the pool without a number yet, see
 * entry_pool_put().
 */
#define ENTRY_POOL_WAIT_MAX 32

struct pool_entry {
	/*
	 * obj_pos of the object that the entry names, set by the user of the
	 * pool; ENTRY_POOL_NONE: not set
	 */
	uint32_t obj_pos;
	uint32_t len;
	/* the entry's `len` bytes, padded with zeros to a whole word */
	uint8_t raw[];
};

struct pool_slot {
	uint32_t hash;
	/* entry_nr of the entry in this slot, plus one; 0: the slot is free */
	uint32_t entry_nr;
};

struct entry_pool {
	/*
	 * Owned: entries one after the other, each aligned to a word. The
	 * number of an entry is its index in this array. Entries that wait for
	 * a number are at [used, end).
	 */
	uint64_t *words;
	size_t used, end, alloc;
	/*
	 * number of entries that have an entry_nr; waiting entries have none
	 * yet
	 */
	size_t nr;
	/* owned: the hash table; slot_nr is a power of two */
	struct pool_slot *slots;
	size_t slot_nr;
	/*
	 * One element for each waiting entry: its hash and, in `entry_nr`, its
	 * index in `words`.
	 */
	struct pool_slot waiting[ENTRY_POOL_WAIT_MAX];
	uint32_t waiting_nr;
};

/*
 * Initialises an empty pool. Returns 0 or ERR_NOMEM; the caller releases the
 * pool in both cases.
 */
int entry_pool_init(struct entry_pool *pool);
void entry_pool_release(struct entry_pool *pool);

/* Removes all entries from the pool, but keeps the memory. */
void entry_pool_reset(struct entry_pool *pool);

/* Returns the number of bytes that the entries of the pool take. */
size_t entry_pool_size(const struct entry_pool *pool);

/*
 * Appends the entry of `len` bytes at `raw` to the waiting entries. tree_next()
 * must have accepted the entry, and `raw` must not point into the pool. Fewer
 * than ENTRY_POOL_WAIT_MAX entries may be waiting before the call. Returns 0 or
 * ERR_NOMEM (also if the pool holds 32 gigabytes).
 */
int entry_pool_put(struct entry_pool *pool, const uint8_t *raw, size_t len);

/*
 * Gives a number to each waiting entry. Sets entry_nrs[i] to the number of the
 * i-th waiting entry, in the order in which entry_pool_put() has appended them.
 */
void entry_pool_settle(struct entry_pool *pool, uint32_t *entry_nrs);

static inline struct pool_entry *entry_pool_at(const struct entry_pool *pool,
					       uint32_t entry_nr)
{
	return (struct pool_entry *)(void *)(pool->words + entry_nr);
}

/*
 * Returns the entry_nr of the entry that follows this entry in memory. After
 * the last entry, returns pool->used.
 */
static inline uint32_t entry_pool_after(const struct entry_pool *pool,
					uint32_t entry_nr)
{
	size_t len = sizeof(struct pool_entry) +
		     entry_pool_at(pool, entry_nr)->len;

	return entry_nr + (uint32_t)((len + 7) / 8);
}

/* Returns the bytes of the entry with this number: mode, name and id. */
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

/* Parses the entry with this number into *entry, which points into the pool. */
static inline void entry_pool_get(struct tree_entry *entry,
				  const struct entry_pool *pool,
				  uint32_t entry_nr, enum hash_algo algo)
{
	const uint8_t *raw = entry_pool_raw(pool, entry_nr);
	struct cursor c = cursor_make(raw, entry_pool_len(pool, entry_nr));

	tree_next(entry, &c, algo);
}

/* Returns whether two entries have the same bytes. */
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
