/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/crossing.c, which counts stored deltas that cross delta
 * islands: the object is in an island in which its delta base is not. In random
 * repositories, the result is compared with a slow count that makes a separate
 * walk for each reference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packing/packs.h"
#include "packs/crossing.h"
#include "packs/roots.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/nomem.h"

#define FORKS 4

struct fixture {
	struct randrepo r;
	struct odb *odb;
	struct refs *refs;
	struct walk walk;
	/* Owned. reached[fork][i]: the fork reaches r.objects[i]. */
	bool *reached[FORKS];
};

static void configure(struct fixture *f, const char *text)
{
	assert_int_equal(config_parse(&f->r.t.repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
}

/*
 * Each fork has a branch. All objects are in one pack, made without delta
 * islands.
 */
static void setup(struct fixture *f, uint64_t *seed, bool configured)
{
	memset(f, 0, sizeof(*f));
	randrepo_init(&f->r, HASH_SHA1, seed);
	randrepo_history(&f->r, 60);
	randrepo_store_pack(&f->r);
	for (uint32_t fork = 0; fork < FORKS; fork++) {
		uint32_t tip =
			f->r.commits[randrepo_below(&f->r, f->r.commit_nr)];
		char name[64];

		snprintf(name, sizeof(name), "refs/forks/%u/main", fork);
		randrepo_ref(&f->r, name, tip);
		f->reached[fork] = calloc(RANDREPO_MAX, sizeof(bool));
		assert_non_null(f->reached[fork]);
		randrepo_reach(&f->r, f->reached[fork], tip);
	}
	bitmaprepo_repack(&f->r, true, false);
	if (configured)
		configure(f, "[pack]\nisland = refs/forks/([0-9]+)/\n");
	assert_int_equal(odb_open(&f->odb, &f->r.t.repo, NULL, NULL), 0);
	assert_int_equal(refs_open(&f->refs, &f->r.t.repo, NULL), 0);
	assert_int_equal(walk_open(&f->walk, f->odb, NULL, 0, NULL), 0);
}

static void teardown(struct fixture *f)
{
	for (uint32_t i = 0; i < FORKS; i++)
		free(f->reached[i]);
	walk_close(&f->walk);
	refs_close(f->refs);
	odb_close(f->odb);
	config_release(&f->r.t.repo.config);
	randrepo_release(&f->r);
}

static void count(struct crossing_report *report, struct fixture *f)
{
	const struct walk_options options = {.objects = true,
					     .keep_lists = true};
	struct walk_tips wants = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct walk_result found = WALK_RESULT_INIT;

	assert_int_equal(roots_add(&f->walk, &wants, f->refs, 0, NULL), 0);
	assert_int_equal(
		walk_enumerate(&found, &f->walk, &wants, &none, &options, NULL),
		0);
	assert_int_equal(
		crossing_count(report, &f->walk, &found, f->refs, NULL), 0);
	walk_result_release(&found);
	walk_tips_release(&wants);
}

static uint32_t number(const struct fixture *f, const struct odb_pack *pack,
		       uint32_t idx_pos)
{
	struct oid oid = {{0}};

	memcpy(oid.bytes, pack_idx_oid(&pack->pack->idx, idx_pos), 20);
	return randrepo_find(&f->r, &oid);
}

static bool crosses(const struct fixture *f, uint32_t object, uint32_t base)
{
	for (uint32_t fork = 0; fork < FORKS; fork++)
		if (f->reached[fork][object] && !f->reached[fork][base])
			return true;
	return false;
}

/* Count in another way. */
static void count_slowly(struct crossing_report *report,
			 const struct fixture *f)
{
	struct packs packs;

	*report = (struct crossing_report){.island_nr = FORKS};
	for (uint32_t i = 0; i < f->r.nr; i++)
		report->object_nr += f->reached[0][i] || f->reached[1][i] ||
				     f->reached[2][i] || f->reached[3][i];
	assert_int_equal(packs_init(&packs, f->odb, NULL), 0);
	for (uint32_t nr = 0; nr < f->odb->pack_nr; nr++) {
		const struct odb_pack *pack = &f->odb->packs[nr];
		uint32_t object_nr = pack->pack->idx.nr;

		assert_int_equal(packs_prepare(&packs, nr, object_nr, NULL), 0);
		for (uint32_t i = 0; i < object_nr; i++) {
			struct packs_stored stored;
			uint32_t base;

			assert_int_equal(
				packs_stored(&stored, &packs, nr, i, NULL), 0);
			if (stored.entry.type != OBJ_OFS_DELTA &&
			    stored.entry.type != OBJ_REF_DELTA)
				continue;
			report->delta_nr++;
			assert_int_equal(
				packs_base(&base, &packs, nr, i, &stored, NULL),
				1);
			report->crossing_nr += crosses(f, number(f, pack, i),
						       number(f, pack, base));
		}
	}
	packs_release(&packs);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (unsigned round = 0; round < 10; round++) {
		struct crossing_report report, expected;
		struct fixture f;

		setup(&f, &seed, true);
		count(&report, &f);
		count_slowly(&expected, &f);
		assert_int_equal(report.island_nr, expected.island_nr);
		assert_int_equal(report.object_nr, expected.object_nr);
		assert_int_equal(report.delta_nr, expected.delta_nr);
		assert_int_equal(report.crossing_nr, expected.crossing_nr);
		teardown(&f);
	}
}

static void test_no_islands(void **state)
{
	uint64_t seed = random_seed();
	struct crossing_report report;
	struct fixture f;

	setup(&f, &seed, false);
	memset(&report, 0xff, sizeof(report));
	count(&report, &f);
	assert_int_equal(report.island_nr, 0);
	assert_int_equal(report.object_nr, 0);
	assert_int_equal(report.delta_nr, 0);
	assert_int_equal(report.crossing_nr, 0);
	teardown(&f);
}

struct again {
	struct fixture f;
	struct walk_result found;
	struct crossing_report report, expected;
};

static int count_again(void *ctx, struct error *err)
{
	struct again *a = ctx;

	return crossing_count(&a->report, &a->f.walk, &a->found, a->f.refs,
			      err);
}

static void check_count(void *ctx)
{
	const struct again *a = ctx;

	assert_int_equal(a->report.delta_nr, a->expected.delta_nr);
	assert_int_equal(a->report.crossing_nr, a->expected.crossing_nr);
}

/* If an allocation fails, the count fails, or its result is right. */
static void test_no_memory(void **state)
{
	const struct walk_options options = {.objects = true,
					     .keep_lists = true};
	struct walk_tips wants = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct again a = {.found = WALK_RESULT_INIT};
	uint64_t seed = random_seed();

	setup(&a.f, &seed, true);
	assert_int_equal(roots_add(&a.f.walk, &wants, a.f.refs, 0, NULL), 0);
	assert_int_equal(walk_enumerate(&a.found, &a.f.walk, &wants, &none,
					&options, NULL),
			 0);
	count_slowly(&a.expected, &a.f);
	nomem_each(NULL, count_again, check_count, &a);
	walk_result_release(&a.found);
	walk_tips_release(&wants);
	teardown(&a.f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_no_islands),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
