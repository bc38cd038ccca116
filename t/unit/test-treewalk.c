/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/treewalk.c, a walk over a tree: the order and the paths of the
 * objects are compared with a recursive function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "trees/treewalk.h"

/* The objects and paths that a walk must deliver, in order. */
struct expectation {
	struct walkrepo *f;
	struct pathlist list;
	size_t at;
	/* Index of the object for which the callback fails. */
	size_t stop_at;
};

static int check_next(void *ctx, uint32_t obj_pos, enum object_type type,
		      const char *path, size_t path_len, struct error *err)
{
	struct expectation *e = ctx;
	const struct pathlist_item *item = &e->list.items[e->at];

	assert_true(e->at < e->list.nr);
	if (e->at == e->stop_at)
		return error_set(err, ERR_DENIED, "enough");
	assert_int_equal(walkrepo_nr(e->f, obj_pos), item->nr);
	assert_int_equal(type, e->f->h.r.objects[item->nr].type);
	assert_string_equal(path, item->path);
	assert_int_equal(path_len, strlen(item->path));
	e->at++;
	return 0;
}

/*
 * Lists the objects below `tree` that are not in `seen`, each with its first
 * path, and adds these objects to `seen`.
 */
static void expect(struct expectation *e, struct walkrepo *f, bool *seen,
		   uint32_t tree, const char *path)
{
	struct pathlist all = {NULL, 0, 0};
	size_t kept = 0;

	pathlist_walk(&f->h.r, &all, tree, path);
	for (size_t i = 0; i < all.nr; i++) {
		struct pathlist_item item = all.items[i];

		if (seen[item.nr])
			continue;
		seen[item.nr] = true;
		all.items[kept++] = item;
	}
	all.nr = kept;
	*e = (struct expectation){f, all, 0, SIZE_MAX};
}

static void one_tree(struct walkrepo *f, struct treewalk *w, bool *seen)
{
	struct randrepo *r = &f->h.r;
	uint32_t nr = randrepo_below(r, r->nr), pos = walkrepo_pos(f, nr);
	const char *path = randrepo_below(r, 2) ? "" : "some/where";
	struct error err = ERROR_INIT;
	struct expectation e;

	if (r->objects[nr].type != OBJ_TREE) {
		assert_int_equal(treewalk_see(w, pos), !seen[nr]);
		assert_int_equal(treewalk_see(w, pos), 0);
		seen[nr] = true;
		return;
	}
	expect(&e, f, seen, nr, path);
	if (treewalk_run(w, pos, path, randrepo_below(r, 3) ? check_next : NULL,
			 &e, &err) < 0)
		fail_msg("%s", err.msg);
	/*
	 * e.at is the number of calls of check_next(); 0: the walk had no
	 * callback.
	 */
	if (e.at)
		assert_int_equal(e.at, e.list.nr);
	free(e.list.items);
}

static void random_walks(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 60, 20);
		for (int i = 0; i < 30; i++) {
			bool *seen = walkrepo_set();
			struct treewalk w;

			assert_int_equal(
				treewalk_init(&w, &f.w.space, f.w.reader), 0);
			for (int k = 0; k < 30; k++)
				one_tree(&f, &w, seen);
			treewalk_release(&w);
			free(seen);
		}
		walkrepo_release(&f);
	}
}

/* An error of the callback stops the walk. */
static void stopped_by_callback(void **state)
{
	uint64_t seed = random_seed();
	bool *seen = walkrepo_set();
	struct error err = ERROR_INIT;
	struct expectation e;
	struct walkrepo f;
	struct treewalk w;
	uint32_t tree;

	walkrepo_init(&f, HASH_SHA1, &seed, 20, 0);
	tree = randhist_tree(&f.h, f.h.r.commits[19]);
	expect(&e, &f, seen, tree, "");
	for (e.stop_at = 0; e.stop_at < e.list.nr; e.stop_at++) {
		e.at = 0;
		assert_int_equal(treewalk_init(&w, &f.w.space, f.w.reader), 0);
		assert_int_equal(treewalk_run(&w, walkrepo_pos(&f, tree), "",
					      check_next, &e, &err),
				 ERR_DENIED);
		assert_string_equal(err.msg, "enough");
		treewalk_release(&w);
	}
	assert_true(e.list.nr > 1);
	free(e.list.items);
	walkrepo_release(&f);
	free(seen);
}

