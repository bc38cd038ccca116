/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-kept.c and packing/find-versions.c, which choose the
 * deltas of fetches: kept deltas (stored beside the pack), and deltas that are
 * made for the request. They prove that the receiver can apply each delta. The
 * base of the newest blob tells which delta was chosen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pack/delta.h"
#include "packing/send.h"
#include "t/unit/keptrepo.h"
#include "t/unit/sentpack.h"

#define DELTAS "objects/info/deltas"
#define NEWEST (KEPTREPO_COMMITS - 1)
/* Stands for no commit or no blob. */
#define NONE UINT32_MAX

/*
 * Indexes of k->blobs[]. Beside the pack, the repack keeps deltas of the newest
 * blob against these blobs.
 */
static const uint32_t kept[] = {7, 31, 37};

/*
 * A fetch of one commit. `want`, `have` and `shallow` are indexes of
 * k->commits[].
 */
struct fetch {
	uint32_t want;
	/* The commit that the client has. NONE: the request is a clone. */
	uint32_t have;
	/* The parents of this commit are not sent. NONE: the whole history. */
	uint32_t shallow;
	bool use_bitmap, is_full;
};

/* The result of a fetch. */
struct fetched {
	struct packing_report report;
	size_t len;
	uint32_t external;
	/*
	 * The delta base of the wanted commit's blob, as an index of
	 * k->blobs[]. NONE: the blob is not sent as a REF_DELTA.
	 */
	uint32_t base;
	/* whether the blob `base` is in the pack */
	bool base_is_sent;
};

/*
 * Make three more branches, and repack without reusing deltas. Each old blob
 * becomes a delta of a newer one. Beside the pack, the repack keeps a whole
 * copy of each blob at the tip of a branch.
 */
static void store_deltas(struct keptrepo *k)
{
	struct randrepo *r = &k->r;
	struct repack_options options;
	struct repack_result result;

	bitmaprepo_options(&options, &r->t.repo);
	keptrepo_close(k);
	randrepo_ref(r, "refs/heads/old", k->commits[10]);
	randrepo_ref(r, "refs/heads/older", k->commits[9]);
	randrepo_ref(r, "refs/heads/oldest", k->commits[5]);
	options.newpack.make.reuse_delta = false;
	assert_int_equal(repack_run(&result, &r->t.repo, &options, NULL), 0);
	keptrepo_open(k);
}

/*
 * Make the repository. If `has_deltas` is false, the pack stores each blob
 * whole. Otherwise it stores all blobs but the newest one as deltas.
 */
static void init(struct keptrepo *k, bool has_deltas)
{
	keptrepo_init(k, "[repack]\nkeptDeltas = 100\n");
	if (has_deltas)
		store_deltas(k);
}

static uint32_t blob_number(const struct keptrepo *k, uint32_t object)
{
	for (uint32_t i = 0; i < KEPTREPO_COMMITS; i++)
		if (k->blobs[i] == object)
			return i;
	return NONE;
}

static void note_base(struct fetched *f, const struct keptrepo *k,
		      const struct sentpack *s, uint32_t want)
{
	f->base = NONE;
	for (uint32_t i = 0; i < s->nr; i++) {
		const struct sentpack_entry *e = &s->entries[i];
		struct oid base;
		uint32_t nr;

		if (e->nr != k->blobs[want] || e->header.type != OBJ_REF_DELTA)
			continue;
		oid_from_raw(&base, e->header.base_oid, HASH_SHA1);
		nr = randrepo_find(&k->r, &base);
		f->base = blob_number(k, nr);
		f->base_is_sent = s->sent[nr];
	}
}

/*
 * Check that the pack has the commits between the have and the want, their
 * trees and blobs, and nothing else. A blob that the client has is not sent.
 */
static void check_sent(const struct keptrepo *k, const struct fetch *q,
		       const struct sentpack *s, const bool *had)
{
	uint32_t first = q->shallow != NONE ? q->shallow
			 : q->have == NONE  ? 0
					    : q->have + 1;

	for (uint32_t i = 0; i < KEPTREPO_COMMITS; i++) {
		bool is_wanted = i >= first && i <= q->want;

		assert_int_equal(s->sent[k->commits[i]], is_wanted);
		assert_int_equal(s->sent[k->blobs[i]],
				 is_wanted && !had[k->blobs[i]]);
	}
	assert_int_equal(s->nr, 3 * (q->want + 1 - first));
}

