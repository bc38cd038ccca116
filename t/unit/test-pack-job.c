/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/pack-job.c, which makes a pack as pack-objects does: which
 * objects the options leave out, and when the pack gets a bitmap index.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pack-bitmap.h"
#include "packs/pack-job.h"
#include "t/unit/sentpack.h"

/* Places at which copies of an object can be stored. */
enum place {
	LOOSE = 1 << 0,
	PACKED = 1 << 1,
	KEPT = 1 << 2,
	ALTERNATE_LOOSE = 1 << 3,
	ALTERNATE_PACKED = 1 << 4,
	PLACES = 5,
};

struct env {
	struct randrepo r;
	unsigned *places; /* indexed by object number */
	struct newpack_options newpack;
	struct pack_job_options options;
	struct pack_job job;
	struct odb *odb;
	struct refs *refs;
	char *dir, *base;
	/* Indexed like r.objects: whether the new pack has the object. */
	bool *packed;
};

/* Write a pack of the objects that have a copy at `place`. */
static void write_pack(struct env *e, const char *base, enum place place)
{
	struct packfile *p = malloc(sizeof(*p));
	char name[64];

	assert_non_null(p);
	packfile_init(p, e->r.t.repo.algo);
	for (uint32_t i = 0; i < e->r.nr; i++)
		if (e->places[i] & place)
			packfile_add(p, e->r.objects[i].type,
				     e->r.objects[i].data.data,
				     e->r.objects[i].data.len);
	packfile_finish(p);
	snprintf(name, sizeof(name), "%s.pack", base);
	tmprepo_write_len(&e->r.t, name, p->bytes.data, p->bytes.len);
	snprintf(name, sizeof(name), "%s.idx", base);
	tmprepo_write_len(&e->r.t, name, p->idx.data, p->idx.len);
	packfile_release(p);
	free(p);
}

/*
 * Store every object at one or several places. `allowed`: the possible places,
 * bits of enum place.
 */
static void scatter(struct env *e, unsigned allowed)
{
	for (uint32_t i = 0; i < e->r.nr; i++) {
		while (!e->places[i])
			e->places[i] = 1u << randrepo_below(&e->r, PLACES) &
				       allowed;
		if (!randrepo_below(&e->r, 4))
			e->places[i] |= randrepo_below(&e->r, 1 << PLACES) &
					allowed;
		if (e->places[i] & LOOSE)
			randrepo_store_one(&e->r, "objects", i);
		if (e->places[i] & ALTERNATE_LOOSE)
			randrepo_store_one(&e->r, "other", i);
	}
	if (allowed & PACKED)
		write_pack(e, "objects/pack/pack-1", PACKED);
	if (allowed & KEPT) {
		write_pack(e, "objects/pack/pack-2", KEPT);
		tmprepo_write(&e->r.t, "objects/pack/pack-2.keep", "");
	}
	if (allowed & ALTERNATE_PACKED)
		write_pack(e, "other/pack/pack-3", ALTERNATE_PACKED);
	if (allowed & (ALTERNATE_LOOSE | ALTERNATE_PACKED))
		tmprepo_write(&e->r.t, "objects/info/alternates", "../other\n");
}

static void env_init(struct env *e, uint64_t *seed, unsigned allowed)
{
	memset(e, 0, sizeof(*e));
	randrepo_init(&e->r, HASH_SHA1, seed);
	randrepo_history(&e->r, 30);
	randrepo_all_refs(&e->r);
	e->places = calloc(RANDREPO_MAX, sizeof(*e->places));
	e->packed = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(e->places && e->packed);
	scatter(e, allowed);
	assert_int_equal(newpack_options_load(&e->newpack, &e->r.t.repo, NULL),
			 0);
	e->newpack.fsync_pack = e->newpack.fsync_metadata = SYS_FSYNC_NONE;
	e->newpack.make.threads = 1;
	e->dir = repo_object_path(&e->r.t.repo, "pack");
	e->base = repo_object_path(&e->r.t.repo, "pack/pack");
	e->options = (struct pack_job_options){
		.newpack = &e->newpack,
		.dir = e->dir,
		.base = e->base,
		.write_bitmap = true,
	};
}

static void env_release(struct env *e)
{
	free(e->dir);
	free(e->base);
	free(e->places);
	free(e->packed);
	randrepo_release(&e->r);
}

