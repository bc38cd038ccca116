/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/pack.c, which opens packs: the entries and the reverse index of
 * valid packs are read, and invalid packs are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pack/pack.h"
#include "t/unit/hexdump.h"
/* enough objects for a reverse index that is not always verified */
#define PACKFILE_MAX (PACK_REV_SMALL_NR + 1)
#include "t/unit/packfile.h"

static int try_open(const struct packfile *p, struct error *err)
{
	struct pack *pack;
	int ret = pack_open(&pack, p->base, p->algo, err);

	if (ret < 0)
		assert_null(pack);
	else
		pack_close(pack);
	return ret;
}

/* Opens the examples of pack/pack.h and pack/idx.h. */
static void test_example(void **state)
{
	struct pack_entry e;
	struct packfile p;
	struct pack *pack;
	struct oid oid;
	uint32_t idx_pos;

	packfile_init(&p, HASH_SHA1);
	buf_reset(&p.bytes);
	hexdump_parse(&p.bytes, "5041434b 00000002 00000001 36"
				"789ccb48 cdc9c9e7 0200084b 021f"
				"de041240 1f4a9e5f 05411f44 eaf9c86d 46096746");
	hexdump_parse(&p.idx, "ff744f63 00000002 00000000 x 206 00000001 x 50"
			      "ce013625 030ba8db a906f756 967f9e9c a394464a"
			      "52941500 0000000c"
			      "de041240 1f4a9e5f 05411f44 eaf9c86d 46096746"
			      "0b629745 910d3a0b e9ee1015 a3cd11b5 09020143");
	packfile_save(&p);
	assert_int_equal(pack_open(&pack, p.base, HASH_SHA1, NULL), 0);
	assert_string_equal(pack->name, "pack-test");
	assert_string_equal(pack->path, p.base);
	assert_false(pack->is_kept);
	assert_true(pack->mtime_ns > 0);
	hash_object(&p.hash, &oid, OBJ_BLOB, "hello\n", 6);
	assert_true(pack_idx_find(&pack->idx, oid.bytes, &idx_pos));
	assert_int_equal(pack_entry_at(&e, pack,
				       pack_idx_offset(&pack->idx, idx_pos),
				       NULL),
			 0);
	assert_int_equal(e.type, OBJ_BLOB);
	assert_int_equal(e.size, 6);
	assert_int_equal(e.header_len, 1);
	assert_int_equal(pack_idx_crc(&pack->idx, 0),
			 pack_crc32(0, pack_bytes(pack, NULL) + 12, 15));
	assert_int_equal(pack_verify_checksum(pack, NULL), 0);
	pack_close(pack);
	packfile_release(&p);
}

/* Makes a pack of a blob and two deltas of it: an OFS_DELTA and a REF_DELTA. */
static void make_small(struct packfile *p, enum hash_algo algo)
{
	struct oid second = {{2}}, third = {{3}};

	packfile_init(p, algo);
	packfile_add(p, OBJ_BLOB, "base", 4);
	packfile_add_delta(p, OBJ_OFS_DELTA, 0, 4, "x", &second);
	packfile_add_delta(p, OBJ_REF_DELTA, 0, 4, "y", &third);
}

static void check_small(struct packfile *p, struct pack *pack)
{
	const struct pack_rev *rev = pack_get_rev(pack, NULL);
	struct pack_entry e;
	uint64_t base = 0;

	assert_non_null(rev);
	assert_ptr_equal(pack_get_rev(pack, NULL), rev);
	for (uint32_t i = 0; i < p->nr; i++)
		assert_true(pack_rev_offset(rev, i) == p->offsets[i]);
	assert_true(pack_rev_offset(rev, p->nr) ==
		    pack->file.len - hash_len(p->algo));
	assert_int_equal(pack_entry_at(&e, pack, p->offsets[0], NULL), 0);
	assert_int_equal(pack_entry_base(&base, pack, p->offsets[0], &e, NULL),
			 0);
	for (uint32_t i = 1; i < 3; i++) {
		assert_int_equal(pack_entry_at(&e, pack, p->offsets[i], NULL),
				 0);
		assert_int_equal(
			pack_entry_base(&base, pack, p->offsets[i], &e, NULL),
			1);
		assert_true(base == p->offsets[0]);
	}
}

