/* SPDX-License-Identifier: MIT */
/*
 * Tests of midx/multi-pack-chain.c, which writes chains of multi-pack-indexes:
 * which files a chain has, and when another process's change makes a write
 * fail.
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

/*
 * Returns the number of files of the chain. The file that lists the layers is
 * counted, too.
 */
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
	 * The new pack has only objects that lower layers of the chain have, so
	 * no layer contains the pack.
	 */
	for (uint32_t k = 0; k < 5; k++)
		r.objects[k].is_stored = false;
	randrepo_store_pack(&r);
	assert_int_equal(midxlayers_append(&r, false), 1);
	assert_int_equal(midxlayers_nr(&r), 2);
	randrepo_release(&r);
}

/*
 * A single multi-pack-index becomes the lowest layer of a new chain. It keeps
 * its bitmap index.
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
 * With the option no_chain_file, the files of the layer are written, but the
 * chain does not list them.
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
	 * list.
	 */
	assert_int_equal(midxlayers_append(&r, false), 0);
	assert_int_equal(midxlayers_nr(&r), 2);
	assert_int_equal(file_nr(&r), 4);
	randrepo_release(&r);
}

/*
 * A new layer may be put on a layer that is not the highest of the chain. Then
 * all layers above that layer are removed from the chain.
 */
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
 * Layers are merged into one layer, which is put on a lower layer of the chain.
 * The layers between this lower layer and the merged layers are removed from
 * the chain. The layers above the merged layers are removed, too.
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
	 * The packs of all removed layers of the chain count as new packs. The
	 * next layer and its bitmaps contain them.
	 */
	assert_int_equal(midxlayers_append(&r, true), 0);
	midxlayers_compact_onto(&r, 0, 0, 0, true);
	assert_int_equal(midxlayers_nr(&r), 1);
	randrepo_release(&r);
}

/*
 * Another process holds the lock of the chain, or the lock of the single
 * multi-pack-index. So writing fails.
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

/*
 * Another process has replaced the chain since the snapshot was opened. So
 * writing fails.
 */
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
