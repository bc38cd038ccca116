/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/repack.c: reachable objects are never lost, and unreachable
 * objects are removed when they should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "t/unit/bitmaprepo.h"
/* Let only a sample of the allocations fail, because a repack takes long. */
#define NOMEM_MAX 100
#include "t/unit/nomem.h"

static struct repack_result repack(const struct randrepo *r,
				   const struct repack_options *options)
{
	struct error err = ERROR_INIT;
	struct repack_result result;

	if (repack_run(&result, &r->t.repo, options, &err) != 0)
		fail_msg("%s", err.msg);
	return result;
}

/*
 * Indexed like r->objects. packed[i]: a pack has object i. loose[i]: there is a
 * loose object i.
 */
struct there {
	const struct randrepo *r;
	bool *packed, *loose;
	uint32_t pack_nr, packed_nr, loose_nr;
};

static int note_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct there *t = ctx;

	t->loose[randrepo_find(t->r, oid)] = true;
	t->loose_nr++;
	return 0;
}

static void look(struct there *t, const struct randrepo *r)
{
	struct error err = ERROR_INIT;
	struct odb *odb;

	*t = (struct there){.r = r};
	t->packed = calloc(RANDREPO_MAX, sizeof(bool));
	t->loose = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(t->packed && t->loose);
	if (odb_open(&odb, &r->t.repo, NULL, &err) != 0)
		fail_msg("%s", err.msg);
	t->pack_nr = odb->pack_nr;
	t->packed_nr = odb->packed_nr;
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		assert_int_equal(
			pack_idx_verify(&odb->packs[i].pack->idx, NULL), 0);
		assert_int_equal(pack_verify_checksum(odb->packs[i].pack, NULL),
				 0);
	}
	for (uint32_t at = 0; at < odb->packed_nr; at++) {
		struct oid oid;

		odb_oid(&oid, odb, at);
		t->packed[randrepo_find(r, &oid)] = true;
	}
	assert_int_equal(odb_each_loose(odb, true, note_loose, t, NULL), 0);
	odb_close(odb);
}

static void there_release(struct there *t)
{
	free(t->packed);
	free(t->loose);
}

/* Check that each object in `set` can be read, with the right content. */
static void check_readable(const struct randrepo *r, const bool *set)
{
	struct error err = ERROR_INIT;
	struct odb_reader *reader;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	reader = odb_reader_new(odb, 0);
	assert_non_null(reader);
	for (uint32_t i = 0; i < r->nr; i++) {
		struct odb_object obj;

		if (!set[i])
			continue;
		if (odb_read(reader, &r->objects[i].oid, &obj, &err) != 0)
			fail_msg("%s", err.msg);
		assert_int_equal(obj.type, r->objects[i].type);
		assert_int_equal(obj.len, r->objects[i].data.len);
		assert_memory_equal(obj.data, r->objects[i].data.data, obj.len);
		odb_object_release(reader, &obj);
	}
	odb_reader_free(reader);
	odb_close(odb);
}

/*
 * Make a repository. The older objects are in a pack, and some of them are in a
 * second pack, too. The newest objects are loose, and every seventh object is
 * loose in any case.
 */
static void make(struct randrepo *r, enum hash_algo algo, uint64_t *seed)
{
	randrepo_init(r, algo, seed);
	randrepo_history(r, 30);
	randrepo_store_pack(r);
	randrepo_history(r, 15);
	for (uint32_t i = 0; i < r->nr; i += 9)
		r->objects[i].is_stored = false;
	randrepo_store_pack(r);
	randrepo_history(r, 10);
	randrepo_store(r);
	for (uint32_t i = 0; i < r->nr; i += 7)
		randrepo_store_one(r, "objects", i);
}

/*
 * Check that each bitmap has the objects that a walk from the bitmap's commit
 * finds. There must be `expected` bitmaps.
 */
