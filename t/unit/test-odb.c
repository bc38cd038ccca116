/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb.c: the order in which packs are searched, which of several
 * copies of an object counts, and packs that are not used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "base/mem.h"
#include "odb/odb.h"
#include "t/unit/tmppack.h"

/* Sets the modification time of the file <dir>/<name>. */
static void set_mtime(const struct tmprepo *t, const char *name, long seconds)
{
	struct timeval times[2] = {{seconds, 0}, {seconds, 0}};
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, name);
	assert_int_equal(utimes(path.data, times), 0);
	buf_release(&path);
}

static void test_order(void **state)
{
	struct tmppack_object old[] = {{OBJ_BLOB, "both", {{0}}},
				       {OBJ_BLOB, "old", {{0}}}};
	struct tmppack_object new[] = {{OBJ_BLOB, "new", {{0}}},
				       {OBJ_BLOB, "both", {{0}}}};
	struct tmppack_object far[] = {{OBJ_BLOB, "far", {{0}}},
				       {OBJ_BLOB, "both", {{0}}}};
	struct tmprepo t;
	struct odb *odb;
	uint32_t pos, idx_pos;
	struct oid oid;
	struct pack *pack;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-a", old, 2, false);
	tmppack_write(&t, "objects", "pack-b", new, 2, false);
	tmppack_write(&t, "far", "pack-0", far, 2, false);
	set_mtime(&t, "objects/pack/pack-a.pack", 1000);
	set_mtime(&t, "objects/pack/pack-b.pack", 2000);
	set_mtime(&t, "far/pack/pack-0.pack", 3000);
	tmprepo_write(&t, "objects/info/alternates", "../far\n");
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	assert_int_equal(odb->pack_nr, 3);
	assert_int_equal(odb->packed_nr, 6);
	assert_string_equal(odb->packs[0].pack->name, "pack-b");
	assert_string_equal(odb->packs[1].pack->name, "pack-a");
	assert_string_equal(odb->packs[2].pack->name, "pack-0");
	assert_true(odb->packs[1].pack->is_local);
	assert_false(odb->packs[2].pack->is_local);
	assert_int_equal(odb->packs[2].first_pos, 4);
	assert_true(odb_find(odb, &new[1].oid, &pos));
	assert_true(pos < 2);
	assert_ptr_equal(odb_locate(odb, pos, &idx_pos), &odb->packs[0]);
	assert_int_equal(idx_pos, pos);
	assert_true(odb_find(odb, &far[0].oid, &pos));
	assert_true(pos >= 4);
	assert_int_equal(odb_offset(odb, pos, &pack), 12);
	assert_ptr_equal(pack, odb->packs[2].pack);
	for (pos = 0; pos < odb->packed_nr; pos++) {
		odb_oid(&oid, odb, pos);
		assert_memory_equal(oid.bytes, odb_oid_raw(odb, pos), 20);
		assert_true(odb_find(odb, &oid, &idx_pos));
		assert_true(idx_pos <= pos);
		assert_true(odb_has(odb, &oid));
	}
	oid.bytes[0] ^= 1;
	assert_false(odb_find(odb, &oid, &pos));
	assert_false(odb_has(odb, &oid));
	odb_close(odb);
	tmprepo_release(&t);
}

static void test_one_pack(void **state)
{
	struct tmppack_object objects[] = {{OBJ_BLOB, "a", {{0}}},
					   {OBJ_BLOB, "b", {{0}}},
					   {OBJ_BLOB, "c", {{0}}}};
	struct tmprepo t;
	struct odb *odb;

	tmprepo_init(&t, HASH_SHA256);
	tmppack_write(&t, "objects", "pack-a", objects, 3, false);
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	for (int i = 0; i < 3; i++) {
		struct oid oid;
		uint32_t pos;

		assert_true(odb_find(odb, &objects[i].oid, &pos));
		odb_oid(&oid, odb, pos);
		assert_true(oid_equal(&oid, &objects[i].oid));
	}
	odb_close(odb);
	tmprepo_release(&t);
}

static void test_empty(void **state)
{
	struct tmprepo t;
	struct odb *odb;
	struct oid oid = OID_ZERO_INIT;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	assert_int_equal(odb->packed_nr, 0);
	assert_false(odb_has(odb, &oid));
	odb_close(odb);
	tmprepo_release(&t);
}

