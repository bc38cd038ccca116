/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/entry.c, which reads and writes the headers of pack entries.
 * They prove that a written header can be read, and that invalid headers are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pack/entry.h"

static const uint8_t some_id[OID_MAX_LEN] = {1, 2, 3, [31] = 9};

static void check_cut(const uint8_t *bytes, size_t len, enum hash_algo algo)
{
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = mem_alloc(cut, 1);
		struct pack_entry e;
		struct cursor c;

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		c = cursor_make(copy, cut);
		assert_int_equal(pack_entry_parse(&e, &c, algo), ERR_CORRUPT);
		assert_ptr_equal(c.p, copy);
		free(copy);
	}
}

static void check_round_trip(const struct pack_entry *want, enum hash_algo algo)
{
	uint8_t bytes[PACK_ENTRY_HEADER_MAX];
	size_t len = pack_entry_write(bytes, want, algo);
	struct cursor c = cursor_make(bytes, sizeof(bytes));
	struct pack_entry e;

	assert_in_range(len, 1, PACK_ENTRY_HEADER_MAX);
	assert_int_equal(pack_entry_parse(&e, &c, algo), 0);
	assert_ptr_equal(c.p, bytes + len);
	assert_int_equal(e.header_len, len);
	assert_int_equal(e.type, want->type);
	assert_true(e.size == want->size);
	if (e.type == OBJ_OFS_DELTA)
		assert_true(e.base_distance == want->base_distance);
	if (e.type == OBJ_REF_DELTA)
		assert_memory_equal(e.base_oid, some_id, hash_len(algo));
	check_cut(bytes, len, algo);
}

static void test_round_trip(void **state)
{
	static const enum object_type types[] = {OBJ_COMMIT,    OBJ_TREE,
						 OBJ_BLOB,      OBJ_TAG,
						 OBJ_OFS_DELTA, OBJ_REF_DELTA};

	for (size_t t = 0; t < ARRAY_NR(types); t++) {
		for (unsigned bit = 0; bit < 64; bit++) {
			for (uint64_t d = 0; d < 3; d++) {
				uint64_t v = (UINT64_C(1) << bit) + d - 1;
				struct pack_entry e = {.type = types[t],
						       .size = v,
						       .base_distance = v ? v
									  : 1,
						       .base_oid = some_id};

				check_round_trip(&e, HASH_SHA1);
				check_round_trip(&e, HASH_SHA256);
			}
		}
	}
	check_round_trip(&(struct pack_entry){.type = OBJ_OFS_DELTA,
					      .size = UINT64_MAX,
					      .base_distance = UINT64_MAX},
			 HASH_SHA1);
}

static void test_known_bytes(void **state)
{
	/*
	 * 0x95 0x0a is the header of a commit of 165 bytes. 0x80 0x00 is the
	 * distance 128 to the delta base.
	 */
	static const uint8_t commit[] = {0x95, 0x0a};
	static const uint8_t delta[] = {0x6f, 0x80, 0x00};
	uint8_t out[PACK_ENTRY_HEADER_MAX];
	struct cursor c = cursor_make(commit, sizeof(commit));
	struct pack_entry e;

	assert_int_equal(pack_entry_parse(&e, &c, HASH_SHA1), 0);
	assert_int_equal(e.type, OBJ_COMMIT);
	assert_int_equal(e.size, 165);
	c = cursor_make(delta, sizeof(delta));
	assert_int_equal(pack_entry_parse(&e, &c, HASH_SHA1), 0);
	assert_int_equal(e.type, OBJ_OFS_DELTA);
	assert_int_equal(e.size, 15);
	assert_int_equal(e.base_distance, 128);
	assert_int_equal(pack_entry_write(out, &e, HASH_SHA1), 3);
	assert_memory_equal(out, delta, 3);
}

static void test_corrupt(void **state)
{
	static const struct {
		uint8_t bytes[16];
	} bad[] = {
		{{0x00}},       /* invalid type 0 */
		{{0x50}},       /* invalid type 5 */
		{{0x60, 0x00}}, /* invalid distance 0 */
		/*
		 * Invalid headers: a size of 65 bits, and a size in 11 bytes.
		 */
		{{0xb0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10}},
		{{0xb0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		  0x00}},
		/*
		 * Invalid distances to a delta base: 2^64, and one that is much
		 * larger.
		 */
		{{0x60, 0x80, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xff,
		  0x00}},
		{{0x60, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		  0x7f}},
	};

	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		struct cursor c = cursor_make(bad[i].bytes, 16);
		struct pack_entry e;

		assert_int_equal(pack_entry_parse(&e, &c, HASH_SHA1),
				 ERR_CORRUPT);
		assert_ptr_equal(c.p, bad[i].bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_known_bytes),
		cmocka_unit_test(test_corrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
