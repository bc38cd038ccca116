/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph-write/graph-commits.c, which finds the commits for a new
 * commit-graph. They prove, for random histories, that it finds the same
 * commits as a recursive search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph-write/graph-content.h"
#include "t/unit/walkrepo.h"

static void check_parents(const struct walkrepo *f,
			  const struct graph_records *r, uint32_t i)
{
	const struct commit_graph_record *record = &r->records[i];
	const struct randrepo_object *o =
		&f->h.r.objects[randrepo_find(&f->h.r, &record->oid)];

	assert_int_equal(record->parent_nr, o->ref_nr - 1);
	assert_true(oid_equal(&record->tree, &f->h.r.objects[o->refs[0]].oid));
	for (uint32_t k = 0; k < record->parent_nr; k++) {
		uint32_t at = r->parents[record->first_parent + k];

		assert_true(at < r->nr);
		assert_true(oid_equal(&r->records[at].oid,
				      &f->h.r.objects[o->refs[k + 1]].oid));
	}
}

/*
 * Checks that *c has exactly the commits for which `reached` is set, ordered by
 * id. `reached` is indexed like r.objects.
 */
static void check(struct walkrepo *f, struct graph_commits *c,
		  const bool *reached)
{
	struct graph_records r = GRAPH_RECORDS_INIT;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < f->h.r.nr; i++)
		nr += reached[i] && f->h.r.objects[i].type == OBJ_COMMIT;
	assert_int_equal(graph_commits_reach(c, NULL), 0);
	assert_int_equal(graph_commits_nr(c), nr);
	assert_int_equal(graph_commits_records(&r, c, NULL), 0);
	assert_int_equal(r.nr, nr);
	for (uint32_t i = 0; i < nr; i++) {
		if (i)
			assert_true(oid_cmp(&r.records[i - 1].oid,
					    &r.records[i].oid) < 0);
		assert_true(reached[randrepo_find(&f->h.r, &r.records[i].oid)]);
		check_parents(f, &r, i);
	}
	graph_records_release(&r);
}

static void run_random(enum hash_algo algo, uint64_t *seed)
{
	struct graph_commits c;
	struct walkrepo f;
	bool *reached = walkrepo_set();

	walkrepo_init(&f, algo, seed, 40, 10);
	assert_int_equal(graph_commits_open(&c, f.odb, NULL, 0, NULL), 0);
	for (int i = 0; i < 3; i++) {
		uint32_t nr = randrepo_below(&f.h.r, f.h.r.nr);
		uint32_t target = nr;
		int is_commit;

		while (f.h.r.objects[target].type == OBJ_TAG)
			target = f.h.r.objects[target].refs[0];
		is_commit = f.h.r.objects[target].type == OBJ_COMMIT;
		assert_int_equal(graph_commits_add(&c, &f.h.r.objects[nr].oid,
						   GRAPH_COMMITS_REFUSE_MISSING,
						   NULL),
				 is_commit);
		if (is_commit)
			randrepo_reach(&f.h.r, reached, target);
		check(&f, &c, reached);
	}
	graph_commits_close(&c);
	walkrepo_release(&f);
	free(reached);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 8; i++)
		run_random(i & 1 ? HASH_SHA256 : HASH_SHA1, &seed);
}

static void test_packs(void **state)
{
	uint64_t seed = random_seed();
	struct graph_commits c;
	struct walkrepo f;
	bool *reached = walkrepo_set();

	walkrepo_init(&f, HASH_SHA1, &seed, 40, 5);
	assert_int_equal(graph_commits_open(&c, f.odb, NULL, 0, NULL), 0);
	for (uint32_t p = 0; p < f.odb->pack_nr; p++) {
		struct pack *pack = f.odb->packs[p].pack;

		assert_int_equal(graph_commits_add_pack(&c, pack, NULL), 0);
		for (uint32_t i = 0; i < pack->idx.nr; i++) {
			struct oid oid;

			oid_from_raw(&oid, pack_idx_oid(&pack->idx, i),
				     pack->algo);
			reached[randrepo_find(&f.h.r, &oid)] = true;
		}
	}
	check(&f, &c, reached);
	graph_commits_close(&c);
	walkrepo_release(&f);
	free(reached);
}

static void test_missing(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct graph_commits c;
	struct walkrepo f;
	struct oid oid = OID_ZERO_INIT;

	walkrepo_init(&f, HASH_SHA1, &seed, 4, 0);
	oid.bytes[19] = 1;
	assert_int_equal(graph_commits_open(&c, f.odb, NULL, 0, NULL), 0);
	assert_int_equal(
		graph_commits_add(&c, &oid, GRAPH_COMMITS_SKIP_MISSING, &err),
		0);
	assert_int_equal(
		graph_commits_add(&c, &oid, GRAPH_COMMITS_REFUSE_MISSING, &err),
		ERR_INVALID);
	assert_string_equal(err.msg, "invalid object: 0000000000000000000000000"
				     "000000000000001");
	assert_int_equal(graph_commits_add_raw(&c, oid.bytes, NULL), 0);
	assert_int_equal(graph_commits_reach(&c, &err), ERR_MISSING);
	graph_commits_close(&c);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_packs),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
