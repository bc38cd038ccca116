/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/update.c, which adds bitmaps to an existing index: after
 * several updates, all bitmaps are right, and only few are added. Further tests
 * call bitmap_update_choose() alone and check its choice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/choose.h"
#include "t/unit/midxbitmap.h"
/* Let only a sample of the allocations fail, since each call writes files. */
#define NOMEM_MAX 120
#include "t/unit/nomem.h"

static void rounds(void **state)
{
	uint64_t seed = random_seed();
	uint32_t used = 0, pseudo = 0, rows = 0;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	for (int i = 0; i < 5; i++) {
		struct bitmaprepo b;

		midxbitmap_write(&r);
		bitmaprepo_open(&b, &r);
		midxbitmap_check_rows(&b);
		for (int k = 0; k < 10; k++)
			bitmaprepo_query(&b, &seed, &used, &pseudo);
		/* Existing bitmaps stay. */
		assert_true(b.pb->file.row_nr >= rows);
		rows = b.pb->file.row_nr;
		bitmaprepo_close(&b);
		randrepo_history(&r, 1 + randrepo_below(&r, 12));
		for (uint32_t k = 0; k < 10; k++)
			r.objects[randrepo_below(&r, r.nr)].is_stored = false;
		randrepo_store_pack(&r);
		randrepo_all_refs(&r);
	}
	assert_true(used > 0);
	randrepo_release(&r);
}

/*
 * With configured pseudo-merges, all bitmaps are right after each update, and
 * queries use the pseudo-merges.
 */
static void pseudo_merges(void **state)
{
	static const char config[] = "[bitmapPseudoMerge \"all\"]\n"
				     "pattern = refs/\nthreshold = now\n"
				     "stableThreshold = never\n";
	uint64_t seed = random_seed();
	uint32_t used = 0, pseudo = 0;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	r.t.repo.config = (struct config)CONFIG_INIT;
	assert_int_equal(config_parse(&r.t.repo.config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	for (int i = 0; i < 4; i++) {
		struct bitmaprepo b;

		midxbitmap_write(&r);
		bitmaprepo_open(&b, &r);
		midxbitmap_check_rows(&b);
		assert_true(b.pb->file.pseudo.nr > 0);
		for (int k = 0; k < 10; k++)
			bitmaprepo_query(&b, &seed, &used, &pseudo);
		bitmaprepo_close(&b);
		randrepo_history(&r, 5);
		randrepo_store_pack(&r);
		for (uint32_t k = r.commit_nr - 5; k < r.commit_nr; k++) {
			char name[64];

			snprintf(name, sizeof(name), "refs/heads/n%u", k);
			randrepo_ref(&r, name, r.commits[k]);
		}
	}
	assert_true(pseudo > 0);
	config_release(&r.t.repo.config);
	randrepo_release(&r);
}

static int write_index(void *ctx, struct error *err)
{
	const struct randrepo *r = ctx;
	struct newpack_options newpack;
	struct multi_pack_options o = {.bitmap = &newpack};
	struct multi_pack_result result;
	struct refs *refs = NULL;
	struct odb *odb = NULL;
	int ret = newpack_options_load(&newpack, &r->t.repo, err);

	newpack.fsync_pack = newpack.fsync_metadata = SYS_FSYNC_NONE;
	if (!ret)
		ret = refs_open(&refs, &r->t.repo, err);
	if (!ret)
		ret = odb_open(&odb, &r->t.repo, NULL, err);
	o.refs = refs;
	if (!ret)
		ret = multi_pack_write(&result, odb, &o, err);
	odb_close(odb);
	refs_close(refs);
	return ret;
}

static void remove_index(void *ctx)
{
	const struct randrepo *r = ctx;

	tmprepo_write(&r->t, "objects/pack/multi-pack-index", "");
	tmprepo_remove(&r->t, "objects/pack/multi-pack-index");
}

static void check_index(void *ctx)
{
	const struct randrepo *r = ctx;
	struct bitmaprepo b;

	bitmaprepo_open(&b, r);
	midxbitmap_check_rows(&b);
	assert_true(b.pb->file.row_nr > 0);
	bitmaprepo_close(&b);
}

/* If an allocation fails, either no bitmap index is written, or a right one. */
static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 12);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	nomem_each(remove_index, write_index, check_index, &r);
	randrepo_history(&r, 2);
	randrepo_store_pack(&r);
	randrepo_ref(&r, "refs/tags/last", r.commits[r.commit_nr - 1]);
	nomem_each(NULL, write_index, check_index, &r);
	randrepo_release(&r);
}

