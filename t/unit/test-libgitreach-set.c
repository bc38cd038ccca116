/* SPDX-License-Identifier: MIT */
/*
 * Tests of libgitreach/set.c, public functions for sets of objects. The sets
 * are compared with arrays of flags.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/apirepo.h"

/*
 * Returns the set of a random query, found by bitmaps or by a walk. Sets
 * a->want[i] for its objects.
 */
static gitreach_set *some_set(struct apirepo *a)
{
	gitreach_query *q = apirepo_query(a, (int)randrepo_below(&a->r, 2));
	gitreach_set *set;

	apirepo_draw(a, q);
	for (uint32_t i = 0; i < a->r.nr; i++)
		a->want[i] &= !a->have[i];
	memset(a->have, 0, RANDREPO_MAX);
	set = apirepo_run(a, q);
	gitreach_query_free(q);
	return set;
}

static void two_sets(void **state)
{
	static int (*const ops[])(gitreach_set **, const gitreach_set *,
				  const gitreach_set *, gitreach_error *) = {
		gitreach_set_and, gitreach_set_or, gitreach_set_andnot};
	uint64_t seed = random_seed();
	struct apirepo a;
	bool *first = calloc(RANDREPO_MAX, sizeof(bool));

	assert_non_null(first);
	apirepo_make(&a, HASH_SHA1, 60, &seed);
	apirepo_open(&a, 0);
	for (int k = 0; k < 150; k++) {
		gitreach_set *x = some_set(&a), *y, *z;

		memcpy(first, a.want, RANDREPO_MAX);
		y = some_set(&a);
		APIREPO_OK(&a, ops[k % 3](&z, x, y, a.err));
		for (uint32_t i = 0; i < a.r.nr; i++)
			a.want[i] = k % 3 == 0   ? first[i] && a.want[i]
				    : k % 3 == 1 ? first[i] || a.want[i]
						 : first[i] && !a.want[i];
		apirepo_check(&a, z);
		gitreach_set_free(x);
		gitreach_set_free(y);
		gitreach_set_free(z);
	}
	free(first);
	apirepo_release(&a);
}

struct seen {
	struct apirepo *a;
	bool *seen;
	int last_type;
	uint64_t nr, stop_after;
};

static int see(void *ctx, const uint8_t *id, size_t id_len, int type)
{
	struct seen *s = ctx;
	struct oid oid = OID_ZERO_INIT;
	uint32_t nr;

	assert_int_equal(id_len, 20);
	memcpy(oid.bytes, id, id_len);
	nr = randrepo_find(&s->a->r, &oid);
	assert_int_equal(s->a->r.objects[nr].type, type);
	assert_false(s->seen[nr]);
	assert_true(type >= s->last_type);
	s->seen[nr] = true;
	s->last_type = type;
	return ++s->nr == s->stop_after ? 5 : 0;
}

static int refuse(void *ctx, const uint8_t *id, size_t id_len, int type)
{
	return -1;
}

/*
 * Each object of a set is visited once: first all objects of one type, then all
 * of the next type.
 */
static void each(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	for (int k = 0; k < 30; k++) {
		struct seen s = {.a = &a};
		gitreach_set *set;

		apirepo_open(&a, k % 2 ? 0 : GITREACH_OPEN_NO_BITMAP);
		set = some_set(&a);
		s.seen = calloc(RANDREPO_MAX, sizeof(bool));
		assert_non_null(s.seen);
		APIREPO_OK(&a, gitreach_set_each(set, GITREACH_ANY_TYPE, see,
						 &s, a.err));
		assert_memory_equal(s.seen, a.want, a.r.nr);
		memset(s.seen, 0, RANDREPO_MAX);
		s.nr = 0;
		s.last_type = 0;
		APIREPO_OK(&a,
			   gitreach_set_each(set, GITREACH_TYPE(GITREACH_BLOB),
					     see, &s, a.err));
		assert_int_equal(
			s.nr,
			gitreach_set_count(set, GITREACH_TYPE(GITREACH_BLOB)));
		free(s.seen);
		gitreach_set_free(set);
	}
	apirepo_release(&a);
}

