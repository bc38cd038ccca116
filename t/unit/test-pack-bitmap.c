/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack-bitmap.c, queries of a bitmap index. The results for random
 * histories are compared with the expected objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "t/unit/midxbitmap.h"
#include "t/unit/nomem.h"

static const struct {
	enum hash_algo algo;
	uint32_t commits;
	/*
	 * The number of bitmaps that stay in the index: about `keep` out of 16.
	 */
	unsigned keep;
	unsigned pseudo_nr;
	bool lookup_table, hash_cache;
} layouts[] = {
	{HASH_SHA1, 100, 16, 0, true, true},
	{HASH_SHA1, 100, 2, 0, true, true},
	{HASH_SHA1, 100, 2, 3, false, true},
	{HASH_SHA1, 100, 1, 8, true, false},
	{HASH_SHA256, 100, 3, 5, false, false},
	{HASH_SHA1, 250, 0, 8, true, true},
};

/*
 * Makes a bitmap index of most of the history. Newer objects are loose, in a
 * second pack, or both. Some packed objects are also loose.
 */
static void make(struct randrepo *r, size_t layout, uint64_t *seed)
{
	randrepo_init(r, layouts[layout].algo, seed);
	randrepo_history(r, layouts[layout].commits);
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	bitmaprepo_repack(r, true, true);
	randrepo_history(r, 20);
	randrepo_store_pack(r);
	randrepo_history(r, 8);
	randrepo_store(r);
	for (int i = 0; i < 20; i++)
		randrepo_store_one(r, "objects", randrepo_below(r, r->nr));
	bitmaprepo_thin_out(r, layouts[layout].keep, layouts[layout].pseudo_nr,
			    layouts[layout].lookup_table,
			    layouts[layout].hash_cache);
}

static void random_queries(void **state)
{
	uint64_t seed = random_seed();
	uint32_t used = 0, pseudo_used = 0;

	for (size_t i = 0; i < ARRAY_NR(layouts); i++) {
		struct randrepo r;
		struct bitmaprepo b;

		make(&r, i, &seed);
		for (int k = 0; k < 400; k++) {
			/*
			 * Open the repository again from time to time, so that
			 * the walk has loaded no objects. The result must not
			 * depend on loaded objects.
			 */
			if (k % 40 == 0) {
				if (k)
					bitmaprepo_close(&b);
				bitmaprepo_open(&b, &r);
				assert_int_equal(b.odb->pack_nr, 2);
			}
			bitmaprepo_query(&b, &seed, &used, &pseudo_used);
		}
		bitmaprepo_close(&b);
		randrepo_release(&r);
	}
	assert_true(used > 500);
	assert_true(pseudo_used > 100);
}

static bool names_trees(const struct walk_tips *tips)
{
	for (size_t i = 0; i < tips->others.nr; i++)
		if (tips->others.items[i].type != OBJ_TAG)
			return true;
	return false;
}

/*
 * The result of an inexact query may also have objects that the haves reach.
 * But if a want or a have is itself a tree or a blob, the result must be exact.
 */
static void inexact_queries(void **state)
{
	static const struct pack_bitmap_query inexact = {.inexact = true};
	uint64_t seed = random_seed();
	uint32_t exact_nr = 0;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, 1, &seed);
	bitmaprepo_open(&b, &r);
	for (int i = 0; i < 300; i++) {
		struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
		struct walk_tips wants = WALK_TIPS_INIT;
		struct walk_tips haves = WALK_TIPS_INIT;

		bitmaprepo_tips(&b, &seed, &wants, b.want, 3);
		bitmaprepo_tips(&b, &seed, &haves, b.had, 2);
		assert_int_equal(pack_bitmap_query(&result, b.pb, &b.walk,
						   &wants, &haves, &inexact,
						   NULL),
				 0);
		if (names_trees(&haves) || names_trees(&wants)) {
			bitmaprepo_check(&b, &result);
			exact_nr += !names_trees(&wants);
		}
		pack_bitmap_result_release(&result);
		walk_tips_release(&wants);
		walk_tips_release(&haves);
	}
	/*
	 * Enough requests had a tree or a blob among their haves, and none
	 * among their wants.
	 */
	assert_true(exact_nr > 20);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* A query without bitmaps finds as many objects as a query with bitmaps. */