static void test_open(void **state)
{
	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct packfile p;
		struct pack *pack;

		make_small(&p, algo);
		pack = packfile_open(&p);
		check_small(&p, pack);
		assert_null(pack->rev_map.data);
		pack_close(pack);

		packfile_save_file(&p, ".keep", "", 0);
		packfile_make_idx(&p, 1);
		packfile_save(&p);
		assert_int_equal(pack_open(&pack, p.base, algo, NULL), 0);
		assert_int_equal(pack->idx.version, 1);
		assert_true(pack->is_kept);
		assert_false(pack->is_cruft || pack->is_promisor);
		check_small(&p, pack);
		pack_close(pack);

		packfile_save_file(&p, ".promisor", "", 0);
		assert_int_equal(pack_open(&pack, p.base, algo, NULL), 0);
		assert_true(pack->is_kept && pack->is_promisor);
		assert_false(pack->is_cruft);
		pack_close(pack);
		packfile_release(&p);
	}
}

/*
 * pack_open_file() opens a pack again for reading. It refuses a new file that
 * has got the same name.
 */
static void test_open_file(void **state)
{
	struct packfile p;
	struct pack *pack;
	char head[4], path[512];
	int fd;

	make_small(&p, HASH_SHA1);
	pack = packfile_open(&p);
	fd = pack_open_file(pack);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, head, 4), 4);
	assert_memory_equal(head, "PACK", 4);
	close(fd);
	snprintf(path, sizeof(path), "%s.pack", p.base);
	unlink(path);
	assert_int_equal(pack_open_file(pack), -1);
	packfile_save_file(&p, ".pack", (const char *)pack_bytes(pack, NULL),
			   pack->file.len - 1);
	assert_int_equal(pack_open_file(pack), -1);
	unlink(path);
	packfile_add(&p, OBJ_BLOB, "base", 4);
	packfile_save(&p);
	assert_int_equal(pack_open_file(pack), -1);
	pack_close(pack);
	packfile_release(&p);
}

static void test_rev_file(void **state)
{
	struct buf file = BUF_INIT;
	struct packfile p;
	struct pack *pack;
	const struct pack_rev *rev;

	make_small(&p, HASH_SHA1);
	pack = packfile_open(&p);
	rev = pack_get_rev(pack, NULL);
	assert_int_equal(pack_rev_write(&file, rev->owned, p.nr,
					&pack->checksum, HASH_SHA1, NULL),
			 0);
	pack_close(pack);
	packfile_save_file(&p, ".rev", file.data, file.len);
	assert_int_equal(pack_open(&pack, p.base, HASH_SHA1, NULL), 0);
	check_small(&p, pack);
	assert_non_null(pack->rev_map.data);
	pack_close(pack);

	assert_int_equal(pack_open(&pack, p.base, HASH_SHA1, NULL), 0);
	pack->ignores_rev = true;
	check_small(&p, pack);
	assert_null(pack->rev_map.data);
	pack_close(pack);

	/*
	 * If the .rev file is unusable, the pack order is computed from the
	 * pack index.
	 */
	packfile_save_file(&p, ".rev", file.data, file.len - 1);
	assert_int_equal(pack_open(&pack, p.base, HASH_SHA1, NULL), 0);
	check_small(&p, pack);
	assert_null(pack->rev_map.data);
	pack_close(pack);
	packfile_release(&p);
	buf_release(&file);
}

/*
 * Verifies the checksum of the .rev file of a pack by two functions.
 * pack_check_rev() verifies only the .rev file, and must return `alone`.
 * pack_check_rev_with() also verifies the checksum of another file, whose bytes
 * are `other`. It must return `both`.
 */
