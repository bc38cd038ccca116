/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb-midx.c and odb-find.c: positions of objects in a
 * multi-pack-index, and multi-pack-indexes that cannot be used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/time.h>

#include "base/mem.h"
#include "odb/odb-midx.h"
#include "pack/midx-write.h"
#include "t/unit/tmppack.h"

enum { PACKS = 3, PER_PACK = 3 };

/*
 * A repository of three packs. One object is in all three packs. Pack "b" is
 * the preferred pack. Pack "c" is not in the multi-pack-index.
 */
struct bed {
	struct tmprepo t;
	struct tmppack_object objects[PACKS][PER_PACK];
};

static const char *const names[PACKS] = {"pack-a", "pack-b", "pack-c"};

/* Writes a multi-pack-index of the first `nr` packs in the order of names. */
static void write_midx(const struct bed *b, uint32_t nr, uint32_t preferred)
{
	struct pack_midx_source sources[PACKS];
	struct pack_midx_request rq = {
		.packs = sources,
		.pack_nr = nr,
		.preferred = preferred,
		.version = 1,
		.algo = b->t.repo.algo,
	};
	static const char *const idx_names[PACKS] = {"pack-a.idx", "pack-b.idx",
						     "pack-c.idx"};
	struct pack_midx_written written;
	struct buf file = BUF_INIT;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &b->t.repo, NULL, NULL), 0);
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;
		uint32_t n = (uint32_t)(pack->name[5] - 'a');

		sources[n] = (struct pack_midx_source){idx_names[n], &pack->idx,
						       pack->mtime_ns};
	}
	assert_int_equal(pack_midx_write(&file, &rq, &written, NULL), 0);
	odb_close(odb);
	tmprepo_write_len(&b->t, "objects/pack/multi-pack-index", file.data,
			  file.len);
	buf_release(&file);
}

static void bed_init(struct bed *b)
{
	static const char *const texts[PACKS][PER_PACK] = {
		{"all", "only in a", "in a and b"},
		{"in a and b", "only in b", "all"},
		{"only in c", "all", "also only in c"},
	};

	tmprepo_init(&b->t, HASH_SHA1);
	for (unsigned p = 0; p < PACKS; p++) {
		for (unsigned i = 0; i < PER_PACK; i++)
			b->objects[p][i] = (struct tmppack_object){
				OBJ_BLOB, texts[p][i], {{0}}};
		tmppack_write(&b->t, "objects", names[p], b->objects[p],
			      PER_PACK, false);
	}
	write_midx(b, 2, 1);
}

static void bed_release(struct bed *b)
{
	tmprepo_release(&b->t);
}

static const char *pack_name(const struct odb *odb, const struct oid *oid)
{
	uint32_t odb_pos, idx_pos;

	if (!odb_find(odb, oid, &odb_pos))
		return "nowhere";
	return odb_locate(odb, odb_pos, &idx_pos)->pack->name;
}

static void test_canonical(void **state)
{
	struct error warning;
	struct odb *odb;
	struct oid none;
	struct bed b;

	bed_init(&b);
	assert_int_equal(odb_open(&odb, &b.t.repo, &warning, NULL), 0);
	assert_int_equal(warning.code, 0);
	assert_non_null(odb->midxes[0]);
	assert_int_equal(odb->source_nr, 2);
	for (unsigned i = 0; i < PER_PACK; i++)
		assert_string_equal(pack_name(odb, &b.objects[1][i].oid),
				    "pack-b");
	assert_string_equal(pack_name(odb, &b.objects[0][1].oid), "pack-a");
	/*
	 * A pack in the multi-pack-index and a pack outside of it have the same
	 * object. The copy in the multi-pack-index is used.
	 */
	assert_string_equal(pack_name(odb, &b.objects[2][1].oid), "pack-b");
	assert_string_equal(pack_name(odb, &b.objects[2][0].oid), "pack-c");
	none = b.objects[2][0].oid;
	none.bytes[5] ^= 1;
	assert_string_equal(pack_name(odb, &none), "nowhere");
	odb_close(odb);
	bed_release(&b);
}

/*
 * For each object, odb_midx_table() gives the same position as a binary search.
 */