static struct fetched fetch(struct keptrepo *k, struct fetch q)
{
	const struct randrepo_object *o = k->r.objects;
	bool *had = calloc(RANDREPO_MAX, sizeof(*had));
	struct fetched f;
	struct sentpack s;
	struct packing_request request = {
		.wants = &o[k->commits[q.want]].oid,
		.want_nr = 1,
		.thin = !q.is_full,
		.ofs_delta = true,
		.knows_shallow = true,
		.use_bitmap = q.use_bitmap,
	};

	assert_non_null(had);
	if (q.have != NONE) {
		request.haves = &o[k->commits[q.have]].oid;
		request.have_nr = 1;
		randrepo_reach(&k->r, had, k->commits[q.have]);
	}
	if (q.shallow != NONE) {
		request.shallow = &o[k->commits[q.shallow]].oid;
		request.shallow_nr = 1;
	}
	keptrepo_send(k, &request, BITMAP_STRATEGY_AUTO, q.is_full ? NULL : had,
		      &s, &f.report);
	check_sent(k, &q, &s, had);
	f.len = s.bytes.len;
	f.external = s.external;
	note_base(&f, k, &s, q.want);
	sentpack_release(&s);
	free(had);
	return f;
}

static bool is_kept(uint32_t blob)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (kept[i] == blob)
			return true;
	return false;
}

/*
 * The newest blob is sent as a kept delta, which is stored beside the pack. The
 * receiver can use the delta: it has the base, or the base is sent whole in the
 * same pack.
 */
static void bases_at_receiver_or_sent(void **state)
{
	struct keptrepo k;

	init(&k, false);
	for (uint32_t have = 0; have < NEWEST - 1; have++) {
		struct fetched f = fetch(&k, (struct fetch){NEWEST, have, NONE,
							    have % 2, false});

		assert_true(is_kept(f.base));
		assert_int_equal(f.base_is_sent, f.base > have);
		assert_int_equal(f.external, f.base <= have);
		assert_int_equal(f.report.deltas, 1);
		assert_int_equal(f.report.pack_reused, 3 * (NEWEST - have) - 1);
		assert_in_range(f.report.bytes_recompressed, 1, 500);
	}
	keptrepo_release(&k);
}

/*
 * The pack stores older blobs as deltas of newer ones. If the newest blob were
 * sent as a delta of an older blob that is sent, too, the deltas would form a
 * cycle. So the base of the newest blob must be a blob that the receiver
 * already has.
 */
static void bases_without_cycles(void **state)
{
	struct keptrepo k;

	init(&k, true);
	for (uint32_t have = 0; have < NEWEST; have++) {
		struct fetched f = fetch(&k,
					 (struct fetch){NEWEST, have, NONE,
							have % 3 != 0, false});

		assert_in_range(f.base, 0, have);
		assert_true(f.base == have || is_kept(f.base));
		assert_false(f.base_is_sent);
		assert_int_equal(f.external, 1);
		assert_in_range(f.report.bytes_recompressed, 1, 500);
		assert_in_range(f.len, 1, 300 * (NEWEST - have) + 300);
	}
	keptrepo_release(&k);
}

/*
 * If the client does not allow a thin pack, the pack has the bases of all
 * deltas.
 */
static void full_packs(void **state)
{
	struct keptrepo k;
	struct fetched f;

	init(&k, false);
	f = fetch(&k, (struct fetch){NEWEST, 30, NONE, true, true});
	assert_int_equal(f.external, 0);
	assert_int_equal(f.base, NONE);
	keptrepo_release(&k);
}

/*
 * Without kept deltas (stored beside the pack), a new delta is made against the
 * receiver's version of the file.
 */
static void versions_without_kept_deltas(void **state)
{
	struct keptrepo k;

	init(&k, false);
	tmprepo_remove(&k.r.t, DELTAS);
	for (uint32_t have = 24; have < NEWEST; have++) {
		struct fetched f = fetch(&k, (struct fetch){NEWEST, have, NONE,
							    have % 2, false});

		assert_int_equal(f.base, have);
		assert_int_equal(f.external, 1);
		assert_int_equal(f.report.warning.code, 0);
	}
	keptrepo_release(&k);
}

/*
 * A damaged file of kept deltas causes a warning. The server then makes a new
 * delta against the blob that the receiver has, as if there were no such file.
 */