/* Apart from tips, only some of the new commits get bitmaps. */
static void few_are_added(void **state)
{
	uint64_t seed = random_seed();
	struct bitmaprepo b;
	struct randrepo r;
	uint32_t before, added;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 50);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	midxbitmap_write(&r);
	bitmaprepo_open(&b, &r);
	before = b.pb->file.row_nr;
	bitmaprepo_close(&b);
	randrepo_history(&r, 40);
	randrepo_store_pack(&r);
	randrepo_ref(&r, "refs/tags/last", r.commits[r.commit_nr - 1]);
	midxbitmap_write(&r);
	bitmaprepo_open(&b, &r);
	midxbitmap_check_rows(&b);
	added = b.pb->file.row_nr - before;
	assert_in_range(added, 1, 40 / UPDATE_GAP + 1);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* ---- tests of bitmap_update_choose() alone */

/*
 * A pack with a bitmap index, and a multi-pack-index of this pack and a newer
 * one. bitmap_update_choose() chooses the bitmaps that are added for the newer
 * pack.
 */
struct sample {
	struct randrepo r;
	struct bitmaprepo old; /* the repository without the newer pack */
	struct odb *odb;
	struct pack_midx_order order;
	struct bitmap_space space;
	struct walk walk;
	struct walk_tips tips;
	struct bitmap_previous previous;
	struct bitmap_update_input in;
};

/* Adds a commit with one new blob. Returns its index in r->objects[]. */
static uint32_t add_commit(struct randrepo *r, uint32_t parent)
{
	uint32_t n = r->commit_nr;
	const uint8_t files[RANDREPO_FILES] = {
		[9] = (uint8_t)(1 + n % 100),
		[10] = (uint8_t)(1 + n / 100),
	};

	return randrepo_commit(r, files, &parent, n > 0,
			       1700000000 + 60 * (uint64_t)n);
}

/*
 * The old pack has a line of `old_nr` commits. The newer pack has `new_nr` more
 * commits. If `branches` is true, each of them is a child of the last commit of
 * the line. Otherwise these commits continue the line.
 */
static void sample_make(struct sample *s, uint32_t old_nr, uint32_t new_nr,
			bool branches, uint64_t *seed)
{
	struct randrepo *r = &s->r;
	uint32_t last = 0;

	randrepo_init(r, HASH_SHA1, seed);
	for (uint32_t i = 0; i < old_nr; i++)
		last = add_commit(r, last);
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	bitmaprepo_repack(r, true, true);
	bitmaprepo_open(&s->old, r);
	for (uint32_t i = 0; i < new_nr; i++) {
		uint32_t c = add_commit(r, last);

		last = branches ? last : c;
	}
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	midxbitmap_write(r);
}

static void sample_init(struct sample *s, uint32_t old_nr, uint32_t new_nr,
			bool branches, uint64_t *seed)
{
	memset(s, 0, sizeof(*s));
	sample_make(s, old_nr, new_nr, branches, seed);
	assert_int_equal(odb_open(&s->odb, &s->r.t.repo, NULL, NULL), 0);
	assert_int_equal(pack_midx_order_init(&s->order,
					      &s->odb->midxes[0]->midx, NULL, 0,
					      NULL),
			 0);
	s->space = bitmap_space_of_midx(s->odb, s->odb->midxes[0], &s->order);
	assert_int_equal(walk_open(&s->walk, s->odb, NULL, 0, NULL), 0);
	for (uint32_t i = branches ? old_nr : old_nr + new_nr - 1;
	     i < s->r.commit_nr; i++)
		assert_int_equal(
			walk_add_tip(&s->walk, &s->tips,
				     &s->r.objects[s->r.commits[i]].oid, false,
				     NULL),
			0);
	s->in = (struct bitmap_update_input){
		.previous = &s->previous,
		.space = &s->space,
		.walk = &s->walk,
		.tips = s->tips.commits,
		.tip_nr = s->tips.commit_nr,
		.pseudo_merges = true,
		.grouped_max = SIZE_MAX,
	};
}

static void sample_release(struct sample *s)
{
	bitmap_previous_release(&s->previous);
	walk_tips_release(&s->tips);
	walk_close(&s->walk);
	pack_midx_order_release(&s->order);
	odb_close(s->odb);
	bitmaprepo_close(&s->old);
	randrepo_release(&s->r);
}

static void load_previous(struct sample *s, const struct bitmap_file *file)
{
	assert_int_equal(bitmap_previous_load(&s->previous, file,
					      &s->old.pb->space, &s->space,
					      &s->walk, NULL),
			 0);
}

/* If most commits are new, the index should be made from scratch. */
static void many_new(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_update update;

	for (uint32_t new_nr = 10; new_nr <= 100; new_nr += 90) {
		struct sample s;

		sample_init(&s, 20, new_nr, false, &seed);
		load_previous(&s, &s.old.pb->file);
		assert_int_equal(bitmap_update_choose(&update, &s.in, NULL),
				 new_nr > 10);
		assert_int_equal(update.new_nr, new_nr);
		bitmap_update_release(&update);
		sample_release(&s);
	}
}

/*
 * All tips are new. Those that get no bitmap must form one pseudo-merge. The
 * input lists each tip twice, but the pseudo-merge must contain it once. To
 * build the pseudo-merge, the objects that each new commit adds must be known.
 * So update.commits[], which lists the commits whose objects are needed, must
 * have all new tips.
 */
