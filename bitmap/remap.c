/* SPDX-License-Identifier: MIT */
/* Maps sets of bits from one index to another, run by run. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/previous.h"
#include "ewah/popcount.h"

/*
 * Matches the ids of two indexes. Returns an array indexed by old idx_pos: the
 * new idx_pos of the same id, or UINT32_MAX if the new index lacks the id.
 */
static uint32_t *match_ids(const struct bitmap_space *from,
			   const struct bitmap_space *to)
{
	uint32_t from_nr = bitmap_space_nr(from), to_nr = bitmap_space_nr(to);
	size_t id_len = hash_len(from->odb->algo);
	uint32_t *match = mem_alloc(from_nr, sizeof(*match));
	uint32_t k = 0;

	/*
	 * In a chain of multi-pack-indexes, ids ascend only within a layer. So
	 * each id is searched for, instead of merging two sorted lists.
	 */
	if (match && (from->base || to->base)) {
		for (uint32_t i = 0; i < from_nr; i++)
			if (!bitmap_space_find(to, bitmap_space_id(from, i),
					       &match[i]))
				match[i] = UINT32_MAX;
		return match;
	}
	for (uint32_t i = 0; match && i < from_nr; i++) {
		const uint8_t *raw = bitmap_space_id(from, i);
		int cmp = -1;

		while (k < to_nr &&
		       (cmp = memcmp(bitmap_space_id(to, k), raw, id_len)) < 0)
			k++;
		match[i] = k < to_nr && !cmp ? k : UINT32_MAX;
	}
	return match;
}

/* Returns an array indexed by idx_pos: the bit of each object. */
static uint32_t *invert(const struct bitmap_space *space)
{
	uint32_t nr = bitmap_space_nr(space);
	uint32_t *bits = mem_alloc(nr, sizeof(*bits));

	for (uint32_t bit = 0; bits && bit < nr; bit++)
		bits[bitmap_space_idx_pos(space, bit)] = bit;
	return bits;
}

static int add_bit(struct bitmap_remap *map, uint32_t from, uint32_t to)
{
	struct bitmap_run *last = map->run_nr ? &map->runs[map->run_nr - 1]
					      : NULL;

	if (last && last->from + last->nr == from &&
	    last->to + last->nr == to) {
		last->nr++;
		return 0;
	}
	if (mem_grow(&map->runs, &map->run_alloc, map->run_nr + 1,
		     sizeof(*map->runs)) < 0)
		return ERR_NOMEM;
	map->runs[map->run_nr++] = (struct bitmap_run){from, to, 1};
	return 0;
}

static int add_bits(struct bitmap_remap *map, const struct bitmap_space *from,
		    const uint32_t *match, const uint32_t *new_bits)
{
	for (uint32_t bit = 0; bit < map->from_nr; bit++) {
		uint32_t at = match[bitmap_space_idx_pos(from, bit)];

		/*
		 * The object has no new bit if the new index lacks the object.
		 * It also has none if the old index has the object twice: the
		 * new bit then belongs to the first copy.
		 */
		if (at == UINT32_MAX ||
		    bitset_test(&map->is_old, new_bits[at])) {
			map->lost++;
			continue;
		}
		bitset_set(&map->is_old, new_bits[at]);
		if (add_bit(map, bit, new_bits[at]) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

int bitmap_remap_init(struct bitmap_remap *map, const struct bitmap_space *from,
		      const struct bitmap_space *to)
{
	uint32_t *match = match_ids(from, to), *new_bits = invert(to);
	int ret = match && new_bits ? 0 : ERR_NOMEM;

	*map = (struct bitmap_remap){
		.from_nr = bitmap_space_nr(from),
		.to_nr = bitmap_space_nr(to),
	};
	if (!ret)
		ret = bitset_init(&map->is_old, map->to_nr);
	if (!ret)
		ret = add_bits(map, from, match, new_bits);
	free(match);
	free(new_bits);
	return ret;
}

void bitmap_remap_release(struct bitmap_remap *map)
{
	free(map->runs);
	bitset_release(&map->is_old);
	*map = (struct bitmap_remap){0};
}

bool bitmap_remap_bit(const struct bitmap_remap *map, uint32_t from,
		      uint32_t *to)
{
	size_t low = 0, high = map->run_nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct bitmap_run *run = &map->runs[mid];

		if (run->from + run->nr <= from) {
			low = mid + 1;
		} else if (run->from > from) {
			high = mid;
		} else {
			*to = run->to + (from - run->from);
			return true;
		}
	}
	return false;
}

/*
 * Returns 64 bits of a set, starting with bit `at`. Bits after the end of the
 * set are zero.
 */
static uint64_t load_bits(const struct bitset *set, size_t at)
{
	size_t word = at / 64, shift = at % 64;
	uint64_t bits = word < set->word_nr ? set->words[word] >> shift : 0;

	if (shift && word + 1 < set->word_nr)
		bits |= set->words[word + 1] << (64 - shift);
	return bits;
}

static void store_bits(struct bitset *set, size_t at, uint64_t bits)
{
	size_t word = at / 64, shift = at % 64;

	set->words[word] |= bits << shift;
	if (shift && bits >> (64 - shift))
		set->words[word + 1] |= bits >> (64 - shift);
}

/*
 * Copies the bits of a run to their new positions. Returns the number of copied
 * bits that are set.
 */
static size_t copy_run(struct bitset *to, const struct bitset *from,
		       const struct bitmap_run *run)
{
	size_t count = 0;

	for (uint32_t i = 0; i < run->nr; i += 64) {
		uint64_t bits = load_bits(from, (size_t)run->from + i);

		if (run->nr - i < 64)
			bits &= (UINT64_C(1) << (run->nr - i)) - 1;
		if (!bits)
			continue;
		store_bits(to, (size_t)run->to + i, bits);
		count += ewah_popcount_word(bits);
	}
	return count;
}

bool bitmap_remap_set(const struct bitmap_remap *map, struct bitset *to,
		      const struct bitset *from)
{
	size_t copied = 0;

	bitset_clear(to);
	for (size_t i = 0; i < map->run_nr; i++)
		copied += copy_run(to, from, &map->runs[i]);
	return !map->lost || copied == bitset_count(from);
}
