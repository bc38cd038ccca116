/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/chains.c, which finds the delta chains of a pack. They prove
 * that it finds the right base, depth and type of each entry, and an order in
 * which bases come before their deltas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pack/chains.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"

/*
 * Makes an object id from the number `n`, not from content. The tested code
 * reads only the headers of entries, so it cannot notice that the id is wrong.
 */
static struct oid some_oid(uint32_t n)
{
	struct oid oid = OID_ZERO_INIT;

	store_be32(oid.bytes, n * 0x01000193u);
	store_be32(oid.bytes + 4, n);
	return oid;
}

/*
 * Adds an object stored whole, or a delta against entry `base` if `type` is a
 * delta type. The content of a delta does not matter. Returns the number of the
 * new entry.
 */
static uint32_t add(struct packfile *f, enum object_type type, uint32_t base)
{
	struct pack_entry e = {.type = type, .size = 1};
	struct oid oid = some_oid(f->nr);

	if (type == OBJ_OFS_DELTA)
		e.base_distance = f->bytes.len - f->offsets[base];
	if (type == OBJ_REF_DELTA)
		e.base_oid = f->oids[base].bytes;
	return packfile_add_entry(f, &e, "x", 1, &oid);
}

static void assert_corrupt(struct packfile *f, const char *message)
{
	struct error err = ERROR_INIT;
	struct pack_chains c;
	struct pack *pack = packfile_open(f);

	assert_int_equal(pack_chains_init(&c, pack, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, message));
	assert_null(c.base);
	assert_null(c.rev.owned);
	assert_int_equal(pack_chains_end(pack, NULL), 0);
	pack_close(pack);
}

static void an_empty_pack(void **state)
{
	struct packfile f;
	struct pack_chains c;
	struct pack *pack;

	packfile_init(&f, HASH_SHA1);
	pack = packfile_open(&f);
	assert_int_equal(pack_chains_init(&c, pack, NULL), 0);
	assert_int_equal(c.nr, 0);
	assert_int_equal(c.whole_nr, 0);
	pack_chains_release(&c);
	assert_int_equal(pack_chains_end(pack, NULL), 1);
	pack_close(pack);
	packfile_release(&f);
}

static void both_kinds_of_delta(void **state)
{
	struct packfile f;
	struct pack_chains c;
	struct pack *pack;
	struct oid late = some_oid(4);
	struct pack_entry forward = {
		.type = OBJ_REF_DELTA, .size = 1, .base_oid = late.bytes};
	struct oid oid;

	packfile_init(&f, HASH_SHA1);
	add(&f, OBJ_TREE, 0);
	add(&f, OBJ_OFS_DELTA, 0);
	add(&f, OBJ_REF_DELTA, 1);
	/* In the pack, the base of this delta comes after the delta. */
	oid = some_oid(f.nr);
	packfile_add_entry(&f, &forward, "x", 1, &oid);
	add(&f, OBJ_COMMIT, 0);
	pack = packfile_open(&f);
	assert_int_equal(pack_chains_init(&c, pack, NULL), 0);
	assert_int_equal(c.whole_nr, 2);
	assert_int_equal(c.depth_max, 2);
	assert_int_equal(c.base[0], PACK_CHAINS_WHOLE);
	assert_int_equal(c.base[1], 0);
	assert_int_equal(c.base[2], 1);
	assert_int_equal(c.base[3], 4);
	assert_int_equal(c.depth[2], 2);
	assert_int_equal(c.type[2], OBJ_TREE);
	assert_int_equal(c.type[3], OBJ_COMMIT);
	assert_int_equal(c.depth[3], 1);
	pack_chains_release(&c);
	pack_close(pack);
	packfile_release(&f);
}

