/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/tree-family.c. A family is a tree and all trees that are
 * stored as deltas of it, directly or through other deltas. All tree entries
 * must be reported, and families must agree with the deltas in the packs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/treedelta.h"
#include "t/unit/walkrepo.h"
#include "trees/tree-family.h"

#define NONE TREE_FAMILIES_NONE
#define CACHE_LIMIT ((size_t)1 << 20)

/*
 * The objects that were reported as trees, and those that were reported as
 * blobs. Both arrays are indexed like r.objects.
 */
struct reported {
	struct walkrepo *f;
	bool *trees, *blobs;
	/* Number of calls before the callback fails. */
	size_t left;
};

static int take(void *ctx, const struct tree_find *finds, size_t nr,
		struct error *err)
{
	struct reported *t = ctx;

	for (size_t i = 0; i < nr; i++) {
		struct oid oid;
		uint32_t object;

		oid_from_raw(&oid, finds[i].raw, t->f->odb->algo);
		object = randrepo_find(&t->f->h.r, &oid);
		(finds[i].is_dir ? t->trees : t->blobs)[object] = true;
	}
	return t->left-- ? 0 : error_set(err, ERR_CANCELLED, "enough");
}

/*
 * Chooses random trees, each with a probability of `share` in four. Returns the
 * number of trees.
 */
static size_t random_trees(struct walkrepo *f, uint32_t *trees, uint32_t share)
{
	struct randrepo *r = &f->h.r;
	size_t nr = 0;

	for (uint32_t i = 0; i < r->nr; i++)
		if (r->objects[i].type == OBJ_TREE &&
		    randrepo_below(r, 4) < share)
			trees[nr++] = i;
	return nr;
}

/*
 * Checks a tree of a family, and all trees that depend on it as deltas. Sets
 * met[] for these trees. Each tree must occur only once. Returns the number of
 * trees.
 */
static uint32_t check_family(const struct tree_families *fam, uint32_t tree,
			     bool *met)
{
	uint32_t size = 1, largest = 0, heir = 0, last = tree;

	assert_true(tree < fam->nr && !met[tree]);
	met[tree] = true;
	for (uint32_t i = fam->eldest[tree]; i != NONE; i = fam->next[i]) {
		uint32_t nr;

		/*
		 * The number of a delta is larger than that of its base, and
		 * larger than those of the earlier deltas of the same base.
		 */
		assert_true(i > last);
		nr = check_family(fam, i, met);
		size += nr;
		if (nr > largest)
			largest = nr;
		if (i == fam->heir[tree])
			heir = nr;
		last = i;
	}
	assert_int_equal(heir, largest);
	return size;
}

static void check_families(const struct tree_families *fam)
{
	bool *met = calloc(fam->nr + 1, sizeof(*met));
	uint32_t nr = 0;

	assert_non_null(met);
	for (size_t i = 0; i < fam->head_nr; i++) {
		assert_true(!i || fam->heads[i - 1] < fam->heads[i]);
		nr += check_family(fam, fam->heads[i], met);
	}
	assert_int_equal(nr, fam->nr);
	free(met);
}

/* Reads all families (trees and their deltas), in several calls. */
static int read_all(struct reported *reported, const struct tree_families *fam,
		    bool trees_only, struct error *err)
{
	struct walkrepo *f = reported->f;
	struct tree_family_reader *reader = tree_family_reader_new(
		&f->w.space, CACHE_LIMIT, trees_only, take, reported);
	int ret = 0;

	assert_non_null(reader);
	for (size_t i = 0, n; i < fam->head_nr && !ret; i += n) {
		n = randrepo_below(&f->h.r, 5) + 1;
		if (n > fam->head_nr - i)
			n = fam->head_nr - i;
		ret = tree_family_reader_run(reader, fam, i, i + n, err);
	}
	tree_family_reader_free(reader);
	return ret;
}