static void check_rev_sum(const struct packfile *p, const struct buf *other,
			  int alone, int both)
{
	const struct pack_rev *rev;
	struct pack *pack;

	assert_int_equal(pack_open(&pack, p->base, HASH_SHA1, NULL), 0);
	rev = pack_get_rev_unproven(pack, NULL);
	assert_non_null(rev);
	assert_int_equal(pack_check_rev(pack, rev, NULL), alone);
	assert_int_equal(
		pack_check_rev_with(pack, rev, other->data, other->len), both);
	pack_close(pack);
}

/*
 * A wrong checksum of the .rev file is found even if the order that the file
 * stores is right.
 */
static void test_rev_sum(void **state)
{
	struct buf file = BUF_INIT, wrong = BUF_INIT;
	struct packfile p;
	struct pack *pack;

	make_small(&p, HASH_SHA1);
	pack = packfile_open(&p);
	assert_int_equal(pack_rev_write(&file, pack_get_rev(pack, NULL)->owned,
					p.nr, &pack->checksum, HASH_SHA1, NULL),
			 0);
	pack_close(pack);
	assert_int_equal(buf_append(&wrong, file.data, file.len), 0);
	wrong.data[wrong.len - 1] ^= 1;
	/*
	 * There is no .rev file. So pack_check_rev() verifies the checksum of
	 * the pack index, and pack_check_rev_with() returns 0.
	 */
	check_rev_sum(&p, &file, 0, 0);
	packfile_save_file(&p, ".rev", file.data, file.len);
	check_rev_sum(&p, &file, 0, 1);
	check_rev_sum(&p, &wrong, 0, 0);
	packfile_save_file(&p, ".rev", wrong.data, wrong.len);
	check_rev_sum(&p, &file, ERR_CORRUPT, 0);
	packfile_release(&p);
	buf_release(&wrong);
	buf_release(&file);
}

/*
 * A .rev file has a right checksum, but a wrong order. After pack_get_rev() has
 * noticed this, only the computed order is used.
 */
static void test_rev_order(void **state)
{
	static struct packfile p;
	const struct pack_rev *wrong, *right;
	struct buf file = BUF_INIT;
	struct pack *pack;
	uint32_t *order;

	packfile_init(&p, HASH_SHA1);
	for (uint32_t i = 0; i < PACKFILE_MAX; i++)
		packfile_add(&p, OBJ_BLOB, &i, sizeof(i));
	pack = packfile_open(&p);
	right = pack_get_rev(pack, NULL);
	order = mem_alloc(p.nr, sizeof(*order));
	assert_true(right && order);
	for (uint32_t i = 0; i < p.nr; i++)
		order[i] = pack_rev_idx_pos(right, i ^ (i < 2));
	assert_int_equal(pack_rev_write(&file, order, p.nr, &pack->checksum,
					HASH_SHA1, NULL),
			 0);
	pack_close(pack);
	packfile_save_file(&p, ".rev", file.data, file.len);

	assert_int_equal(pack_open(&pack, p.base, HASH_SHA1, NULL), 0);
	wrong = pack_get_rev_unproven(pack, NULL);
	assert_true(pack_rev_offset(wrong, 0) == p.offsets[1]);
	right = pack_get_rev(pack, NULL);
	assert_true(pack_rev_offset(right, 0) == p.offsets[0]);
	assert_ptr_equal(pack_get_rev_unproven(pack, NULL), right);
	assert_int_equal(pack_check_rev(pack, wrong, NULL), ERR_CORRUPT);
	assert_int_equal(pack_check_rev_with(pack, wrong, file.data, file.len),
			 0);
	assert_ptr_equal(pack_get_rev(pack, NULL), right);
	pack_close(pack);
	packfile_release(&p);
	buf_release(&file);
	free(order);
}

