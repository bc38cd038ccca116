/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/update.c, which adds bitmaps to an existing index: after
 * several updates, all bitmaps are right, and only few are added.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

/* If memory runs out, no wrong index is written. */
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds),
		cmocka_unit_test(pseudo_merges),
		cmocka_unit_test(few_are_added),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
