/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/repack-midx.c, which writes the multi-pack-index of a repack:
 * the index, or the layers of its chain, contain all packs that stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/affix.h"
#include "pack/mtimes.h"
#include "repack/repack-parts.h"
#include "t/unit/midxbitmap.h"
/* Let only a sample of the allocations fail, since each call writes files. */
#define NOMEM_MAX 60
#include "t/unit/nomem.h"

static void run(struct randrepo *r, bool all, uint64_t geometric, bool bitmap,
		struct repack_result *result)
{
	struct error err = ERROR_INIT;
	struct repack_options o;

	bitmaprepo_options(&o, &r->t.repo);
	o.all = all;
	o.geometric = geometric;
	o.write_bitmap = bitmap;
	o.write_midx = o.midx_must_contain_cruft = true;
	if (repack_run(result, &r->t.repo, &o, &err) != 0)
		fail_msg("%s", err.msg);
	assert_int_equal(result->warning.code, 0);
}

/*
 * Check that the multi-pack-index has all packs of the repository, and that all
 * packs that it names exist.
 */
static void check_covers(const struct randrepo *r, uint32_t packs)
{
	struct error warning;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &r->t.repo, &warning, NULL), 0);
	assert_int_equal(warning.code, 0);
	assert_non_null(odb->midxes[0]);
	assert_int_equal(odb->pack_nr, odb->midxes[0]->midx.pack_nr);
	if (packs)
		assert_int_equal(odb->pack_nr, packs);
	odb_close(odb);
}

static void all_into_one(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 2);
	run(&r, true, 0, true, &result);
	assert_int_equal(result.midx_pack_nr, 1);
	assert_true(result.bitmap_nr > 0);
	check_covers(&r, 1);
	bitmaprepo_open(&b, &r);
	midxbitmap_check_rows(&b);
	bitmaprepo_close(&b);
	/*
	 * A second repack makes a pack with the same name. This pack must not
	 * be removed as an old one.
	 */
	run(&r, true, 0, true, &result);
	check_covers(&r, 1);
	randrepo_release(&r);
}

static void geometric(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 3);
	for (int i = 0; i < 4; i++) {
		struct bitmaprepo b;
		uint32_t largest = 0;

		run(&r, false, 2, true, &result);
		check_covers(&r, 0);
		bitmaprepo_open(&b, &r);
		midxbitmap_check_rows(&b);
		for (uint32_t k = 1; k < b.odb->pack_nr; k++)
			if (b.odb->packs[k].pack->idx.nr >
			    b.odb->packs[largest].pack->idx.nr)
				largest = k;
		/*
		 * The new pack is preferred. So its objects have the first bit
		 * positions.
		 */
		assert_int_equal(b.pb->order.spans[b.pb->order.preferred].nr,
				 b.odb->packs[largest].pack->idx.nr);
		bitmaprepo_close(&b);
		randrepo_history(&r, 6);
		randrepo_store(&r);
		randrepo_all_refs(&r);
	}
	randrepo_release(&r);
}

/*
 * One ref points to a missing object. A geometric repack still writes the
 * multi-pack-index, and bitmaps of the objects that other refs reach.
 */
