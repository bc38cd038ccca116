/* SPDX-License-Identifier: MIT */
/*
 * Random repositories with bitmap indexes, opened for queries. Tests compare
 * the results of queries with results found without the bitmap index. Include
 * this header after cmocka.h.
 */
#ifndef T_UNIT_BITMAPREPO_H
#define T_UNIT_BITMAPREPO_H

#include "bitmap/file-write.h"
#include "pack-bitmap.h"
#include "repack/repack.h"
#include "t/unit/randrepo.h"

static inline void bitmaprepo_options(struct repack_options *o,
				      const struct repo *repo)
{
	memset(o, 0, sizeof(*o));
	assert_int_equal(newpack_options_load(&o->newpack, repo, NULL), 0);
	o->newpack.fsync_pack = o->newpack.fsync_metadata = SYS_FSYNC_NONE;
	o->all = o->write_bitmap = o->remove_redundant = true;
}

/*
 * Repack the objects that refs reach. `all`: pack all of them again, like `git
 * repack -a`. `bitmap`: write a bitmap index.
 */
static inline void bitmaprepo_repack(struct randrepo *r, bool all, bool bitmap)
{
	struct error err = ERROR_INIT;
	struct repack_options options;
	struct repack_result result;

	bitmaprepo_options(&options, &r->t.repo);
	options.all = all;
	options.write_bitmap = bitmap;
	if (repack_run(&result, &r->t.repo, &options, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(result.warning.code, 0);
}

/*
 * A random repository that is opened for queries: a snapshot, its bitmap index,
 * and a walk.
 */
struct bitmaprepo {
	const struct randrepo *r;
	struct odb *odb;
	struct pack_bitmap *pb;
	struct walk walk;
	/*
	 * Indexed like r->objects. want[i]: the wants reach object i. had[i]:
	 * the haves reach object i. found[i]: a query found object i.
	 */
	bool *want, *had, *found;
};

static inline void bitmaprepo_open(struct bitmaprepo *b,
				   const struct randrepo *r)
{
	struct error err = ERROR_INIT;

	memset(b, 0, sizeof(*b));
	b->r = r;
	b->want = calloc(RANDREPO_MAX, sizeof(bool));
	b->had = calloc(RANDREPO_MAX, sizeof(bool));
	b->found = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(b->want && b->had && b->found);
	assert_int_equal(odb_open(&b->odb, &r->t.repo, NULL, NULL), 0);
	if (pack_bitmap_open(&b->pb, b->odb, &err) != 1)
		fail_msg("%s", err.msg);
	assert_int_equal(walk_open(&b->walk, b->odb, NULL, 0, NULL), 0);
}

static inline void bitmaprepo_close(struct bitmaprepo *b)
{
	walk_close(&b->walk);
	pack_bitmap_close(b->pb);
	odb_close(b->odb);
	free(b->want);
	free(b->had);
	free(b->found);
}

/*
 * Returns the index in r->objects[] of the object that bit `bit` of the bitmap
 * index stands for.
 */
static inline uint32_t bitmaprepo_at(const struct bitmaprepo *b, uint32_t bit)
{
	struct oid oid;
	uint32_t odb_pos;

	assert_int_equal(pack_bitmap_odb_pos(&odb_pos, b->pb, bit, NULL), 0);
	odb_oid(&oid, b->odb, odb_pos);
	return randrepo_find(b->r, &oid);
}

/*
 * Returns the index in r->objects[] of the commit whose bitmap is in row `row`
 * of the bitmap index.
 */
static inline uint32_t bitmaprepo_row(const struct bitmaprepo *b, uint32_t row)
{
	struct bitmap_row at = bitmap_file_row(&b->pb->file, row);
	struct oid oid;

	assert_true(at.idx_pos < b->pb->file.object_nr);
	oid_from_raw(&oid, bitmap_space_id(&b->pb->space, at.idx_pos),
		     b->odb->algo);
	return randrepo_find(b->r, &oid);
}

/*
 * Check that `set` has exactly the bits of the objects that the object `from`
 * reaches.
 */
static inline void bitmaprepo_check_reach(struct bitmaprepo *b,
					  const struct bitset *set,
					  uint32_t from)
{
	memset(b->want, 0, RANDREPO_MAX);
	randrepo_reach(b->r, b->want, from);
	for (uint32_t bit = 0; bit < b->pb->file.object_nr; bit++) {
		uint32_t nr = bitmaprepo_at(b, bit);

		assert_int_equal(bitset_test(set, bit), b->want[nr]);
		b->want[nr] = false;
	}
	/*
	 * Each object with a bit was removed from b->want above. The pack has
	 * all reachable objects, so no object may remain in b->want.
	 */
	for (uint32_t i = 0; i < b->r->nr; i++)
		assert_false(b->want[i]);
}

/*
 * Bitmaps that were read from a bitmap index. A test writes some of them to
 * another bitmap index of the same pack.
 */
struct bitmaprepo_rewrite {
	struct ewah *full, *stored; /* indexed by entry */
	struct bitmap_write_entry *entries;
	uint32_t nr;
};

static inline void bitmaprepo_take_row(struct bitmaprepo *b, uint64_t *seed,
				       struct bitmaprepo_rewrite *w,
				       uint32_t row)
{
	struct bitset set = BITSET_INIT, scratch = BITSET_INIT;
	struct ewah_view none = {0}, full, base;
	uint32_t nr = w->nr++, back = nr ? random_next(seed) % 12 : 0;

	assert_int_equal(bitset_init(&set, b->pb->file.object_nr), 0);
	assert_int_equal(
		bitmap_file_or(&set, &b->pb->file, row, &scratch, NULL), 0);
	assert_int_equal(ewah_from_bitset(&w->full[nr], &set), 0);
	full = ewah_view_of(&w->full[nr]);
	back = back > nr ? 0 : back;
	base = back ? ewah_view_of(&w->full[nr - back]) : none;
	assert_int_equal(ewah_xor(&w->stored[nr], &full, &base), 0);
	w->entries[nr] = (struct bitmap_write_entry){
		.idx_pos = bitmap_file_row(&b->pb->file, row).idx_pos,
		.xor_offset = (uint8_t)back,
		.bitmap = &w->stored[nr],
	};
	bitset_release(&set);
	bitset_release(&scratch);
}

/*
 * Random pseudo-merges. Older commits are in them more often than newer ones.
 */
struct bitmaprepo_pseudo {
	struct ewah commits[8], objects[8];
	struct bitmap_write_pseudo write[8];
	uint32_t nr;
};

static inline void bitmaprepo_take_pseudo(struct bitmaprepo *b, uint64_t *seed,
					  struct bitmaprepo_pseudo *p)
{
	bool *in = calloc(RANDREPO_MAX, sizeof(bool));
	uint32_t nr = p->nr++;

	assert_non_null(in);
	memset(b->want, 0, RANDREPO_MAX);
	for (uint64_t n = 1 + random_next(seed) % 5; n > 0; n--) {
		uint64_t end = 1 + random_next(seed) % b->r->commit_nr;
		uint32_t c = b->r->commits[random_next(seed) % end];
		uint32_t obj_pos, bit;

		if (!objspace_find(&b->walk.space, b->r->objects[c].oid.bytes,
				   &obj_pos) ||
		    !pack_bitmap_bit(b->pb, &b->walk, obj_pos, &bit))
			/*
			 * The commit is newer than the pack, so the pack does
			 * not have it.
			 */
			continue;
		in[c] = true;
		randrepo_reach(b->r, b->want, c);
	}
	ewah_init(&p->commits[nr]);
	ewah_init(&p->objects[nr]);
	for (uint32_t bit = 0; bit < b->pb->file.object_nr; bit++) {
		uint32_t at = bitmaprepo_at(b, bit);

		if (in[at])
			assert_int_equal(ewah_set(&p->commits[nr], bit), 0);
		if (b->want[at])
			assert_int_equal(ewah_set(&p->objects[nr], bit), 0);
	}
	p->write[nr] = (struct bitmap_write_pseudo){&p->commits[nr],
						    &p->objects[nr]};
	free(in);
}

static inline void bitmaprepo_pseudo_release(struct bitmaprepo_pseudo *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		ewah_release(&p->commits[i]);
		ewah_release(&p->objects[i]);
	}
}

static inline void bitmaprepo_types(struct bitmaprepo *b, struct ewah *types)
{
	for (int i = 0; i < BITMAP_TYPE_NR; i++) {
		struct bitset set;

		ewah_init(&types[i]);
		assert_int_equal(pack_bitmap_type_set(&set, b->pb, i), 0);
		assert_int_equal(ewah_from_bitset(&types[i], &set), 0);
		bitset_release(&set);
	}
}

/*
 * Write the bitmap index again with some of its bitmaps. Each bitmap is kept
 * with a probability of `keep` in 16, but at least one is kept. For each kept
 * bitmap, the bitmap with which it is XORed is chosen at random. Adds
 * `pseudo_nr` random pseudo-merges. `lookup_table`, `hash_cache`: whether the
 * new index has these sections.
 */
static inline void bitmaprepo_thin_out(struct randrepo *r, unsigned keep,
				       unsigned pseudo_nr, bool lookup_table,
				       bool hash_cache)
{
	struct ewah types[BITMAP_TYPE_NR];
	struct bitmaprepo_rewrite w = {0};
	struct bitmaprepo_pseudo pseudo = {.nr = 0};
	struct bitmap_write write;
	struct buf out = BUF_INIT;
	struct bitmaprepo b;
	uint32_t *cache, row_nr;

	bitmaprepo_open(&b, r);
	row_nr = b.pb->file.row_nr;
	w.full = calloc(row_nr, sizeof(*w.full));
	w.stored = calloc(row_nr, sizeof(*w.stored));
	w.entries = calloc(row_nr, sizeof(*w.entries));
	cache = calloc(b.pb->file.object_nr, sizeof(*cache));
	assert_true(w.full && w.stored && w.entries && cache);
	for (uint32_t i = 0; i < b.pb->file.object_nr; i++)
		cache[i] = bitmap_file_name_hash(&b.pb->file, i);
	for (uint32_t i = 0; i < row_nr; i++)
		if (random_next(r->seed) % 16 < keep ||
		    (i + 1 == row_nr && !w.nr))
			bitmaprepo_take_row(&b, r->seed, &w, i);
	while (pseudo.nr < pseudo_nr)
		bitmaprepo_take_pseudo(&b, r->seed, &pseudo);
	bitmaprepo_types(&b, types);
	write = (struct bitmap_write){
		.algo = r->t.repo.algo,
		.object_nr = b.pb->file.object_nr,
		.checksum = b.pb->space.pack->pack->checksum,
		.types = types,
		.entries = w.entries,
		.entry_nr = w.nr,
		.pseudo = pseudo.write,
		.pseudo_nr = pseudo.nr,
		.hash_cache = hash_cache ? cache : NULL,
		.lookup_table = lookup_table,
	};
	assert_int_equal(bitmap_file_write(&out, &write, NULL), 0);
	tmprepo_write_len(&r->t, b.pb->path + strlen(r->t.dir) + 1, out.data,
			  out.len);
	for (uint32_t i = 0; i < row_nr; i++) {
		ewah_release(&w.full[i]);
		ewah_release(&w.stored[i]);
	}
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types[i]);
	bitmaprepo_pseudo_release(&pseudo);
	free(w.full);
	free(w.stored);
	free(w.entries);
	free(cache);
	buf_release(&out);
	bitmaprepo_close(&b);
}

