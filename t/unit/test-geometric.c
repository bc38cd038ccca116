/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/geometric.c, which chooses the packs that a geometric repack
 * merges. They prove that the fewest packs are chosen, and that exactly their
 * objects are packed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "repack/geometric.h"
#include "t/unit/oldrepo.h"

/*
 * Returns whether merging the first `split` packs into one leaves packs whose
 * numbers of objects form a geometric progression.
 */
static bool will_do(const uint32_t *counts, size_t nr, uint64_t factor,
		    size_t split)
{
	uint64_t last = 0;

	for (size_t i = 0; i < split; i++)
		last += counts[i];
	for (size_t i = split; i < nr; i++) {
		if (i && counts[i] < factor * last)
			return false;
		last = counts[i];
	}
	return true;
}

static size_t slow_split(const uint32_t *counts, size_t nr, uint64_t factor)
{
	size_t split = 0;

	while (!will_do(counts, nr, factor, split))
		split++;
	return split;
}

static int cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void fewest(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 20000; round++) {
		size_t nr = random_next(&seed) % 9;
		uint64_t factor = 1 + random_next(&seed) % 4;
		uint32_t counts[9];

		for (size_t i = 0; i < nr; i++)
			counts[i] = (uint32_t)(random_next(&seed) %
					       (1u << random_next(&seed) % 12));
		qsort(counts, nr, sizeof(*counts), cmp);
		assert_int_equal(geometric_split(counts, nr, factor),
				 slow_split(counts, nr, factor));
	}
}

/*
 * The example in geometric.h, and numbers of objects whose product with the
 * factor would overflow.
 */
static void examples(void **state)
{
	static const uint32_t drawn[] = {3, 5, 8, 40, 100, 260};
	static const uint32_t huge[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

	assert_int_equal(geometric_split(drawn, 6, 2), 3);
	assert_int_equal(geometric_split(drawn, 0, 2), 0);
	assert_int_equal(geometric_split(drawn, 1, 2), 0);
	assert_int_equal(geometric_split(huge, 3, 2), 3);
	assert_int_equal(geometric_split(huge, 3, UINT64_MAX), 3);
}

static bool is_listed(const struct old_packs *old, const struct odb *odb,
		      unsigned place)
{
	char name[32];

	snprintf(name, sizeof(name), "pack-%u", place);
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (!strcmp(odb->packs[i].pack->name, name))
			return old_packs_has(old, odb->packs[i].pack);
	return false;
}

/*
 * Two packs are chosen for merging if the larger one has less than `factor`
 * times as many objects as the smaller one. Kept packs, cruft packs, and packs
 * that arrive later are never chosen.
 */
static void chosen(void **state)
{
	uint64_t seed = random_seed();
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	tmprepo_write(&o.r.t, "objects/pack/pack-later.pack", "");
	tmprepo_write(&o.r.t, "objects/pack/pack-later.idx", "");
	for (uint64_t factor = 1; factor < 6; factor++) {
		char *dir = repo_object_path(&o.r.t.repo, "pack");
		uint32_t a = 0, b = 0;
		struct strlist chosen = STRLIST_INIT;
		struct old_packs old;
		bool become_one;

		for (uint32_t i = 0; i < o.r.nr; i++) {
			a += (o.places[i] & OLD_PACK) != 0;
			b += (o.places[i] & OLD_PACK_2) != 0;
		}
		become_one = a < b ? b < factor * a : a < factor * b;
		assert_int_equal(old_packs_list(&old, dir, NULL), 0);
		assert_int_equal(old.nr, 4);
		assert_int_equal(geometric_choose(&chosen, &old, o.odb, factor,
						  true, NULL),
				 0);
		assert_int_equal(old.nr, become_one ? 2 : 0);
		assert_int_equal(is_listed(&old, o.odb, OLD_PACK), become_one);
		assert_int_equal(is_listed(&old, o.odb, OLD_PACK_2),
				 become_one);
		old_packs_release(&old);
		strlist_release(&chosen);
		free(dir);
	}
	oldrepo_release(&o);
}

static uint32_t count_at(const struct oldrepo *o, unsigned place)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < o->r.nr; i++)
		nr += (o->places[i] & place) != 0;
	return nr;
}

/*
 * Without `local`, packs of alternates are chosen, too. They are never on the
 * list of packs to remove.
 */