static void walks_agree(void **state)
{
	uint64_t seed = random_seed();
	struct walk_options options = {.objects = true, .exact_commits = true};
	struct walk_tips none = WALK_TIPS_INIT;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, 1, &seed);
	bitmaprepo_open(&b, &r);
	for (int i = 0; i < 100; i++) {
		struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
		struct walk_result walked = WALK_RESULT_INIT;
		struct walk_tips wants = WALK_TIPS_INIT;

		bitmaprepo_tips(&b, &seed, &wants, b.want, 5);
		assert_int_equal(pack_bitmap_query(&result, b.pb, &b.walk,
						   &wants, &none, NULL, NULL),
				 0);
		assert_int_equal(walk_enumerate(&walked, &b.walk, &wants, &none,
						&options, NULL),
				 0);
		assert_int_equal(bitset_count(&result.packed) +
					 result.others.nr,
				 walked.revs.nr + walked.objects.nr);
		pack_bitmap_result_release(&result);
		walk_result_release(&walked);
		walk_tips_release(&wants);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Checks the types, ids and positions of found objects. An object outside of
 * the pack must have the path hash that a walk gives it.
 */
static void types_and_positions(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, 2, &seed);
	bitmaprepo_open(&b, &r);
	for (uint32_t bit = 0; bit < pack_bitmap_object_nr(b.pb); bit++) {
		uint32_t nr = bitmaprepo_at(&b, bit), found, obj_pos;

		assert_int_equal(pack_bitmap_type(b.pb, bit),
				 r.objects[nr].type);
		assert_true(objspace_find(&b.walk.space,
					  r.objects[nr].oid.bytes, &obj_pos));
		assert_true(pack_bitmap_bit(b.pb, &b.walk, obj_pos, &found));
		assert_int_equal(found, bit);
	}
	assert_int_equal(
		objspace_add(&b.walk.space,
			     r.objects[r.commits[r.commit_nr - 1]].oid.bytes,
			     &(uint32_t){0}),
		0);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

static void bitmaps_are_tested(void **state)
{
	uint64_t seed = random_seed();
	uint32_t with = 0, without = 0;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, 3, &seed);
	bitmaprepo_open(&b, &r);
	for (uint32_t i = 0; i < r.commit_nr; i++) {
		struct walk_tips tip = WALK_TIPS_INIT;
		int ret;

		assert_int_equal(walk_add_tip(&b.walk, &tip,
					      &r.objects[r.commits[i]].oid,
					      false, NULL),
				 0);
		ret = pack_bitmap_test(b.pb, &b.walk, tip.commits[0], NULL);
		assert_true(ret == 0 || ret == 1);
		with += ret == 1;
		without += ret == 0;
		walk_tips_release(&tip);
	}
	assert_int_equal(with, b.pb->file.row_nr);
	assert_true(without > 0);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Returns the first commit with a bitmap among `most` commits on the path of
 * first parents from the commit `nr`. has_bitmap[] is indexed like r->objects.
 * Returns RANDREPO_MAX if there is none.
 */
static uint32_t nearest(const struct randrepo *r, const bool *has_bitmap,
			uint32_t nr, size_t most)
{
	for (; most--; nr = r->objects[nr].refs[1]) {
		if (has_bitmap[nr])
			return nr;
		/* The first reference of a commit is its tree. */
		if (r->objects[nr].ref_nr < 2)
			break;
	}
	return RANDREPO_MAX;
}

static void bitmaps_of_ancestors(void **state)
{
	static bool has_bitmap[RANDREPO_MAX];
	uint64_t seed = random_seed();
	uint32_t with = 0, without = 0;
	struct randrepo r;
	struct bitmaprepo b;

	memset(has_bitmap, 0, sizeof(has_bitmap));
	make(&r, 1, &seed);
	bitmaprepo_open(&b, &r);
	for (uint32_t row = 0; row < b.pb->file.row_nr; row++)
		has_bitmap[bitmaprepo_row(&b, row)] = true;
	for (uint32_t i = 0; i < 400; i++) {
		uint32_t nr = r.commits[randrepo_below(&r, r.commit_nr)];
		size_t most = randrepo_below(&r, 12);
		uint32_t from = nearest(&r, has_bitmap, nr, most);
		struct walk_tips tip = WALK_TIPS_INIT;
		struct bitset set = BITSET_INIT;

		assert_int_equal(walk_add_tip(&b.walk, &tip, &r.objects[nr].oid,
					      false, NULL),
				 0);
		assert_int_equal(bitset_init(&set, b.pb->file.object_nr), 0);
		assert_int_equal(pack_bitmap_or_ancestor(&set, b.pb, &b.walk,
							 tip.commits[0], most,
							 NULL),
				 from != RANDREPO_MAX);
		if (from != RANDREPO_MAX)
			bitmaprepo_check_reach(&b, &set, from);
		else
			assert_true(bitset_is_empty(&set));
		with += from != RANDREPO_MAX;
		without += from == RANDREPO_MAX;
		bitset_release(&set);
		walk_tips_release(&tip);
	}
	assert_true(with && without);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* pack_bitmap_test() finds a single wrong bit of the commit's bitmap. */
static void wrong_bitmaps_are_noticed(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 4; i++) {
		struct walk_tips tip = WALK_TIPS_INIT;
		struct error err = ERROR_INIT;
		uint32_t nr, wrong;
		struct randrepo r;
		struct bitmaprepo b;

		make(&r, 0, &seed);
		bitmaprepo_write_wrong(&r, &nr, &wrong);
		bitmaprepo_open(&b, &r);
		assert_int_equal(walk_add_tip(&b.walk, &tip, &r.objects[nr].oid,
					      false, NULL),
				 0);
		assert_int_equal(
			pack_bitmap_test(b.pb, &b.walk, tip.commits[0], &err),
			ERR_CORRUPT);
		assert_string_not_equal(err.msg, "");
		walk_tips_release(&tip);
		bitmaprepo_close(&b);
		randrepo_release(&r);
	}
}

/*
 * State of a call that opens the bitmap index, counts the newest commit's
 * objects that no older commit reaches, and closes the index.
 */
struct counting {
	const struct randrepo *r;
	uint64_t counts[BITMAP_TYPE_NR], expected[BITMAP_TYPE_NR];
};

static int count_new(struct counting *c, struct pack_bitmap *pb, struct walk *w,
		     struct error *err)
{
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	const struct randrepo *r = c->r;
	uint32_t last = r->commits[r->commit_nr - 1];
	uint32_t older = r->commits[r->commit_nr / 2];
	int ret = walk_add_tip(w, &wants, &r->objects[last].oid, false, err);

	if (!ret)
		ret = walk_add_tip(w, &haves, &r->objects[older].oid, false,
				   err);
	if (!ret)
		ret = pack_bitmap_query(&result, pb, w, &wants, &haves, NULL,
					err);
	if (!ret)
		pack_bitmap_count(c->counts, pb, &result);
	pack_bitmap_result_release(&result);
	walk_tips_release(&wants);
	walk_tips_release(&haves);
	return ret;
}

static int open_and_count(void *ctx, struct error *err)
{
	struct counting *c = ctx;
	struct pack_bitmap *pb = NULL;
	struct odb *odb = NULL;
	struct walk walk;
	int ret = odb_open(&odb, &c->r->t.repo, NULL, err);

	if (ret < 0)
		return ret;
	ret = pack_bitmap_open(&pb, odb, err);
	if (ret == 1) {
		ret = walk_open(&walk, odb, NULL, 0, err);
		if (!ret) {
			ret = count_new(c, pb, &walk, err);
			walk_close(&walk);
		}
	}
	pack_bitmap_close(pb);
	odb_close(odb);
	return ret;
}

static void check_counts(void *ctx)
{
	struct counting *c = ctx;

	if (!c->expected[0])
		memcpy(c->expected, c->counts, sizeof(c->counts));
	assert_true(c->counts[0] > 0);
	assert_memory_equal(c->counts, c->expected, sizeof(c->counts));
	memset(c->counts, 0, sizeof(c->counts));
}

static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct counting c = {.r = NULL};
	struct randrepo r;

	make(&r, 2, &seed);
	c.r = &r;
	nomem_each(NULL, open_and_count, check_counts, &c);
	randrepo_release(&r);
}