static void damaged_file(void **state)
{
	struct buf bytes = BUF_INIT;
	struct keptrepo k;
	struct fetched f;

	init(&k, false);
	buf_append(&bytes, "damaged", 7);
	tmprepo_remove(&k.r.t, DELTAS);
	tmprepo_write_len(&k.r.t, DELTAS, bytes.data, bytes.len);
	f = fetch(&k, (struct fetch){NEWEST, 30, NONE, true, false});
	assert_int_equal(f.base, 30);
	assert_int_equal(f.report.warning.code, ERR_CORRUPT);
	buf_release(&bytes);
	keptrepo_release(&k);
}

/*
 * The pack stores the blob of commit 10 as a delta. Beside the pack, there is a
 * whole copy of this blob, because commit 10 is the tip of a branch. A clone of
 * depth 1 gets the copy as it is stored, so nothing is deflated.
 */
static void whole_copies(void **state)
{
	struct keptrepo k;
	struct fetched f;

	init(&k, true);
	f = fetch(&k, (struct fetch){10, NONE, 10, true, true});
	assert_int_equal(f.report.bytes_recompressed, 0);
	assert_int_equal(f.report.objects, 3);
	assert_int_equal(f.report.reused, 1);
	assert_int_equal(f.report.pack_reused, 2);
	/*
	 * Commit 12 is not the tip of a branch, so there is no whole copy of
	 * its blob beside the pack. The blob must be deflated.
	 */
	f = fetch(&k, (struct fetch){12, NONE, 12, true, true});
	assert_true(f.report.bytes_recompressed > 1000);
	keptrepo_release(&k);
}

/*
 * The option reuse_spans is off. So no run of stored bytes is copied, and each
 * object is written by itself.
 */
static void copies_among_other_objects(void **state)
{
	struct packing_send_options options;
	struct packing_report report;
	struct sentpack s;
	struct keptrepo k;
	struct oid tip;
	struct packing_request request = {
		.wants = &tip,
		.want_nr = 1,
		.shallow = &tip,
		.shallow_nr = 1,
		.ofs_delta = true,
		.knows_shallow = true,
	};

	init(&k, true);
	tip = k.r.objects[k.commits[10]].oid;
	assert_int_equal(packing_send_options_load(&options, &k.r.t.repo, NULL),
			 0);
	options.threads = 1;
	options.window = 0;
	options.reuse_spans = false;
	assert_int_equal(packing_send(k.odb, &request, &options,
				      sentpack_init(&s, &k.r), &report, NULL),
			 0);
	sentpack_decode(&s, NULL);
	assert_int_equal(s.nr, 3);
	assert_int_equal(report.reused, 3);
	assert_int_equal(report.deltas, 0);
	assert_int_equal(report.bytes_recompressed, 0);
	sentpack_release(&s);
	keptrepo_release(&k);
}

/*
 * A client with a shallow boundary fetches a new commit. The newest version of
 * the file is sent as a delta against an older version that the client has.
 */
static void shallow_fetches(void **state)
{
	struct keptrepo k;

	for (int has_deltas = 0; has_deltas < 2; has_deltas++) {
		init(&k, has_deltas);
		for (uint32_t have = 30; have < NEWEST; have++) {
			struct fetched f = fetch(
				&k, (struct fetch){NEWEST, have, NEWEST, true,
						   false});

			assert_in_range(f.base, 0, have);
			assert_int_equal(f.external, 1);
			assert_in_range(f.len, 1, 400);
		}
		keptrepo_release(&k);
	}
}

/*
 * Add a commit on top of `parent` with one file, called `name`, which has the
 * content of `blob`. Returns the commit's index in r->objects[].
 */
static uint32_t add_commit(struct randrepo *r, const char *name, uint32_t blob,
			   uint32_t parent)
{
	struct randrepo_tree t = {.data = BUF_INIT};
	char tree[OID_MAX_HEX_LEN + 1], hex[OID_MAX_HEX_LEN + 1];
	struct buf data = BUF_INIT;
	uint32_t refs[2] = {0, parent}, commit;

	randrepo_entry(r, &t, "100644", name, blob);
	refs[0] = randrepo_finish_tree(r, &t);
	oid_to_hex(tree, &r->objects[refs[0]].oid, r->t.repo.algo);
	oid_to_hex(hex, &r->objects[parent].oid, r->t.repo.algo);
	buf_printf(&data,
		   "tree %s\nparent %s\nauthor A <a@b> 99 +0000\n"
		   "committer A <a@b> 99 +0000\n\nx\n",
		   tree, hex);
	commit = randrepo_add(r, OBJ_COMMIT, &data, refs, 2);
	buf_release(&data);
	return commit;
}