static void geometric_with_broken_ref(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	tmprepo_write(&r.t, "refs/heads/broken",
		      "1234567890123456789012345678901234567890\n");
	run(&r, false, 2, true, &result);
	assert_true(result.bitmap_nr > 0);
	check_covers(&r, 0);
	bitmaprepo_open(&b, &r);
	midxbitmap_check_rows(&b);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * When a multi-pack-index gets a bitmap index, the bitmap index of a single
 * pack is removed: readers would not use it.
 */
static void pack_bitmaps_go(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct pack_bitmap *pb;
	struct randrepo r;
	struct odb *odb;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	bitmaprepo_repack(&r, true, true);
	randrepo_history(&r, 3);
	randrepo_store(&r);
	randrepo_all_refs(&r);
	for (int bitmap = 0; bitmap < 2; bitmap++) {
		run(&r, false, 0, bitmap, &result);
		check_covers(&r, 2);
		assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
		for (uint32_t i = 0; bitmap && i < odb->pack_nr; i++)
			assert_int_equal(pack_bitmap_open_pack(&pb, odb,
							       &odb->packs[i],
							       NULL),
					 0);
		assert_int_equal(pack_bitmap_open(&pb, odb, NULL), 1);
		assert_int_equal(pb->space.midx != NULL, bitmap);
		pack_bitmap_close(pb);
		odb_close(odb);
	}
	randrepo_release(&r);
}

/* Returns the number of layers of the chain of multi-pack-indexes. */
static uint32_t layers_of(const struct randrepo *r)
{
	struct odb *odb;
	uint32_t nr = 0;

	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	for (const struct odb_midx *m = odb->midxes[0]; m; m = m->base)
		nr++;
	odb_close(odb);
	return nr;
}

static void run_layers(struct randrepo *r, uint64_t split_factor, bool bitmap)
{
	struct error err = ERROR_INIT;
	struct repack_result result;
	struct repack_options o;

	bitmaprepo_options(&o, &r->t.repo);
	o.all = false;
	o.write_bitmap = bitmap;
	o.geometric = split_factor ? 2 : 0;
	o.write_midx = o.midx_layers = o.midx_must_contain_cruft = true;
	o.midx_split_factor = split_factor;
	o.midx_new_layer_threshold = 1;
	if (repack_run(&result, &r->t.repo, &o, &err) != 0)
		fail_msg("%s", err.msg);
	assert_int_equal(result.warning.code, 0);
}

/*
 * Each repack adds a layer to the chain. A geometric repack merges layers, so
 * that each layer is small in comparison to those below.
 */
static void layers(void **state)
{
	uint64_t seed = random_seed();
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	for (uint32_t i = 0; i < 3; i++) {
		run_layers(&r, 0, true);
		assert_int_equal(layers_of(&r), i + 1);
		bitmaprepo_open(&b, &r);
		assert_int_equal(b.pb->base != NULL, i > 0);
		bitmaprepo_close(&b);
		randrepo_history(&r, 5);
		randrepo_store(&r);
		randrepo_all_refs(&r);
	}
	run_layers(&r, 1000, true);
	assert_int_equal(layers_of(&r), 1);
	bitmaprepo_open(&b, &r);
	midxbitmap_check_rows(&b);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* A repack without bitmaps adds layers to a chain, too. */
static void plain_layers(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	for (uint32_t i = 0; i < 3; i++) {
		run_layers(&r, 0, false);
		assert_int_equal(layers_of(&r), i + 1);
		randrepo_history(&r, 5);
		randrepo_store(&r);
		randrepo_all_refs(&r);
	}
	run_layers(&r, 1000, false);
	assert_int_equal(layers_of(&r), 1);
	randrepo_release(&r);
}

/*
 * The repository, the options and the result of a call of repack_midx_write().
 */
struct writing {
	struct randrepo r;
	bool bitmap_is_default, leaves_cruft, layers;
	uint64_t split_factor;
	struct repack_result result;
	/* Number of times that a multi-pack-index was made. */
	unsigned tries;
	/* The .idx file that is removed in the next try; empty: none. */
	char leaving[64];
	char newest[32]; /* the .idx file of the newest pack */
};

/*
 * Callback for the text of progress meters. Counts how often a multi-pack-index
 * was made.
 */
static void count_try(void *ctx, const char *text, size_t len)
{
	struct writing *w = ctx;

	if (!memmem(text, len, "Adding packfiles", 16) ||
	    !memmem(text, len, "done", 4))
		return;
	w->tries++;
	if (w->leaving[0])
		tmprepo_remove(&w->r.t, w->leaving);
	w->leaving[0] = '\0';
}

static int write_midx(void *ctx, struct error *err)
{
	struct writing *w = ctx;
	const struct progress_out progress = {.put = count_try, .ctx = w};
	struct newpack_options newpack;
	struct repack_midx_request rq = {
		.repo = &w->r.t.repo,
		.newpack = &newpack,
		.bitmap = !w->layers,
		.bitmap_is_default = w->bitmap_is_default,
		.must_contain_cruft = !w->leaves_cruft,
		.layers = w->layers,
		.split_factor = w->split_factor,
	};
	int ret = newpack_options_load(&newpack, rq.repo, err);

	w->result = (struct repack_result){.warning = ERROR_INIT};
	newpack.fsync_pack = newpack.fsync_metadata = SYS_FSYNC_NONE;
	newpack.make.progress = &progress;
	if (!ret)
		ret = refs_open(&rq.refs, rq.repo, err);
	if (!ret)
		ret = repack_midx_write(&w->result, &rq, err);
	refs_close(rq.refs);
	return ret;
}

static bool has_midx(const struct randrepo *r)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/pack/multi-pack-index", r->t.objects);
	return sys_exists(path);
}

static void no_packs(void **state)
{
	uint64_t seed = random_seed();
	struct writing w = {.bitmap_is_default = false};

	randrepo_init(&w.r, HASH_SHA1, &seed);
	assert_int_equal(write_midx(&w, NULL), 0);
	assert_int_equal(w.result.midx_pack_nr, 0);
	assert_false(has_midx(&w.r));
	randrepo_release(&w.r);
}

/*
 * Local packs lack some older reachable objects, so a bitmap index cannot be
 * made. The result depends on two facts: whether an option asks for the bitmap
 * index, and whether there is an alternate, which may have the objects.
 *
 * - No option: a multi-pack-index without a bitmap index is written, and there
 *   is no warning.
 * - An option and an alternate: the same is written, with a warning.
 * - An option and no alternate: the call fails.
 */
static void not_closed(void **state)
{
	uint64_t seed = random_seed();
	struct writing w = {.bitmap_is_default = false};

	randrepo_init(&w.r, HASH_SHA1, &seed);
	randrepo_history(&w.r, 10);
	randrepo_store(&w.r);
	randrepo_history(&w.r, 5);
	randrepo_store_pack(&w.r);
	randrepo_all_refs(&w.r);
	assert_int_equal(write_midx(&w, NULL), ERR_MISSING);
	assert_false(has_midx(&w.r));
	tmprepo_write(&w.r.t, "other/pack/x", "");
	tmprepo_write(&w.r.t, "objects/info/alternates", "../other\n");
	for (int with = 1; with >= 0; with--) {
		for (int is_default = 0; is_default < with + 1; is_default++) {
			w.bitmap_is_default = is_default || !with;
			assert_int_equal(write_midx(&w, NULL), 0);
			assert_int_equal(w.result.midx_pack_nr, 1);
			assert_int_equal(w.result.bitmap_nr, 0);
			assert_int_equal(w.result.warning.code,
					 w.bitmap_is_default ? 0 : ERR_INVALID);
			check_covers(&w.r, 1);
		}
		if (with)
			tmprepo_remove(&w.r.t, "objects/info/alternates");
	}
	randrepo_release(&w.r);
}

/* Write a .mtimes file, which makes the pack a cruft pack. */
static void make_cruft(struct randrepo *r, uint32_t nr)
{
	uint32_t *times = calloc(RANDREPO_MAX, sizeof(*times));
	struct buf file = BUF_INIT;
	char name[4200];
	struct pack *pack;

	assert_non_null(times);
	snprintf(name, sizeof(name), "%s/pack/pack-%u", r->t.objects, nr);
	assert_int_equal(pack_open(&pack, name, HASH_SHA1, NULL), 0);
	assert_int_equal(pack_mtimes_write(&file, times, pack->idx.nr,
					   &pack->checksum, HASH_SHA1, NULL),
			 0);
	pack_close(pack);
	snprintf(name, sizeof(name), "objects/pack/pack-%u.mtimes", nr);
	tmprepo_write_len(&r->t, name, file.data, file.len);
	buf_release(&file);
	free(times);
}

/*
 * The option leaves_cruft leaves cruft packs out of the multi-pack-index. But
 * if the bitmap index needs objects of a cruft pack, the multi-pack-index must
 * cover all cruft packs.
 */
static void cruft_packs(void **state)
{
	uint64_t seed = random_seed();
	struct writing w = {.leaves_cruft = true};
	uint32_t old_nr;

	randrepo_init(&w.r, HASH_SHA1, &seed);
	randrepo_history(&w.r, 10);
	randrepo_store_pack(&w.r);
	old_nr = w.r.nr;
	randrepo_all_refs(&w.r);
	randrepo_blob(&w.r, 9999);
	randrepo_store_pack(&w.r);
	make_cruft(&w.r, w.r.nr);
	assert_int_equal(write_midx(&w, NULL), 0);
	assert_int_equal(w.result.midx_pack_nr, 1);
	assert_true(w.result.bitmap_nr > 0);
	randrepo_history(&w.r, 5);
	randrepo_store_pack(&w.r);
	for (uint32_t i = 10; i < w.r.commit_nr; i++) {
		char name[64];

		snprintf(name, sizeof(name), "refs/heads/new%u", i);
		randrepo_ref(&w.r, name, w.r.commits[i]);
	}
	make_cruft(&w.r, old_nr);
	assert_int_equal(write_midx(&w, NULL), 0);
	assert_int_equal(w.result.midx_pack_nr, 3);
	assert_true(w.result.bitmap_nr > 0);
	randrepo_release(&w.r);
}

/* Remove the multi-pack-index, and give the pack a bitmap index. */
static void only_pack_bitmap(void *ctx)
{
	struct writing *w = ctx;
	char path[4200];

	snprintf(path, sizeof(path), "%s/pack/multi-pack-index",
		 w->r.t.objects);
	remove(path);
	tmprepo_write(&w->r.t, "objects/pack/pack-1.bitmap", "");
}

static void check_written(void *ctx)
{
	struct writing *w = ctx;
	char path[4200];

	check_covers(&w->r, 1);
	assert_true(w->result.bitmap_nr > 0);
	snprintf(path, sizeof(path), "%s/pack/pack-1.bitmap", w->r.t.objects);
	assert_false(sys_exists(path));
}

/*
 * Another process removes a pack while the multi-pack-index is written. The
 * write is repeated with the packs that are left.
 */
static void pack_goes_meanwhile(void **state)
{
	uint64_t seed = random_seed();
	struct writing w = {.bitmap_is_default = false};

	randrepo_init(&w.r, HASH_SHA1, &seed);
	randrepo_history(&w.r, 5);
	randrepo_store_pack(&w.r);
	snprintf(w.leaving, sizeof(w.leaving), "objects/pack/pack-%u.idx",
		 w.r.nr);
	/*
	 * The second pack contains all objects of the first. So the first can
	 * be removed.
	 */
	for (uint32_t i = 0; i < w.r.nr; i++)
		w.r.objects[i].is_stored = false;
	randrepo_history(&w.r, 5);
	randrepo_store_pack(&w.r);
	randrepo_all_refs(&w.r);
	assert_int_equal(write_midx(&w, NULL), 0);
	assert_int_equal(w.tries, 2);
	assert_int_equal(w.result.midx_pack_nr, 1);
	check_covers(&w.r, 1);
	/* The file on disk covers the same packs, so it is kept. */
	assert_int_equal(write_midx(&w, NULL), 0);
	assert_int_equal(w.tries, 2);
	check_covers(&w.r, 1);
	randrepo_release(&w.r);
}

/* A bitmap index that cannot be removed makes the repack fail. */
static void pack_bitmap_stays(void **state)
{
	uint64_t seed = random_seed();
	struct writing w = {.bitmap_is_default = false};
	struct error err = ERROR_INIT;
	char name[64];

	randrepo_init(&w.r, HASH_SHA1, &seed);
	randrepo_history(&w.r, 5);
	randrepo_store_pack(&w.r);
	randrepo_all_refs(&w.r);
	snprintf(name, sizeof(name), "objects/pack/pack-%u.bitmap/file",
		 w.r.nr);
	tmprepo_write(&w.r.t, name, "");
	assert_true(write_midx(&w, &err) < 0);
	assert_true(starts_with(err.msg, "cannot remove '"));
	assert_non_null(strstr(err.msg, ".bitmap'"));
	randrepo_release(&w.r);
}

static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct writing w = {.bitmap_is_default = false};
	char from[4200], to[4200];

	randrepo_init(&w.r, HASH_SHA1, &seed);
	randrepo_history(&w.r, 3);
	randrepo_store_pack(&w.r);
	randrepo_all_refs(&w.r);
	for (int i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/pack/pack-%u.%s",
			 w.r.t.objects, w.r.nr, i ? "idx" : "pack");
		snprintf(to, sizeof(to), "%s/pack/pack-1.%s", w.r.t.objects,
			 i ? "idx" : "pack");
		assert_int_equal(rename(from, to), 0);
	}
	nomem_each(only_pack_bitmap, write_midx, check_written, &w);
	randrepo_release(&w.r);
}