static void check_bitmaps(const struct randrepo *r, uint32_t expected)
{
	struct bitmaprepo b;
	uint32_t tested = 0;

	bitmaprepo_open(&b, r);
	for (uint32_t i = 0; i < r->commit_nr; i++) {
		struct walk_tips tip = WALK_TIPS_INIT;
		struct error err = ERROR_INIT;
		int ret;

		assert_int_equal(walk_add_tip(&b.walk, &tip,
					      &r->objects[r->commits[i]].oid,
					      true, NULL),
				 0);
		ret = tip.commit_nr ? pack_bitmap_test(b.pb, &b.walk,
						       tip.commits[0], &err)
				    : 0;
		if (ret < 0)
			fail_msg("%s", err.msg);
		tested += ret == 1;
		walk_tips_release(&tip);
	}
	assert_int_equal(tested, expected);
	bitmaprepo_close(&b);
}

/* Check that the result names the new pack. */
static void check_name(const struct randrepo *r,
		       const struct repack_result *result)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/pack/pack-%s.pack", r->t.objects,
		   oid_to_hex(hex, &result->checksum, r->t.repo.algo));
	assert_true(sys_exists(path.data));
	buf_release(&path);
}

/*
 * All objects are reachable. After a repack with -a -d -b, there must be one
 * pack, and no loose object.
 */
static void everything(enum hash_algo algo)
{
	uint64_t seed = random_seed();
	struct repack_options options;
	struct repack_result first, second;
	struct there t;
	struct randrepo r;

	make(&r, algo, &seed);
	randrepo_all_refs(&r);
	bitmaprepo_options(&options, &r.t.repo);
	first = repack(&r, &options);
	assert_int_equal(first.warning.code, 0);
	assert_true(first.is_new);
	assert_int_equal(first.object_nr, r.nr);
	assert_int_equal(first.report.objects, r.nr);
	assert_true(first.report.deltas > 0 && first.bitmap_nr > 0);
	check_name(&r, &first);
	look(&t, &r);
	assert_int_equal(t.pack_nr, 1);
	assert_int_equal(t.packed_nr, r.nr);
	assert_int_equal(t.loose_nr, 0);
	check_readable(&r, t.packed);
	there_release(&t);
	check_bitmaps(&r, first.bitmap_nr);

	second = repack(&r, &options);
	assert_true(oid_equal(&second.checksum, &first.checksum));
	assert_int_equal(second.report.reused, r.nr);
	look(&t, &r);
	assert_int_equal(t.pack_nr, 1);
	assert_int_equal(t.packed_nr, r.nr);
	check_readable(&r, t.packed);
	there_release(&t);
	check_bitmaps(&r, second.bitmap_nr);
	randrepo_release(&r);
}

static void everything_sha1(void **state)
{
	everything(HASH_SHA1);
}

static void everything_sha256(void **state)
{
	everything(HASH_SHA256);
}

static void write_reflog(struct randrepo *r, uint32_t nr)
{
	struct buf text = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, &r->objects[nr].oid, HASH_SHA1);
	buf_printf(&text, "%040d %s A <a@b> 1 +0000\tmove\n", 0, hex);
	tmprepo_write(&r->t, "logs/refs/heads/main", text.data);
	buf_release(&text);
}

/* Write an index file with one entry, which is the object `nr`. */
static void write_index(struct randrepo *r, uint32_t nr)
{
	uint8_t file[12 + 64 + 20] = "DIRC";

	store_be32(file + 4, 2);
	store_be32(file + 8, 1);
	store_be32(file + 12 + 24, 0100644);
	memcpy(file + 12 + 40, r->objects[nr].oid.bytes, 20);
	store_be16(file + 12 + 60, 1);
	file[12 + 62] = 'a';
	tmprepo_write_len(&r->t, "index", file, sizeof(file));
}

/*
 * An object that only a reflog or an index file names is kept. Unreachable
 * objects are removed.
 */