/*
 * Write the bitmap index again with only one of its bitmaps, in which one bit
 * is wrong. Sets *nr to the commit of the bitmap, and *wrong to the object of
 * the wrong bit, both as indexes in r->objects[].
 */
static inline void bitmaprepo_write_wrong(struct randrepo *r, uint32_t *nr,
					  uint32_t *wrong)
{
	struct bitset set, scratch = BITSET_INIT;
	struct ewah types[BITMAP_TYPE_NR], bitmap;
	struct bitmap_write_entry entry = {.bitmap = &bitmap};
	struct bitmap_write write = {.entries = &entry, .entry_nr = 1};
	struct buf out = BUF_INIT;
	struct bitmaprepo b;
	uint32_t row, bit;

	bitmaprepo_open(&b, r);
	row = randrepo_below(r, b.pb->file.row_nr);
	bit = randrepo_below(r, b.pb->file.object_nr);
	*nr = bitmaprepo_row(&b, row);
	*wrong = bitmaprepo_at(&b, bit);
	assert_int_equal(bitset_init(&set, b.pb->file.object_nr), 0);
	assert_int_equal(bitmap_file_or(&set, &b.pb->file, row, &scratch, NULL),
			 0);
	set.words[bit / 64] ^= UINT64_C(1) << (bit % 64);
	ewah_init(&bitmap);
	assert_int_equal(ewah_from_bitset(&bitmap, &set), 0);
	bitmaprepo_types(&b, types);
	entry.idx_pos = bitmap_file_row(&b.pb->file, row).idx_pos;
	write.algo = HASH_SHA1;
	write.object_nr = b.pb->file.object_nr;
	write.checksum = b.pb->space.pack->pack->checksum;
	write.types = types;
	assert_int_equal(bitmap_file_write(&out, &write, NULL), 0);
	tmprepo_write_len(&r->t, b.pb->path + strlen(r->t.dir) + 1, out.data,
			  out.len);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types[i]);
	ewah_release(&bitmap);
	bitset_release(&set);
	bitset_release(&scratch);
	buf_release(&out);
	bitmaprepo_close(&b);
}

