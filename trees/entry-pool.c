/* SPDX-License-Identifier: MIT */
/*
 * The hash table of tree entries. The hash function is predictable, so an
 * attacker could choose entries with equal hashes to make searches slow.
 * Therefore a search looks at PROBES_MAX slots at most. If none of these slots
 * is free, a new entry replaces the entry in the last of them.
 */
#include "base/error.h"
#include "base/mem.h"
#include "sys/process.h"
#include "trees/entry-pool.h"

enum {
	SLOT_NR_MIN = 1024,
	WORD_NR_MIN = 1024,
	PROBES_MAX = 16,
	CACHE_LINE = 64,
};

static struct pool_slot *new_slots(size_t nr)
{
	struct pool_slot *slots;
	size_t size;

	if (!mem_mul(&size, nr, sizeof(*slots)))
		return NULL;
	slots = sys_memory_large(size);
	if (slots)
		memset(slots, 0, size);
	return slots;
}

int entry_pool_init(struct entry_pool *pool)
{
	*pool = (struct entry_pool){0};
	pool->slots = new_slots(SLOT_NR_MIN);
	if (!pool->slots)
		return ERR_NOMEM;
	pool->slot_nr = SLOT_NR_MIN;
	return 0;
}

void entry_pool_release(struct entry_pool *pool)
{
	free(pool->words);
	free(pool->slots);
	*pool = (struct entry_pool){0};
}

void entry_pool_reset(struct entry_pool *pool)
{
	memset(pool->slots, 0, pool->slot_nr * sizeof(*pool->slots));
	pool->used = pool->end = 0;
	pool->nr = 0;
	pool->waiting_nr = 0;
}

size_t entry_pool_size(const struct entry_pool *pool)
{
	return pool->used * sizeof(*pool->words) +
	       pool->slot_nr * sizeof(*pool->slots);
}

/*
 * Returns the number of 64-bit words that an entry of `len` bytes takes,
 * including its header.
 */
static size_t words_of(size_t len)
{
	return (sizeof(struct pool_entry) + len + 7) / 8;
}

static uint64_t load_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Hashes an entry, two words at a time. The last two words may overlap the
 * words before them. Every entry has more than two words, because its id alone
 * has at least 20 bytes.
 */
static uint32_t hash_entry(const uint8_t *raw, size_t len)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t a = len, b = 0;

	for (size_t i = 0; i + 16 < len; i += 16) {
		a = (a ^ load_word(raw + i)) * factor;
		b = (b ^ load_word(raw + i + 8)) * factor;
	}
	a = (a ^ load_word(raw + len - 16)) * factor;
	b = (b ^ load_word(raw + len - 8)) * factor;
	a ^= b >> 32 | b << 32;
	return (uint32_t)((a ^ a >> 32) * factor >> 32);
}

/* Makes room for at least `need` words in pool->words. */
static int grow_words(struct entry_pool *pool, size_t need)
{
	size_t alloc = pool->alloc ? pool->alloc : WORD_NR_MIN, size;
	uint64_t *words;

	while (alloc < need)
		if (!mem_mul(&alloc, alloc, 2))
			return ERR_NOMEM;
	if (!mem_mul(&size, alloc, sizeof(*words)))
		return ERR_NOMEM;
	words = sys_memory_large(size);
	if (!words)
		return ERR_NOMEM;
	if (pool->end)
		memcpy(words, pool->words, pool->end * sizeof(*words));
	free(pool->words);
	pool->words = words;
	pool->alloc = alloc;
	return 0;
}

int entry_pool_put(struct entry_pool *pool, const uint8_t *raw, size_t len)
{
	size_t nr = words_of(len), end;
	uint64_t *words;
	uint32_t hash;

	if (len > UINT32_MAX - sizeof(struct pool_entry) ||
	    !mem_add(&end, pool->end, nr) || end >= ENTRY_POOL_NONE ||
	    (end > pool->alloc && grow_words(pool, end) < 0))
		return ERR_NOMEM;
	words = pool->words + pool->end;
	words[nr - 1] = 0;
	*(struct pool_entry *)(void *)words = (struct pool_entry){
		.obj_pos = ENTRY_POOL_NONE,
		.len = (uint32_t)len,
	};
	memcpy(words + 1, raw, len);
	hash = hash_entry(raw, len);
	__builtin_prefetch(&pool->slots[hash & (pool->slot_nr - 1)]);
	pool->waiting[pool->waiting_nr++] = (struct pool_slot){
		hash, (uint32_t)pool->end};
	pool->end = end;
	return 0;
}

/*
 * Returns whether two tree entries in the pool have the same bytes. `entry_nr`
 * is the index in pool->words of an entry that has a number already. `waiting`
 * is the index in pool->words of an entry that has none yet.
 */