/*
 * If an allocation fails, a query by the bitmap index of a multi-pack-index
 * fails, or its counts are right.
 */
static void no_memory_for_midx(void **state)
{
	uint64_t seed = random_seed();
	struct counting c = {.r = NULL};
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	midxbitmap_write(&r);
	c.r = &r;
	nomem_each(NULL, open_and_count, check_counts, &c);
	randrepo_release(&r);
}

/*
 * Changes byte `at` of a file (-1: no byte), and opens the bitmap index.
 * Returns 1 if the index is valid, 0 if there is none, or a negative error
 * code.
 */
static int open_damaged(const struct randrepo *r, const struct odb *odb,
			const char *name, struct buf *file, ssize_t at,
			struct error *err)
{
	struct pack_bitmap *pb;
	int ret;

	if (at >= 0)
		file->data[at] ^= 0x10;
	tmprepo_write_len(&r->t, name, file->data, file->len);
	ret = pack_bitmap_open(&pb, odb, err);
	if (at >= 0)
		file->data[at] ^= 0x10;
	assert_int_equal(pb != NULL, ret == 1);
	/*
	 * Opening verifies only a part of the files. So verify the checksums,
	 * too.
	 */
	if (pb && pack_bitmap_prove(pb, err) < 0)
		ret = ERR_CORRUPT;
	pack_bitmap_close(pb);
	return ret;
}