static void test_left_out(void **state)
{
	struct tmppack_object objects[] = {{OBJ_BLOB, "a", {{0}}}};
	struct error warning = ERROR_INIT, err = ERROR_INIT;
	struct tmprepo t;
	struct odb *odb;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-a", objects, 1, false);
	tmprepo_write(&t, "objects/pack/pack-noidx.pack", "PACK");
	tmprepo_write(&t, "objects/pack/pack-nopack.idx", "idx");
	tmprepo_write(&t, "objects/pack/tmp_pack_x", "");
	assert_int_equal(odb_open(&odb, &t.repo, &warning, NULL), 0);
	assert_int_equal(odb->pack_nr, 1);
	assert_int_equal(warning.code, 0);
	odb_close(odb);
	tmprepo_write(&t, "objects/pack/pack-noidx.idx", "rubbish");
	assert_int_equal(odb_open(&odb, &t.repo, &warning, NULL), 0);
	assert_int_equal(odb->pack_nr, 1);
	assert_int_not_equal(warning.code, 0);
	assert_non_null(strstr(warning.msg, "pack-noidx"));
	odb_close(odb);
	assert_int_equal(odb_open_whole(&odb, &t.repo, &err), warning.code);
	assert_null(odb);
	assert_string_equal(err.msg, warning.msg);
	tmprepo_release(&t);
}

/*
 * Returns `len` bytes of random text, which does not compress well. So a pack
 * with this object is longer than the part that is read when the pack is
 * opened.
 */
static char *make_noise(size_t len, unsigned seed)
{
	char *text = mem_alloc(len + 1, 1);

	assert_non_null(text);
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1103515245 + 12345;
		text[i] = (char)(seed >> 16 | 1);
	}
	text[len] = '\0';
	return text;
}

static void assert_reads(struct odb_reader *reader, const struct oid *oid,
			 const char *text)
{
	struct odb_object obj;

	assert_int_equal(odb_read(reader, oid, &obj, NULL), 0);
	assert_string_equal(obj.data, text);
	odb_object_release(reader, &obj);
}

#define HELD_PACKS 6

/*
 * Removes the files of all packs. Their objects must still be readable.
 * `held_nr`: expected number of packs that are open, but are mapped only when
 * an object is read.
 */
static void check_gone(const struct tmprepo *t, struct odb *odb,
		       const struct tmppack_object *objects, size_t held_nr)
{
	struct odb_reader *reader = odb_reader_new(odb, 1 << 20);
	size_t unmapped = 0;

	assert_non_null(reader);
	assert_int_equal(odb->pack_nr, HELD_PACKS);
	for (uint32_t i = 0; i < HELD_PACKS; i++)
		unmapped += !sys_held_mapped(&odb->packs[i].pack->file);
	assert_int_equal(unmapped, held_nr);
	for (int i = 0; i < HELD_PACKS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "objects/pack/pack-%d.idx", i);
		tmprepo_remove(t, name);
		snprintf(name, sizeof(name), "objects/pack/pack-%d.pack", i);
		tmprepo_remove(t, name);
	}
	for (int i = 0; i < HELD_PACKS; i++)
		assert_reads(reader, &objects[i].oid, objects[i].text);
	odb_reader_free(reader);
	odb_close(odb);
}

static void test_held(void **state)
{
	struct tmppack_object objects[HELD_PACKS];
	struct rlimit before, low;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (int round = 0; round < 3; round++) {
		struct tmprepo t;
		struct odb *odb;

		tmprepo_init(&t, HASH_SHA1);
		for (int i = 0; i < HELD_PACKS; i++) {
			char name[16];

			snprintf(name, sizeof(name), "pack-%d", i);
			objects[i] = (struct tmppack_object){
				OBJ_BLOB,
				make_noise(20000, (unsigned)i),
				{{0}}};
			tmppack_write(&t, "objects", name, &objects[i], 1,
				      false);
		}
		low = before;
		low.rlim_cur = round == 1 ? 18 : before.rlim_cur;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
		assert_int_equal(
			round ? odb_open_held(&odb, &t.repo, NULL, NULL)
			      : odb_open(&odb, &t.repo, NULL, NULL),
			0);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		check_gone(&t, odb, objects,
			   !round       ? 0
			   : round == 1 ? 4
					: HELD_PACKS);
		for (int i = 0; i < HELD_PACKS; i++)
			free((char *)objects[i].text);
		tmprepo_release(&t);
	}
}

static void test_read_reverse_index(void **state)
{
	static const struct {
		const char *value;
		int ret;
		bool ignores;
	} cases[] = {
		{"true", 0, false},
		{"false", 0, true},
		{"0", 0, true},
		{"maybe", ERR_INVALID, false},
	};
	struct tmppack_object objects[] = {{OBJ_BLOB, "a", {{0}}}};
	struct tmprepo t;
	struct odb *odb;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-a", objects, 1, false);
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct config_entry entry = {(char *)"pack.readreverseindex",
					     (char *)cases[i].value,
					     CONFIG_LOCAL};

		t.repo.config = (struct config){&entry, 1, 1};
		assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL),
				 cases[i].ret);
		if (odb)
			assert_int_equal(odb->packs[0].pack->ignores_rev,
					 cases[i].ignores);
		odb_close(odb);
	}
	t.repo.config = (struct config)CONFIG_INIT;
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_one_pack),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_read_reverse_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
