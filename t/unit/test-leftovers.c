/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/leftovers.c, the options of pack-objects for unreachable
 * objects: which objects are listed, and which are added to the pack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/leftovers.h"
#include "t/unit/nomem.h"
#include "t/unit/oldrepo.h"

#define LOCAL_PACKS (OLD_PACK | OLD_PACK_2 | OLD_KEPT | OLD_CRUFT)
#define PACKS (LOCAL_PACKS | OLD_ALTERNATE)

/*
 * A run of pack-objects with random options. The option --keep-pack, if given,
 * names pack 2.
 */
struct trial {
	struct oldrepo *o;
	struct newpack_options newpack;
	struct strlist keep;
	struct pack_job_options options;
	struct pack_job job;
	struct unreachable u;
};

static void trial_init(struct trial *t, struct oldrepo *o)
{
	unsigned bits = randrepo_below(&o->r, 16);

	memset(t, 0, sizeof(*t));
	t->o = o;
	t->newpack.make.threads = 1;
	if (bits & 1)
		assert_int_equal(pack_names_add(&t->keep, "pack-2.pack"), 0);
	t->options = (struct pack_job_options){
		.newpack = &t->newpack,
		.loose_only = bits & 2,
		.local = bits & 4,
		.honor_keep = bits & 8,
		.keep_packs = &t->keep,
	};
	assert_int_equal(
		pack_job_open(&t->job, o->odb, NULL, &t->options, NULL), 0);
}

static void trial_release(struct trial *t)
{
	unreachable_release(&t->u);
	pack_job_close(&t->job);
	strlist_release(&t->keep);
}

static uint32_t pos_of(struct trial *t, uint32_t nr)
{
	uint32_t obj_pos;

	assert_int_equal(objspace_add(&t->job.walk.space,
				      t->o->r.objects[nr].oid.bytes, &obj_pos),
			 0);
	return obj_pos;
}

/*
 * Returns whether the repack options allow an object in the new pack. `places`:
 * where the object is stored, bits of enum oldrepo_place.
 */
static bool is_let_in(const struct trial *t, unsigned places)
{
	unsigned out = (t->keep.nr ? OLD_PACK_2 : 0) |
		       (t->options.loose_only ? PACKS : 0) |
		       (t->options.local ? OLD_ALTERNATE : 0) |
		       (t->options.honor_keep ? OLD_KEPT : 0);

	return !(places & out);
}

static void check_added(struct trial *t, bool packed, bool loose)
{
	unsigned leaving = OLD_PACK | OLD_CRUFT | (t->keep.nr ? 0 : OLD_PACK_2);
	uint8_t *times = calloc(RANDREPO_MAX, 1);
	struct error err = ERROR_INIT;

	assert_non_null(times);
	if (leftovers_add(&t->job, &t->u, packed, loose, &err) != 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < t->job.items.nr; i++) {
		struct oid oid;

		objspace_oid(&oid, &t->job.walk.space,
			     t->job.items.items[i].obj_pos);
		times[randrepo_find(&t->o->r, &oid)]++;
	}
	for (uint32_t i = 0; i < t->o->r.nr; i++) {
		unsigned p = t->o->places[i];
		bool wanted = (packed && (p & leaving)) ||
			      (loose && (p & OLD_LOOSE));

		assert_int_equal(times[i], wanted && !t->o->reached[i] &&
						   is_let_in(t, p));
	}
	free(times);
}

static void added(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	for (int round = 0; round < 40; round++) {
		struct trial t;

		trial_init(&t, &o);
		for (uint32_t i = 0; i < o.r.nr; i++)
			pos_of(&t, i);
		assert_int_equal(bitset_init(&t.job.reached,
					     objspace_end(&t.job.walk.space)),
				 0);
		for (uint32_t i = 0; i < o.r.nr; i++)
			if (o.reached[i])
				bitset_set(&t.job.reached, pos_of(&t, i));
		if (leftovers_list(&t.u, &t.job, 0, &err) != 0)
			fail_msg("%s", err.msg);
		check_added(&t, round & 1, round & 2);
		trial_release(&t);
	}
	oldrepo_release(&o);
}

