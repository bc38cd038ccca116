/* SPDX-License-Identifier: MIT */
/*
 * Tests of midx/multi-pack-chain.c: the files of a chain, and which processes
 * may replace the chain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/midxlayers.h"

#define CHAIN "objects/pack/multi-pack-index.d/multi-pack-index-chain"

static int count_file(void *ctx, const char *name)
{
	*(unsigned *)ctx += !strncmp(name, "multi-pack-index-", 17);
	return 0;
}

/* Count the files of the chain, including the chain file. */
static unsigned file_nr(const struct randrepo *r)
{
	struct buf path = BUF_INIT;
	unsigned nr = 0;

	buf_printf(&path, "%s/pack/multi-pack-index.d", r->t.objects);
	sys_dir_each(path.data, count_file, &nr, NULL);
	buf_release(&path);
	return nr;
}

static void nothing_new(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 2, false);
	assert_int_equal(midxlayers_append(&r, false), 1);
	assert_int_equal(midxlayers_nr(&r), 2);
	assert_int_equal(file_nr(&r), 3);
	/*
	 * If all objects of a pack are in lower layers, no layer covers the
	 * pack.
	 */
	for (uint32_t k = 0; k < 5; k++)
		r.objects[k].is_stored = false;
	randrepo_store_pack(&r);
	assert_int_equal(midxlayers_append(&r, false), 1);
	assert_int_equal(midxlayers_nr(&r), 2);
	randrepo_release(&r);
}

/*
 * The single multi-pack-index becomes the lowest layer, with its bitmap index.
 */
static void migration(void **state)
{
	uint64_t seed = random_seed();
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 2);
	midxbitmap_write(&r);
	randrepo_history(&r, 6);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	assert_int_equal(midxlayers_append(&r, true), 0);
	assert_int_equal(midxlayers_nr(&r), 2);
	assert_int_equal(file_nr(&r), 5);
	bitmaprepo_open(&b, &r);
	assert_true(b.pb->space.midx->in_chain);
	assert_true(b.pb->base->space.midx->in_chain);
	midxbitmap_check_rows(&b);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * With no_chain_file, the files of the layer are written, but the chain does
 * not name them.
 */
static void no_chain_file(void **state)
{
	struct multi_pack_layer_options layer = {NULL, true};
	uint64_t seed = random_seed();
	struct midxlayers m;
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 1, true);
	randrepo_history(&r, 6);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	midxlayers_open(&m, &r, true);
	layer.base = m.odb->midxes[0];
	assert_int_equal(
		multi_pack_append(&m.result, m.odb, &m.o, &layer, NULL), 0);
	midxlayers_close(&m);
	assert_int_equal(file_nr(&r), 5);
	assert_int_equal(midxlayers_nr(&r), 1);
	/*
	 * The next writer of the chain removes files that the chain does not
	 * name.
	 */
	assert_int_equal(midxlayers_append(&r, false), 0);
	assert_int_equal(midxlayers_nr(&r), 2);
	assert_int_equal(file_nr(&r), 4);
	randrepo_release(&r);
}

/* Layers above the new layer's base leave the chain. */
static void lower_base(void **state)
{
	struct multi_pack_layer_options layer = {NULL, false};
	uint64_t seed = random_seed();
	struct midxlayers m;
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 3, false);
	midxlayers_open(&m, &r, false);
	layer.base = midxlayers_nth(m.odb, 0);
	assert_int_equal(
		multi_pack_append(&m.result, m.odb, &m.o, &layer, NULL), 0);
	assert_int_equal(m.result.pack_nr, 2);
	midxlayers_close(&m);
	assert_int_equal(midxlayers_nr(&r), 2);
	assert_int_equal(file_nr(&r), 3);
	randrepo_release(&r);
}

/*
 * If layers are merged onto a lower base, the layers between the base and the
 * merged ones leave the chain, and so do the layers above.
 */
static void compacted_onto_a_lower_base(void **state)
{
	uint64_t seed = random_seed();
	struct midxlayers m;
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 5, false);
	midxlayers_compact_onto(&r, 2, 3, 1, false);
	assert_int_equal(midxlayers_nr(&r), 2);
	assert_int_equal(file_nr(&r), 3);
	midxlayers_open(&m, &r, false);
	assert_int_equal(m.odb->midxes[0]->midx.pack_nr, 2);
	assert_int_equal(multi_pack_verify(m.odb, 0, NULL, NULL, NULL, NULL),
			 0);
	midxlayers_close(&m);
	/*
	 * All packs that left the chain are new packs for the next layer, and
	 * its bitmaps cover them.
	 */
	assert_int_equal(midxlayers_append(&r, true), 0);
	midxlayers_compact_onto(&r, 0, 0, 0, true);
	assert_int_equal(midxlayers_nr(&r), 1);
	randrepo_release(&r);
}

/*
 * Another writer, of a chain or of a single multi-pack-index, holds the lock.
 */
static void locked(void **state)
{
	static const char *const locks[] = {
		CHAIN ".lock",
		"objects/pack/multi-pack-index.lock",
	};
	struct multi_pack_layer_options layer = {NULL, false};
	uint64_t seed = random_seed();
	struct midxlayers m;
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 1, false);
	for (size_t i = 0; i < ARRAY_NR(locks); i++) {
		tmprepo_write(&r.t, locks[i], "");
		midxlayers_open(&m, &r, false);
		assert_int_equal(multi_pack_append(&m.result, m.odb, &m.o,
						   &layer, &m.err),
				 ERR_DENIED);
		assert_non_null(strstr(m.err.msg, locks[i]));
		midxlayers_close(&m);
		tmprepo_remove(&r.t, locks[i]);
	}
	assert_int_equal(midxlayers_nr(&r), 1);
	randrepo_release(&r);
}

/* Another process replaced the chain after the snapshot was taken. */
static void replaced(void **state)
{
	struct multi_pack_layer_options layer = {NULL, false};
	uint64_t seed = random_seed();
	struct midxlayers m;
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 3, false);
	midxlayers_open(&m, &r, false);
	layer.base = m.odb->midxes[0];
	midxlayers_compact(&r, 0, 1, false);
	randrepo_history(&r, 6);
	randrepo_store_pack(&r);
	assert_int_equal(
		multi_pack_append(&m.result, m.odb, &m.o, &layer, &m.err),
		ERR_IO);
	assert_non_null(strstr(m.err.msg, "was replaced meanwhile"));
	assert_int_equal(multi_pack_compact(&m.result, m.odb, &m.o,
					    midxlayers_nth(m.odb, 1),
					    midxlayers_nth(m.odb, 2), &layer,
					    &m.err),
			 ERR_IO);
	midxlayers_close(&m);
	assert_int_equal(midxlayers_nr(&r), 2);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_new),
		cmocka_unit_test(migration),
		cmocka_unit_test(no_chain_file),
		cmocka_unit_test(lower_base),
		cmocka_unit_test(compacted_onto_a_lower_base),
		cmocka_unit_test(locked),
		cmocka_unit_test(replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