static bool is_entry(const struct entry_pool *pool, uint32_t entry_nr,
		     uint32_t waiting)
{
	const uint64_t *known = pool->words + entry_nr;
	const uint64_t *entry = pool->words + waiting;
	size_t nr = words_of(entry_pool_len(pool, waiting));
	uint64_t differ = 0;

	if (entry_pool_len(pool, entry_nr) != entry_pool_len(pool, waiting))
		return false;
	for (size_t i = 1; i < nr; i++)
		differ |= known[i] ^ entry[i];
	return !differ;
}

/*
 * Looks for an entry that already has a number, and has the same bytes as the
 * entry at index `waiting` of pool->words, which has no number yet. Returns the
 * slot of the entry that was found. If there is none, returns a slot for a new
 * entry.
 *
 * If `waiting` is ENTRY_POOL_NONE, returns a slot for a new entry without
 * comparing bytes.
 */
static struct pool_slot *find_slot(const struct entry_pool *pool, uint32_t hash,
				   uint32_t waiting)
{
	size_t mask = pool->slot_nr - 1;
	struct pool_slot *slot = NULL;

	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		slot = &pool->slots[(hash + i) & mask];
		if (!slot->entry_nr)
			return slot;
		if (waiting != ENTRY_POOL_NONE && slot->hash == hash &&
		    is_entry(pool, slot->entry_nr - 1, waiting))
			return slot;
	}
	if (waiting != ENTRY_POOL_NONE)
		slot->entry_nr = 0;
	return slot;
}

/*
 * Doubles the number of slots of the hash table, by which an entry and its
 * number (entry_nr) are found. If memory runs out, the table keeps its size.
 * New entries then replace old entries in the table more often. A replaced
 * entry is not found any more. When an equal entry is put into the pool later,
 * it is stored a second time, and gets another entry_nr.
 */
static void grow_slots(struct entry_pool *pool)
{
	struct entry_pool bigger = *pool;

	if (!mem_mul(&bigger.slot_nr, pool->slot_nr, 2))
		return;
	bigger.slots = new_slots(bigger.slot_nr);
	if (!bigger.slots)
		return;
	for (size_t i = 0; i < pool->slot_nr; i++)
		if (pool->slots[i].entry_nr)
			*find_slot(&bigger, pool->slots[i].hash,
				   ENTRY_POOL_NONE) = pool->slots[i];
	free(pool->slots);
	pool->slots = bigger.slots;
	pool->slot_nr = bigger.slot_nr;
}

/*
 * New entries first wait without a number. Later, entry_pool_settle() looks up
 * all waiting entries together in the table of the entries that have a number
 * (entry_nr). If the table has no entry with the same bytes, the waiting entry
 * gets a new number.
 *
 * `hash` is the hash of a waiting entry that will be looked up soon. The
 * look-up begins at the slot of this hash in the table. If the slot has an
 * entry, this function prefetches the bytes of that entry, because the look-up
 * will most likely compare them with the bytes of the waiting entry.
 */
static void prefetch_entry(const struct entry_pool *pool, uint32_t hash)
{
	const struct pool_slot *slot = &pool->slots[hash & (pool->slot_nr - 1)];
	const uint8_t *entry;

	if (!slot->entry_nr)
		return;
	entry = (const uint8_t *)(pool->words + slot->entry_nr - 1);
	__builtin_prefetch(entry);
	__builtin_prefetch(entry + CACHE_LINE);
}

/*
 * Moves a waiting entry to the end of the numbered entries. Returns the number
 * (entry_nr) that the entry gets.
 */
static uint32_t keep(struct entry_pool *pool, uint32_t waiting)
{
	uint32_t entry_nr = (uint32_t)pool->used;
	size_t nr = words_of(entry_pool_len(pool, waiting));

	memmove(pool->words + entry_nr, pool->words + waiting,
		nr * sizeof(*pool->words));
	pool->used += nr;
	pool->nr++;
	return entry_nr;
}

void entry_pool_settle(struct entry_pool *pool, uint32_t *entry_nrs)
{
	if (pool->nr + pool->waiting_nr > pool->slot_nr / 2)
		grow_slots(pool);
	for (uint32_t i = 0; i < pool->waiting_nr; i++)
		prefetch_entry(pool, pool->waiting[i].hash);
	for (uint32_t i = 0; i < pool->waiting_nr; i++) {
		uint32_t hash = pool->waiting[i].hash;
		uint32_t waiting = pool->waiting[i].entry_nr;
		struct pool_slot *slot = find_slot(pool, hash, waiting);

		if (!slot->entry_nr)
			*slot = (struct pool_slot){hash,
						   keep(pool, waiting) + 1};
		entry_nrs[i] = slot->entry_nr - 1;
	}
	pool->waiting_nr = 0;
	pool->end = pool->used;
}
