/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/rollup.c, which lists the objects for a new pack: those of
 * the included packs that no excluded pack has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/rollup.h"
#include "t/unit/oldrepo.h"

/* Returns the place of a pack, which is one bit of enum oldrepo_place. */
static unsigned place_of(const struct pack *pack)
{
	return (unsigned)atoi(pack->name + 5);
}

static bool is_wanted(unsigned places, const unsigned *by_part, bool loose)
{
	if (places & (by_part[ROLLUP_EXCLUDE] | by_part[ROLLUP_OPEN]))
		return false;
	if (places & by_part[ROLLUP_INCLUDE])
		return true;
	return loose && (places & OLD_LOOSE) &&
	       !(places & by_part[ROLLUP_SUFFICE]);
}

static void check(struct oldrepo *o, bool loose)
{
	struct newpack_options newpack = {.make = {.threads = 1}};
	struct pack_job_options options = {.newpack = &newpack};
	enum rollup_part parts[OLD_PLACES] = {ROLLUP_UNLISTED};
	struct rollup_options rollup = {.parts = parts, .loose = loose};
	unsigned *times = calloc(RANDREPO_MAX, sizeof(*times));
	unsigned by_part[5] = {0};
	struct error err = ERROR_INIT;
	struct pack_job job;

	assert_non_null(times);
	for (uint32_t i = 0; i < o->odb->pack_nr; i++) {
		parts[i] = randrepo_below(&o->r, 5);
		by_part[parts[i]] |= place_of(o->odb->packs[i].pack);
	}
	assert_int_equal(pack_job_open(&job, o->odb, NULL, &options, NULL), 0);
	if (rollup_add(&job, &rollup, &err) != 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < job.items.nr; i++) {
		struct oid oid;
		uint32_t nr;

		objspace_oid(&oid, &job.walk.space, job.items.items[i].obj_pos);
		nr = randrepo_find(&o->r, &oid);
		assert_int_equal(job.items.items[i].type,
				 o->r.objects[nr].type);
		times[nr]++;
	}
	for (uint32_t i = 0; i < o->r.nr; i++)
		assert_int_equal(times[i],
				 is_wanted(o->places[i], by_part, loose));
	pack_job_close(&job);
	free(times);
}

static void parts(void **state)
{
	uint64_t seed = random_seed();
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	for (int round = 0; round < 30; round++)
		check(&o, round % 2);
	oldrepo_release(&o);
}

static void marked(void **state)
{
	uint64_t seed = random_seed();
	enum rollup_part parts[OLD_PLACES] = {ROLLUP_UNLISTED};
	struct error err = ERROR_INIT;
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	for (uint32_t i = 0; i < o.odb->pack_nr; i++) {
		const struct pack *pack = o.odb->packs[i].pack;
		enum rollup_part part = 1 + i % 2;
		char name[64];

		snprintf(name, sizeof(name), "%s.pack", pack->name);
		for (int times = 0; times < 2; times++)
			assert_int_equal(rollup_mark(parts, o.odb, name, part,
						     true, NULL),
					 0);
		assert_int_equal(parts[i], part);
		assert_int_equal(
			rollup_mark(parts, o.odb, name, 3 - part, true, NULL),
			ERR_INVALID);
		assert_int_equal(parts[i], part);
		assert_int_equal(
			rollup_mark(parts, o.odb, pack->name, part, true, NULL),
			ERR_MISSING);
		assert_int_equal(rollup_mark(parts, o.odb, name, ROLLUP_OPEN,
					     false, NULL),
				 0);
		assert_int_equal(rollup_mark(parts, o.odb, name, ROLLUP_EXCLUDE,
					     false, NULL),
				 0);
		assert_int_equal(parts[i], ROLLUP_OPEN);
	}
	assert_int_equal(
		rollup_mark(parts, o.odb, "pack", ROLLUP_INCLUDE, true, &err),
		ERR_MISSING);
	assert_string_equal(err.msg, "could not find pack 'pack'");
	oldrepo_release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test(marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