static void with_alternates(void **state)
{
	static const unsigned places[] = {OLD_PACK, OLD_PACK_2, OLD_ALTERNATE};
	uint64_t seed = random_seed();
	uint32_t counts[3], sorted[3];
	struct oldrepo o;

	oldrepo_init(&o, &seed, OLD_PACK | OLD_PACK_2 | OLD_ALTERNATE);
	for (int i = 0; i < 3; i++)
		counts[i] = sorted[i] = count_at(&o, places[i]);
	qsort(sorted, 3, sizeof(*sorted), cmp);
	for (uint64_t factor = 2; factor < 6; factor++) {
		char *dir = repo_object_path(&o.r.t.repo, "pack");
		size_t nr = geometric_split(sorted, 3, factor);
		struct strlist chosen = STRLIST_INIT;
		struct old_packs old;
		size_t local_nr = 0;

		assert_int_equal(old_packs_list(&old, dir, NULL), 0);
		assert_int_equal(geometric_choose(&chosen, &old, o.odb, factor,
						  false, NULL),
				 0);
		assert_int_equal(chosen.nr, nr);
		for (int i = 0; i < 3; i++) {
			bool is_chosen = nr && counts[i] <= sorted[nr - 1];
			bool is_local = places[i] != OLD_ALTERNATE;

			assert_int_equal(is_listed(&old, o.odb, places[i]),
					 is_chosen && is_local);
			local_nr += is_chosen && is_local;
		}
		assert_int_equal(old.nr, local_nr);
		old_packs_release(&old);
		strlist_release(&chosen);
		free(dir);
	}
	oldrepo_release(&o);
}

/*
 * A factor is refused if its product with the number of objects of the second
 * largest pack does not fit into 32 bits.
 */
static void factor_too_large(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct oldrepo o;
	uint32_t a, b;
	uint64_t most;

	oldrepo_init(&o, &seed, OLD_PACK | OLD_PACK_2);
	a = count_at(&o, OLD_PACK);
	b = count_at(&o, OLD_PACK_2);
	most = UINT32_MAX / (a < b ? a : b);
	for (uint64_t factor = most; factor <= most + 1; factor++) {
		struct strlist chosen = STRLIST_INIT;
		char *dir = repo_object_path(&o.r.t.repo, "pack");
		struct old_packs old;

		assert_int_equal(old_packs_list(&old, dir, NULL), 0);
		assert_int_equal(geometric_choose(&chosen, &old, o.odb, factor,
						  true, &err),
				 factor == most ? 0 : ERR_INVALID);
		old_packs_release(&old);
		strlist_release(&chosen);
		free(dir);
	}
	assert_non_null(strstr(err.msg, "too large"));
	oldrepo_release(&o);
}

/*
 * geometric_collect() collects loose objects and the objects of the chosen
 * packs. Objects that another pack has are left out.
 */
static void collected(void **state)
{
	struct newpack_options newpack = {.make = {.threads = 1}};
	struct pack_job_options options = {.newpack = &newpack};
	uint64_t seed = random_seed();
	uint32_t expected = 0;
	struct strlist chosen = STRLIST_INIT;
	struct old_packs old;
	struct pack_job job;
	struct oldrepo o;
	char *dir;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	dir = repo_object_path(&o.r.t.repo, "pack");
	assert_int_equal(old_packs_list(&old, dir, NULL), 0);
	old_packs_spare(&old, "pack-2");
	for (uint32_t i = 0; i < o.odb->pack_nr; i++) {
		const struct pack *pack = o.odb->packs[i].pack;

		if (!pack->is_cruft && old_packs_has(&old, pack))
			assert_int_equal(pack_names_add(&chosen, pack->name),
					 0);
	}
	assert_int_equal(pack_job_open(&job, o.odb, NULL, &options, NULL), 0);
	assert_int_equal(geometric_collect(&job, &chosen, false, NULL), 0);
	for (uint32_t i = 0; i < o.r.nr; i++) {
		unsigned p = o.places[i];

		if (p & (OLD_PACK_2 | OLD_KEPT))
			continue;
		expected += (p & OLD_PACK) ||
			    ((p & OLD_LOOSE) && !(p & OLD_ALTERNATE));
	}
	assert_int_equal(job.items.nr, expected);
	assert_true(expected);
	pack_job_close(&job);
	strlist_release(&chosen);
	old_packs_release(&old);
	oldrepo_release(&o);
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewest),
		cmocka_unit_test(examples),
		cmocka_unit_test(chosen),
		cmocka_unit_test(with_alternates),
		cmocka_unit_test(factor_too_large),
		cmocka_unit_test(collected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
