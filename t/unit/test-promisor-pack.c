/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/promisor-pack.c: promisor packs are merged into one pack.
 * Other packs do not change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/repack-parts.h"
#include "t/unit/packfile.h"
#include "t/unit/randrepo.h"

/*
 * Write a pack with every `step`-th object. `mark`: extension of an empty file
 * beside the pack. Returns the number of its objects.
 */
static uint32_t write_pack(struct randrepo *r, int nr, uint32_t step,
			   const char *mark)
{
	struct packfile *p = malloc(sizeof(*p));
	uint32_t count = 0;
	char name[64];

	assert_non_null(p);
	packfile_init(p, r->t.repo.algo);
	for (uint32_t i = 0; i < r->nr; i += step, count++)
		packfile_add(p, r->objects[i].type, r->objects[i].data.data,
			     r->objects[i].data.len);
	packfile_finish(p);
	snprintf(name, sizeof(name), "objects/pack/pack-%d.pack", nr);
	tmprepo_write_len(&r->t, name, p->bytes.data, p->bytes.len);
	snprintf(name, sizeof(name), "objects/pack/pack-%d.%s", nr, mark);
	tmprepo_write(&r->t, name, "");
	snprintf(name, sizeof(name), "objects/pack/pack-%d.idx", nr);
	tmprepo_write_len(&r->t, name, p->idx.data, p->idx.len);
	packfile_release(p);
	free(p);
	return count;
}

struct bed {
	struct randrepo r;
	struct newpack_options newpack;
	struct pack_job_options options;
	struct pack_job job;
	struct old_packs old;
	struct odb *odb;
	char *dir, *base;
};

static void open_job(struct bed *b)
{
	assert_int_equal(newpack_options_load(&b->newpack, &b->r.t.repo, NULL),
			 0);
	b->newpack.fsync_pack = b->newpack.fsync_metadata = SYS_FSYNC_NONE;
	b->dir = repo_object_path(&b->r.t.repo, "pack");
	b->base = repo_object_path(&b->r.t.repo, "pack/new");
	b->options = (struct pack_job_options){
		.newpack = &b->newpack,
		.dir = b->dir,
		.base = b->base,
		.exclude_promisor = true,
	};
	assert_int_equal(old_packs_list(&b->old, b->dir, NULL), 0);
	assert_int_equal(odb_open(&b->odb, &b->r.t.repo, NULL, NULL), 0);
	assert_int_equal(
		pack_job_open(&b->job, b->odb, NULL, &b->options, NULL), 0);
}

static void close_job(struct bed *b)
{
	pack_job_close(&b->job);
	odb_close(b->odb);
	old_packs_release(&b->old);
	free(b->dir);
	free(b->base);
}

/* Returns the number of objects in the new promisor packs. */
static uint32_t count_new(struct bed *b)
{
	struct odb *odb;
	uint32_t nr = 0;

	assert_int_equal(odb_open(&odb, &b->r.t.repo, NULL, NULL), 0);
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (strncmp(pack->name, "new-", 4) != 0)
			continue;
		assert_true(pack->is_promisor);
		nr += pack->idx.nr;
	}
	odb_close(odb);
	return nr;
}

static void become_one(void **state)
{
	uint64_t seed = random_seed();
	struct strlist made = STRLIST_INIT;
	struct bed b = {.odb = NULL};
	uint32_t expect = 0, nr;

	randrepo_init(&b.r, HASH_SHA1, &seed);
	randrepo_history(&b.r, 20);
	write_pack(&b.r, 1, 2, "promisor");
	write_pack(&b.r, 2, 3, "promisor");
	write_pack(&b.r, 3, 5, "other");
	for (uint32_t i = 0; i < b.r.nr; i++)
		expect += i % 2 == 0 || i % 3 == 0;
	open_job(&b);
	assert_int_equal(promisor_pack_write(&nr, &made, &b.job, &b.old, NULL),
			 0);
	assert_int_equal(nr, expect);
	assert_int_equal(made.nr, 1);
	strlist_release(&made);
	assert_int_equal(count_new(&b), expect);
	close_job(&b);
	randrepo_release(&b.r);
}

static void none(void **state)
{
	uint64_t seed = random_seed();
	struct strlist made = STRLIST_INIT;
	struct bed b = {.odb = NULL};
	uint32_t nr = 1;

	randrepo_init(&b.r, HASH_SHA1, &seed);
	randrepo_history(&b.r, 5);
	write_pack(&b.r, 1, 1, "other");
	open_job(&b);
	assert_int_equal(promisor_pack_write(&nr, &made, &b.job, &b.old, NULL),
			 0);
	assert_int_equal(nr, 0);
	assert_int_equal(made.nr, 0);
	assert_int_equal(count_new(&b), 0);
	close_job(&b);
	randrepo_release(&b.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(become_one),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
