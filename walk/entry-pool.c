/* SPDX-License-Identifier: MIT */
/*
 * The table of entries. A hash that its maker can predict must not be able to
 * stop us: past PROBES_MAX slots the last one is taken over.
 */
#include "base/error.h"
#include "base/mem.h"
#include "walk/entry-pool.h"

enum {
	SLOT_NR_MIN = 1024,
	PROBES_MAX = 16,
};

int entry_pool_init(struct entry_pool *pool)
{
	*pool = (struct entry_pool){0};
	pool->slots = mem_calloc(SLOT_NR_MIN, sizeof(*pool->slots));
	if (!pool->slots || mem_grow(&pool->entries, &pool->entry_alloc, 1,
				     sizeof(*pool->entries)) < 0)
		return ERR_NOMEM;
	pool->slot_nr = SLOT_NR_MIN;
	pool->entries[0].start = 0;
	return 0;
}

void entry_pool_release(struct entry_pool *pool)
{
	free(pool->bytes);
	free(pool->entries);
	free(pool->slots);
	*pool = (struct entry_pool){0};
}

void entry_pool_reset(struct entry_pool *pool)
{
	memset(pool->slots, 0, pool->slot_nr * sizeof(*pool->slots));
	pool->len = 0;
	pool->nr = 0;
}

size_t entry_pool_size(const struct entry_pool *pool)
{
	return pool->len + (pool->nr + 1) * sizeof(*pool->entries) +
	       pool->slot_nr * sizeof(*pool->slots);
}

static uint64_t load_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* An entry is never shorter than a word. */
static uint32_t hash_entry(const uint8_t *raw, size_t len)
{
	uint64_t h = len;

	for (size_t i = 0; i + 8 < len; i += 8) {
		h = (h ^ load_word(raw + i)) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	h = (h ^ load_word(raw + len - 8)) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

/*
 * Whether an entry is these bytes. Entries of one name differ in their ids:
 * those, at the end, are looked at first.
 */
static bool is_entry(const struct entry_pool *pool, uint32_t entry_nr,
		     const uint8_t *raw, size_t len)
{
	const uint8_t *known = entry_pool_raw(pool, entry_nr);

	return entry_pool_len(pool, entry_nr) == len &&
	       load_word(known + len - 8) == load_word(raw + len - 8) &&
	       !memcmp(known, raw, len - 8);
}

/*
 * The slot that holds the entry, or the one to put it into. `raw` NULL: only
 * look for room.
 */
static struct pool_slot *find_slot(const struct entry_pool *pool, uint32_t hash,
				   const uint8_t *raw, size_t len)
{
	size_t mask = pool->slot_nr - 1;
	struct pool_slot *slot = NULL;

	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		slot = &pool->slots[(hash + i) & mask];
		if (!slot->entry_nr)
			return slot;
		if (raw && slot->hash == hash &&
		    is_entry(pool, slot->entry_nr - 1, raw, len))
			return slot;
	}
	if (raw)
		slot->entry_nr = 0;
	return slot;
}

/* Twice the slots; without memory for them more entries are forgotten. */
static void grow_slots(struct entry_pool *pool)
{
	struct entry_pool bigger = *pool;

	if (!mem_mul(&bigger.slot_nr, pool->slot_nr, 2))
		return;
	bigger.slots = mem_calloc(bigger.slot_nr, sizeof(*bigger.slots));
	if (!bigger.slots)
		return;
	for (size_t i = 0; i < pool->slot_nr; i++)
		if (pool->slots[i].entry_nr)
			*find_slot(&bigger, pool->slots[i].hash, NULL,
				   0) = pool->slots[i];
	free(pool->slots);
	*pool = bigger;
}

static int append(struct entry_pool *pool, const uint8_t *raw, size_t len)
{
	size_t end;

	if (!mem_add(&end, pool->len, len) || end > UINT32_MAX ||
	    mem_grow(&pool->bytes, &pool->alloc, end, 1) < 0 ||
	    mem_grow(&pool->entries, &pool->entry_alloc, pool->nr + 2,
		     sizeof(*pool->entries)) < 0)
		return ERR_NOMEM;
	memcpy(pool->bytes + pool->len, raw, len);
	pool->len = end;
	pool->entries[pool->nr].obj_pos = ENTRY_POOL_NONE;
	pool->entries[pool->nr++].next = ENTRY_POOL_NONE;
	pool->entries[pool->nr].start = (uint32_t)end;
	return 0;
}

static int find_or_append(struct entry_pool *pool, const uint8_t *raw,
			  size_t len, uint32_t *entry_nr)
{
	uint32_t hash = hash_entry(raw, len);
	struct pool_slot *slot;

	if (pool->nr >= pool->slot_nr / 2)
		grow_slots(pool);
	slot = find_slot(pool, hash, raw, len);
	if (!slot->entry_nr) {
		if (append(pool, raw, len) < 0)
			return ERR_NOMEM;
		*slot = (struct pool_slot){hash, (uint32_t)pool->nr};
	}
	*entry_nr = slot->entry_nr - 1;
	return 0;
}

int entry_pool_add(struct entry_pool *pool, uint32_t prev, const uint8_t *raw,
		   size_t len, uint32_t *entry_nr)
{
	uint32_t next = prev == ENTRY_POOL_NONE ? ENTRY_POOL_NONE
						: pool->entries[prev].next;

	if (next != ENTRY_POOL_NONE && is_entry(pool, next, raw, len)) {
		*entry_nr = next;
		return 0;
	}
	if (find_or_append(pool, raw, len, entry_nr) < 0)
		return ERR_NOMEM;
	if (prev != ENTRY_POOL_NONE)
		pool->entries[prev].next = *entry_nr;
	return 0;
}
