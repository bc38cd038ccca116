/* SPDX-License-Identifier: MIT */
/*
 * Random repositories of several packs with a multi-pack-index and its bitmap
 * index. Include this header after cmocka.h.
 */
#ifndef T_UNIT_MIDXBITMAP_H
#define T_UNIT_MIDXBITMAP_H

#include "midx/multi-pack.h"
#include "t/unit/bitmaprepo.h"

/*
 * Make a random history, and store it in `packs` + 1 packs. The first pack has
 * most commits. Each further pack has 8 newer commits, and copies of some older
 * objects.
 */
static inline void midxbitmap_history(struct randrepo *r, uint64_t *seed,
				      enum hash_algo algo, unsigned packs)
{
	randrepo_init(r, algo, seed);
	randrepo_history(r, 60);
	for (unsigned i = 0; i < packs; i++) {
		randrepo_store_pack(r);
		/*
		 * Forget that some objects are stored, so that the next pack
		 * contains them again.
		 */
		for (uint32_t k = 0; k < 20; k++)
			r->objects[randrepo_below(r, r->nr)].is_stored = false;
		randrepo_history(r, 8);
	}
	randrepo_store_pack(r);
	randrepo_all_refs(r);
}

static inline int midxbitmap_write_but(const struct randrepo *r,
				       const struct strlist *but,
				       struct multi_pack_result *result,
				       struct error *err)
{
	struct newpack_options newpack;
	struct multi_pack_options o = {.bitmap = &newpack, .but = but};
	struct refs *refs;
	struct odb *odb;
	int ret;

	assert_int_equal(newpack_options_load(&newpack, &r->t.repo, NULL), 0);
	assert_int_equal(refs_open(&refs, &r->t.repo, NULL), 0);
	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	o.refs = refs;
	ret = multi_pack_write(result, odb, &o, err);
	odb_close(odb);
	refs_close(refs);
	return ret;
}

static inline void midxbitmap_write(const struct randrepo *r)
{
	struct multi_pack_result result;
	struct error err = ERROR_INIT;

	if (midxbitmap_write_but(r, NULL, &result, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(result.bitmap_nr > 0);
}

/*
 * Compare each bitmap of the bitmap index with the objects that the bitmap's
 * commit reaches.
 */
static inline void midxbitmap_check_rows(struct bitmaprepo *b)
{
	struct bitset set = BITSET_INIT, scratch = BITSET_INIT;

	assert_non_null(b->pb->space.midx);
	assert_int_equal(bitset_init(&set, b->pb->file.object_nr), 0);
	for (uint32_t row = 0; row < b->pb->file.row_nr; row++) {
		bitset_clear(&set);
		assert_int_equal(
			bitmap_file_or(&set, &b->pb->file, row, &scratch, NULL),
			0);
		bitmaprepo_check_reach(b, &set, bitmaprepo_row(b, row));
	}
	for (uint32_t bit = 0; bit < b->pb->file.object_nr; bit++)
		assert_int_equal(pack_bitmap_type(b->pb, bit),
				 b->r->objects[bitmaprepo_at(b, bit)].type);
	bitset_release(&set);
	bitset_release(&scratch);
}

#endif
