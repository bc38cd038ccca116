/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/filter-walk.c, a walk that applies an object filter. They prove
 * that the walk finds the same objects as a slow computation, which knows all
 * depths and paths of each object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/filterset.h"
#include "t/unit/walkrepo.h"
#include "walk/filter-walk.h"

static void check(struct walkrepo *f, const struct filterset *s)
{
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = true,
		.filter = &s->filter,
		.filter_wants = s->filter_wants,
	};
	struct walk_tips none = WALK_TIPS_INIT;
	const struct randrepo *r = &f->h.r;
	struct error err = ERROR_INIT;
	bool *found = walkrepo_set();

	if (walk_enumerate(&result, &f->w, &s->tips, &none, &options, &err) < 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < result.revs.nr; i++) {
		uint32_t c = walk_result_commit(&result, i);

		found[walkrepo_commit_obj(f, c)] = true;
		c = result.revs.commits[i];
		assert_true(filterset_has(s, r, walkrepo_commit_obj(f, c)));
	}
	for (size_t i = 0; i < result.objects.nr; i++) {
		uint32_t nr = walkrepo_nr(f, result.objects.items[i].obj_pos);

		assert_false(found[nr]);
		found[nr] = true;
	}
	for (uint32_t nr = 0; nr < r->nr; nr++)
		if (found[nr] != filterset_has(s, r, nr)) {
			struct buf spec = BUF_INIT;

			filter_print(&spec, &s->filter);
			fail_msg("%s: object %u, a %s at level %u: %d",
				 spec.data, nr,
				 object_type_name(r->objects[nr].type),
				 s->levels[nr], found[nr]);
		}
	free(found);
	walk_result_release(&result);
}

static void random_filters(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 60, 20);
		for (int i = 0; i < 300; i++) {
			struct filterset s;

			filterset_init(&s, &f.h.r, &f.w, true);
			filterset_walk(&s, &f.h.r);
			check(&f, &s);
			filterset_release(&s);
		}
		walkrepo_release(&f);
	}
}

/*
 * A repository with one commit. A blob of this repository has sparse patterns.
 */
struct sparse_repo {
	struct walkrepo f;
	/* Index in r.objects[] of the blob with the patterns. */
	uint32_t patterns;
	int code; /* what resolve() returns */
};

static int resolve(void *ctx, const char *name, struct oid *oid)
{
	struct sparse_repo *s = ctx;

	assert_string_equal(name, "HEAD:patterns");
	*oid = s->f.h.r.objects[s->patterns].oid;
	return s->code;
}

static void sparse_paths(void **state)
{
	static const char *const paths[] = {"a/b/f", "a/g", "b/f", "t"};
	static const char text[] = "/a/\n!/a/b/\nb\n!/a/b/\n";
	static const bool taken[] = {false, true, true, false};
	uint64_t seed = random_seed();
	struct sparse_repo s = {.code = 0};
	struct walk_tips tips = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct walk_result result = WALK_RESULT_INIT;
	struct randtree t = {.nr = 0};
	struct buf data = BUF_INIT;
	struct filter filter;
	struct walk_options options = {.objects = true, .filter = &filter};
	struct randrepo *r = &s.f.h.r;
	uint32_t tree, commit, nr[4], blobs = 0;

	randhist_init(&s.f.h, HASH_SHA1, &seed);
	for (uint8_t i = 0; i < 4; i++) {
		randtree_put(&t, paths[i], 4 * i);
		nr[i] = randrepo_blob(r, 4 * i);
	}
	tree = randtree_store(r, &t, "");
	commit = randhist_commit_tree(r, tree, NULL, 0, 10);
	buf_append_str(&data, text);
	s.patterns = randrepo_add(r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	randrepo_store(r);
	walkrepo_open(&s.f);
	filter_init(&filter);
	assert_int_equal(filter_add(&filter, "sparse:oid=HEAD:patterns", NULL),
			 0);
	s.code = ERR_MISSING;
	assert_int_equal(
		filter_load_sparse(&filter, s.f.w.reader, resolve, &s, NULL),
		ERR_INVALID);
	filter_release(&filter);
	assert_int_equal(filter_add(&filter, "sparse:oid=HEAD:patterns", NULL),
			 0);
	s.code = 0;
	assert_int_equal(
		filter_load_sparse(&filter, s.f.w.reader, resolve, &s, NULL),
		0);
	assert_int_equal(walk_add_tip(&s.f.w, &tips, &r->objects[commit].oid,
				      false, NULL),
			 0);
	assert_int_equal(
		walk_enumerate(&result, &s.f.w, &tips, &none, &options, NULL),
		0);
	for (size_t i = 0; i < result.objects.nr; i++) {
		uint32_t o = walkrepo_nr(&s.f, result.objects.items[i].obj_pos);

		for (int k = 0; k < 4; k++)
			if (nr[k] == o)
				assert_true(taken[k]);
		blobs += r->objects[o].type == OBJ_BLOB;
	}
	assert_int_equal(blobs, 2);
	walk_result_release(&result);
	walk_tips_release(&tips);
	filter_release(&filter);
	walkrepo_release(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_filters),
		cmocka_unit_test(sparse_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