static void rename_in(const struct randrepo *r, const char *from,
		      const char *to)
{
	char old[4200], new[4200];

	snprintf(old, sizeof(old), "%s/pack/%s", r->t.objects, from);
	snprintf(new, sizeof(new), "%s/pack/%s", r->t.objects, to);
	assert_int_equal(rename(old, new), 0);
}

/* Make a chain of one layer, which has only the first of the two packs. */
static void one_layer(void *ctx)
{
	struct writing *w = ctx;
	char chain[4200];

	snprintf(chain, sizeof(chain), "%s/pack/multi-pack-index.d",
		 w->r.t.objects);
	nftw(chain, tmprepo_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	rename_in(&w->r, w->newest, "hidden");
	w->split_factor = 0;
	assert_int_equal(write_midx(w, NULL), 0);
	assert_int_equal(layers_of(&w->r), 1);
	rename_in(&w->r, "hidden", w->newest);
	w->split_factor = 1000;
}

static void check_merged(void *ctx)
{
	struct writing *w = ctx;

	check_covers(&w->r, 2);
	assert_int_equal(layers_of(&w->r), 1);
}

/*
 * A layer is added to a chain, and merged with the layer below it. If an
 * allocation fails, either the call fails, or both layers are merged.
 */
static void no_memory_to_merge(void **state)
{
	uint64_t seed = random_seed();
	struct writing w = {.layers = true};

	randrepo_init(&w.r, HASH_SHA1, &seed);
	randrepo_history(&w.r, 3);
	randrepo_store_pack(&w.r);
	randrepo_history(&w.r, 3);
	randrepo_store_pack(&w.r);
	snprintf(w.newest, sizeof(w.newest), "pack-%u.idx", w.r.nr);
	randrepo_all_refs(&w.r);
	nomem_each(one_layer, write_midx, check_merged, &w);
	randrepo_release(&w.r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_into_one),
		cmocka_unit_test(geometric),
		cmocka_unit_test(geometric_with_broken_ref),
		cmocka_unit_test(pack_bitmaps_go),
		cmocka_unit_test(layers),
		cmocka_unit_test(plain_layers),
		cmocka_unit_test(no_packs),
		cmocka_unit_test(not_closed),
		cmocka_unit_test(cruft_packs),
		cmocka_unit_test(pack_goes_meanwhile),
		cmocka_unit_test(pack_bitmap_stays),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(no_memory_to_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