/*
 * Choose up to `max` random objects as tips: usually commits, and recent
 * commits more often than old ones. Sets reached[i] for each object that the
 * tips reach.
 */
static inline void bitmaprepo_tips(struct bitmaprepo *b, uint64_t *seed,
				   struct walk_tips *tips, bool *reached,
				   uint32_t max)
{
	const struct randrepo *r = b->r;

	memset(reached, 0, RANDREPO_MAX);
	for (uint64_t n = random_next(seed) % (max + 1); n > 0; n--) {
		uint32_t nr = (uint32_t)(random_next(seed) % r->nr);
		uint64_t kind = random_next(seed) % 8;

		if (kind < 3)
			nr = r->commits[random_next(seed) % r->commit_nr];
		else if (kind < 6)
			nr = r->commits[r->commit_nr - 1 -
					random_next(seed) % 10];
		assert_int_equal(walk_add_tip(&b->walk, tips,
					      &r->objects[nr].oid, false, NULL),
				 0);
		randrepo_reach(r, reached, nr);
	}
}

static inline int bitmaprepo_note(void *ctx, uint32_t obj_pos,
				  enum object_type type)
{
	struct bitmaprepo *b = ctx;
	struct oid oid;
	uint32_t nr;

	objspace_oid(&oid, &b->walk.space, obj_pos);
	nr = randrepo_find(b->r, &oid);
	assert_int_equal(b->r->objects[nr].type, type);
	assert_false(b->found[nr]);
	b->found[nr] = true;
	return 0;
}