static void test_entry_bounds(void **state)
{
	struct error err = ERROR_INIT;
	struct pack_entry e = {.type = OBJ_OFS_DELTA, .size = 3};
	struct oid other = {{9}}, lost = {{8}}, fourth = {{4}};
	struct packfile p;
	struct pack *pack;
	uint64_t base;

	make_small(&p, HASH_SHA1);
	/*
	 * Add two invalid deltas. The distance of the first leads into the
	 * header of the pack. The second has the id of an unknown base.
	 */
	e.base_distance = p.bytes.len - 11;
	packfile_add_entry(&p, &e, "abc", 3, &other);
	e = (struct pack_entry){
		.type = OBJ_REF_DELTA, .size = 3, .base_oid = lost.bytes};
	packfile_add_entry(&p, &e, "abc", 3, &fourth);
	pack = packfile_open(&p);
	assert_int_equal(pack_entry_at(&e, pack, p.offsets[3], &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "pack-test"));
	assert_int_equal(pack_entry_at(&e, pack, p.offsets[4], &err), 0);
	assert_int_equal(pack_entry_base(&base, pack, p.offsets[4], &e, &err),
			 ERR_CORRUPT);
	for (uint64_t off = 0; off < 12; off++)
		assert_int_equal(pack_entry_at(&e, pack, off, &err),
				 ERR_CORRUPT);
	assert_int_equal(pack_entry_at(&e, pack, pack->file.len - 20, &err),
			 ERR_CORRUPT);
	assert_int_equal(pack_entry_at(&e, pack, UINT64_MAX, &err),
			 ERR_CORRUPT);
	pack_close(pack);
	packfile_release(&p);
}

/*
 * The bases of an OFS_DELTA and of a REF_DELTA are found in the index. The last
 * entry is an OFS_DELTA whose base offset is wrong: no object begins there.
 */
static void test_base_pos(void **state)
{
	struct pack_entry e = {.type = OBJ_OFS_DELTA, .size = 3};
	struct oid others[3] = {{{7}}, {{8}}, {{9}}};
	struct error err = ERROR_INIT;
	struct packfile p;
	struct pack *pack;
	uint32_t idx_pos, base;

	packfile_init(&p, HASH_SHA1);
	packfile_add(&p, OBJ_BLOB, "base", 4);
	packfile_add_delta(&p, OBJ_OFS_DELTA, 0, 4, "a", &others[0]);
	packfile_add_delta(&p, OBJ_REF_DELTA, 0, 4, "b", &others[1]);
	e.base_distance = p.bytes.len - p.offsets[1] - 1;
	packfile_add_entry(&p, &e, "abc", 3, &others[2]);
	pack = packfile_open(&p);
	assert_true(pack_idx_find(&pack->idx, p.oids[0].bytes, &base));
	for (uint32_t i = 0; i < 4; i++) {
		static const int results[] = {0, 1, 1, ERR_CORRUPT};

		assert_int_equal(pack_entry_at(&e, pack, p.offsets[i], NULL),
				 0);
		idx_pos = UINT32_MAX;
		assert_int_equal(pack_entry_base_pos(&idx_pos, pack,
						     p.offsets[i], &e, &err),
				 results[i]);
		assert_int_equal(idx_pos, results[i] > 0 ? base : UINT32_MAX);
	}
	assert_non_null(strstr(err.msg, "no object starts there"));
	pack_close(pack);
	packfile_release(&p);
}

/*
 * Adds a REF_DELTA. The id of the object begins with `nr`, and the id of its
 * base begins with `base_nr`.
 */
static void add_ref_delta(struct packfile *p, uint32_t nr, uint32_t base_nr)
{
	struct oid oid = {{0}}, base = {{0}};
	struct pack_entry e = {.type = OBJ_REF_DELTA, .size = 3};

	store_be32(oid.bytes, nr);
	store_be32(base.bytes, base_nr);
	e.base_oid = base.bytes;
	packfile_add_entry(p, &e, "abc", 3, &oid);
}

static bool holds(const struct pack *pack, uint32_t nr)
{
	struct oid oid = {{0}};

	store_be32(oid.bytes, nr);
	return pack_holds(pack, oid.bytes);
}

/*
 * The chains of these objects end: 1 is a delta against a whole object, and 2
 * against 1. The chains of the others do not: 3 is a delta against itself, 4
 * and 5 are each other's base, and 6 is a delta against 5. The base of 7 is not
 * in the pack. 8 is twice in the pack, and is the base of 9.
 */