static void open_job(struct env *e)
{
	struct error err = ERROR_INIT;

	assert_int_equal(odb_open(&e->odb, &e->r.t.repo, NULL, NULL), 0);
	assert_int_equal(refs_open(&e->refs, &e->r.t.repo, NULL), 0);
	if (pack_job_open(&e->job, e->odb, e->refs, &e->options, &err) < 0)
		fail_msg("%s", err.msg);
}

static void close_job(struct env *e)
{
	pack_job_close(&e->job);
	/* Closing a job that is closed already does nothing. */
	pack_job_close(&e->job);
	refs_close(e->refs);
	odb_close(e->odb);
}

static void enumerate_all(struct env *e)
{
	struct error err = ERROR_INIT;

	for (uint32_t i = 0; i < e->r.nr; i++)
		assert_int_equal(walk_add_tip(&e->job.walk, &e->job.wants,
					      &e->r.objects[i].oid, false,
					      NULL),
				 0);
	if (pack_job_enumerate(&e->job, &err) < 0)
		fail_msg("%s", err.msg);
}

static void run_job(struct env *e)
{
	struct error err = ERROR_INIT;

	if (pack_job_run(&e->job, &err) < 0)
		fail_msg("%s", err.msg);
}

/* Returns the path of a file of the new pack: "<base>-<checksum><ext>". */
static char *new_path(const struct env *e, const char *ext)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf path = BUF_INIT;

	oid_to_hex(hex, &e->job.newpacks.packs[0]->checksum, HASH_SHA1);
	buf_printf(&path, "%s-%s%s", e->base, hex, ext);
	return buf_detach(&path, NULL);
}