/*
 * Choose at random how the repack treats the objects of each pack. Sets
 * parts[i] for pack i. Returns the packs that will be removed (ROLLUP_INCLUDE),
 * as a set of bits of enum oldrepo_place.
 */
static unsigned random_parts(struct trial *t, enum rollup_part *parts)
{
	unsigned going = 0;

	for (uint32_t i = 0; i < t->o->odb->pack_nr; i++) {
		const struct pack *pack = t->o->odb->packs[i].pack;

		parts[i] = randrepo_below(&t->o->r, 3);
		if (parts[i] == ROLLUP_INCLUDE)
			going |= (unsigned)atoi(pack->name + 5);
	}
	return going;
}

static void check_cruft(struct trial *t, unsigned going, int64_t expiry)
{
	bool *kept = calloc(RANDREPO_MAX, sizeof(*kept));
	unsigned local = OLD_LOOSE | (going & LOCAL_PACKS);

	assert_non_null(kept);
	for (uint32_t i = 0; i < t->o->r.nr; i++) {
		unsigned p = t->o->places[i];
		const struct unreachable_item *item = unreachable_find(
			&t->u, pos_of(t, i));

		assert_int_equal(item != NULL,
				 (p & local) && !(p & PACKS & ~going));
		if (!item)
			continue;
		assert_int_equal(item->is_safe, !is_let_in(t, p));
		assert_int_equal(item->is_packed, (p & LOCAL_PACKS) != 0);
		assert_true(expiry || item->is_kept);
		assert_true(item->mtime <= expiry || item->is_kept);
		if (item->mtime > expiry)
			randrepo_reach(&t->o->r, kept, i);
	}
	/*
	 * The repack keeps recent objects and the objects that they reach. Its
	 * search stops at objects of packs that stay. So the repack may keep
	 * fewer objects than this slow search finds, but never more.
	 */
	for (uint32_t i = 0; expiry && i < t->o->r.nr; i++) {
		const struct unreachable_item *item = unreachable_find(
			&t->u, pos_of(t, i));

		assert_true(!item || kept[i] || !item->is_kept);
		if (item && !(PACKS & ~going))
			assert_int_equal(item->is_kept, kept[i]);
	}
	free(kept);
}

static void cruft(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	for (int round = 0; round < 60; round++) {
		enum rollup_part parts[OLD_PLACES] = {ROLLUP_UNLISTED};
		int64_t expiry = round % 3 ? OLDREPO_EPOCH + 80 * round : 0;
		unsigned going = PACKS;
		struct trial t;

		trial_init(&t, &o);
		if (round % 5)
			going = random_parts(&t, parts);
		for (uint32_t i = 0; !(round % 5) && i < o.odb->pack_nr; i++)
			parts[i] = ROLLUP_INCLUDE;
		if (leftovers_list_cruft(&t.u, &t.job, parts, expiry, &err) !=
		    0)
			fail_msg("%s", err.msg);
		check_cruft(&t, going, expiry);
		trial_release(&t);
	}
	oldrepo_release(&o);
}

static int add_both(void *ctx, struct error *err)
{
	struct newpack_options newpack = {.make = {.threads = 1}};
	struct pack_job_options options = {.newpack = &newpack};
	struct unreachable u = {.nr = 0};
	struct pack_job job;
	int ret = pack_job_open(&job, ctx, NULL, &options, err);

	if (!ret)
		ret = leftovers_list(&u, &job, 0, err);
	if (!ret)
		ret = leftovers_add(&job, &u, true, true, err);
	if (!ret)
		assert_int_equal(job.items.nr, 2);
	unreachable_release(&u);
	pack_job_close(&job);
	return ret;
}

/*
 * The repository has a packed object and a loose one. If an allocation fails,
 * either the error is returned, or both objects are added.
 */
static void no_memory(void **state)
{
	struct tmppack_object packed = {.type = OBJ_BLOB, .text = "one\n"};
	struct tmprepo t;
	struct odb *odb;
	struct oid oid;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", &packed, 1, false);
	tmppack_loose(&t, "objects", &oid, OBJ_BLOB, "two\n", 4);
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	nomem_each(NULL, add_both, NULL, odb);
	odb_close(odb);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(added),
		cmocka_unit_test(cruft),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
