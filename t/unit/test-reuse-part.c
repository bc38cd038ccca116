/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/reuse-part.c, which describes the part of a pack that is
 * copied: bit positions are converted to positions in the pack, and offsets in
 * the pack to offsets in the new pack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packing/reuse.h"
#include "t/unit/midxrepo.h"

static void bits(void **state)
{
	struct bitmap_space_part *parts;
	size_t part_nr, whole = 0;
	struct midxrepo m;

	midxrepo_init(&m);
	assert_int_equal(bitmap_space_parts(&parts, &part_nr, &m.space), 0);
	assert_int_equal(part_nr, MIDXREPO_PACKS);
	for (size_t i = 0; i < part_nr; i++) {
		uint32_t pack_nr = parts[i].pack->pack->idx.nr, bit, with = 0;
		struct reuse_part part;

		assert_int_equal(
			reuse_part_init(&part, &m.space, &parts[i], 1, NULL),
			0);
		whole += !part.pack_pos;
		for (uint32_t pos = 0; pos < pack_nr; pos++) {
			uint64_t off;

			if (!reuse_part_bit(&part, pos, &bit))
				continue;
			with++;
			assert_int_equal(reuse_part_pack_pos(&part, bit), pos);
			bitmap_space_locate(&m.space, bit, &off);
			assert_int_equal(pack_rev_offset(part.rev, pos), off);
		}
		assert_int_equal(with, parts[i].nr);
		reuse_part_release(&part);
	}
	/*
	 * Exactly one part has all objects of its pack, namely the part of the
	 * preferred pack.
	 */
	assert_int_equal(whole, 1);
	free(parts);
	midxrepo_release(&m);
}

/*
 * The part (a run of bits of one pack) states more bits than the pack has
 * objects. It cannot be used.
 */
static void too_many(void **state)
{
	struct bitmap_space_part *parts;
	struct reuse_part part;
	struct midxrepo m;
	size_t nr;

	midxrepo_init(&m);
	assert_int_equal(bitmap_space_parts(&parts, &nr, &m.space), 0);
	parts[0].nr = MIDXREPO_PER_PACK + 1;
	assert_int_equal(reuse_part_init(&part, &m.space, &parts[0], 1, NULL),
			 1);
	reuse_part_release(&part);
	/*
	 * A part is a run of bits whose objects are in one pack. Here the part
	 * names a pack that does not have these objects. reuse_part_init() may
	 * accept or refuse this part. If it accepts the part, it must set
	 * part.pack_pos.
	 */
	parts[1].pack = parts[0].pack;
	parts[1].first = parts[2].first;
	parts[1].nr = 1;
	if (!reuse_part_init(&part, &m.space, &parts[1], 1, NULL))
		assert_non_null(part.pack_pos);
	reuse_part_release(&part);
	free(parts);
	midxrepo_release(&m);
}

static void segments(void **state)
{
	struct reuse_part part = {.first = 0};

	assert_int_equal(reuse_part_map(&part, 12, 12), 0);
	/*
	 * Before the entry at offset 40, the copy leaves out some bytes. An
	 * earlier header has grown by the same number of bytes. So the entry
	 * keeps its offset, but a new segment starts.
	 */
	assert_int_equal(reuse_part_map(&part, 40, 40), 0);
	assert_int_equal(part.segment_nr, 2);
	assert_int_equal(reuse_part_map(&part, 100, 70), 0);
	/*
	 * In the copy, the header of an entry is longer, so the following
	 * entries move.
	 */
	assert_int_equal(reuse_part_map(&part, 300, 320), 0);
	assert_int_equal(part.segment_nr, 4);
	assert_int_equal(reuse_part_mapped(&part, 13), 13);
	assert_int_equal(reuse_part_mapped(&part, 99), 99);
	assert_int_equal(reuse_part_mapped(&part, 100), 70);
	assert_int_equal(reuse_part_mapped(&part, 299), 269);
	assert_int_equal(reuse_part_mapped(&part, 301), 321);
	reuse_part_release(&part);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits),
		cmocka_unit_test(too_many),
		cmocka_unit_test(segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