/* Read the new pack, and set e->packed[i] for its objects. */
static void read_new(struct env *e)
{
	char *base = new_path(e, "");
	struct error err = ERROR_INIT;
	struct pack *pack;

	if (pack_open(&pack, base, HASH_SHA1, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(pack_verify_checksum(pack, NULL), 0);
	memset(e->packed, 0, RANDREPO_MAX);
	for (uint32_t i = 0; i < pack->idx.nr; i++) {
		struct oid oid;

		oid_from_raw(&oid, pack_idx_oid(&pack->idx, i), HASH_SHA1);
		e->packed[randrepo_find(&e->r, &oid)] = true;
	}
	pack_close(pack);
	free(base);
}

static bool has_bitmap(const struct env *e)
{
	char *path = new_path(e, ".bitmap");
	bool there = sys_exists(path);

	free(path);
	return there;
}

/*
 * Remove the files of the new pack, so that the next job starts with the same
 * repository.
 */
static void remove_new(const struct env *e)
{
	static const char *const extensions[] = {".idx", ".rev", ".bitmap",
						 ".pack"};

	for (size_t i = 0; i < ARRAY_NR(extensions); i++) {
		char *path = new_path(e, extensions[i]);

		assert_int_equal(sys_unlink(path, NULL), 0);
		free(path);
	}
}

static bool is_wanted(const struct env *e, uint32_t nr)
{
	unsigned places = e->places[nr], not_from = 0;

	if (e->options.loose_only)
		not_from |= PACKED | KEPT | ALTERNATE_PACKED;
	if (e->options.local)
		not_from |= ALTERNATE_LOOSE | ALTERNATE_PACKED;
	if (e->options.honor_keep)
		not_from |= KEPT;
	return !(places & not_from);
}

/*
 * An object is left out if the options exclude one of its copies, for example a
 * copy in an alternate.
 */
static void check_filters(struct env *e)
{
	bool left_out = false;

	open_job(e);
	enumerate_all(e);
	for (uint32_t i = 0; i < e->r.nr; i++)
		left_out |= !is_wanted(e, i);
	assert_int_equal(e->job.left_out, left_out);
	run_job(e);
	read_new(e);
	for (uint32_t i = 0; i < e->r.nr; i++)
		assert_int_equal(e->packed[i], is_wanted(e, i));
	assert_int_equal(has_bitmap(e), !left_out);
	assert_int_equal(e->job.warning.code != 0,
			 left_out && !e->options.bitmap_is_default);
	if (left_out && !e->options.bitmap_is_default)
		assert_non_null(
			strstr(e->job.warning.msg, "disabling bitmap writing"));
	remove_new(e);
	close_job(e);
}

static void filters(void **state)
{
	static const unsigned allowed[] = {
		LOOSE | PACKED,
		LOOSE | PACKED | KEPT,
		LOOSE | PACKED | ALTERNATE_LOOSE,
		LOOSE | PACKED | KEPT | ALTERNATE_LOOSE | ALTERNATE_PACKED,
	};
	uint64_t seed = random_seed();

	for (size_t i = 0; i < ARRAY_NR(allowed); i++) {
		struct env e;

		env_init(&e, &seed, allowed[i]);
		for (int flags = 0; flags < 8; flags++) {
			e.options.local = flags & 1;
			e.options.honor_keep = flags & 2;
			e.options.loose_only = flags & 4;
			e.options.bitmap_is_default = flags & 1;
			check_filters(&e);
		}
		env_release(&e);
	}
}

/*
 * A pack of objects that a list names gets no bitmap index, even if its objects
 * reach no objects outside of the pack.
 */
static void listed_objects(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct oid gone;
	struct env e;
	size_t nr = 0;

	env_init(&e, &seed, LOOSE | PACKED | KEPT);
	e.options.honor_keep = true;
	open_job(&e);
	/*
	 * The list names each object twice. Each object must be packed only
	 * once.
	 */
	for (uint32_t i = 0; i < 2 * e.r.nr; i++) {
		const struct oid *oid = &e.r.objects[i % e.r.nr].oid;

		if (i == e.r.nr)
			nr = e.job.items.nr;
		assert_int_equal(pack_job_add(&e.job, oid, 0, NULL), 0);
	}
	assert_int_equal(e.job.items.nr, nr);
	memset(&gone, 0, sizeof(gone));
	memset(gone.bytes, 0x77, 20);
	assert_int_equal(pack_job_add(&e.job, &gone, 0, &err), ERR_MISSING);
	run_job(&e);
	read_new(&e);
	for (uint32_t i = 0; i < e.r.nr; i++)
		assert_int_equal(e.packed[i], is_wanted(&e, i));
	assert_false(has_bitmap(&e));
	assert_int_not_equal(e.job.warning.code, 0);
	close_job(&e);
	env_release(&e);
}

/*
 * If there are haves, the pack lacks objects that its objects reach. So it gets
 * no bitmap index.
 */
static void haves(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	bool *had = calloc(RANDREPO_MAX, sizeof(*had));
	uint32_t first, last;
	struct env e;

	assert_non_null(had);
	env_init(&e, &seed, LOOSE | PACKED);
	first = e.r.commits[e.r.commit_nr / 2];
	last = e.r.commits[e.r.commit_nr - 1];
	randrepo_reach(&e.r, had, first);
	open_job(&e);
	assert_int_equal(walk_add_tip(&e.job.walk, &e.job.wants,
				      &e.r.objects[last].oid, false, NULL),
			 0);
	assert_int_equal(walk_add_tip(&e.job.walk, &e.job.haves,
				      &e.r.objects[first].oid, true, NULL),
			 0);
	if (pack_job_enumerate(&e.job, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(e.job.left_out);
	run_job(&e);
	read_new(&e);
	assert_true(e.packed[last]);
	assert_false(e.packed[first]);
	assert_false(has_bitmap(&e));
	close_job(&e);
	free(had);
	env_release(&e);
}

/*
 * pack_job_send() passes a pack of all listed objects to a callback, and writes
 * no file.
 */
static void sending(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct pack_sink sink;
	struct sentpack s;
	struct env e;
	char *path;

	env_init(&e, &seed, LOOSE | PACKED);
	open_job(&e);
	enumerate_all(&e);
	sink = sentpack_init(&s, &e.r);
	if (pack_job_send(&e.job, sink, &err) < 0)
		fail_msg("%s", err.msg);
	sentpack_decode(&s, NULL);
	assert_int_equal(s.nr, e.r.nr);
	assert_true(s.ofs > 0);
	path = new_path(&e, ".pack");
	assert_false(sys_exists(path));
	free(path);
	sentpack_release(&s);
	close_job(&e);
	env_release(&e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters),
		cmocka_unit_test(listed_objects),
		cmocka_unit_test(haves),
		cmocka_unit_test(sending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