static void test_table(void **state)
{
	struct odb_midx *om;
	uint32_t *searched;
	const uint32_t *table;
	struct odb *odb;
	struct bed b;

	bed_init(&b);
	assert_int_equal(odb_open(&odb, &b.t.repo, NULL, NULL), 0);
	om = odb->midxes[0];
	searched = mem_alloc(om->midx.nr, sizeof(*searched));
	assert_non_null(searched);
	for (uint32_t i = 0; i < om->midx.nr; i++)
		assert_true(odb_midx_pos(odb, om, i, &searched[i]));
	table = odb_midx_table(odb, om);
	assert_ptr_equal(odb_midx_table(odb, om), table);
	assert_memory_equal(table, searched, om->midx.nr * sizeof(*searched));
	free(searched);
	odb_close(odb);
	bed_release(&b);
}

/*
 * Opens a repository whose multi-pack-index cannot be used. Asserts that every
 * object is found. `why`: part of the expected warning.
 */
static void check_unused(const struct bed *b, const char *why)
{
	struct error warning = ERROR_INIT;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &b->t.repo, &warning, NULL), 0);
	assert_null(odb->midxes[0]);
	if (why)
		assert_non_null(strstr(warning.msg, why));
	else
		assert_int_equal(warning.code, 0);
	for (unsigned p = 0; p < PACKS; p++)
		for (unsigned i = 0; i < PER_PACK; i++)
			assert_true(odb_has(odb, &b->objects[p][i].oid));
	odb_close(odb);
}

static void test_unused(void **state)
{
	struct config_entry off = {(char *)"core.multipackindex",
				   (char *)"false", CONFIG_LOCAL};
	struct bed b;

	bed_init(&b);
	b.t.repo.config = (struct config){&off, 1, 1};
	check_unused(&b, NULL);
	b.t.repo.config = (struct config)CONFIG_INIT;
	tmprepo_write(&b.t, "objects/pack/multi-pack-index", "MIDX");
	check_unused(&b, "is too small");
	tmprepo_remove(&b.t, "objects/pack/multi-pack-index");
	check_unused(&b, NULL);
	write_midx(&b, 3, 0);
	tmprepo_remove(&b.t, "objects/pack/pack-c.idx");
	tmppack_write(&b.t, "objects", "pack-d", b.objects[2], PER_PACK, false);
	check_unused(&b, "pack-c.pack index unavailable");
	tmprepo_remove(&b.t, "objects/pack/pack-c.pack");
	check_unused(&b, "pack-c.idx does not exist");
	bed_release(&b);
}

/*
 * The pack numbers in the multi-pack-index are wrong, but all objects must
 * still be found.
 */
static void test_wrong(void **state)
{
	struct odb_midx *om;
	struct odb *odb;
	struct bed b;
	uint32_t pos;
	size_t at;

	bed_init(&b);
	assert_int_equal(odb_open(&odb, &b.t.repo, NULL, NULL), 0);
	om = odb->midxes[0];
	at = (size_t)(om->midx.objects - om->midx.bytes);
	{
		struct buf file = BUF_INIT;

		assert_int_equal(
			buf_append(&file, om->midx.bytes, om->midx.len), 0);
		for (uint32_t i = 0; i < om->midx.nr; i++)
			file.data[at + 8 * (size_t)i + 3] ^= i % 2 ? 1 : 7;
		odb_close(odb);
		tmprepo_write_len(&b.t, "objects/pack/multi-pack-index",
				  file.data, file.len);
		buf_release(&file);
	}
	assert_int_equal(odb_open(&odb, &b.t.repo, NULL, NULL), 0);
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned p = 0; p < PACKS; p++)
			for (unsigned i = 0; i < PER_PACK; i++)
				assert_true(odb_find(odb, &b.objects[p][i].oid,
						     &pos));
		assert_non_null(odb_midx_table(odb, odb->midxes[0]));
	}
	odb_close(odb);
	bed_release(&b);
}

static void test_has_changed(void **state)
{
	struct timeval long_ago[2] = {{1000, 0}, {1000, 0}};
	struct buf dir = BUF_INIT;
	struct odb *odb;
	struct bed b;

	bed_init(&b);
	buf_printf(&dir, "%s/pack", b.t.objects);
	assert_int_equal(utimes(dir.data, long_ago), 0);
	assert_int_equal(odb_open(&odb, &b.t.repo, NULL, NULL), 0);
	assert_false(odb_has_changed(odb));
	write_midx(&b, 3, 0);
	assert_true(odb_has_changed(odb));
	odb_close(odb);
	buf_release(&dir);
	bed_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_unused),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_has_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