static void roots_and_garbage(void **state)
{
	uint64_t seed = random_seed();
	bool *live = calloc(RANDREPO_MAX, sizeof(*live)), *was_loose;
	struct repack_options options;
	struct repack_result result;
	uint32_t blob, dead = 0;
	struct there t;
	struct randrepo r;

	assert_non_null(live);
	make(&r, HASH_SHA1, &seed);
	blob = randrepo_blob(&r, 777);
	randrepo_store(&r);
	randrepo_ref(&r, "refs/heads/main", r.commits[20]);
	write_reflog(&r, r.commits[24]);
	write_index(&r, blob);
	randrepo_reach(&r, live, r.commits[20]);
	randrepo_reach(&r, live, r.commits[24]);
	live[blob] = true;
	look(&t, &r);
	was_loose = t.loose;
	free(t.packed);
	bitmaprepo_options(&options, &r.t.repo);
	result = repack(&r, &options);
	look(&t, &r);
	assert_int_equal(t.pack_nr, 1);
	for (uint32_t i = 0; i < r.nr; i++) {
		assert_int_equal(t.packed[i], live[i]);
		/*
		 * Loose objects that are unreachable stay. Only git-prune(1)
		 * removes them.
		 */
		assert_int_equal(t.loose[i], was_loose[i] && !live[i]);
		dead += !t.packed[i] && !t.loose[i];
	}
	assert_true(dead > 20);
	check_readable(&r, live);
	check_bitmaps(&r, result.bitmap_nr);
	there_release(&t);
	free(was_loose);
	free(live);
	randrepo_release(&r);
}

/* Without -d, a repack removes nothing. */
static void nothing_is_removed_unasked(void **state)
{
	uint64_t seed = random_seed();
	struct repack_options options;
	struct there before, after;
	struct randrepo r;

	make(&r, HASH_SHA1, &seed);
	randrepo_all_refs(&r);
	bitmaprepo_options(&options, &r.t.repo);
	options.remove_redundant = false;
	look(&before, &r);
	repack(&r, &options);
	look(&after, &r);
	assert_int_equal(after.pack_nr, before.pack_nr + 1);
	assert_int_equal(after.loose_nr, before.loose_nr);
	there_release(&before);
	there_release(&after);
	randrepo_release(&r);
}

/*
 * Without -a, a repack only packs reachable loose objects, into an additional
 * pack.
 */
static void loose_objects_only(void **state)
{
	uint64_t seed = random_seed();
	bool *live = calloc(RANDREPO_MAX, sizeof(*live));
	struct repack_options options;
	struct repack_result result;
	struct there before, after;
	struct randrepo r;
	uint32_t expected = 0;

	assert_non_null(live);
	make(&r, HASH_SHA1, &seed);
	randrepo_ref(&r, "refs/heads/main", r.commits[r.commit_nr - 1]);
	randrepo_reach(&r, live, r.commits[r.commit_nr - 1]);
	bitmaprepo_options(&options, &r.t.repo);
	options.all = options.write_bitmap = false;
	look(&before, &r);
	result = repack(&r, &options);
	look(&after, &r);
	for (uint32_t i = 0; i < r.nr; i++) {
		bool due = before.loose[i] && !before.packed[i] && live[i];

		expected += due;
		assert_int_equal(after.packed[i], before.packed[i] || due);
		assert_int_equal(after.loose[i],
				 before.loose[i] && !after.packed[i]);
	}
	assert_true(expected > 0);
	assert_int_equal(result.object_nr, expected);
	assert_int_equal(after.pack_nr, before.pack_nr + 1);
	result = repack(&r, &options);
	/* There was no loose object to pack. */
	assert_false(result.is_new);
	there_release(&before);
	there_release(&after);
	free(live);
	randrepo_release(&r);
}

/*
 * The pack with the oldest objects has a .keep file. The pack stays, including
 * its unreachable objects.
 */