/* Asserts that the arrays of *c agree with one another. */
static void assert_consistent(const struct pack_chains *c)
{
	uint8_t seen[PACKFILE_MAX] = {0};

	for (uint32_t i = 0; i < c->nr; i++) {
		uint32_t p = c->order[i], base = c->base[p];
		bool listed = false;

		assert_int_equal(seen[p], 0);
		seen[p] = 1;
		assert_int_equal(i < c->whole_nr, base == PACK_CHAINS_WHOLE);
		if (base == PACK_CHAINS_WHOLE) {
			assert_int_equal(c->depth[p], 0);
			continue;
		}
		assert_int_equal(seen[base], 1);
		assert_int_equal(c->depth[p], c->depth[base] + 1);
		assert_int_equal(c->type[p], c->type[base]);
		for (uint32_t k = c->child_first[base];
		     k < c->child_first[base + 1]; k++)
			listed |= c->children[k] == p;
		assert_true(listed);
	}
	assert_int_equal(c->child_first[0], 0);
	assert_int_equal(c->child_first[c->nr], c->nr - c->whole_nr);
}

static void random_families(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 40; round++) {
		uint32_t bases[PACKFILE_MAX];
		struct packfile f;
		struct pack_chains c;
		struct pack *pack;
		uint32_t nr = 1 + random_next(&seed) % (PACKFILE_MAX - 1);

		packfile_init(&f, round & 1 ? HASH_SHA256 : HASH_SHA1);
		for (uint32_t i = 0; i < nr; i++) {
			uint64_t r = random_next(&seed);
			bool whole = !i || r % 5 == 0;

			bases[i] = whole ? PACK_CHAINS_WHOLE
					 : (uint32_t)((r >> 8) % i);
			add(&f,
			    whole   ? 1 + r % 4
			    : r & 1 ? OBJ_OFS_DELTA
				    : OBJ_REF_DELTA,
			    bases[i]);
		}
		pack = packfile_open(&f);
		assert_int_equal(pack_chains_init(&c, pack, NULL), 0);
		assert_memory_equal(c.base, bases, nr * sizeof(*bases));
		assert_consistent(&c);
		pack_chains_release(&c);
		pack_close(pack);
		packfile_release(&f);
	}
}

static void circles(void **state)
{
	struct oid first = some_oid(1), second = some_oid(2);
	struct pack_entry e = {.type = OBJ_REF_DELTA, .size = 1};
	struct packfile f;

	packfile_init(&f, HASH_SHA1);
	add(&f, OBJ_BLOB, 0);
	e.base_oid = second.bytes;
	packfile_add_entry(&f, &e, "x", 1, &first);
	e.base_oid = first.bytes;
	packfile_add_entry(&f, &e, "x", 1, &second);
	assert_corrupt(&f, "delta chain is a cycle");
	packfile_release(&f);
}

static void bases_that_are_not_there(void **state)
{
	struct pack_entry e = {
		.type = OBJ_OFS_DELTA, .size = 1, .base_distance = 1};
	struct oid absent = some_oid(99), oid = some_oid(1);
	struct packfile f;

	packfile_init(&f, HASH_SHA1);
	add(&f, OBJ_BLOB, 0);
	packfile_add_entry(&f, &e, "x", 1, &oid);
	assert_corrupt(&f, "delta base is not an object");
	packfile_release(&f);

	packfile_init(&f, HASH_SHA1);
	e.type = OBJ_REF_DELTA;
	e.base_oid = absent.bytes;
	packfile_add_entry(&f, &e, "x", 1, &oid);
	assert_corrupt(&f, "pack-test");
	packfile_release(&f);
}

static void offsets_that_lie(void **state)
{
	struct packfile f;

	packfile_init(&f, HASH_SHA1);
	add(&f, OBJ_BLOB, 0);
	add(&f, OBJ_BLOB, 0);
	f.offsets[1] = f.offsets[0];
	assert_corrupt(&f, "wrong place");
	packfile_release(&f);

	packfile_init(&f, HASH_SHA1);
	buf_append(&f.bytes, "gap", 3);
	add(&f, OBJ_BLOB, 0);
	assert_corrupt(&f, "wrong place");
	packfile_release(&f);

	packfile_init(&f, HASH_SHA1);
	buf_append(&f.bytes, "rest", 4);
	assert_corrupt(&f, "pack without objects has trailing data");
	packfile_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_pack),
		cmocka_unit_test(both_kinds_of_delta),
		cmocka_unit_test(random_families),
		cmocka_unit_test(circles),
		cmocka_unit_test(bases_that_are_not_there),
		cmocka_unit_test(offsets_that_lie),
	};

	return cmocka_run_group_tests_name("chains", tests, NULL, NULL);
}
