/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/remap.c, which converts bit positions of one bitmap index to
 * those of another: each converted bit must stand for the same object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/previous.h"
#include "t/unit/midxrepo.h"
#include "t/unit/random.h"

static struct bitmap_space pack_space(const struct midxrepo *m, uint32_t nr)
{
	const struct odb_pack *pack = &m->odb->packs[nr];

	return bitmap_space_of_pack(m->odb, pack,
				    pack_get_rev(pack->pack, NULL));
}

static const uint8_t *id_of(const struct bitmap_space *space, uint32_t bit)
{
	return bitmap_space_id(space, bitmap_space_idx_pos(space, bit));
}

static void check(const struct bitmap_space *from,
		  const struct bitmap_space *to, uint32_t lost)
{
	uint32_t bit, idx_pos, gone = 0;
	struct bitmap_remap map;

	assert_int_equal(bitmap_remap_init(&map, from, to), 0);
	assert_int_equal(map.lost, lost);
	for (uint32_t i = 0; i < bitmap_space_nr(from); i++) {
		if (!bitmap_remap_bit(&map, i, &bit)) {
			assert_false(bitmap_space_find(to, id_of(from, i),
						       &idx_pos));
			gone++;
			continue;
		}
		assert_memory_equal(id_of(from, i), id_of(to, bit), 20);
		assert_true(bitset_test(&map.is_old, bit));
	}
	assert_int_equal(gone, lost);
	assert_int_equal(bitset_count(&map.is_old),
			 bitmap_space_nr(from) - lost);
	bitmap_remap_release(&map);
}

static void packs_and_midx(void **state)
{
	struct midxrepo m;

	midxrepo_init(&m);
	for (uint32_t i = 0; i < MIDXREPO_PACKS; i++) {
		struct bitmap_space pack = pack_space(&m, i);

		check(&pack, &m.space, 0);
		check(&m.space, &pack,
		      bitmap_space_nr(&m.space) - MIDXREPO_PER_PACK);
	}
	check(&m.space, &m.space, 0);
	midxrepo_release(&m);
}

/*
 * Makes a random mapping of bit positions. It has several runs of consecutive
 * positions.
 */
static void make_up(struct bitmap_remap *map, uint32_t nr, uint64_t *seed)
{
	uint32_t at = 0, to = nr;

	memset(map, 0, sizeof(*map));
	map->from_nr = map->to_nr = nr;
	map->runs = calloc(nr, sizeof(*map->runs));
	assert_non_null(map->runs);
	while (at < nr) {
		uint32_t len = 1 + (uint32_t)(random_next(seed) % 200);

		if (len > nr - at)
			len = nr - at;
		to -= len;
		if (random_next(seed) % 5)
			map->runs[map->run_nr++] = (struct bitmap_run){at, to,
								       len};
		else
			map->lost += len;
		at += len;
	}
}

/*
 * Converts bitmaps word by word. Compares the results with a conversion bit by
 * bit.
 */
static void random_sets(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 200; i++) {
		uint32_t nr = 1 + (uint32_t)(random_next(&seed) % 3000);
		struct bitset from, to, slow;
		struct bitmap_remap map;
		bool whole = true;

		make_up(&map, nr, &seed);
		assert_int_equal(bitset_init(&from, nr), 0);
		assert_int_equal(bitset_init(&to, nr), 0);
		assert_int_equal(bitset_init(&slow, nr), 0);
		for (uint32_t k = 0; k < nr; k++) {
			uint32_t bit;

			if (random_next(&seed) % (1 + i % 7))
				continue;
			bitset_set(&from, k);
			if (bitmap_remap_bit(&map, k, &bit))
				bitset_set(&slow, bit);
			else
				whole = false;
		}
		bitset_set(&to, 0);
		assert_int_equal(bitmap_remap_set(&map, &to, &from), whole);
		assert_true(bitset_equal(&to, &slow));
		bitset_release(&from);
		bitset_release(&to);
		bitset_release(&slow);
		bitmap_remap_release(&map);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(packs_and_midx),
		cmocka_unit_test(random_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