static uint32_t raw_tree(struct randrepo *r, const char *bytes, size_t len)
{
	struct buf data = BUF_INIT;
	uint32_t nr;

	buf_append(&data, bytes, len);
	nr = randrepo_add(r, OBJ_TREE, &data, NULL, 0);
	buf_release(&data);
	return nr;
}

static int ignore(void *ctx, uint32_t obj_pos, enum object_type type,
		  const char *path, size_t path_len, struct error *err)
{
	return 0;
}

static int walk(struct walkrepo *f, uint32_t pos, treewalk_fn fn,
		struct error *err)
{
	struct treewalk w;
	int ret;

	assert_int_equal(treewalk_init(&w, &f->w.space, f->w.reader), 0);
	ret = treewalk_run(&w, pos, "", fn, NULL, err);
	treewalk_release(&w);
	return ret;
}

static void skips_missing(struct walkrepo *f, uint32_t pos)
{
	struct treewalk w;

	assert_int_equal(treewalk_init(&w, &f->w.space, f->w.reader), 0);
	w.skips_missing = true;
	assert_int_equal(treewalk_run(&w, pos, "", ignore, NULL, NULL), 0);
	treewalk_release(&w);
}

static void fails(struct walkrepo *f, uint32_t pos, int code, const char *text)
{
	struct error err = ERROR_INIT;

	assert_int_equal(walk(f, pos, ignore, &err), code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.msg, text));
}

static void broken_trees(void **state)
{
	static const char bad[] = "100644 a\0too short";
	static const char lost[] = "40000 d\0aaaaaaaaaaaaaaaaaaaa";
	uint64_t seed = random_seed();
	struct walkrepo f;
	uint32_t nr[3], pos;

	randhist_init(&f.h, HASH_SHA1, &seed);
	nr[0] = raw_tree(&f.h.r, bad, sizeof(bad) - 1);
	nr[1] = raw_tree(&f.h.r, lost, sizeof(lost) - 1);
	nr[2] = randrepo_blob(&f.h.r, 3);
	randrepo_store(&f.h.r);
	walkrepo_open(&f);
	fails(&f, walkrepo_pos(&f, nr[0]), ERR_CORRUPT, "malformed tree: ");
	fails(&f, walkrepo_pos(&f, nr[1]), ERR_MISSING, "6161616161");
	fails(&f, walkrepo_pos(&f, nr[2]), ERR_CORRUPT, "not a tree object: ");
	/*
	 * If the walk only adds objects to `seen`, a missing tree is no error.
	 */
	assert_int_equal(walk(&f, walkrepo_pos(&f, nr[1]), NULL, NULL), 0);
	skips_missing(&f, walkrepo_pos(&f, nr[1]));
	assert_int_equal(objspace_add(&f.w.space, (const uint8_t *)lost, &pos),
			 0);
	assert_int_equal(walk(&f, pos, NULL, NULL), 0);
	fails(&f, pos, ERR_MISSING, "is missing");
	walkrepo_release(&f);
}

static void deep_trees(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo f;
	uint32_t nr, last = 0;

	randhist_init(&f.h, HASH_SHA1, &seed);
	nr = raw_tree(&f.h.r, "", 0);
	for (int i = 0; i <= ODB_MAX_TREE_DEPTH; i++) {
		struct randrepo_tree t = {.data = BUF_INIT};

		last = nr;
		randrepo_entry(&f.h.r, &t, "40000", "d", nr);
		nr = randrepo_finish_tree(&f.h.r, &t);
	}
	randtree_store_packs(&f.h.r);
	walkrepo_open(&f);
	assert_int_equal(walk(&f, walkrepo_pos(&f, last), ignore, NULL), 0);
	fails(&f, walkrepo_pos(&f, nr), ERR_CORRUPT,
	      "exceeded maximum allowed tree depth");
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_walks),
		cmocka_unit_test(stopped_by_callback),
		cmocka_unit_test(broken_trees),
		cmocka_unit_test(deep_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
