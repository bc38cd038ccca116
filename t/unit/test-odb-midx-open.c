/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb-midx-open.c, which opens multi-pack-indexes: valid layers of
 * a chain are used, and layers that cannot be used are left out with a warning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/time.h>

#include "t/unit/midxchain.h"

/*
 * Opens the repository. Asserts that all objects are found, and that `layer_nr`
 * layers of the chain are used. `why`: part of the expected warning; NULL:
 * none.
 */
static void check(const struct midxchain *b, size_t layer_nr, const char *why)
{
	struct error warning = ERROR_INIT;
	uint32_t pos, idx_pos;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &b->t.repo, &warning, NULL), 0);
	if (why)
		assert_non_null(strstr(warning.msg, why));
	else
		assert_int_equal(warning.code, 0);
	assert_int_equal(odb_midx_layer_nr(odb->midxes[0]), layer_nr);
	assert_int_equal(odb->source_nr, odb->pack_nr);
	for (unsigned p = 0; p < MIDXCHAIN_LAYERS; p++)
		for (unsigned i = 0; i < MIDXCHAIN_PER_PACK; i++) {
			assert_true(odb_find(odb, &b->objects[p][i].oid, &pos));
			assert_string_equal(
				odb_locate(odb, pos, &idx_pos)->pack->name,
				midxchain_names[p]);
		}
	odb_close(odb);
}

static void test_layers(void **state)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (size_t a = 0; a < 2; a++) {
		struct odb_midx *om;
		struct error err = ERROR_INIT;
		struct midxchain b;

		midxchain_init(&b, algos[a]);
		check(&b, MIDXCHAIN_LAYERS, NULL);
		assert_int_equal(
			odb_midx_open(&om, b.t.objects, algos[a], &err), 0);
		assert_int_equal(err.code, 0);
		assert_int_equal(odb_midx_nr(om),
				 MIDXCHAIN_LAYERS * MIDXCHAIN_PER_PACK);
		assert_int_equal(om->midx.base_nr, 2 * MIDXCHAIN_PER_PACK);
		assert_int_equal(om->base->midx.base_nr, MIDXCHAIN_PER_PACK);
		assert_int_equal(om->base->base->midx.base_nr, 0);
		odb_midx_close(om);
		for (unsigned nr = 1; nr < MIDXCHAIN_LAYERS; nr++) {
			midxchain_write(&b, nr);
			check(&b, nr, NULL);
		}
		midxchain_release(&b);
	}
}

/*
 * If a directory has a single multi-pack-index and a chain, the chain is not
 * used.
 */
static void test_file_first(void **state)
{
	struct buf file = BUF_INIT;
	struct odb *odb;
	struct midxchain b;

	midxchain_init(&b, HASH_SHA1);
	midxchain_make_file(&b, 1, &file);
	tmprepo_write_len(&b.t, "objects/pack/multi-pack-index", file.data,
			  file.len);
	check(&b, 1, NULL);
	assert_int_equal(odb_open(&odb, &b.t.repo, NULL, NULL), 0);
	assert_false(odb->midxes[0]->in_chain);
	odb_close(odb);
	buf_release(&file);
	midxchain_release(&b);
}

/*
 * If a layer of the chain cannot be used, the layers below it are still used.
 */
static void test_bad_layers(void **state)
{
	struct buf path = BUF_INIT, file = BUF_INIT;
	struct midxchain b;

	midxchain_init(&b, HASH_SHA1);
	midxchain_make_file(&b, 0, &file);
	midxchain_layer_name(&path, &b, 1);
	tmprepo_write_len(&b.t, path.data, file.data, file.len);
	check(&b, 1, "not the layer that its name says");
	tmprepo_write_len(&b.t, path.data, file.data, file.len / 2);
	check(&b, 1, b.hex[1]);
	tmprepo_remove(&b.t, path.data);
	check(&b, 1, "a layer of the multi-pack-index chain is missing");
	buf_reset(&file);
	midxchain_make_file(&b, 1, &file);
	tmprepo_write_len(&b.t, path.data, file.data, file.len);
	check(&b, MIDXCHAIN_LAYERS, NULL);
	midxchain_layer_name(&path, &b, 0);
	tmprepo_remove(&b.t, path.data);
	check(&b, 0, "a layer of the multi-pack-index chain is missing");
	buf_release(&file);
	buf_release(&path);
	midxchain_release(&b);
}

static void test_bad_chain(void **state)
{
	struct buf text = BUF_INIT;
	struct midxchain b;

	midxchain_init(&b, HASH_SHA1);
	tmprepo_write(&b.t, MIDXCHAIN_FILE, "");
	check(&b, 0, NULL);
	tmprepo_write(&b.t, MIDXCHAIN_FILE, "nonsense\n");
	check(&b, 0, "invalid multi-pack-index chain");
	buf_printf(&text, "%s\nnonsense\n", b.hex[0]);
	tmprepo_write_len(&b.t, MIDXCHAIN_FILE, text.data, text.len);
	check(&b, 1, "invalid multi-pack-index chain");
	tmprepo_remove(&b.t, MIDXCHAIN_FILE);
	check(&b, 0, NULL);
	buf_release(&text);
	midxchain_release(&b);
}

/*
 * If a layer of the chain names a missing pack, neither this layer nor the
 * layers above it are used.
 */
static void test_missing_pack(void **state)
{
	struct midxchain b;

	midxchain_init(&b, HASH_SHA1);
	tmprepo_remove(&b.t, "objects/pack/pack-b.idx");
	tmppack_write(&b.t, "objects", "pack-0", b.objects[1],
		      MIDXCHAIN_PER_PACK, false);
	{
		struct error warning;
		struct odb *odb;

		assert_int_equal(odb_open(&odb, &b.t.repo, &warning, NULL), 0);
		assert_non_null(
			strstr(warning.msg, "pack-b.pack index unavailable"));
		assert_int_equal(odb_midx_layer_nr(odb->midxes[0]), 1);
		for (unsigned p = 0; p < MIDXCHAIN_LAYERS; p++)
			for (unsigned i = 0; i < MIDXCHAIN_PER_PACK; i++)
				assert_true(odb_has(odb, &b.objects[p][i].oid));
		odb_close(odb);
	}
	midxchain_release(&b);
}

/*
 * A chain of multi-pack-indexes is replaced by another chain with the same
 * packs. odb_has_changed() must notice this.
 */
static void test_has_changed(void **state)
{
	struct timeval long_ago[2] = {{1000, 0}, {1000, 0}};
	struct buf dir = BUF_INIT;
	struct odb *odb;
	struct midxchain b;

	midxchain_init(&b, HASH_SHA1);
	buf_printf(&dir, "%s/pack/multi-pack-index.d", b.t.objects);
	assert_int_equal(utimes(dir.data, long_ago), 0);
	buf_set_len(&dir, dir.len - strlen("/multi-pack-index.d"));
	assert_int_equal(utimes(dir.data, long_ago), 0);
	assert_int_equal(odb_open(&odb, &b.t.repo, NULL, NULL), 0);
	assert_false(odb_has_changed(odb));
	midxchain_write(&b, 2);
	assert_true(odb_has_changed(odb));
	odb_close(odb);
	buf_release(&dir);
	midxchain_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_file_first),
		cmocka_unit_test(test_bad_layers),
		cmocka_unit_test(test_bad_chain),
		cmocka_unit_test(test_missing_pack),
		cmocka_unit_test(test_has_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
