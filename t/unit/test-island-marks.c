/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/island-marks.c, which finds the delta islands of listed
 * objects. They prove that the islands are the same with and without an
 * enumeration of all refs, and with and without a bitmap index.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packs/pack-job-parts.h"
#include "t/unit/bitmaprepo.h"

#define FORKS 4

struct fixture {
	struct randrepo r;
	struct odb *odb;
	struct refs *refs;
	struct walk walk;
	struct packing_items items;
	uint32_t *numbers;    /* owned; indexed by item */
	bool *reached[FORKS]; /* owned */
};

/*
 * Write branches of several forks, which point to objects of any type, and refs
 * that are in no delta island.
 */
static void write_refs(struct fixture *f)
{
	struct randrepo *r = &f->r;

	for (uint32_t fork = 0; fork < FORKS; fork++) {
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t nr = k < 2 ? r->commits[randrepo_below(
						      r, r->commit_nr)]
					    : randrepo_below(r, r->nr);
			char name[64];

			snprintf(name, sizeof(name), "refs/forks/%u/%u", fork,
				 k);
			randrepo_ref(r, name, nr);
			randrepo_reach(r, f->reached[fork], nr);
		}
	}
}

/*
 * Make an old part of the history, with or without a bitmap index, and a new
 * part. List the objects of the new part. If `mixed` is true, also list about a
 * tenth of the objects of the old part.
 */
static void setup(struct fixture *f, uint64_t *seed, bool bitmap, bool mixed)
{
	static const char config[] = "[pack]\n"
				     "island = refs/forks/([0-9]+)/\n";
	uint32_t old_nr;

	memset(f, 0, sizeof(*f));
	randrepo_init(&f->r, HASH_SHA1, seed);
	randrepo_history(&f->r, 40);
	randrepo_store_pack(&f->r);
	randrepo_all_refs(&f->r);
	bitmaprepo_repack(&f->r, true, bitmap);
	old_nr = f->r.nr;
	randrepo_history(&f->r, 20);
	randrepo_store(&f->r);
	for (uint32_t i = 0; i < FORKS; i++) {
		f->reached[i] = calloc(RANDREPO_MAX, sizeof(bool));
		assert_non_null(f->reached[i]);
	}
	write_refs(f);
	assert_int_equal(config_parse(&f->r.t.repo.config, config,
				      sizeof(config) - 1, CONFIG_LOCAL, NULL,
				      NULL, NULL),
			 0);
	assert_int_equal(odb_open(&f->odb, &f->r.t.repo, NULL, NULL), 0);
	assert_int_equal(refs_open(&f->refs, &f->r.t.repo, NULL), 0);
	assert_int_equal(walk_open(&f->walk, f->odb, NULL, 0, NULL), 0);
	packing_items_init(&f->items, &f->walk.space);
	f->numbers = calloc(RANDREPO_MAX, sizeof(*f->numbers));
	assert_non_null(f->numbers);
	for (uint32_t i = mixed ? 0 : old_nr; i < f->r.nr; i++) {
		uint32_t pos;

		if (mixed && i < old_nr && randrepo_below(&f->r, 10))
			continue;
		assert_int_equal(objspace_add(&f->walk.space,
					      f->r.objects[i].oid.bytes, &pos),
				 0);
		f->numbers[f->items.nr] = i;
		assert_int_equal(packing_items_append(&f->items, pos,
						      f->r.objects[i].type, 0,
						      false),
				 0);
	}
}

static void teardown(struct fixture *f)
{
	for (uint32_t i = 0; i < FORKS; i++)
		free(f->reached[i]);
	free(f->numbers);
	packing_items_release(&f->items);
	walk_close(&f->walk);
	refs_close(f->refs);
	odb_close(f->odb);
	config_release(&f->r.t.repo.config);
	randrepo_release(&f->r);
}

static void check(const struct fixture *f, const struct islands *islands)
{
	assert_int_equal(islands->sets.island_nr, FORKS);
	for (size_t i = 0; i < f->items.nr; i++)
		for (uint32_t fork = 0; fork < FORKS; fork++)
			assert_int_equal(
				island_sets_has(
					&islands->sets,
					islands_set(islands,
						    f->items.items[i].obj_pos),
					fork),
				f->reached[fork][f->numbers[i]]);
}

static void lists(void **state)
{
	uint64_t seed = random_seed();

	for (unsigned round = 0; round < 12; round++) {
		struct islands islands = ISLANDS_INIT;
		struct error err = ERROR_INIT;
		struct fixture f;
		struct island_marks marks;

		setup(&f, &seed, round & 1, round & 2);
		marks = (struct island_marks){
			.walk = &f.walk,
			.refs = f.refs,
			.items = &f.items,
			.threads = 1,
		};
		if (island_marks_add_references(&islands, &marks, &err) < 0)
			fail_msg("%s", err.msg);
		check(&f, &islands);
		islands_release(&islands);
		teardown(&f);
	}
}

/* If a bitmap index is damaged, the islands are found without it. */
static void damaged(void **state)
{
	uint64_t seed = random_seed();
	struct islands islands = ISLANDS_INIT;
	struct pack_bitmap *pb;
	struct fixture f;
	struct island_marks marks;
	uint8_t *bytes;
	size_t len;

	setup(&f, &seed, true, true);
	assert_int_equal(pack_bitmap_open(&pb, f.odb, NULL), 1);
	len = pb->map.len;
	bytes = malloc(len);
	assert_non_null(bytes);
	memcpy(bytes, pb->map.data, len);
	bytes[len - 25] ^= 1;
	tmprepo_write_len(&f.r.t, strstr(pb->path, "objects/"), bytes, len);
	free(bytes);
	pack_bitmap_close(pb);
	marks = (struct island_marks){
		.walk = &f.walk,
		.refs = f.refs,
		.items = &f.items,
		.threads = 1,
	};
	assert_int_equal(island_marks_add_references(&islands, &marks, NULL),
			 0);
	check(&f, &islands);
	islands_release(&islands);
	teardown(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
