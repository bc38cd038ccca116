/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/packs.c, which reads stored entries of packs for reuse:
 * where the bytes of an entry begin and end, and what the base of a delta is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packing/packs.h"
#include "t/unit/bitmaprepo.h"

/* Make a repository with two packs. The first pack has deltas. */
static void make(struct randrepo *r, bool ofs_delta, uint64_t *seed)
{
	struct repack_options options;
	struct repack_result result;

	randrepo_init(r, HASH_SHA1, seed);
	randrepo_history(r, 40);
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	bitmaprepo_options(&options, &r->t.repo);
	options.newpack.make.reuse_delta = false;
	options.newpack.ofs_delta = ofs_delta;
	assert_int_equal(repack_run(&result, &r->t.repo, &options, NULL), 0);
	assert_true(result.report.deltas > 20);
	randrepo_history(r, 5);
	randrepo_store_pack(r);
}

/*
 * Check that each entry of a pack begins where the previous one ends, up to the
 * trailer. Returns the number of deltas.
 */
static uint32_t check_pack(struct packs *p, uint32_t pack_nr)
{
	const struct pack *pack = p->odb->packs[pack_nr].pack;
	uint64_t bytes = 0;
	uint32_t deltas = 0;

	for (uint32_t i = 0; i < pack->idx.nr; i++) {
		struct packs_stored stored;
		uint64_t base_off;
		uint32_t base;
		int is_delta;

		assert_int_equal(packs_stored(&stored, p, pack_nr, i, NULL), 0);
		assert_int_equal(stored.off, pack_idx_offset(&pack->idx, i));
		assert_ptr_equal(stored.bytes,
				 pack_bytes(pack, NULL) + stored.off);
		assert_int_equal(pack_crc32(0, stored.bytes, stored.len),
				 pack_idx_crc(&pack->idx, i));
		bytes += stored.len;
		is_delta = pack_entry_base(&base_off, pack, stored.off,
					   &stored.entry, NULL);
		assert_true(is_delta >= 0);
		if (!is_delta)
			continue;
		deltas++;
		assert_int_equal(
			packs_base(&base, p, pack_nr, i, &stored, NULL), 1);
		assert_int_equal(pack_idx_offset(&pack->idx, base), base_off);
	}
	assert_int_equal(bytes, pack->file.len - 12 - 20);
	return deltas;
}

static void all_entries(void **state)
{
	uint64_t seed = random_seed();

	for (int kind = 0; kind < 4; kind++) {
		bool ofs = kind & 1, many = kind & 2;
		struct randrepo r;
		struct packs p;
		struct odb *odb;
		uint32_t deltas = 0;

		make(&r, ofs, &seed);
		assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
		assert_int_equal(odb->pack_nr, 2);
		assert_int_equal(packs_init(&p, odb, NULL), 0);
		for (uint32_t i = 0; i < odb->pack_nr; i++) {
			assert_null(p.tables[i].rev);
			assert_int_equal(
				packs_prepare(&p, i, many * 1000, NULL), 0);
			assert_int_equal(packs_prepare(&p, i, 0, NULL), 0);
			if (many || odb->packs[i].pack->idx.nr > 64)
				assert_int_equal(!p.tables[i].pack_pos, !many);
			deltas += check_pack(&p, i);
		}
		assert_true(deltas > 20);
		packs_release(&p);
		odb_close(odb);
		randrepo_release(&r);
	}
}

/*
 * Two invalid deltas. The distance of the first leads into the middle of an
 * object. The base of the second is not in the same pack.
 */
static void bad_bases(void **state)
{
	struct pack_entry ofs = {.type = OBJ_OFS_DELTA, .base_distance = 3};
	struct pack_entry ref = {.type = OBJ_REF_DELTA};
	struct packfile *file = malloc(sizeof(*file));
	struct packs_table table = {0};
	struct odb_pack odb_pack = {0};
	struct odb odb = {.packs = &odb_pack, .pack_nr = 1, .algo = HASH_SHA1};
	struct packs p = {&odb, &table};
	struct packs_stored stored;
	struct error err = ERROR_INIT;
	struct oid oid = OID_ZERO_INIT;
	uint32_t idx_pos, base;

	assert_non_null(file);
	packfile_init(file, HASH_SHA1);
	packfile_add(file, OBJ_BLOB, "base\n", 5);
	ofs.size = ref.size = 4;
	oid.bytes[0] = 1;
	ref.base_oid = oid.bytes;
	oid.bytes[0] = 0xfe;
	packfile_add_entry(file, &ofs, "abcd", 4, &oid);
	oid.bytes[0] = 0xff;
	packfile_add_entry(file, &ref, "abcd", 4, &oid);
	odb_pack.pack = packfile_open(file);
	assert_int_equal(packs_prepare(&p, 0, 3, NULL), 0);
	idx_pos = 1;
	assert_int_equal(packs_stored(&stored, &p, 0, idx_pos, NULL), 0);
	assert_int_equal(packs_base(&base, &p, 0, idx_pos, &stored, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, odb_pack.pack->path));
	idx_pos = 2;
	assert_int_equal(packs_stored(&stored, &p, 0, idx_pos, NULL), 0);
	stored.entry.base_oid = (const uint8_t *)"01234567890123456789";
	assert_int_equal(packs_base(&base, &p, 0, idx_pos, &stored, NULL), 0);
	free(table.pack_pos);
	pack_close(odb_pack.pack);
	packfile_release(file);
	free(file);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_entries),
		cmocka_unit_test(bad_bases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
