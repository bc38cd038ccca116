/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/rollup.c, which lists the objects for a new pack. It lists
 * each object that an included pack has and no excluded pack has. Optionally,
 * it also lists the objects that these reach, unless an excluded pack has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/rollup.h"
#include "t/unit/nomem.h"
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

/* An object stack of follow_links(). */
struct stack {
	uint32_t *at;
	size_t nr;
	bool *met;
};

static void push(struct stack *s, uint32_t nr)
{
	s->met[nr] = true;
	s->at[s->nr++] = nr;
}

/*
 * Set wanted[] for all objects that the option `follow` adds (see rollup.h).
 * Searches slowly.
 */
static void follow_links(const struct oldrepo *o, const unsigned *by_part,
			 bool *wanted)
{
	unsigned start = by_part[ROLLUP_INCLUDE] | by_part[ROLLUP_OPEN];
	unsigned out = by_part[ROLLUP_EXCLUDE] | by_part[ROLLUP_OPEN];
	unsigned stop = by_part[ROLLUP_OPEN] ? by_part[ROLLUP_EXCLUDE] : 0;
	struct stack s = {.at = calloc(RANDREPO_MAX, sizeof(*s.at)),
			  .met = calloc(RANDREPO_MAX, sizeof(*s.met))};

	assert_true(s.at && s.met);
	for (uint32_t i = 0; i < o->r.nr; i++)
		if (wanted[i] ||
		    ((o->places[i] & start) && !(o->places[i] & stop)))
			push(&s, i);
	while (s.nr) {
		const struct randrepo_object *from =
			&o->r.objects[s.at[--s.nr]];

		for (uint32_t k = 0; k < from->ref_nr; k++) {
			uint32_t to = from->refs[k];

			/*
			 * Skip an object that is missing, that was met before,
			 * or at which the search ends.
			 */
			if (!o->places[to] || (o->places[to] & stop) ||
			    s.met[to])
				continue;
			push(&s, to);
			if (!(o->places[to] & out))
				wanted[to] = true;
		}
	}
	free(s.at);
	free(s.met);
}

static void check(struct oldrepo *o, bool loose, bool follow)
{
	struct newpack_options newpack = {.make = {.threads = 1}};
	struct pack_job_options options = {.newpack = &newpack};
	/*
	 * Allocated on the heap, so that sanitizers notice reads past its end.
	 */
	enum rollup_part *parts = calloc(o->odb->pack_nr, sizeof(*parts));
	struct rollup_options rollup = {
		.parts = parts,
		.loose = loose,
		.follow = follow,
	};
	unsigned *times = calloc(RANDREPO_MAX, sizeof(*times));
	bool *wanted = calloc(RANDREPO_MAX, sizeof(*wanted));
	unsigned by_part[5] = {0};
	struct error err = ERROR_INIT;
	struct pack_job job;

	assert_true(parts && times && wanted);
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
		wanted[i] = is_wanted(o->places[i], by_part, loose);
	if (follow)
		follow_links(o, by_part, wanted);
	for (uint32_t i = 0; i < o->r.nr; i++)
		assert_int_equal(times[i], wanted[i]);
	pack_job_close(&job);
	free(wanted);
	free(times);
	free(parts);
}

static void parts(void **state)
{
	uint64_t seed = random_seed();
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	for (int round = 0; round < 30; round++)
		check(&o, round % 2, false);
	oldrepo_release(&o);
}

/* Remove some of the objects that are only loose. */
static void lose_some(struct oldrepo *o)
{
	for (uint32_t i = 0; i < o->r.nr; i++) {
		struct buf path = BUF_INIT;

		if (o->places[i] != OLD_LOOSE || randrepo_below(&o->r, 5))
			continue;
		o->places[i] = 0;
		assert_int_equal(odb_loose_path(&path, o->odb, o->odb->dirs[0],
						&o->r.objects[i].oid),
				 0);
		assert_int_equal(sys_unlink(path.data, NULL), 0);
		buf_release(&path);
	}
}

static void followed(void **state)
{
	uint64_t seed = random_seed();
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	for (int round = 0; round < 30; round++) {
		check(&o, round % 2, true);
		if (round == 14)
			lose_some(&o);
	}
	oldrepo_release(&o);
}

/*
 * A repository whose objects are to be packed together: the objects of pack-1
 * (a tag and a blob) and one loose object. pack-2 is not named in the request.
 * But pack-2 has the object to which the tag points, and the option `follow`
 * adds this object.
 */
struct small {
	struct tmprepo t;
	struct odb *odb;
	struct newpack_options newpack;
	size_t listed_nr;
	struct error warning;
};

static void small_init(struct small *s)
{
	static const char tag_text[] =
		"object 5626abf0f72e58d7a153368ba57db4c673c0e171\n"
		"type blob\ntag x\ntagger A <a@b> 1 +0000\n\n";
	struct tmppack_object listed[] = {{.type = OBJ_TAG, .text = tag_text},
					  {.type = OBJ_BLOB, .text = "two\n"}};
	struct tmppack_object other[] = {{.type = OBJ_BLOB, .text = "one\n"}};
	struct oid oid;

	memset(s, 0, sizeof(*s));
	s->newpack.make.threads = 1;
	tmprepo_init(&s->t, HASH_SHA1);
	tmppack_write(&s->t, "objects", "pack-1", listed, 2, false);
	tmppack_write(&s->t, "objects", "pack-2", other, 1, false);
	tmppack_loose(&s->t, "objects", &oid, OBJ_BLOB, "three\n", 6);
	assert_int_equal(odb_open(&s->odb, &s->t.repo, NULL, NULL), 0);
}

static void small_release(struct small *s)
{
	odb_close(s->odb);
	tmprepo_release(&s->t);
}

static int list_small(void *ctx, struct error *err)
{
	struct small *s = ctx;
	struct pack_job_options options = {.newpack = &s->newpack};
	enum rollup_part parts[2] = {ROLLUP_UNLISTED};
	struct rollup_options rollup = {
		.parts = parts,
		.loose = true,
		.follow = true,
	};
	struct pack_job job;
	int ret = rollup_mark(parts, s->odb, "pack-1.pack", ROLLUP_INCLUDE,
			      true, err);

	assert_int_equal(ret, 0);
	ret = pack_job_open(&job, s->odb, NULL, &options, err);
	if (!ret)
		ret = rollup_add(&job, &rollup, err);
	s->listed_nr = job.items.nr;
	s->warning = job.warning;
	pack_job_close(&job);
	return ret;
}

static void check_small(void *ctx)
{
	const struct small *s = ctx;

	assert_int_equal(s->listed_nr, 4);
	assert_int_equal(s->warning.code, 0);
}

static void no_memory(void **state)
{
	struct small s;

	small_init(&s);
	nomem_each(NULL, list_small, check_small, &s);
	small_release(&s);
}

/*
 * A damaged loose object is not put into the list of objects. A warning names
 * its file.
 */
static void damaged(void **state)
{
	struct small s;

	small_init(&s);
	tmprepo_write(&s.t, "objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
		      "nonsense");
	assert_int_equal(list_small(&s, NULL), 0);
	assert_int_equal(s.listed_nr, 4);
	assert_int_equal(s.warning.code, ERR_CORRUPT);
	assert_non_null(strstr(s.warning.msg, "aa/bbbb"));
	small_release(&s);
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
		cmocka_unit_test(parts),     cmocka_unit_test(followed),
		cmocka_unit_test(no_memory), cmocka_unit_test(damaged),
		cmocka_unit_test(marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