static void kept_packs(void **state)
{
	uint64_t seed = random_seed();
	struct repack_options options;
	struct repack_result result;
	uint32_t kept, garbage;
	struct there t;
	struct randrepo r;
	char name[64];

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 20);
	garbage = randrepo_blob(&r, 777);
	randrepo_store_pack(&r);
	kept = r.nr;
	snprintf(name, sizeof(name), "objects/pack/pack-%u.keep", kept);
	tmprepo_write(&r.t, name, "");
	randrepo_history(&r, 20);
	randrepo_store_pack(&r);
	for (uint32_t i = 0; i < r.nr; i++)
		if (i != garbage) {
			snprintf(name, sizeof(name), "refs/tags/r%u", i);
			randrepo_ref(&r, name, i);
		}
	bitmaprepo_options(&options, &r.t.repo);
	result = repack(&r, &options);
	assert_int_equal(result.object_nr, r.nr - kept);
	assert_int_equal(result.bitmap_nr, 0);
	assert_non_null(strstr(result.warning.msg, "disabling bitmap"));
	options.pack_kept_objects = true;
	result = repack(&r, &options);
	assert_int_equal(result.object_nr, r.nr - 1);
	assert_true(result.bitmap_nr > 0);
	look(&t, &r);
	assert_int_equal(t.pack_nr, 2);
	assert_int_equal(t.packed_nr, kept + r.nr - 1);
	assert_true(t.packed[garbage]);
	check_readable(&r, t.packed);
	there_release(&t);
	randrepo_release(&r);
}

/* Check that a repack fails with `expected`, and removes nothing. */
static void check_refused(struct randrepo *r, int expected)
{
	struct error err = ERROR_INIT;
	struct repack_options options;
	struct repack_result result;
	struct there before, after;

	bitmaprepo_options(&options, &r->t.repo);
	look(&before, r);
	assert_int_equal(repack_run(&result, &r->t.repo, &options, &err),
			 expected);
	assert_true(*err.msg);
	look(&after, r);
	assert_int_equal(after.pack_nr, before.pack_nr);
	assert_int_equal(after.loose_nr, before.loose_nr);
	there_release(&before);
	there_release(&after);
}

static void refusals(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	uint32_t parent;

	make(&r, HASH_SHA1, &seed);
	randrepo_all_refs(&r);
	/*
	 * A ref cannot be read. Perhaps only this ref reaches some objects, so
	 * the repack must fail.
	 */
	tmprepo_write(&r.t, "refs/heads/broken", "nonsense\n");
	check_refused(&r, ERR_CORRUPT);
	tmprepo_remove(&r.t, "refs/heads/broken");
	tmprepo_write(&r.t, "refs/heads/gone",
		      "0123456789012345678901234567890123456789\n");
	check_refused(&r, ERR_MISSING);
	tmprepo_remove(&r.t, "refs/heads/gone");
	/* Make a commit whose parent is missing. */
	parent = randrepo_commit(&r, r.objects[r.commits[0]].files, NULL, 0, 1);
	parent = randrepo_commit(&r, r.objects[r.commits[0]].files, &parent, 1,
				 2);
	randrepo_store_one(&r, "objects", parent);
	randrepo_ref(&r, "refs/heads/hole", parent);
	check_refused(&r, ERR_MISSING);
	tmprepo_remove(&r.t, "refs/heads/hole");
	tmprepo_write(&r.t, "objects/pack/pack-1.idx", "nonsense");
	tmprepo_write(&r.t, "objects/pack/pack-1.pack", "nonsense");
	check_refused(&r, ERR_CORRUPT);
	randrepo_release(&r);
}

static void server_info(void **state)
{
	uint64_t seed = random_seed();
	struct repack_options options;
	struct randrepo r;
	struct buf path = BUF_INIT;

	make(&r, HASH_SHA1, &seed);
	randrepo_all_refs(&r);
	buf_printf(&path, "%s/objects/info/packs", r.t.dir);
	bitmaprepo_options(&options, &r.t.repo);
	repack(&r, &options);
	assert_false(sys_exists(path.data));
	options.update_server_info = true;
	repack(&r, &options);
	assert_true(sys_exists(path.data));
	buf_release(&path);
	randrepo_release(&r);
}

