/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/layered.c, which plans the repack of a chain of
 * multi-pack-indexes: which layers are merged, and which packs are left as they
 * are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packs/layered.h"
#include "t/unit/midxchain.h"

/*
 * Returns the number of layers of the chain that are merged with the highest
 * one. `counts`: number of objects of each layer, the lowest layer first.
 */
static size_t merged(const uint32_t *counts, size_t nr, uint64_t factor)
{
	struct odb_midx layers[8] = {0};
	struct odb_midx *lowest;

	for (size_t i = 0; i < nr; i++) {
		layers[i].midx.nr = counts[i];
		layers[i].base = i ? &layers[i - 1] : NULL;
	}
	lowest = layered_lowest(&layers[nr - 1], factor);
	return nr - 1 - (size_t)(lowest - layers);
}

static void test_lowest(void **state)
{
	static const uint32_t one[] = {5}, steps[] = {1000, 400, 100, 10},
			      equal[] = {1000, 100, 100},
			      cascade[] = {1000, 400, 190, 90, 50},
			      exactly[] = {200, 100}, more[] = {200, 101},
			      empty[] = {0, 3};

	assert_int_equal(merged(one, 1, 2), 0);
	assert_int_equal(merged(steps, 4, 2), 0);
	assert_int_equal(merged(steps, 4, 10), 0);
	assert_int_equal(merged(steps, 4, 11), 3);
	assert_int_equal(merged(equal, 3, 2), 1);
	assert_int_equal(merged(equal, 3, 6), 2);
	/*
	 * A layer is merged if the layers above it together have more than half
	 * as many objects as this layer: 50 > 90 / 2, 140 > 190 / 2,
	 * 330 > 400 / 2, and 730 > 1000 / 2.
	 */
	assert_int_equal(merged(cascade, 5, 2), 4);
	assert_int_equal(merged(exactly, 2, 2), 0);
	assert_int_equal(merged(more, 2, 2), 1);
	assert_int_equal(merged(empty, 2, 2), 1);
}

static void test_base(void **state)
{
	struct strlist leaving = STRLIST_INIT;
	struct midxchain m;
	struct odb *odb;

	midxchain_init(&m, HASH_SHA1);
	assert_int_equal(odb_open(&odb, &m.t.repo, NULL, NULL), 0);
	assert_ptr_equal(layered_base(odb, &leaving), odb->midxes[0]);
	for (unsigned i = MIDXCHAIN_LAYERS; i--;) {
		assert_int_equal(pack_names_add(&leaving, midxchain_names[i]),
				 0);
		assert_int_equal(odb_midx_layer_nr(layered_base(odb, &leaving)),
				 i);
	}
	strlist_release(&leaving);
	odb_close(odb);
	midxchain_release(&m);
}

/*
 * layered_spare() removes packs from the list of packs that a repack may merge.
 * `left`: the expected number of packs that remain in the list. A pack of the
 * chain's top layer remains only if this layer has at least `threshold` packs.
 */
static void check_spared(const struct midxchain *m, uint64_t threshold,
			 size_t left)
{
	struct old_packs old = {0};
	struct buf dir = BUF_INIT;
	struct odb *odb;

	buf_printf(&dir, "%s/pack", m->t.objects);
	assert_int_equal(old_packs_list(&old, dir.data, NULL), 0);
	assert_int_equal(odb_open(&odb, &m->t.repo, NULL, NULL), 0);
	layered_spare(&old, odb, threshold);
	assert_int_equal(old.nr, left);
	odb_close(odb);
	old_packs_release(&old);
	buf_release(&dir);
}

static void test_spare(void **state)
{
	struct midxchain m;

	midxchain_init(&m, HASH_SHA1);
	check_spared(&m, 2, 0);
	check_spared(&m, 1, 1);
	/* The chain has only one layer now, so two packs are in no layer. */
	midxchain_write(&m, 1);
	check_spared(&m, 2, 2);
	check_spared(&m, 1, 3);
	tmprepo_remove(&m.t, MIDXCHAIN_FILE);
	check_spared(&m, 8, 3);
	midxchain_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lowest),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_spare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