/*
 * Replace the last four commits. In the first three of them, the file has
 * another name. The newest commit has the old name again.
 */
static void rename_file(struct keptrepo *k)
{
	struct randrepo *r = &k->r;

	keptrepo_close(k);
	for (uint32_t nr = NEWEST - 3; nr <= NEWEST; nr++) {
		k->blobs[nr] = keptrepo_version(r, nr + 4);
		k->commits[nr] = add_commit(r, nr < NEWEST ? "other" : "file",
					    k->blobs[nr], k->commits[nr - 1]);
	}
	randrepo_store_pack(r);
	randrepo_ref(r, "refs/heads/main", k->commits[NEWEST]);
	bitmaprepo_repack(r, true, true);
	keptrepo_open(k);
}

/*
 * The receiver has an older version of the file, but under another name. So the
 * server finds no older version at the path of the newest blob. The newest blob
 * is still sent as a kept delta: a delta against an older version, which a
 * repack has stored beside the pack. The server finds a kept delta by the ids
 * of the two blobs, so their paths do not matter.
 */
static void renamed_file(void **state)
{
	struct keptrepo k;
	struct fetched f;

	init(&k, false);
	rename_file(&k);
	for (int has_deltas = 0; has_deltas < 2; has_deltas++) {
		for (uint32_t have = NEWEST - 3; have < NEWEST; have++) {
			f = fetch(&k, (struct fetch){NEWEST, have, NONE, true,
						     false});
			assert_true(is_kept(f.base));
			assert_int_equal(f.base_is_sent, f.base > have);
			assert_in_range(f.report.bytes_recompressed, 1, 500);
		}
		if (!has_deltas)
			store_deltas(&k);
	}
	keptrepo_release(&k);
}

/*
 * Write a file with one kept delta of `target` against `base`, both indexes of
 * k->r.objects[]. `bytes`: the delta before deflating.
 */
static void write_kept(struct keptrepo *k, uint32_t target, uint32_t base,
		       const void *bytes, size_t len)
{
	struct deflater *deflater = deflater_new(-1);
	struct buf stream = BUF_INIT, file = BUF_INIT;
	struct kept_delta row = {
		.target = k->r.objects[target].oid,
		.base = k->r.objects[base].oid,
		.step = 1,
		.size = (uint32_t)len,
	};

	assert_non_null(deflater);
	assert_int_equal(deflater_append(deflater, &stream, bytes, len), 0);
	row.stream = (const uint8_t *)stream.data;
	row.len = (uint32_t)stream.len;
	assert_int_equal(kept_deltas_write(&file, HASH_SHA1, &row, 1), 0);
	tmprepo_write_len(&k->r.t, DELTAS, file.data, file.len);
	deflater_free(deflater);
	buf_release(&stream);
	buf_release(&file);
}

/*
 * A kept delta (stored beside the pack) is not used if it is as long as the
 * stored object.
 */
static void long_kept_delta(void **state)
{
	const struct buf *target;
	struct keptrepo k;
	struct fetched f;

	init(&k, false);
	tmprepo_remove(&k.r.t, DELTAS);
	target = &k.r.objects[k.commits[NEWEST]].data;
	write_kept(&k, k.commits[NEWEST], k.commits[30], target->data,
		   target->len);
	f = fetch(&k, (struct fetch){NEWEST, 30, NONE, true, false});
	assert_int_equal(f.report.warning.code, 0);
	/*
	 * The commit is not sent as a kept delta (stored beside the pack). The
	 * only delta that is sent is the one of the file.
	 */
	assert_int_equal(f.report.deltas, 1);
	assert_int_equal(f.base, 30);
	keptrepo_release(&k);
}

/*
 * Returns a delta that makes the object `target` from the object `base`,
 * malloc()ed. Sets *len to its length.
 */
static void *make_delta(const struct randrepo *r, uint32_t target,
			uint32_t base, size_t *len)
{
	const struct buf *to = &r->objects[target].data;
	const struct buf *from = &r->objects[base].data;
	void *delta;

	assert_int_equal(delta_create_near(from->data, from->len, to->data,
					   to->len, 0, &delta, len),
			 0);
	return delta;
}

/*
 * Make a repository without a bitmap index. Its pack stores blob `nr` as a
 * delta of blob `nr` - 1, and all other objects whole.
 */
