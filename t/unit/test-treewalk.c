/* SPDX-License-Identifier: MIT */
/* walk/treewalk.c: trees walked against what they were made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "walk/treewalk.h"

struct met {
	struct walkrepo *w;
	bool set[RANDREPO_MAX];
	uint32_t nr;
};

static int meet(void *ctx, uint32_t obj_pos, enum object_type type,
		const char *path, size_t path_len, struct error *err)
{
	struct met *m = ctx;
	uint32_t nr = walkrepo_nr(m->w, obj_pos);

	assert_int_equal(m->w->r.objects[nr].type, type);
	assert_int_equal(strlen(path), path_len);
	assert_true(!path_len || path[0] != '/');
	assert_false(m->set[nr]);
	m->set[nr] = true;
	m->nr++;
	return 0;
}

static uint32_t tree_of(const struct walkrepo *w, uint32_t commit)
{
	return w->r.objects[w->r.commits[commit]].refs[0];
}

/* One walk over several trees meets the union of what they reach, once. */
static void everything_once(void **state)
{
	uint64_t seed = random_seed();
	struct met *m = calloc(1, sizeof(*m));
	bool *expect = calloc(RANDREPO_MAX, sizeof(*expect));
	struct treewalk tree;
	struct walkrepo w;

	assert_true(m && expect);
	walkrepo_init(&w, HASH_SHA1, 40, &seed);
	m->w = &w;
	assert_int_equal(treewalk_init(&tree, &w.walk.space, w.walk.reader), 0);
	for (uint32_t i = 0; i < w.r.commit_nr; i += 2) {
		uint32_t nr = tree_of(&w, i);

		randrepo_reach(&w.r, expect, nr);
		assert_int_equal(treewalk_run(&tree, walkrepo_pos(&w, nr), "",
					      meet, m, NULL),
				 0);
		assert_memory_equal(m->set, expect, sizeof(m->set));
	}
	treewalk_release(&tree);
	walkrepo_release(&w);
	free(m);
	free(expect);
}

/* What was painted is not delivered. */
static void painted_trees_are_left_out(void **state)
{
	uint64_t seed = random_seed();
	struct met *m = calloc(1, sizeof(*m));
	bool *had = calloc(RANDREPO_MAX, sizeof(*had));
	bool *all = calloc(RANDREPO_MAX, sizeof(*all));
	struct treewalk tree;
	struct walkrepo w;

	assert_true(m && had && all);
	walkrepo_init(&w, HASH_SHA1, 40, &seed);
	m->w = &w;
	assert_int_equal(treewalk_init(&tree, &w.walk.space, w.walk.reader), 0);
	randrepo_reach(&w.r, had, tree_of(&w, 20));
	assert_int_equal(treewalk_run(&tree, walkrepo_pos(&w, tree_of(&w, 20)),
				      "", NULL, NULL, NULL),
			 0);
	randrepo_reach(&w.r, all, tree_of(&w, 30));
	assert_int_equal(treewalk_run(&tree, walkrepo_pos(&w, tree_of(&w, 30)),
				      "", meet, m, NULL),
			 0);
	for (uint32_t i = 0; i < w.r.nr; i++)
		assert_int_equal(m->set[i], all[i] && !had[i]);
	treewalk_release(&tree);
	walkrepo_release(&w);
	free(m);
	free(had);
	free(all);
}

/* Store a tree of one entry; returns its obj_pos. */
static uint32_t store_tree(struct walkrepo *w, const char *mode,
			   const char *name, const struct oid *oid,
			   struct oid *tree)
{
	struct buf data = BUF_INIT;
	uint32_t pos;

	buf_printf(&data, "%s %s", mode, name);
	buf_append_char(&data, '\0');
	buf_append(&data, oid->bytes, 20);
	tmppack_loose(&w->r.t, "objects", tree, OBJ_TREE, data.data, data.len);
	buf_release(&data);
	assert_int_equal(objspace_add(&w->walk.space, tree->bytes, &pos), 0);
	return pos;
}

static int run_one(struct walkrepo *w, uint32_t pos, struct error *err)
{
	struct treewalk tree;
	int ret;

	assert_int_equal(treewalk_init(&tree, &w->walk.space, w->walk.reader),
			 0);
	ret = treewalk_run(&tree, pos, "", NULL, NULL, err);
	treewalk_release(&tree);
	return ret;
}

static void malformed_trees_are_refused(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct oid tree, blob;
	struct walkrepo w;
	uint32_t pos;

	walkrepo_init(&w, HASH_SHA1, 2, &seed);
	/* a blob where a tree is named */
	tmppack_loose(&w.r.t, "objects", &blob, OBJ_BLOB, "x", 1);
	pos = store_tree(&w, "40000", "dir", &blob, &tree);
	assert_int_equal(run_one(&w, pos, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "not a tree object"));
	/* no entry at all */
	tmppack_loose(&w.r.t, "objects", &tree, OBJ_TREE, "garbage", 7);
	assert_int_equal(objspace_add(&w.walk.space, tree.bytes, &pos), 0);
	assert_int_equal(run_one(&w, pos, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "malformed tree"));
	walkrepo_release(&w);
}

/* Each tree holds the one before: deeper than anyone's paths. */
static void depth_is_limited(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct oid oid;
	struct walkrepo w;
	uint32_t pos = 0;

	walkrepo_init(&w, HASH_SHA1, 2, &seed);
	oid = w.r.objects[tree_of(&w, 0)].oid;
	for (int i = 0; i < TREEWALK_MAX_DEPTH + 2; i++)
		pos = store_tree(&w, "40000", "d", &oid, &oid);
	assert_int_equal(run_one(&w, pos, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "nested too deeply"));
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_once),
		cmocka_unit_test(painted_trees_are_left_out),
		cmocka_unit_test(malformed_trees_are_refused),
		cmocka_unit_test(depth_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