static void test_chain_ends(void **state)
{
	static const uint32_t bases[] = {0, 0, 1, 3, 5, 4, 5, 77, 1, 8};
	struct packfile p;
	struct pack *pack;

	packfile_init(&p, HASH_SHA1);
	packfile_add_entry(&p,
			   &(struct pack_entry){.type = OBJ_BLOB, .size = 4},
			   "base", 4, &(struct oid){{0}});
	for (uint32_t i = 1; i < ARRAY_NR(bases); i++)
		add_ref_delta(&p, i, bases[i]);
	add_ref_delta(&p, 8, 1);
	pack = packfile_open(&p);
	for (uint32_t i = 0; i < ARRAY_NR(bases); i++)
		assert_int_equal(holds(pack, i), i <= 2);
	assert_false(holds(pack, 10));
	pack_close(pack);
	packfile_release(&p);
}

/* A chain has PACK_CHAIN_MAX deltas, or one more. */
static void test_long_chain(void **state)
{
	struct packfile p;
	struct pack *pack;

	packfile_init(&p, HASH_SHA1);
	packfile_add_entry(&p,
			   &(struct pack_entry){.type = OBJ_BLOB, .size = 4},
			   "base", 4, &(struct oid){{0}});
	for (uint32_t i = 1; i <= PACK_CHAIN_MAX + 1; i++)
		add_ref_delta(&p, i, i - 1);
	pack = packfile_open(&p);
	assert_true(holds(pack, PACK_CHAIN_MAX));
	assert_false(holds(pack, PACK_CHAIN_MAX + 1));
	pack_close(pack);
	packfile_release(&p);
}

static void test_missing(void **state)
{
	struct error err = ERROR_INIT;
	struct packfile p;

	make_small(&p, HASH_SHA1);
	packfile_finish(&p);
	packfile_save(&p);
	assert_int_equal(try_open(&p, &err), 0);
	packfile_unlink(&p, ".pack");
	assert_int_equal(try_open(&p, &err), ERR_MISSING);
	packfile_save(&p);
	packfile_unlink(&p, ".idx");
	assert_int_equal(try_open(&p, &err), ERR_MISSING);
	packfile_release(&p);
}

/*
 * Changes the byte at `at` of the pack, tries to open the pack, and restores
 * the byte. Returns the result of opening.
 */
static int try_changed(struct packfile *p, size_t at, struct error *err)
{
	int ret;

	p->bytes.data[at] ^= 1;
	packfile_save(p);
	ret = try_open(p, err);
	p->bytes.data[at] ^= 1;
	return ret;
}

static void test_refused(void **state)
{
	struct error err = ERROR_INIT;
	struct packfile p;
	struct pack *pack;

	make_small(&p, HASH_SHA1);
	packfile_finish(&p);
	packfile_save(&p);
	assert_int_equal(try_changed(&p, 0, &err), ERR_CORRUPT);
	assert_int_equal(try_changed(&p, 6, &err), ERR_UNSUPPORTED);
	assert_int_equal(try_changed(&p, 7, &err), 0); /* version 3 is valid */
	assert_int_equal(try_changed(&p, 11, &err), ERR_CORRUPT);
	assert_int_equal(try_changed(&p, p.bytes.len - 1, &err), ERR_CORRUPT);
	for (size_t len = 0; len < p.bytes.len; len++) {
		packfile_save_file(&p, ".pack", p.bytes.data, len);
		assert_int_equal(try_open(&p, &err), ERR_CORRUPT);
	}
	/*
	 * Only the checksum of the pack reveals a changed byte inside of an
	 * entry.
	 */
	p.bytes.data[14] ^= 1;
	packfile_save(&p);
	assert_int_equal(pack_open(&pack, p.base, HASH_SHA1, &err), 0);
	assert_int_equal(pack_verify_checksum(pack, &err), ERR_CORRUPT);
	pack_close(pack);
	packfile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_open_file),
		cmocka_unit_test(test_rev_file),
		cmocka_unit_test(test_rev_sum),
		cmocka_unit_test(test_rev_order),
		cmocka_unit_test(test_entry_bounds),
		cmocka_unit_test(test_base_pos),
		cmocka_unit_test(test_chain_ends),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