static void new_tips_are_grouped(void **state)
{
	enum { OLD = 300, NEW = 100, GROUPED = NEW - NEW / UPDATE_GAP };
	uint64_t seed = random_seed();
	struct bitmap_update update;
	uint32_t *twice;
	struct sample s;
	size_t nr;

	sample_init(&s, OLD, NEW, true, &seed);
	load_previous(&s, &s.old.pb->file);
	nr = s.in.tip_nr;
	assert_int_equal(nr, NEW);
	twice = calloc(2 * nr, sizeof(*twice));
	assert_non_null(twice);
	memcpy(twice, s.in.tips, nr * sizeof(*twice));
	memcpy(twice + nr, s.in.tips, nr * sizeof(*twice));
	s.in.tips = twice;
	s.in.tip_nr = 2 * nr;
	assert_int_equal(bitmap_update_choose(&update, &s.in, NULL), 0);
	assert_int_equal(update.selected_nr, NEW - GROUPED);
	assert_int_equal(update.groups.nr, 1);
	assert_int_equal(update.groups.groups[0].nr, GROUPED);
	assert_int_equal(update.commit_nr, NEW);
	bitmap_update_release(&update);
	free(twice);
	sample_release(&s);
}

/*
 * The index of a layer (of a chain of multi-pack-indexes) is made without an
 * older index. So all commits of the layer are new, and one of every UPDATE_GAP
 * commits gets a bitmap.
 */
static void layers_have_gaps(void **state)
{
	const struct bitmap_file empty = {.name = "empty"};
	uint64_t seed = random_seed();
	struct bitmap_update update;
	struct sample s;

	sample_init(&s, 30, 30, false, &seed);
	s.in.previous = NULL;
	s.in.below = &empty;
	assert_int_equal(bitmap_update_choose(&update, &s.in, NULL), 0);
	assert_int_equal(update.new_nr, 60);
	assert_int_equal(update.selected_nr, 60 / UPDATE_GAP);
	bitmap_update_release(&update);
	sample_release(&s);
}

/*
 * Writes a bitmap index in which each commit of the old pack has a bitmap. In
 * each bitmap every second bit is set, so no bitmap can be compressed.
 */
static void write_full(struct buf *out, struct bitmaprepo *b)
{
	uint32_t nr = 0, most = b->pb->file.object_nr;
	struct bitmap_write_entry *entries = calloc(most, sizeof(*entries));
	struct ewah types[BITMAP_TYPE_NR], bitmap;
	struct bitmap_write write = {
		.algo = HASH_SHA1,
		.object_nr = most,
		.checksum = b->pb->space.pack->pack->checksum,
		.types = types,
		.entries = entries,
	};

	assert_non_null(entries);
	ewah_init(&bitmap);
	for (uint32_t bit = 0; bit < most; bit += 2)
		assert_int_equal(ewah_set(&bitmap, bit), 0);
	bitmaprepo_types(b, types);
	for (uint32_t bit = 0; bit < most; bit++)
		if (ewah_test(&b->pb->file.types[BITMAP_COMMITS], bit))
			entries[nr++] = (struct bitmap_write_entry){
				.idx_pos = pack_bitmap_idx_pos(b->pb, bit),
				.bitmap = &bitmap,
			};
	write.entry_nr = nr;
	assert_int_equal(bitmap_file_write(out, &write, NULL), 0);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types[i]);
	ewah_release(&bitmap);
	free(entries);
}

/*
 * The older index has a bitmap of each of its 300 commits. An index made from
 * scratch has a third of them. So the index should be made from scratch, unless
 * a larger budget is configured.
 */
static void too_many_bitmaps(void **state)
{
	uint64_t seed = random_seed();
	struct buf bytes = BUF_INIT;
	struct bitmap_update update;
	struct bitmap_file file;
	struct sample s;

	sample_init(&s, 300, 10, false, &seed);
	write_full(&bytes, &s.old);
	assert_int_equal(bitmap_file_parse(&file, bytes.data, bytes.len,
					   s.old.pb->file.object_nr, HASH_SHA1,
					   "full", NULL),
			 0);
	load_previous(&s, &file);
	assert_int_equal(s.previous.nr, 300);
	assert_int_equal(bitmap_update_choose(&update, &s.in, NULL), 1);
	bitmap_update_release(&update);
	s.in.budget_words = 1 << 20;
	assert_int_equal(bitmap_update_choose(&update, &s.in, NULL), 0);
	bitmap_update_release(&update);
	bitmap_file_release(&file);
	buf_release(&bytes);
	sample_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds),
		cmocka_unit_test(pseudo_merges),
		cmocka_unit_test(few_are_added),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(many_new),
		cmocka_unit_test(new_tips_are_grouped),
		cmocka_unit_test(layers_have_gaps),
		cmocka_unit_test(too_many_bitmaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