/* If no object is reachable, no pack is written. */
static void nothing(void **state)
{
	uint64_t seed = random_seed();
	struct repack_options options;
	struct repack_result result;
	struct randrepo r;
	struct there t;

	randrepo_init(&r, HASH_SHA1, &seed);
	bitmaprepo_options(&options, &r.t.repo);
	result = repack(&r, &options);
	assert_false(result.is_new);
	assert_int_equal(result.warning.code, 0);
	look(&t, &r);
	assert_int_equal(t.pack_nr, 0);
	there_release(&t);
	randrepo_release(&r);
}

/*
 * A repository with one ref, which reaches a part of the objects. live[i]: the
 * ref reaches the object.
 */
struct partly {
	struct randrepo r;
	bool *live;
	uint32_t live_nr, dead_nr;
	struct repack_options options;
};

static void partly_init(struct partly *p, uint64_t *seed,
			enum repack_unreachable how)
{
	p->live = calloc(RANDREPO_MAX, sizeof(*p->live));
	assert_non_null(p->live);
	make(&p->r, HASH_SHA1, seed);
	randrepo_ref(&p->r, "refs/heads/main", p->r.commits[20]);
	randrepo_reach(&p->r, p->live, p->r.commits[20]);
	p->live_nr = 0;
	for (uint32_t i = 0; i < p->r.nr; i++)
		p->live_nr += p->live[i];
	p->dead_nr = p->r.nr - p->live_nr;
	assert_true(p->live_nr && p->dead_nr);
	bitmaprepo_options(&p->options, &p->r.t.repo);
	p->options.write_bitmap = false;
	p->options.cruft = p->options.newpack;
	p->options.unreachable = how;
}

static void partly_release(struct partly *p)
{
	randrepo_release(&p->r);
	free(p->live);
}

/* Returns the number of cruft packs of the repository. */
static uint32_t cruft_packs(const struct randrepo *r)
{
	struct odb *odb;
	uint32_t nr = 0;

	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		nr += odb->packs[i].pack->is_cruft;
	odb_close(odb);
	return nr;
}

/* With -A, unreachable objects of removed packs become loose objects. */
static void loosened(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct there before, t;
	struct partly p;
	uint32_t only_packed = 0;

	partly_init(&p, &seed, REPACK_LOOSEN);
	look(&before, &p.r);
	for (uint32_t i = 0; i < p.r.nr; i++)
		only_packed += !p.live[i] && !before.loose[i];
	result = repack(&p.r, &p.options);
	assert_int_equal(result.object_nr, p.live_nr);
	assert_int_equal(result.loosened_nr, only_packed);
	assert_int_equal(result.cruft_nr, 0);
	look(&t, &p.r);
	assert_int_equal(t.pack_nr, 1);
	for (uint32_t i = 0; i < p.r.nr; i++) {
		assert_int_equal(t.packed[i], p.live[i]);
		assert_int_equal(t.loose[i], !p.live[i]);
	}
	there_release(&before);
	there_release(&t);
	partly_release(&p);
}

/* With -k, the new pack also has the unreachable objects, packed and loose. */
static void unreachable_kept(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct partly p;
	struct there t;

	partly_init(&p, &seed, REPACK_KEEP);
	result = repack(&p.r, &p.options);
	assert_int_equal(result.object_nr, p.r.nr);
	look(&t, &p.r);
	assert_int_equal(t.pack_nr, 1);
	assert_int_equal(t.packed_nr, p.r.nr);
	assert_int_equal(t.loose_nr, 0);
	check_readable(&p.r, t.packed);
	there_release(&t);
	partly_release(&p);
}

/*
 * With --cruft, unreachable objects are put into a cruft pack. The next repack
 * writes this pack anew, or keeps it if it is large enough.
 */