static void init_with_delta(struct keptrepo *k, uint64_t *seed, uint32_t nr)
{
	struct packfile *p = malloc(sizeof(*p));
	struct pack_entry e = {.type = OBJ_REF_DELTA};
	struct randrepo *r = &k->r;
	void *delta;

	assert_non_null(p);
	memset(k, 0, sizeof(*k));
	randrepo_init(r, HASH_SHA1, seed);
	packfile_init(p, HASH_SHA1);
	for (uint32_t i = 0; i < KEPTREPO_COMMITS; i++) {
		k->blobs[i] = keptrepo_version(r, i);
		k->commits[i] = keptrepo_commit(r, k->blobs[i], i,
						i ? k->commits[i - 1] : 0);
	}
	for (uint32_t i = 0; i < r->nr; i++)
		if (i != k->blobs[nr])
			packfile_add(p, r->objects[i].type,
				     r->objects[i].data.data,
				     r->objects[i].data.len);
	delta = make_delta(r, k->blobs[nr], k->blobs[nr - 1], &e.size);
	e.base_oid = r->objects[k->blobs[nr - 1]].oid.bytes;
	packfile_add_entry(p, &e, delta, e.size, &r->objects[k->blobs[nr]].oid);
	packfile_finish(p);
	tmprepo_write_len(&r->t, "objects/pack/pack-1.pack", p->bytes.data,
			  p->bytes.len);
	tmprepo_write_len(&r->t, "objects/pack/pack-1.idx", p->idx.data,
			  p->idx.len);
	packfile_release(p);
	free(p);
	free(delta);
	keptrepo_open(k);
}

/*
 * A kept delta (stored beside the pack) has blob 31 as its base. The pack
 * stores blob 31 as a delta of blob 30. Both deltas are sent if the receiver
 * gets or has blob 30.
 */
static void base_stored_as_delta(void **state)
{
	uint64_t seed = 1;
	struct keptrepo k;
	struct fetched f;
	size_t len;
	void *delta;

	init_with_delta(&k, &seed, 31);
	delta = make_delta(&k.r, k.blobs[NEWEST], k.blobs[31], &len);
	write_kept(&k, k.blobs[NEWEST], k.blobs[31], delta, len);
	f = fetch(&k, (struct fetch){NEWEST, 10, NONE, false, false});
	assert_int_equal(f.base, 31);
	assert_true(f.base_is_sent);
	/* The receiver has blob 30, which is the delta base of blob 31. */
	f = fetch(&k, (struct fetch){NEWEST, 30, NONE, false, false});
	assert_int_equal(f.base, 31);
	assert_true(f.base_is_sent);
	free(delta);
	keptrepo_release(&k);
}

/* Add version `nr` of a file that deflates to a few hundred bytes. */
static uint32_t add_repetitive(struct randrepo *r, uint32_t nr)
{
	struct buf data = BUF_INIT;
	uint32_t blob;

	for (uint32_t i = 0; i < 1000; i++)
		buf_printf(&data, "the same line\n");
	buf_printf(&data, "version %u\n", nr);
	blob = randrepo_add(r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	return blob;
}

/*
 * The newest blob has few stored bytes, so making a delta would save little.
 * The stored bytes are copied.
 */
static void little_to_save(void **state)
{
	struct keptrepo k;
	struct randrepo *r = &k.r;
	struct fetched f;

	init(&k, false);
	keptrepo_close(&k);
	for (uint32_t nr = NEWEST - 1; nr <= NEWEST; nr++) {
		k.blobs[nr] = add_repetitive(r, nr);
		k.commits[nr] = add_commit(r, "file", k.blobs[nr],
					   k.commits[nr - 1]);
	}
	randrepo_store_pack(r);
	randrepo_ref(r, "refs/heads/main", k.commits[NEWEST]);
	bitmaprepo_repack(r, true, true);
	keptrepo_open(&k);
	f = fetch(&k, (struct fetch){NEWEST, NEWEST - 1, NONE, true, false});
	assert_int_equal(f.base, NONE);
	assert_int_equal(f.report.bytes_recompressed, 0);
	keptrepo_release(&k);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bases_at_receiver_or_sent),
		cmocka_unit_test(bases_without_cycles),
		cmocka_unit_test(full_packs),
		cmocka_unit_test(versions_without_kept_deltas),
		cmocka_unit_test(damaged_file),
		cmocka_unit_test(whole_copies),
		cmocka_unit_test(copies_among_other_objects),
		cmocka_unit_test(little_to_save),
		cmocka_unit_test(long_kept_delta),
		cmocka_unit_test(base_stored_as_delta),
		cmocka_unit_test(shallow_fetches),
		cmocka_unit_test(renamed_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