static void damage_is_noticed(void **state)
{
	uint64_t seed = random_seed();
	struct buf file = BUF_INIT;
	struct bitmaprepo b;
	struct randrepo r;
	char *name;

	make(&r, 1, &seed);
	bitmaprepo_open(&b, &r);
	name = b.pb->path + strlen(r.t.dir) + 1;
	assert_int_equal(buf_append(&file, b.pb->map.data, b.pb->map.len), 0);
	for (ssize_t at = 0; at < (ssize_t)file.len; at += at < 32 ? 1 : 97) {
		struct error err = ERROR_INIT;

		assert_true(open_damaged(&r, b.odb, name, &file, at, &err) < 0);
		assert_non_null(strstr(err.msg, ".bitmap"));
	}
	assert_int_equal(open_damaged(&r, b.odb, name, &file, -1, NULL), 1);
	file.len = 0;
	assert_true(open_damaged(&r, b.odb, name, &file, -1, NULL) < 0);
	tmprepo_remove(&r.t, name);
	bitmaprepo_close(&b);
	buf_release(&file);
	randrepo_release(&r);
}

/*
 * If the bitmap index of the multi-pack-index is damaged, the bitmap index of
 * the pack is opened, and the error becomes a warning.
 */
static void damaged_before_pack(void **state)
{
	const struct multi_pack_options o = {.bitmap = NULL};
	uint64_t seed = random_seed();
	struct multi_pack_result result;
	char hex[OID_MAX_HEX_LEN + 1], name[128];
	struct error err = ERROR_INIT;
	struct pack_bitmap *pb;
	struct randrepo r;
	struct odb *odb;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 10);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(multi_pack_write(&result, odb, &o, NULL), 0);
	odb_close(odb);
	snprintf(name, sizeof(name), "objects/pack/multi-pack-index-%s.bitmap",
		 oid_to_hex(hex, &result.checksum, HASH_SHA1));
	tmprepo_write(&r.t, name, "nonsense");
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(pack_bitmap_open(&pb, odb, &err), 1);
	assert_null(pb->space.midx);
	assert_true(pb->file.row_nr > 0);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_non_null(strstr(err.msg, name));
	pack_bitmap_close(pb);
	odb_close(odb);
	randrepo_release(&r);
}

static void no_index(void **state)
{
	uint64_t seed = random_seed();
	struct pack_bitmap *pb;
	struct randrepo r;
	struct odb *odb;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 5);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, false);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(pack_bitmap_open(&pb, odb, NULL), 0);
	assert_null(pb);
	odb_close(odb);
	randrepo_release(&r);
}

/*
 * If an object is missing in the history of a have, the query succeeds. If it
 * is missing in the history of a want, the query fails.
 */
static void missing_objects(void **state)
{
	uint64_t seed = random_seed();
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips tips = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct bitmaprepo b;
	struct randrepo r;
	uint32_t parent;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 10);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	parent = randrepo_commit(&r, r.objects[r.commits[0]].files, NULL, 0, 1);
	randrepo_store_one(&r, "objects",
			   randrepo_commit(&r, r.objects[r.commits[0]].files,
					   &parent, 1, 2));
	bitmaprepo_open(&b, &r);
	assert_int_equal(
		walk_add_tip(&b.walk, &tips,
			     &r.objects[r.commits[r.commit_nr - 1]].oid, false,
			     NULL),
		0);
	assert_int_equal(tips.commit_nr, 1);
	assert_int_equal(pack_bitmap_query(&result, b.pb, &b.walk, &tips, &none,
					   NULL, NULL),
			 ERR_MISSING);
	pack_bitmap_result_release(&result);
	walk_tips_release(&tips);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Wants a commit and a blob, with the filter tree:0. The bitmap index has no
 * bit for the commit, so the query must read the commit itself. The tree of the
 * commit is missing, as in a partial clone. The query must not read this tree,
 * because the filter excludes all trees.
 */
