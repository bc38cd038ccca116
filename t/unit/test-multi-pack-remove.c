/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/multi-pack-remove.c, which removes multi-pack-indexes: a whole
 * chain, some layers of a chain, or all files that name a given pack. Other
 * files stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packs/multi-pack-remove.h"
#include "t/unit/midxchain.h"

static char *pack_dir(const struct midxchain *m)
{
	struct buf path = BUF_INIT;

	assert_int_equal(buf_printf(&path, "%s/pack", m->t.objects), 0);
	return buf_detach(&path, NULL);
}

static bool has_layer(const struct midxchain *m, unsigned layer,
		      const char *ext)
{
	struct buf path = BUF_INIT;
	bool exists;

	buf_printf(&path, "%s/pack/multi-pack-index.d/multi-pack-index-%s.%s",
		   m->t.objects, m->hex[layer], ext);
	exists = sys_exists(path.data);
	buf_release(&path);
	return exists;
}

static size_t layer_nr(const struct midxchain *m)
{
	struct odb_midx *om;
	size_t nr;

	odb_midx_open(&om, m->t.objects, m->t.repo.algo, NULL);
	nr = odb_midx_layer_nr(om);
	odb_midx_close(om);
	return nr;
}

static void test_chain(void **state)
{
	struct midxchain m;
	char *dir;

	midxchain_init(&m, HASH_SHA256);
	dir = pack_dir(&m);
	tmprepo_write(&m.t, "objects/pack/multi-pack-index.d/other", "");
	assert_int_equal(multi_pack_remove_chain(dir, NULL), 0);
	for (unsigned i = 0; i < MIDXCHAIN_LAYERS; i++)
		assert_false(has_layer(&m, i, "midx"));
	assert_int_equal(layer_nr(&m), 0);
	tmprepo_remove(&m.t, "objects/pack/multi-pack-index.d/other");
	/* Removing a chain succeeds if there is no chain. */
	assert_int_equal(multi_pack_remove_chain(dir, NULL), 0);
	free(dir);
	midxchain_release(&m);
}

static void test_layers(void **state)
{
	struct buf bitmap = BUF_INIT;
	struct odb_midx *top;
	struct midxchain m;
	char *dir;

	midxchain_init(&m, HASH_SHA1);
	dir = pack_dir(&m);
	for (unsigned i = 0; i < MIDXCHAIN_LAYERS; i++) {
		buf_reset(&bitmap);
		buf_printf(&bitmap,
			   "objects/pack/multi-pack-index.d/"
			   "multi-pack-index-%s.bitmap",
			   m.hex[i]);
		tmprepo_write(&m.t, bitmap.data, "");
	}
	midxchain_write(&m, 2);
	assert_int_equal(odb_midx_open(&top, m.t.objects, HASH_SHA1, NULL), 0);
	assert_int_equal(multi_pack_remove_layers(dir, top, NULL), 0);
	odb_midx_close(top);
	for (unsigned i = 0; i < MIDXCHAIN_LAYERS; i++) {
		assert_int_equal(has_layer(&m, i, "midx"), i < 2);
		assert_int_equal(has_layer(&m, i, "bitmap"), i < 2);
	}
	assert_int_equal(layer_nr(&m), 2);
	buf_release(&bitmap);
	free(dir);
	midxchain_release(&m);
}

static void test_has_replaced(void **state)
{
	static const char bitmap[] = "objects/pack/multi-pack-index-00.bitmap";
	struct midxchain m;
	char *dir;

	midxchain_init(&m, HASH_SHA1);
	dir = pack_dir(&m);
	assert_int_equal(multi_pack_has_replaced(dir, "00", true, NULL), 1);
	assert_int_equal(layer_nr(&m), MIDXCHAIN_LAYERS);
	assert_int_equal(multi_pack_remove_chain(dir, NULL), 0);
	assert_int_equal(multi_pack_has_replaced(dir, "00", true, NULL), 0);
	tmprepo_write(&m.t, bitmap, "");
	assert_int_equal(multi_pack_has_replaced(dir, "00", true, NULL), 0);
	assert_int_equal(multi_pack_has_replaced(dir, "00", false, NULL), 1);
	assert_int_equal(multi_pack_has_replaced(dir, "01", true, NULL), 1);
	assert_int_equal(multi_pack_remove_parts(dir, "01", true, NULL), 0);
	assert_int_equal(multi_pack_has_replaced(dir, "01", true, NULL), 0);
	free(dir);
	midxchain_release(&m);
}

/*
 * multi_pack_remove_naming() removes multi-pack-indexes that name a pack,
 * before the pack is removed. If one layer of the chain names the pack, the
 * whole chain is removed.
 */
static void test_naming(void **state)
{
	struct strlist other = STRLIST_INIT, some = STRLIST_INIT;
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	struct buf file = BUF_INIT;
	struct error held;
	struct midxchain m;
	char *dir;

	midxchain_init(&m, HASH_SHA1);
	dir = pack_dir(&m);
	midxchain_make_file(&m, 0, &file);
	tmprepo_write_len(&m.t, "objects/pack/multi-pack-index", file.data,
			  file.len);
	assert_int_equal(pack_names_add(&other, "pack-d"), 0);
	assert_int_equal(pack_names_add(&some, "pack-b"), 0);
	assert_int_equal(multi_pack_remove_naming(dir, &other, NULL), 0);
	assert_int_equal(layer_nr(&m), 1);
	assert_int_equal(multi_pack_remove_naming(dir, &some, NULL), 0);
	/*
	 * The single multi-pack-index does not name "pack-b", so this file
	 * stays.
	 */
	assert_int_equal(layer_nr(&m), 1);
	assert_false(has_layer(&m, 0, "midx"));
	assert_int_equal(pack_names_add(&some, "pack-a"), 0);
	tmprepo_write(&m.t, "objects/pack/multi-pack-index.lock", "");
	/* A lock that a killed process has left does not matter. */
	assert_int_equal(multi_pack_lock_removal(&lock, dir, 0, &held, NULL),
			 0);
	assert_null(lock.path);
	assert_non_null(strstr(held.msg, "multi-pack-index.lock"));
	assert_int_equal(multi_pack_remove_naming(dir, &some, NULL), 0);
	assert_int_equal(layer_nr(&m), 0);
	strlist_release(&other);
	strlist_release(&some);
	buf_release(&file);
	free(dir);
	midxchain_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_has_replaced),
		cmocka_unit_test(test_naming),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
