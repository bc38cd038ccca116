/* SPDX-License-Identifier: MIT */
/*
 * Tests of midx/multi-pack-sources.c, which chooses the packs of a new
 * multi-pack-index or of a new layer: packs that lower layers have are left
 * out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "midx/multi-pack-sources.h"
#include "t/unit/midxchain.h"

static void test_choice(void **state)
{
	struct strlist some = STRLIST_INIT;
	struct multi_pack_options o = {.dir_nr = 0};
	struct multi_pack_sources s = {NULL, 0};
	struct midxchain m;
	struct odb *odb;

	midxchain_init(&m, HASH_SHA1);
	midxchain_write(&m, 2);
	assert_int_equal(odb_open(&odb, &m.t.repo, NULL, NULL), 0);
	assert_int_equal(multi_pack_sources_init(&s, odb, &o, NULL, NULL), 0);
	assert_int_equal(s.nr, MIDXCHAIN_LAYERS);
	for (uint32_t i = 0; i < s.nr; i++)
		assert_memory_equal(s.packs[i].name, midxchain_names[i],
				    strlen(midxchain_names[i]));
	assert_int_equal(multi_pack_sources_find(&s, "pack-b"), 1);
	assert_int_equal(multi_pack_sources_find(&s, "pack-c.idx"), 2);
	assert_int_equal(multi_pack_sources_find(&s, "pack-a.pack"), 0);
	assert_int_equal(multi_pack_sources_find(&s, "pack-"),
			 PACK_MIDX_NO_PACK);
	assert_int_equal(multi_pack_sources_find(&s, NULL), PACK_MIDX_NO_PACK);
	multi_pack_sources_release(&s);
	/*
	 * If the new layer is put on an existing layer, the packs of this layer
	 * and of the layers below it are not listed.
	 */
	s = (struct multi_pack_sources){NULL, 0};
	assert_int_equal(
		multi_pack_sources_init(&s, odb, &o, odb->midxes[0], NULL), 0);
	assert_int_equal(s.nr, 1);
	assert_string_equal(s.packs[0].name, "pack-c.idx");
	multi_pack_sources_release(&s);
	assert_int_equal(pack_names_add(&some, "pack-c"), 0);
	o.but = &some;
	s = (struct multi_pack_sources){NULL, 0};
	assert_int_equal(
		multi_pack_sources_init(&s, odb, &o, odb->midxes[0], NULL),
		ERR_MISSING);
	multi_pack_sources_release(&s);
	strlist_release(&some);
	odb_close(odb);
	midxchain_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