static void each_can_be_ended(void **state)
{
	uint64_t seed = random_seed();
	struct seen s = {.stop_after = 3};
	gitreach_query *q;
	gitreach_set *set;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 20, &seed);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	set = apirepo_run(&a, q);
	s.a = &a;
	s.seen = a.have;
	assert_int_equal(
		gitreach_set_each(set, GITREACH_ANY_TYPE, see, &s, a.err), 5);
	assert_int_equal(s.nr, 3);
	APIREPO_FAILS(
		&a, GITREACH_CANCELLED,
		gitreach_set_each(set, GITREACH_ANY_TYPE, refuse, NULL, a.err));
	/* The repository stays open while a set or a query uses it. */
	gitreach_repo_close(a.repo);
	a.repo = NULL;
	gitreach_query_free(q);
	assert_int_equal(gitreach_set_count(set, GITREACH_ANY_TYPE), a.r.nr);
	gitreach_set_free(set);
	apirepo_release(&a);
}

/*
 * The disk size of all objects of a pack is the size of the pack without its
 * header and its trailer. The sizes of all types add up to the whole size.
 */
static void disk_size(void **state)
{
	uint64_t seed = random_seed(), parts[3], all;
	gitreach_query *q;
	gitreach_set *set;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 40, &seed);
	bitmaprepo_repack(&a.r, true, true);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	set = apirepo_run(&a, q);
	APIREPO_OK(&a,
		   gitreach_set_disk_size(&all, set, GITREACH_ANY_TYPE, a.err));
	APIREPO_OK(&a,
		   gitreach_set_disk_size(&parts[0], set,
					  GITREACH_TYPE(GITREACH_COMMIT) |
						  GITREACH_TYPE(GITREACH_TAG),
					  a.err));
	APIREPO_OK(&a,
		   gitreach_set_disk_size(&parts[1], set,
					  GITREACH_TYPE(GITREACH_TREE), a.err));
	APIREPO_OK(&a,
		   gitreach_set_disk_size(&parts[2], set,
					  GITREACH_TYPE(GITREACH_BLOB), a.err));
	assert_int_equal(parts[0] + parts[1] + parts[2], all);
	assert_true(parts[0] && parts[1] && parts[2]);
	{
		struct odb *odb;

		assert_int_equal(odb_open(&odb, &a.r.t.repo, NULL, NULL), 0);
		assert_int_equal(odb->pack_nr, 1);
		assert_int_equal(all, odb->packs[0].pack->file.len - 12 - 20);
		odb_close(odb);
	}
	gitreach_set_free(set);
	gitreach_query_free(q);
	apirepo_release(&a);
}

static void snapshots_do_not_mix(void **state)
{
	uint64_t seed = random_seed();
	gitreach_set *x, *y, *z;
	gitreach_repo *first;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 20, &seed);
	apirepo_open(&a, 0);
	x = some_set(&a);
	first = a.repo;
	APIREPO_OK(&a, gitreach_repo_refresh(&a.repo, first, a.err));
	y = some_set(&a);
	APIREPO_FAILS(&a, GITREACH_INVALID, gitreach_set_or(&z, x, y, a.err));
	assert_null(z);
	gitreach_repo_close(first);
	gitreach_set_free(x);
	gitreach_set_free(y);
	apirepo_release(&a);
}