/*
 * Checks that the reported objects are exactly those that the `nr` trees in
 * `trees` contain. If `trees_only` is true, no blobs may be reported.
 */
static void check_reported(const struct reported *reported,
			   const uint32_t *trees, size_t nr, bool trees_only)
{
	const struct randrepo *r = &reported->f->h.r;
	bool *expect = walkrepo_set();

	for (size_t i = 0; i < nr; i++) {
		const struct randrepo_object *o = &r->objects[trees[i]];

		for (uint32_t k = 0; k < o->ref_nr; k++)
			expect[o->refs[k]] = true;
	}
	for (uint32_t i = 0; i < r->nr; i++) {
		bool is_tree = r->objects[i].type == OBJ_TREE;

		assert_int_equal(reported->trees[i], expect[i] && is_tree);
		assert_int_equal(reported->blobs[i],
				 expect[i] && !is_tree && !trees_only);
	}
	free(expect);
}

static void read_and_check(struct walkrepo *f, uint32_t share, bool trees_only)
{
	struct reported reported = {f, walkrepo_set(), walkrepo_set(),
				    SIZE_MAX};
	uint32_t *trees = calloc(RANDREPO_MAX, sizeof(*trees));
	uint32_t *places = calloc(RANDREPO_MAX, sizeof(*places));
	struct error err = ERROR_INIT;
	struct tree_families fam;
	size_t nr;

	assert_true(trees && places);
	nr = random_trees(f, trees, share);
	for (size_t i = 0; i < nr; i++)
		places[i] = walkrepo_pos(f, trees[i]);
	assert_int_equal(tree_families_init(&fam, &f->w.space, places, nr,
					    1 + share % 2, NULL),
			 0);
	check_families(&fam);
	if (read_all(&reported, &fam, trees_only, &err) < 0)
		fail_msg("%s", err.msg);
	check_reported(&reported, trees, nr, trees_only);
	if (nr > 10 && !trees_only) {
		reported.left = 0;
		assert_int_equal(read_all(&reported, &fam, trees_only, &err),
				 ERR_CANCELLED);
	}
	tree_families_release(&fam);
	free(reported.trees);
	free(reported.blobs);
	free(trees);
	free(places);
}

static void random_families(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		for (uint32_t share = 0; share <= 4; share++) {
			struct walkrepo f;

			walkrepo_init(&f, algo, &seed, 120, 10);
			read_and_check(&f, share, false);
			read_and_check(&f, share, true);
			walkrepo_release(&f);
		}
	}
}

/* Makes three trees. Each has one file more than the tree before it. */
static void grow_trees(struct randrepo *r, uint32_t *trees)
{
	struct buf data = BUF_INIT;
	uint32_t refs[3];

	for (uint32_t i = 0; i < 3; i++) {
		refs[i] = randrepo_blob(r, i + 1);
		buf_printf(&data, "100644 %c", (char)('a' + i));
		buf_append_char(&data, '\0');
		buf_append(&data, r->objects[refs[i]].oid.bytes, 20);
		trees[i] = randrepo_add(r, OBJ_TREE, &data, refs, i + 1);
	}
	buf_release(&data);
}

/*
 * Adds tree number `i` to a pack, as a delta of tree i - 1. The delta states a
 * length of its base that is wrong by `wrong_by`.
 */
static void add_grown(struct packfile *p, const struct randrepo *r,
		      const uint32_t *trees, uint32_t i, size_t wrong_by)
{
	const struct buf *base = &r->objects[trees[i - 1]].data;
	const struct randrepo_object *o = &r->objects[trees[i]];
	struct pack_entry e = {.type = OBJ_OFS_DELTA};
	struct buf delta = BUF_INIT;

	treedelta_size(&delta, base->len + wrong_by);
	treedelta_size(&delta, o->data.len);
	treedelta_copy(&delta, 0, base->len);
	treedelta_insert(&delta, o->data.data + base->len,
			 o->data.len - base->len);
	e.size = delta.len;
	e.base_distance = p->bytes.len - p->offsets[i - 1];
	packfile_add_entry(p, &e, delta.data, delta.len, &o->oid);
	buf_release(&delta);
}

