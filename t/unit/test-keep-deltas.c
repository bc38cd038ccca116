/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/keep-deltas.c: a repack makes deltas of the newest version of
 * a file against older versions, and keeps them beside the pack. Wrong deltas
 * are noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "prepared/kept-deltas.h"
#include "packs/keep-deltas.h"
#include "t/unit/keptrepo.h"

#define DELTAS "objects/info/deltas"

/*
 * Deltas to keep beside the pack are made for the trees of HEAD and of three
 * older commits, which are 2, 8 and 32 commits before HEAD.
 */
static void trees_of_steps(void **state)
{
	static const uint32_t back[] = {0, 2, 8, 32};
	struct keep_trees trees;
	struct keptrepo k;
	struct walk w;

	keptrepo_init(&k, "[repack]\nkeptDeltas = 50\n");
	assert_int_equal(walk_open(&w, k.odb, NULL, 0, NULL), 0);
	assert_int_equal(keep_trees_find(&trees, &w, k.refs, NULL), 0);
	assert_int_equal(trees.nr, 4);
	for (size_t i = 0; i < 4; i++) {
		uint32_t commit = k.commits[KEPTREPO_COMMITS - 1 - back[i]];
		uint32_t tree = k.r.objects[commit].refs[0];

		assert_true(oid_equal(&trees.trees[i], &k.r.objects[tree].oid));
	}
	walk_close(&w);
	keptrepo_release(&k);
}

/*
 * The file of kept deltas has three rows. Each row is a delta of the newest
 * version of the changed file. The bases are the versions of this file 2, 8 and
 * 32 commits before HEAD.
 */
static void rows_of_steps(void **state)
{
	static const uint32_t steps[] = {2, 8, 32};
	struct kept_deltas d;
	struct kept_delta row;
	struct keptrepo k;
	size_t nr, checked;

	keptrepo_init(&k, "[repack]\nkeptDeltas = 50\n");
	assert_int_equal(kept_deltas_open(&d, k.odb, 0, NULL), 1);
	assert_int_equal(d.nr, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct randrepo_object *o = k.r.objects;

		assert_int_equal(kept_deltas_get(&row, &d, i, NULL), 0);
		assert_int_equal(row.step, steps[i]);
		assert_true(oid_equal(&row.target,
				      &o[k.blobs[KEPTREPO_COMMITS - 1]].oid));
		assert_true(oid_equal(
			&row.base,
			&o[k.blobs[KEPTREPO_COMMITS - 1 - steps[i]]].oid));
		assert_in_range(row.len, 1, 300);
	}
	kept_deltas_close(&d);
	assert_int_equal(keep_deltas_verify(&nr, &checked, k.odb, 0, NULL), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(checked, 3);
	keptrepo_release(&k);
}

/*
 * Write the rows of the existing file of kept deltas (stored beside the pack)
 * again, after change() has changed them.
 */
static void rewrite(struct keptrepo *k,
		    void (*change)(struct kept_delta *rows, uint32_t nr))
{
	struct buf bytes = BUF_INIT;
	struct kept_delta rows[3];
	struct kept_deltas d;

	assert_int_equal(kept_deltas_open(&d, k->odb, 0, NULL), 1);
	assert_int_equal(d.nr, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(kept_deltas_get(&rows[i], &d, i, NULL), 0);
	change(rows, 3);
	assert_int_equal(kept_deltas_write(&bytes, HASH_SHA1, rows, 3), 0);
	tmprepo_remove(&k->r.t, DELTAS);
	tmprepo_write_len(&k->r.t, DELTAS, bytes.data, bytes.len);
	kept_deltas_close(&d);
	buf_release(&bytes);
}

static void swap_bases(struct kept_delta *rows, uint32_t nr)
{
	struct oid base = rows[0].base;

	rows[0].base = rows[nr - 1].base;
	rows[nr - 1].base = base;
}

static void lengthen(struct kept_delta *rows, uint32_t nr)
{
	rows[nr - 1].size++;
}

static void enlarge(struct kept_delta *rows, uint32_t nr)
{
	rows[nr - 1].size = UINT32_MAX;
}

static void lose_base(struct kept_delta *rows, uint32_t nr)
{
	rows[nr - 1].base.bytes[0] ^= 1;
}

static void forget_delta(struct kept_delta *rows, uint32_t nr)
{
	rows[nr - 1].len = rows[nr - 1].size = 0;
}

/*
 * Verifying a file of kept deltas finds wrong deltas. Rows that have no base or
 * no delta are skipped.
 */
static void verify_finds_wrong_deltas(void **state)
{
	static const struct {
		void (*change)(struct kept_delta *rows, uint32_t nr);
		int code;
		size_t checked;
	} cases[] = {
		{swap_bases, ERR_CORRUPT, 0}, {lengthen, ERR_CORRUPT, 2},
		{enlarge, ERR_CORRUPT, 2},    {lose_base, 0, 2},
		{forget_delta, 0, 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		struct keptrepo k;
		size_t nr, checked;

		keptrepo_init(&k, "[repack]\nkeptDeltas = 50\n");
		rewrite(&k, cases[i].change);
		assert_int_equal(
			keep_deltas_verify(&nr, &checked, k.odb, 0, &err),
			cases[i].code);
		assert_int_equal(checked, cases[i].checked);
		assert_true(!cases[i].code ||
			    strstr(err.msg, "the stored delta of object"));
		keptrepo_release(&k);
	}
}

/*
 * With repack.keptDeltas = 0, the repack keeps no deltas beside the pack. So
 * there is no file to verify.
 */
static void none(void **state)
{
	struct kept_deltas d;
	struct keptrepo k;
	size_t nr, checked;

	keptrepo_init(&k, "[repack]\nkeptDeltas = 0\n");
	assert_int_equal(kept_deltas_open(&d, k.odb, 0, NULL), 0);
	assert_int_equal(keep_deltas_verify(&nr, &checked, k.odb, 0, NULL), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(checked, 0);
	keptrepo_release(&k);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_of_steps),
		cmocka_unit_test(rows_of_steps),
		cmocka_unit_test(verify_finds_wrong_deltas),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