static void cruft(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct partly p;
	struct there t;

	partly_init(&p, &seed, REPACK_CRUFT);
	result = repack(&p.r, &p.options);
	assert_int_equal(result.object_nr, p.live_nr);
	assert_int_equal(result.cruft_nr, p.dead_nr);
	look(&t, &p.r);
	assert_int_equal(t.pack_nr, 2);
	assert_int_equal(cruft_packs(&p.r), 1);
	assert_int_equal(t.packed_nr, p.r.nr);
	check_readable(&p.r, t.packed);
	there_release(&t);
	/*
	 * The next two repacks add a cruft pack each, and keep the older ones.
	 * The repack after them combines all cruft packs into one.
	 */
	for (uint32_t i = 1; i <= 3; i++) {
		randrepo_blob(&p.r, 1000 + i);
		randrepo_store(&p.r);
		p.options.combine_cruft_below = i < 3 ? 1 : 0;
		result = repack(&p.r, &p.options);
		assert_int_equal(result.cruft_nr, i < 3 ? 1 : p.dead_nr + 3);
		assert_int_equal(cruft_packs(&p.r), i < 3 ? i + 1 : 1);
	}
	look(&t, &p.r);
	assert_int_equal(t.packed_nr, p.r.nr);
	assert_int_equal(t.loose_nr, 0);
	there_release(&t);
	partly_release(&p);
}

static int repack_again(void *ctx, struct error *err)
{
	struct partly *p = ctx;
	struct repack_result result;

	return repack_run(&result, &p->r.t.repo, &p->options, err);
}

static void is_repacked(void *ctx)
{
	const struct partly *p = ctx;
	struct there t;

	look(&t, &p->r);
	assert_int_equal(t.pack_nr, 2);
	assert_int_equal(t.packed_nr, p->r.nr);
	assert_int_equal(t.loose_nr, 0);
	there_release(&t);
	assert_int_equal(cruft_packs(&p->r), 1);
}

static bool has_answers(const struct randrepo *r)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/info/prepared", r->t.objects);
	return sys_exists(path);
}

static void remove_answers(void *ctx)
{
	const struct partly *p = ctx;

	if (has_answers(&p->r))
		tmprepo_remove(&p->r.t, "objects/info/prepared");
}

static void is_prepared(void *ctx)
{
	const struct partly *p = ctx;

	is_repacked(ctx);
	assert_true(has_answers(&p->r));
}

/*
 * Allocations fail. No object may be lost. The next repack removes the
 * temporary files. If a repack succeeds, it must have written prepared answers
 * (stored responses).
 */
static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct partly p;
	bool *all;

	partly_init(&p, &seed, REPACK_CRUFT);
	p.options.write_bitmap = true;
	nomem_each(remove_answers, repack_again, is_prepared, &p);
	all = malloc(p.r.nr);
	assert_non_null(all);
	memset(all, true, p.r.nr);
	check_readable(&p.r, all);
	free(all);
	repack_again(&p, NULL);
	is_repacked(&p);
	partly_release(&p);
}

/*
 * Returns the number of objects of the only pack in a directory. This pack must
 * be a cruft pack if `is_cruft` is true, and no cruft pack otherwise.
 */
static uint32_t objects_in(const char *dir, bool is_cruft)
{
	struct old_packs packs = {.nr = 0};
	struct pack *pack;
	uint32_t nr;

	assert_int_equal(old_packs_list(&packs, dir, NULL), 0);
	assert_int_equal(packs.nr, 1);
	assert_int_equal(pack_open(&pack, packs.packs[0].base, HASH_SHA1, NULL),
			 0);
	assert_int_equal(pack->is_cruft, is_cruft);
	nr = pack->idx.nr;
	pack_close(pack);
	old_packs_release(&packs);
	return nr;
}

/*
 * Unreachable objects older than the expiry are removed. With expire_to, they
 * are written to a pack in another directory.
 */