static void store_pack(struct randrepo *r, struct packfile *p, const char *name)
{
	char path[64];

	packfile_finish(p);
	snprintf(path, sizeof(path), "objects/pack/pack-%s.pack", name);
	tmprepo_write_len(&r->t, path, p->bytes.data, p->bytes.len);
	snprintf(path, sizeof(path), "objects/pack/pack-%s.idx", name);
	tmprepo_write_len(&r->t, path, p->idx.data, p->idx.len);
}

/*
 * Stores the trees in a pack. The delta of the second tree is broken: it does
 * not fit its base. Returns the offset of this delta.
 */
static uint64_t store_broken(struct randrepo *r, const uint32_t *trees)
{
	struct packfile *p = malloc(sizeof(*p));
	const struct buf *first = &r->objects[trees[0]].data;
	uint64_t offset;

	assert_non_null(p);
	packfile_init(p, HASH_SHA1);
	packfile_add(p, OBJ_TREE, first->data, first->len);
	add_grown(p, r, trees, 1, 1);
	add_grown(p, r, trees, 2, 0);
	store_pack(r, p, "x");
	offset = p->offsets[1];
	packfile_release(p);
	free(p);
	return offset;
}

/*
 * Stores a second copy of the second tree in an older pack. The copy is stored
 * whole.
 */
static void store_copy(struct randrepo *r, const uint32_t *trees)
{
	const struct buf *second = &r->objects[trees[1]].data;
	struct packfile *p = malloc(sizeof(*p));

	assert_non_null(p);
	packfile_init(p, HASH_SHA1);
	packfile_add(p, OBJ_TREE, second->data, second->len);
	store_pack(r, p, "w");
	packfile_release(p);
	free(p);
}

/*
 * There are three trees. The second is stored as a delta of the first, and the
 * third as a delta of the second. The delta of the second tree is broken. If
 * another pack has a copy of the second tree (`has_copy`), the reader must read
 * this copy, and must make the third tree from it. If there is no copy, the
 * error must name the pack of the broken delta and its offset.
 */
static void check_broken(bool has_copy)
{
	uint64_t seed = random_seed(), offset;
	struct error err = ERROR_INIT;
	struct tree_families fam;
	struct walkrepo f = {.h.trees = NULL};
	struct reported reported = {&f, walkrepo_set(), walkrepo_set(),
				    SIZE_MAX};
	uint32_t trees[3], places[3];
	char text[80];

	randrepo_init(&f.h.r, HASH_SHA1, &seed);
	grow_trees(&f.h.r, trees);
	if (has_copy)
		store_copy(&f.h.r, trees);
	offset = store_broken(&f.h.r, trees);
	walkrepo_open(&f);
	for (int i = 0; i < 3; i++)
		places[i] = walkrepo_pos(&f, trees[i]);
	assert_int_equal(
		tree_families_init(&fam, &f.w.space, places, 3, 1, NULL), 0);
	assert_int_equal(fam.head_nr, 1);
	assert_int_equal(read_all(&reported, &fam, false, &err),
			 has_copy ? 0 : ERR_CORRUPT);
	snprintf(text, sizeof(text),
		 "pack-x: delta for a base of another size at offset %u",
		 (unsigned)offset);
	if (has_copy)
		check_reported(&reported, trees, 3, false);
	else
		assert_non_null(strstr(err.msg, text));
	tree_families_release(&fam);
	free(reported.trees);
	free(reported.blobs);
	walkrepo_release(&f);
}

static void broken_deltas(void **state)
{
	check_broken(false);
	check_broken(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_families),
		cmocka_unit_test(broken_deltas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
