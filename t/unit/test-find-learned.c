/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-learned.c. The pack stores the newest blob as a delta
 * of the blob of the oldest commit. The receiver has all commits but the
 * newest. The server learns from a bitmap that the receiver has the oldest
 * blob, and sends the stored delta.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/keptrepo.h"

/* Number of commits. The receiver has all but the last. */
#define NR 20

/* Number of lines of a large blob; a line has 17 bytes. */
#define LARGE 20000
/*
 * Number of lines of a small blob. A blob of this size is smaller than
 * LEARN_MIN in packing/send.c.
 */
#define SMALL 10000

/* Add a blob of `lines` lines, which begins like all other such blobs. */
static uint32_t add_blob(struct randrepo *r, uint32_t lines)
{
	struct buf data = BUF_INIT;
	uint64_t seed = 1;
	uint32_t blob;

	for (uint32_t i = 0; i < lines; i++)
		buf_printf(&data, "%016jx\n", (uintmax_t)random_next(&seed));
	blob = randrepo_add(r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	return blob;
}

/*
 * Make a repository and repack it. The oldest blob has one line more than the
 * newest, so the repack stores the newest as a delta of the oldest. No branch
 * is HEAD, so the newest blob is in no island.
 */
static void init(struct keptrepo *k, uint32_t lines)
{
	static uint64_t seed;
	struct randrepo *r = &k->r;

	memset(k, 0, sizeof(*k));
	seed = 1;
	randrepo_init(r, HASH_SHA1, &seed);
	for (uint32_t i = 0; i < NR; i++) {
		k->blobs[i] = i == 0        ? add_blob(r, lines + 1)
			      : i == NR - 1 ? add_blob(r, lines)
					    : keptrepo_version(r, i);
		k->commits[i] = keptrepo_commit(r, k->blobs[i], i,
						i ? k->commits[i - 1] : 0);
	}
	randrepo_store(r);
	randrepo_ref(r, "refs/heads/other", k->commits[NR - 1]);
	bitmaprepo_repack(r, true, true);
	keptrepo_open(k);
}

/*
 * Send the newest commit. Returns whether the newest blob is sent as a delta of
 * the oldest.
 */
static bool is_delta(struct keptrepo *k, struct packing_request request)
{
	bool *had = calloc(RANDREPO_MAX, sizeof(*had));
	struct packing_report report;
	struct sentpack s;
	bool found = false;

	assert_non_null(had);
	randrepo_reach(&k->r, had, k->commits[NR - 2]);
	request.wants = &k->r.objects[k->commits[NR - 1]].oid;
	request.haves = &k->r.objects[k->commits[NR - 2]].oid;
	request.want_nr = request.have_nr = 1;
	request.ofs_delta = true;
	keptrepo_send(k, &request, BITMAP_STRATEGY_WALK, had, &s, &report);
	assert_int_equal(s.nr, 3);
	assert_true(s.sent[k->blobs[NR - 1]]);
	assert_false(report.used_bitmap);
	for (uint32_t i = 0; i < s.nr; i++) {
		const struct sentpack_entry *e = &s.entries[i];
		struct oid base;

		if (e->nr != k->blobs[NR - 1] ||
		    e->header.type != OBJ_REF_DELTA)
			continue;
		oid_from_raw(&base, e->header.base_oid, HASH_SHA1);
		found = oid_equal(&base, &k->r.objects[k->blobs[0]].oid);
	}
	sentpack_release(&s);
	free(had);
	return found;
}

static const struct packing_request complete = {
	.thin = true,
	.knows_shallow = true,
	.use_bitmap = true,
};

static void base_in_bitmap(void **state)
{
	struct keptrepo k;

	init(&k, LARGE);
	assert_true(is_delta(&k, complete));
	keptrepo_release(&k);
}

/* For few bytes, the bitmap index is not opened. */
static void small_blob(void **state)
{
	struct keptrepo k;

	init(&k, SMALL);
	assert_false(is_delta(&k, complete));
	keptrepo_release(&k);
}

/*
 * The receiver may lack the oldest blob, or must not get deltas of objects that
 * are not in the pack, or the bitmap index must not be used.
 */
static void unknown_receiver(void **state)
{
	struct packing_request maybe_shallow = complete,
			       self_contained = complete, no_bitmap = complete,
			       partial = complete;
	struct filter filter;
	struct keptrepo k;

	init(&k, LARGE);
	maybe_shallow.knows_shallow = false;
	assert_false(is_delta(&k, maybe_shallow));
	self_contained.thin = false;
	assert_false(is_delta(&k, self_contained));
	no_bitmap.use_bitmap = false;
	assert_false(is_delta(&k, no_bitmap));
	filter_init(&filter);
	assert_int_equal(filter_add(&filter, "blob:limit=1m", NULL), 0);
	partial.filter = &filter;
	assert_false(is_delta(&k, partial));
	filter_release(&filter);
	keptrepo_release(&k);
}

/* A damaged index is not used, and the blob is sent in another form. */
static void damaged_index(void **state)
{
	struct buf bytes = BUF_INIT;
	struct keptrepo k;
	char *path;

	init(&k, LARGE);
	path = bitmaprepo_read_index(&k.r, k.odb, &bytes);
	bytes.data[bytes.len - 1] ^= 1;
	tmprepo_remove(&k.r.t, path);
	tmprepo_write_len(&k.r.t, path, bytes.data, bytes.len);
	assert_false(is_delta(&k, complete));
	free(path);
	buf_release(&bytes);
	keptrepo_release(&k);
}

/* Add a commit with the tree of the oldest one, and a message of many lines. */
static uint32_t add_commit(struct keptrepo *k, uint64_t seed, uint32_t lines,
			   uint32_t parent)
{
	struct randrepo *r = &k->r;
	uint32_t refs[2] = {r->objects[k->commits[0]].refs[0], parent}, commit;
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf data = BUF_INIT;

	buf_printf(&data, "tree %s\n",
		   oid_to_hex(hex, &r->objects[refs[0]].oid, HASH_SHA1));
	if (parent)
		buf_printf(&data, "parent %s\n",
			   oid_to_hex(hex, &r->objects[parent].oid, HASH_SHA1));
	buf_printf(&data, "author A <a@b> 1 +0000\n"
			  "committer A <a@b> 1 +0000\n\n");
	for (uint32_t i = 0; i < lines; i++)
		buf_printf(&data, "%016jx\n", (uintmax_t)random_next(&seed));
	commit = randrepo_add(r, OBJ_COMMIT, &data, refs, parent ? 2 : 1);
	buf_release(&data);
	return commit;
}

/*
 * Only commits are sent. One is sent as a delta of a commit that the bitmap
 * has. The other is stored as a delta of a commit on another branch, which the
 * receiver lacks. For this one, the trees of the receiver are read after the
 * first base was found. A build with SANITIZE=address tests that the set of
 * bases is freed.
 */
static void only_commits(void **state)
{
	static uint64_t seed = 1;
	bool *had = calloc(RANDREPO_MAX, sizeof(*had));
	struct packing_request request = complete;
	struct packing_report report;
	uint32_t have, first, second;
	struct keptrepo k;
	struct randrepo *r = &k.r;
	struct sentpack s;

	memset(&k, 0, sizeof(k));
	assert_non_null(had);
	randrepo_init(r, HASH_SHA1, &seed);
	k.blobs[0] = keptrepo_version(r, 1);
	k.commits[0] = keptrepo_commit(r, k.blobs[0], 0, 0);
	have = add_commit(&k, 1, LARGE + 9, k.commits[0]);
	for (uint32_t i = 0; i < 9; i++)
		have = add_commit(&k, 10 + i, 1, have);
	first = add_commit(&k, 1, LARGE, have);
	second = add_commit(&k, 2, LARGE, first);
	randrepo_ref(r, "refs/heads/wanted", second);
	randrepo_ref(r, "refs/heads/other",
		     add_commit(&k, 2, LARGE + 9, k.commits[0]));
	randrepo_store(r);
	bitmaprepo_repack(r, true, true);
	keptrepo_open(&k);
	randrepo_reach(r, had, have);
	request.wants = &r->objects[second].oid;
	request.haves = &r->objects[have].oid;
	request.want_nr = request.have_nr = 1;
	request.ofs_delta = true;
	keptrepo_send(&k, &request, BITMAP_STRATEGY_WALK, had, &s, &report);
	assert_int_equal(s.nr, 2);
	assert_true(s.sent[first] && s.sent[second]);
	assert_int_equal(s.external, 1);
	sentpack_release(&s);
	free(had);
	keptrepo_release(&k);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_in_bitmap),
		cmocka_unit_test(small_blob),
		cmocka_unit_test(unknown_receiver),
		cmocka_unit_test(damaged_index),
		cmocka_unit_test(only_commits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