static void expired(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct buf dir = BUF_INIT, base = BUF_INIT;
	struct partly p;
	struct there t;

	partly_init(&p, &seed, REPACK_CRUFT);
	buf_printf(&dir, "%s/expired", p.r.t.dir);
	assert_int_equal(sys_mkdir_p(dir.data, NULL), 0);
	buf_printf(&base, "%s/pack", dir.data);
	p.options.expiry = INT32_MAX;
	p.options.expire_to = base.data;
	result = repack(&p.r, &p.options);
	assert_int_equal(result.cruft_nr, 0);
	assert_int_equal(cruft_packs(&p.r), 0);
	look(&t, &p.r);
	for (uint32_t i = 0; i < p.r.nr; i++)
		assert_int_equal(t.packed[i], p.live[i]);
	there_release(&t);
	assert_int_equal(objects_in(dir.data, true), p.dead_nr);
	buf_release(&dir);
	buf_release(&base);
	partly_release(&p);
}

/*
 * With an object filter, the objects that do not pass the filter are put into a
 * second pack.
 */
static void filtered(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct buf dir = BUF_INIT, base = BUF_INIT;
	struct filter filter;
	uint32_t blobs = 0;
	struct randrepo r;
	struct repack_options options;

	make(&r, HASH_SHA1, &seed);
	randrepo_all_refs(&r);
	for (uint32_t i = 0; i < r.nr; i++)
		blobs += r.objects[i].type == OBJ_BLOB;
	bitmaprepo_options(&options, &r.t.repo);
	options.write_bitmap = false;
	filter_init(&filter);
	assert_int_equal(filter_add(&filter, "blob:none", NULL), 0);
	buf_printf(&dir, "%s/rest", r.t.dir);
	assert_int_equal(sys_mkdir_p(dir.data, NULL), 0);
	buf_printf(&base, "%s/pack", dir.data);
	options.filter = &filter;
	options.filter_to = base.data;
	options.remove_redundant = false;
	result = repack(&r, &options);
	assert_int_equal(result.object_nr + result.filtered_nr, r.nr);
	assert_int_equal(objects_in(dir.data, false), result.filtered_nr);
	/*
	 * A blob to which a tag points is not filtered out, so it stays in the
	 * main pack.
	 */
	assert_in_range(result.filtered_nr, 1, blobs);
	filter_release(&filter);
	buf_release(&dir);
	buf_release(&base);
	randrepo_release(&r);
}

/*
 * Additional roots keep the objects that they reach. A missing root is ignored.
 */
static void given_roots(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct oid roots[2] = {{{1}}};
	struct partly p;
	struct there t;

	partly_init(&p, &seed, REPACK_DROP);
	roots[1] = p.r.objects[p.r.commits[24]].oid;
	randrepo_reach(&p.r, p.live, p.r.commits[24]);
	p.options.roots = roots;
	p.options.root_nr = 2;
	result = repack(&p.r, &p.options);
	assert_true(result.is_new);
	look(&t, &p.r);
	for (uint32_t i = 0; i < p.r.nr; i++)
		assert_int_equal(t.packed[i], p.live[i]);
	there_release(&t);
	partly_release(&p);
}

static int refuse(void *ctx, const struct old_packs *leaving, struct error *err)
{
	*(size_t *)ctx = leaving->nr;
	return error_set(err, ERR_CANCELLED, "not now");
}

/*
 * Before packs are removed, a callback gets their list. It may refuse the
 * removal.
 */
static void removal_refused(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct repack_result result;
	struct there before, after;
	struct partly p;
	size_t leaving = 0;

	partly_init(&p, &seed, REPACK_DROP);
	look(&before, &p.r);
	p.options.before_removal = refuse;
	p.options.ctx = &leaving;
	assert_int_equal(repack_run(&result, &p.r.t.repo, &p.options, &err),
			 ERR_CANCELLED);
	assert_string_equal(err.msg, "not now");
	assert_int_equal(leaving, before.pack_nr);
	look(&after, &p.r);
	assert_int_equal(after.pack_nr, before.pack_nr + 1);
	assert_int_equal(after.loose_nr, before.loose_nr);
	there_release(&before);
	there_release(&after);
	partly_release(&p);
}

