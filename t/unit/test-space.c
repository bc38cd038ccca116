/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/space.c, which says for which object each bit of a bitmap
 * index stands. The tested functions convert between the position of the bit,
 * the position of the object's id among the sorted ids, and the number of the
 * object in a walk. The index is that of a pack or of a multi-pack-index.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/midxrepo.h"

/* Checks what must be true for every bit order of a bitmap index. */
static void check_space(const struct midxrepo *m,
			const struct bitmap_space *space)
{
	uint32_t nr = bitmap_space_nr(space), covered = 0;
	struct bitmap_space_table table;
	struct bitmap_space_part *parts;
	struct objspace objects;
	size_t part_nr;

	objspace_init(&objects, m->odb);
	assert_int_equal(bitmap_space_parts(&parts, &part_nr, space), 0);
	assert_int_equal(bitmap_space_table_init(&table, space), 0);
	for (uint32_t bit = 0; bit < nr; bit++) {
		uint32_t idx_pos = bitmap_space_idx_pos(space, bit);
		const uint8_t *raw = bitmap_space_id(space, idx_pos);
		uint32_t found, obj_pos, again, in_pack;
		const struct odb_pack *pack;
		uint64_t off;

		assert_true(idx_pos < nr);
		assert_true(bitmap_space_find(space, raw, &found));
		assert_int_equal(found, idx_pos);
		assert_true(bitmap_space_bit_of(space, idx_pos, &found));
		assert_int_equal(found, bit);
		assert_true(bitmap_space_obj(space, idx_pos, &obj_pos));
		assert_memory_equal(odb_oid_raw(m->odb, obj_pos), raw, 20);
		assert_int_equal(
			bitmap_space_obj_of_bit(&again, space, bit, NULL), 0);
		assert_int_equal(again, obj_pos);
		pack = bitmap_space_locate(space, bit, &off);
		assert_ptr_equal(odb_locate(m->odb, obj_pos, &in_pack), pack);
		assert_int_equal(pack_idx_offset(&pack->pack->idx, in_pack),
				 off);
		assert_true(bitmap_space_bit(space, &objects, obj_pos, &found));
		assert_int_equal(found, bit);
		assert_true(bitmap_space_table_bit(&table, space, &objects,
						   obj_pos, &found));
		assert_int_equal(found, bit);
	}
	for (size_t i = 0; i < part_nr; i++) {
		assert_int_equal(parts[i].first, covered);
		covered += parts[i].nr;
		for (uint32_t k = 0; k < parts[i].nr; k++) {
			uint64_t off;

			assert_ptr_equal(bitmap_space_locate(space,
							     parts[i].first + k,
							     &off),
					 parts[i].pack);
		}
	}
	assert_int_equal(covered, nr);
	free(parts);
	bitmap_space_table_release(&table);
	objspace_release(&objects);
}

static void of_midx(void **state)
{
	struct midxrepo m;

	midxrepo_init(&m);
	assert_int_equal(bitmap_space_nr(&m.space), 8);
	check_space(&m, &m.space);
	/* Repeat the checks with the table that makes look-ups fast. */
	bitmap_space_prepare(&m.space);
	check_space(&m, &m.space);
	midxrepo_release(&m);
}

static void of_packs(void **state)
{
	struct midxrepo m;

	midxrepo_init(&m);
	for (uint32_t i = 0; i < m.odb->pack_nr; i++) {
		const struct odb_pack *pack = &m.odb->packs[i];
		struct bitmap_space space = bitmap_space_of_pack(
			m.odb, pack, pack_get_rev(pack->pack, NULL));

		check_space(&m, &space);
	}
	midxrepo_release(&m);
}

/*
 * An object is found by the obj_pos of any copy, even of a copy that is not in
 * the multi-pack-index.
 */
static void other_copies(void **state)
{
	struct objspace objects;
	struct midxrepo m;

	midxrepo_init(&m);
	objspace_init(&objects, m.odb);
	for (uint32_t i = 0; i < m.odb->packed_nr; i++) {
		uint32_t idx_pos, bit;

		assert_true(bitmap_space_idx(&m.space, &objects, i, &idx_pos));
		assert_memory_equal(bitmap_space_id(&m.space, idx_pos),
				    odb_oid_raw(m.odb, i), 20);
		assert_true(bitmap_space_bit(&m.space, &objects, i, &bit));
		assert_int_equal(bitmap_space_idx_pos(&m.space, bit), idx_pos);
	}
	objspace_release(&objects);
	midxrepo_release(&m);
}

/*
 * The multi-pack-index says that an object is in a pack that does not have this
 * object. Looking up the bit of this object must fail.
 */
static void wrong_pack(void **state)
{
	char path[] = "objects/pack/multi-pack-index";
	uint32_t wrong = 0, obj_pos;
	struct error err = ERROR_INIT;
	struct pack_midx *midx;
	uint8_t *bytes;
	struct midxrepo m;

	midxrepo_init(&m);
	midx = &m.odb->midxes[0]->midx;
	bytes = malloc(midx->len);
	assert_non_null(bytes);
	memcpy(bytes, midx->bytes, midx->len);
	/* Change the first id, so that no pack has it. */
	bytes[midx->ids.first - midx->bytes + 19] ^= 1;
	tmprepo_write_len(&m.t, path, bytes, midx->len);
	pack_midx_order_release(&m.order);
	odb_close(m.odb);
	assert_int_equal(odb_open(&m.odb, &m.t.repo, NULL, NULL), 0);
	assert_int_equal(pack_midx_order_init(&m.order, &m.odb->midxes[0]->midx,
					      NULL, 0, NULL),
			 0);
	m.space = bitmap_space_of_midx(m.odb, m.odb->midxes[0], &m.order);
	for (uint32_t bit = 0; bit < bitmap_space_nr(&m.space); bit++)
		if (bitmap_space_obj_of_bit(&obj_pos, &m.space, bit, &err) < 0)
			wrong++;
	assert_int_equal(wrong, 1);
	assert_int_equal(err.code, ERR_CORRUPT);
	free(bytes);
	midxrepo_release(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_midx),
		cmocka_unit_test(of_packs),
		cmocka_unit_test(other_copies),
		cmocka_unit_test(wrong_pack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