static void filtered_trees_are_not_read(void **state)
{
	uint8_t files[RANDREPO_FILES] = {[9] = 1};
	uint64_t seed = random_seed();
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips tips = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct pack_bitmap_query query = {.inexact = true};
	uint32_t commit, blob;
	struct filter filter;
	struct bitmaprepo b;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_commit(&r, files, NULL, 0, 1700000000);
	blob = randrepo_blob(&r, files[9]);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	files[9] = 2;
	commit = randrepo_commit(&r, files, NULL, 0, 1700000060);
	randrepo_store_one(&r, "objects", commit);
	bitmaprepo_open(&b, &r);
	assert_int_equal(walk_add_tip(&b.walk, &tips, &r.objects[commit].oid,
				      false, NULL),
			 0);
	assert_int_equal(
		walk_add_tip(&b.walk, &tips, &r.objects[blob].oid, false, NULL),
		0);
	filter_init(&filter);
	assert_int_equal(filter_add(&filter, "tree:0", NULL), 0);
	query.filter = &filter;
	assert_int_equal(pack_bitmap_query(&result, b.pb, &b.walk, &tips, &none,
					   &query, NULL),
			 0);
	assert_int_equal(bitset_count(&result.packed), 1);
	assert_int_equal(result.others.nr, 1);
	pack_bitmap_result_release(&result);
	walk_tips_release(&tips);
	filter_release(&filter);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * A client wants an annotated tag, has a commit that is not in the bitmap
 * index, and uses the filter tree:0. The query does not read the trees of this
 * commit. If the client also wants a tree, the query must find out whether the
 * commit has it.
 */
static void tags_keep_the_filter(void **state)
{
	uint8_t files[RANDREPO_FILES] = {[9] = 1};
	uint64_t seed = random_seed();
	struct walk_tips haves = WALK_TIPS_INIT;
	uint32_t first, second, tips[2];
	struct filter filter;
	struct bitmaprepo b;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	first = randrepo_commit(&r, files, NULL, 0, 1700000000);
	tips[0] = randrepo_tag(&r, first);
	tips[1] = randrepo_root(&r, files);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	files[9] = 2;
	second = randrepo_commit(&r, files, &first, 1, 1700000060);
	randrepo_store(&r);
	bitmaprepo_open(&b, &r);
	filter_init(&filter);
	assert_int_equal(filter_add(&filter, "tree:0", NULL), 0);
	assert_int_equal(walk_add_tip(&b.walk, &haves, &r.objects[second].oid,
				      false, NULL),
			 0);
	for (int nr = 1; nr <= 2; nr++) {
		struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
		const struct pack_bitmap_query query = {.filter = &filter};
		struct pack_bitmap_trace trace = {0};
		struct walk_tips wants = WALK_TIPS_INIT;

		for (int i = 0; i < nr; i++)
			assert_int_equal(walk_add_tip(&b.walk, &wants,
						      &r.objects[tips[i]].oid,
						      false, NULL),
					 0);
		result.trace = &trace;
		assert_int_equal(pack_bitmap_query(&result, b.pb, &b.walk,
						   &wants, &haves, &query,
						   NULL),
				 0);
		assert_int_equal(bitset_count(&result.packed), 1);
		if (nr == 1)
			assert_int_equal(trace.haves.objects_walked, 1);
		else
			assert_true(trace.haves.objects_walked > 1);
		bitmap_trace_release(&trace.used);
		pack_bitmap_result_release(&result);
		walk_tips_release(&wants);
	}
	walk_tips_release(&haves);
	filter_release(&filter);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

static void paths(void **state)
{
	char *path = pack_bitmap_path("objects/pack/pack-12");

	assert_string_equal(path, "objects/pack/pack-12.bitmap");
	free(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_queries),
		cmocka_unit_test(inexact_queries),
		cmocka_unit_test(walks_agree),
		cmocka_unit_test(types_and_positions),
		cmocka_unit_test(bitmaps_are_tested),
		cmocka_unit_test(bitmaps_of_ancestors),
		cmocka_unit_test(wrong_bitmaps_are_noticed),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(no_memory_for_midx),
		cmocka_unit_test(filtered_trees_are_not_read),
		cmocka_unit_test(tags_keep_the_filter),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(no_index),
		cmocka_unit_test(damaged_before_pack),
		cmocka_unit_test(missing_objects),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
