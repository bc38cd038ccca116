/* SPDX-License-Identifier: MIT */
/*
 * Tests of plans/plan-haves.c, which removes redundant haves from a request: in
 * random repositories, the haves that remain reach the same objects as all
 * haves together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "plans/plan.h"
#include "t/unit/asking.h"

#define NR 40

struct fixture {
	struct randrepo r;
	struct odb *odb;
	struct packing_request request;
	struct oid haves[NR];
	size_t nr;
	uint64_t seed;
};

static void start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->seed = random_seed();
	asking_repo(&f->r, HASH_SHA1, &f->seed);
	assert_int_equal(odb_open(&f->odb, &f->r.t.repo, NULL, NULL), 0);
	f->request.knows_shallow = true;
}

static void finish(struct fixture *f)
{
	odb_close(f->odb);
	randrepo_release(&f->r);
}

static int compare(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

/*
 * Sets f->haves to random objects: each recent commit with probability 1/2, and
 * four more objects. The list is sorted, without duplicates.
 */
static void draw(struct fixture *f)
{
	size_t kept = 0;
	struct randrepo *r = &f->r;

	f->nr = 0;
	for (uint32_t i = 0; i < NR - 4 && i < r->commit_nr; i++)
		if (randrepo_below(r, 2))
			f->haves[f->nr++] =
				r->objects[r->commits[r->commit_nr - 1 - i]]
					.oid;
	for (int i = 0; i < 4; i++)
		f->haves[f->nr++] = r->objects[randrepo_below(r, r->nr)].oid;
	qsort(f->haves, f->nr, sizeof(*f->haves), compare);
	for (size_t i = 0; i < f->nr; i++)
		if (!kept || !oid_equal(&f->haves[kept - 1], &f->haves[i]))
			f->haves[kept++] = f->haves[i];
	f->nr = kept;
}

static void mark(const struct randrepo *r, bool *reached, uint32_t nr)
{
	const struct randrepo_object *o = &r->objects[nr];

	if (reached[nr])
		return;
	reached[nr] = true;
	for (uint32_t i = 0; i < o->ref_nr; i++)
		mark(r, reached, o->refs[i]);
}

/*
 * Returns an array of flags. Flag i: the haves reach r.objects[i]. The caller
 * frees the array.
 */
static bool *closure(const struct fixture *f)
{
	bool *reached = calloc(RANDREPO_MAX, sizeof(*reached));

	assert_non_null(reached);
	for (size_t i = 0; i < f->nr; i++)
		mark(&f->r, reached, randrepo_find(&f->r, &f->haves[i]));
	return reached;
}

static void test_same_objects(void **state)
{
	struct fixture f;
	size_t removed = 0;

	start(&f);
	for (int i = 0; i < 50; i++) {
		bool *before, *after;
		size_t nr;

		draw(&f);
		nr = f.nr;
		before = closure(&f);
		plan_haves_reduce(f.haves, &f.nr, f.odb, &f.request);
		after = closure(&f);
		assert_true(f.nr && f.nr <= nr);
		removed += nr - f.nr;
		assert_memory_equal(before, after, RANDREPO_MAX);
		for (size_t k = 1; k < f.nr; k++)
			assert_true(oid_cmp(&f.haves[k - 1], &f.haves[k]) < 0);
		free(before);
		free(after);
	}
	assert_true(removed > 50);
	finish(&f);
}

/* Asserts that plan_haves_reduce() removes none of some random haves. */
static void assert_kept(struct fixture *f)
{
	struct oid haves[NR];
	size_t nr;

	draw(f);
	nr = f->nr;
	memcpy(haves, f->haves, sizeof(haves));
	plan_haves_reduce(f->haves, &f->nr, f->odb, &f->request);
	assert_int_equal(f->nr, nr);
	assert_memory_equal(f->haves, haves, nr * sizeof(*haves));
}

/*
 * A have is removed if it is a parent of another have. With a shallow boundary
 * or grafts, the client or the server may lack the parents of a commit. So no
 * have may be removed.
 */
static void test_absent_parents(void **state)
{
	struct fixture f;
	char hex[OID_MAX_HEX_LEN + 2];

	start(&f);
	f.request.knows_shallow = false;
	assert_kept(&f);
	f.request.knows_shallow = true;
	f.request.shallow = &f.r.objects[f.r.commits[0]].oid;
	f.request.shallow_nr = 1;
	assert_kept(&f);
	f.request.shallow_nr = 0;
	oid_to_hex(hex, f.request.shallow, HASH_SHA1);
	strcat(hex, "\n");
	tmprepo_write(&f.r.t, "shallow", hex);
	assert_kept(&f);
	tmprepo_remove(&f.r.t, "shallow");
	tmprepo_write(&f.r.t, "info/grafts", hex);
	assert_kept(&f);
	finish(&f);
}

/*
 * Stores an object whose bytes are those of a commit, padded to `size` bytes.
 * The object is stored with the type `type`, which may be another type than
 * commit. Calls plan_haves_reduce() for two haves: the stored object, and the
 * commit that the bytes name as parent. Returns the number of haves that
 * remain.
 */
static size_t kept_with(struct fixture *f, enum object_type type, size_t size)
{
	const struct randrepo *r = &f->r;
	struct buf text = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	f->haves[0] = r->objects[r->commits[0]].oid;
	oid_to_hex(hex, &f->haves[0], HASH_SHA1);
	buf_printf(&text,
		   "tree %s\nparent %s\nauthor A <a@b> 1 +0000\n"
		   "committer A <a@b> 1 +0000\n\n",
		   hex, hex);
	while (text.len < size)
		buf_append_char(&text, 'x');
	tmppack_loose(&r->t, "objects", &f->haves[1], type, text.data,
		      text.len);
	buf_release(&text);
	f->nr = 2;
	qsort(f->haves, f->nr, sizeof(*f->haves), compare);
	plan_haves_reduce(f->haves, &f->nr, f->odb, &f->request);
	return f->nr;
}

/*
 * A have is removed if the server reads another have and sees that this other
 * have is a child of the first one. A client can name any object as a have, and
 * reading large objects would cost too much. So commits above 1 MiB and objects
 * of other types are not read. If such an object names another have as its
 * parent, this other have remains.
 */
static void test_large_haves(void **state)
{
	struct fixture f;

	start(&f);
	assert_int_equal(kept_with(&f, OBJ_COMMIT, 0), 1);
	assert_int_equal(kept_with(&f, OBJ_COMMIT, 1 << 20), 1);
	assert_int_equal(kept_with(&f, OBJ_COMMIT, (1 << 20) + 1), 2);
	assert_int_equal(kept_with(&f, OBJ_BLOB, 0), 2);
	finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_objects),
		cmocka_unit_test(test_absent_parents),
		cmocka_unit_test(test_large_haves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