/*
 * Check that a query has found exactly the objects that the wants reach and the
 * haves do not reach. The objects' types are checked, too.
 */
static inline void bitmaprepo_check(struct bitmaprepo *b,
				    const struct pack_bitmap_result *result)
{
	static const enum object_type types[BITMAP_TYPE_NR] = {
		OBJ_COMMIT, OBJ_TREE, OBJ_BLOB, OBJ_TAG};
	uint64_t counts[BITMAP_TYPE_NR], expected[BITMAP_TYPE_NR] = {0};

	memset(b->found, 0, RANDREPO_MAX);
	assert_int_equal(
		pack_bitmap_each(b->pb, result, bitmaprepo_note, b, NULL), 0);
	for (uint32_t i = 0; i < b->r->nr; i++) {
		bool expect = b->want[i] && !b->had[i];

		assert_int_equal(b->found[i], expect);
		for (int k = 0; k < BITMAP_TYPE_NR; k++)
			expected[k] += expect &&
				       b->r->objects[i].type == types[k];
	}
	pack_bitmap_count(counts, b->pb, result);
	assert_memory_equal(counts, expected, sizeof(counts));
	/*
	 * For objects of the indexed pack, result->uninteresting must have
	 * exactly those that the haves reach.
	 */
	for (uint32_t bit = 0; bit < b->pb->file.object_nr; bit++)
		if (result->uninteresting.bits)
			assert_int_equal(
				bitset_test(&result->uninteresting, bit),
				b->had[bitmaprepo_at(b, bit)]);
}