/*
 * Context of the callback tip_provider. If an object that a ref names is
 * missing, the repack calls this callback, which usually fetches the object
 * from a remote. The callbacks of this test fetch nothing. They store the
 * missing objects in the repository, as if another process had stored them at
 * this moment.
 */
struct meanwhile {
	struct randrepo *r;
	char touched[4200]; /* .pack file; its mtime is set to now */
	unsigned calls;
};

static int store_in_pack(void *ctx, const struct oid *oids, size_t nr,
			 struct error *err)
{
	struct meanwhile *m = ctx;

	m->calls++;
	randrepo_store_pack(m->r);
	return ERR_MISSING;
}

/*
 * Refs name objects that are missing when a repack begins. During the repack,
 * another process stores them in a new pack. The repack must find these
 * objects.
 */
static void newer_pack(void **state)
{
	uint64_t seed = random_seed();
	struct repack_options options;
	struct repack_result result;
	struct randrepo r;
	struct meanwhile m = {.r = &r};
	const struct odb_provider provider = {.provide = store_in_pack,
					      .ctx = &m};
	struct there t;

	make(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 3);
	randrepo_all_refs(&r);
	bitmaprepo_options(&options, &r.t.repo);
	options.tip_provider = &provider;
	result = repack(&r, &options);
	assert_int_equal(m.calls, 1);
	assert_int_equal(result.object_nr, r.nr);
	look(&t, &r);
	assert_int_equal(t.packed_nr, r.nr);
	assert_int_equal(t.pack_nr, 1);
	there_release(&t);
	randrepo_release(&r);
}

static int store_loose(void *ctx, const struct oid *oids, size_t nr,
		       struct error *err)
{
	struct meanwhile *m = ctx;

	m->calls++;
	randrepo_store(m->r);
	assert_int_equal(sys_touch(m->touched, NULL), 0);
	return 0;
}

/*
 * During a repack, another process needs unreachable objects of a pack. So it
 * sets the modification time of the pack to now. This pack must stay, and the
 * other old packs are removed.
 */
static void freshened(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct partly p;
	struct meanwhile m = {.r = &p.r};
	const struct odb_provider provider = {.provide = store_loose,
					      .ctx = &m};
	struct there t;
	uint32_t nr;

	partly_init(&p, &seed, REPACK_CRUFT);
	nr = p.r.nr;
	randrepo_blob(&p.r, 7777);
	randrepo_store_pack(&p.r);
	snprintf(m.touched, sizeof(m.touched), "%s/pack/pack-%u.pack",
		 p.r.t.objects, p.r.nr);
	assert_int_equal(sys_set_mtime(m.touched, 1000, NULL), 0);
	randrepo_ref(&p.r, "refs/tags/late", randrepo_blob(&p.r, 8888));
	p.options.tip_provider = &provider;
	result = repack(&p.r, &p.options);
	assert_true(m.calls > 0);
	assert_int_equal(result.object_nr, p.live_nr + 1);
	assert_int_equal(result.cruft_nr, p.dead_nr + 1);
	look(&t, &p.r);
	assert_int_equal(t.pack_nr, 3);
	assert_int_equal(t.packed_nr, nr + 3);
	assert_true(sys_exists(m.touched));
	there_release(&t);
	partly_release(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_sha1),
		cmocka_unit_test(everything_sha256),
		cmocka_unit_test(roots_and_garbage),
		cmocka_unit_test(nothing_is_removed_unasked),
		cmocka_unit_test(loose_objects_only),
		cmocka_unit_test(kept_packs),
		cmocka_unit_test(refusals),
		cmocka_unit_test(server_info),
		cmocka_unit_test(nothing),
		cmocka_unit_test(loosened),
		cmocka_unit_test(unreachable_kept),
		cmocka_unit_test(cruft),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(expired),
		cmocka_unit_test(filtered),
		cmocka_unit_test(given_roots),
		cmocka_unit_test(removal_refused),
		cmocka_unit_test(newer_pack),
		cmocka_unit_test(freshened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