/* gitreach_set_explain() says how the objects were found. */
static void explanations(void **state)
{
	uint64_t seed = random_seed();
	struct gitreach_explanation how = {.size = sizeof(how)};
	struct gitreach_explanation small = {.size = 12, .commits_walked = 77};
	gitreach_query *q;
	gitreach_set *set;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 40, &seed);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want_name(q, "main", a.err));
	set = apirepo_run(&a, q);
	APIREPO_OK(&a, gitreach_set_explain(&how, set, a.err));
	assert_int_equal(how.strategy, GITREACH_BITMAP);
	assert_true(how.bitmaps_used > 0 && how.commits_walked > 0);
	assert_true(how.objects_walked > 0);
	assert_string_equal(how.reason, "");
	/*
	 * An older program has a shorter struct. The library sets only the
	 * members that this struct has.
	 */
	APIREPO_OK(&a, gitreach_set_explain(&small, set, a.err));
	assert_int_equal(small.strategy, GITREACH_BITMAP);
	assert_int_equal(small.commits_walked, 77);
	assert_int_equal(small.size, 12);
	small.size = 0;
	APIREPO_FAILS(&a, GITREACH_INVALID,
		      gitreach_set_explain(&small, set, a.err));
	gitreach_set_free(set);
	apirepo_open(&a, GITREACH_OPEN_NO_BITMAP);
	gitreach_query_free(q);
	q = apirepo_query(&a, GITREACH_AUTO);
	set = apirepo_run(&a, q);
	APIREPO_OK(&a, gitreach_set_explain(&how, set, a.err));
	assert_int_equal(how.strategy, GITREACH_WALK);
	assert_string_equal(how.reason,
			    "the repository was opened without bitmaps");
	gitreach_set_free(set);
	gitreach_query_free(q);
	apirepo_release(&a);
}

/*
 * A set of random ids has exactly the objects with these ids. This is tried
 * with and without a bitmap index. The id of a missing object is an error.
 */
static void ids(void **state)
{
	for (int flags = 0; flags <= GITREACH_OPEN_NO_BITMAP;
	     flags += GITREACH_OPEN_NO_BITMAP) {
		uint64_t seed = random_seed();
		uint8_t named[64 * 32];
		struct apirepo a;
		gitreach_set *set;

		apirepo_make(&a, HASH_SHA256, 40, &seed);
		apirepo_open(&a, (uint32_t)flags);
		for (int i = 0; i < 64; i++) {
			uint32_t nr = randrepo_below(&a.r, a.r.nr);

			a.want[nr] = true;
			memcpy(named + 32 * i, apirepo_id(&a, nr), 32);
		}
		APIREPO_OK(&a, gitreach_set_new(&set, a.repo, named, 64, 32,
						a.err));
		apirepo_check(&a, set);
		gitreach_set_free(set);
		APIREPO_OK(&a,
			   gitreach_set_new(&set, a.repo, NULL, 0, 32, a.err));
		assert_int_equal(gitreach_set_count(set, GITREACH_ANY_TYPE), 0);
		gitreach_set_free(set);
		named[32 * 63] ^= 1;
		APIREPO_FAILS(
			&a, GITREACH_MISSING,
			gitreach_set_new(&set, a.repo, named, 64, 32, a.err));
		assert_null(set);
		APIREPO_FAILS(
			&a, GITREACH_INVALID,
			gitreach_set_new(&set, a.repo, named, 64, 20, a.err));
		apirepo_release(&a);
	}
}

static int take(void *ctx, const uint8_t *id, size_t id_len, int type)
{
	return 0;
}

/* A mask of types is refused if it has a bit that is no type. */
static void unknown_types(void **state)
{
	uint64_t seed = random_seed(), bytes;
	struct apirepo a;
	gitreach_query *q;
	gitreach_set *set;

	apirepo_make(&a, HASH_SHA1, 20, &seed);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	set = apirepo_run(&a, q);
	for (uint32_t bit = 1; bit; bit <<= 1) {
		if (bit & GITREACH_ANY_TYPE)
			continue;
		APIREPO_FAILS(&a, GITREACH_UNSUPPORTED,
			      gitreach_set_each(set, bit, take, NULL, a.err));
		APIREPO_FAILS(&a, GITREACH_UNSUPPORTED,
			      gitreach_set_disk_size(&bytes, set, bit, a.err));
		assert_int_equal(gitreach_set_count(set, bit), 0);
	}
	gitreach_set_free(set);
	gitreach_query_free(q);
	apirepo_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_sets),
		cmocka_unit_test(each),
		cmocka_unit_test(each_can_be_ended),
		cmocka_unit_test(disk_size),
		cmocka_unit_test(snapshots_do_not_mix),
		cmocka_unit_test(explanations),
		cmocka_unit_test(ids),
		cmocka_unit_test(unknown_types),
	};

	return cmocka_run_group_tests_name("libgitreach-set", tests, NULL,
					   NULL);
}