/*
 * The trace of a query has counters for the haves and counters for the wants.
 * Check that they agree with each other and with the result.
 */
static inline void bitmaprepo_check_trace(const struct pack_bitmap_result *r)
{
	const struct pack_bitmap_trace *t = r->trace;
	const struct pack_bitmap_phase *h = &t->haves, *w = &t->wants;

	assert_int_equal(t->used.row_nr, r->bitmaps_used);
	assert_int_equal(t->used.pseudo_nr, r->pseudo_merges_used);
	assert_int_equal(h->bitmaps_used + w->bitmaps_used, r->bitmaps_used);
	assert_int_equal(h->pseudo_merges_used + w->pseudo_merges_used,
			 r->pseudo_merges_used);
	assert_int_equal(h->commits_walked + w->commits_walked,
			 r->commits_walked);
	assert_int_equal(w->objects, bitset_count(&r->packed) + r->others.nr);
	assert_true(w->objects_walked <= w->objects);
	assert_true(h->objects_walked <= h->objects);
	if (!w->bitmaps_used && !w->pseudo_merges_used)
		assert_int_equal(w->objects_walked, w->objects);
}

/*
 * Run one random query and check its result. Adds the number of bitmaps that
 * the query used to *used, and the number of pseudo-merges to *pseudo_used.
 */
static inline void bitmaprepo_query(struct bitmaprepo *b, uint64_t *seed,
				    uint32_t *used, uint32_t *pseudo_used)
{
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	struct pack_bitmap_trace trace = {0};
	struct error err = ERROR_INIT;

	result.trace = random_next(seed) % 2 ? &trace : NULL;
	bitmaprepo_tips(b, seed, &wants, b->want,
			random_next(seed) % 8 ? 5 : 40);
	bitmaprepo_tips(b, seed, &haves, b->had,
			random_next(seed) % 8 ? 4 : 30);
	if (pack_bitmap_query(&result, b->pb, &b->walk, &wants, &haves, NULL,
			      &err) < 0)
		fail_msg("%s", err.msg);
	bitmaprepo_check(b, &result);
	if (result.trace)
		bitmaprepo_check_trace(&result);
	bitmap_trace_release(&trace.used);
	*used += result.bitmaps_used;
	*pseudo_used += result.pseudo_merges_used;
	pack_bitmap_result_release(&result);
	walk_tips_release(&wants);
	walk_tips_release(&haves);
}

/*
 * Append the content of the bitmap index file to *bytes. Returns the path of
 * the file in the repository, malloc()ed.
 */
static inline char *bitmaprepo_read_index(const struct randrepo *r,
					  const struct odb *odb,
					  struct buf *bytes)
{
	struct pack_bitmap *pb;
	char *name;

	assert_int_equal(pack_bitmap_open(&pb, odb, NULL), 1);
	name = strdup(pb->path + strlen(r->t.dir) + 1);
	assert_non_null(name);
	assert_int_equal(buf_append(bytes, pb->map.data, pb->map.len), 0);
	pack_bitmap_close(pb);
	return name;
}

#endif
