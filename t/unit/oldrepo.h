/* SPDX-License-Identifier: MIT */
/*
 * A random repository in which some objects are unreachable. The objects are in
 * packs, a kept pack, cruft packs, an alternate and loose files. The
 * modification times of all files are known. Include this header after
 * cmocka.h.
 */
#ifndef T_UNIT_OLDREPO_H
#define T_UNIT_OLDREPO_H

#include "pack/mtimes.h"
#include "repack/unreachable.h"
#include "sys/io.h"
#include "t/unit/randrepo.h"

/*
 * The places where an object can be stored, as bits of a set. An object may be
 * stored at several places.
 */
enum oldrepo_place {
	OLD_PACK = 1 << 0,
	OLD_PACK_2 = 1 << 1,
	OLD_KEPT = 1 << 2,
	OLD_CRUFT = 1 << 3,
	OLD_LOOSE = 1 << 4,
	OLD_ALTERNATE = 1 << 5,
	OLD_PLACES = 6,
};

/*
 * Base of the modification times of packs, in seconds. The time of a pack's
 * files is this number plus 1000 times the bit of the pack in enum
 * oldrepo_place. The times of loose objects and of objects in cruft packs vary.
 */
#define OLDREPO_EPOCH 1700000000

struct oldrepo {
	struct randrepo r;
	unsigned *places; /* indexed by object number */
	/*
	 * Indexed like r.objects: modification time of the object's latest copy
	 * in the repository itself, without alternates.
	 */
	uint32_t *times;
	bool *reached; /* indexed by object number */
	struct odb *odb;
	struct walk w;
	/* The objects of `reached`, as a set indexed by obj_pos. */
	struct bitset bits;
};

static inline void oldrepo_time(struct oldrepo *o, uint32_t nr, uint32_t time)
{
	if (time > o->times[nr])
		o->times[nr] = time;
}

/*
 * Write the file pack-8.mtimes with random times, which makes pack-8 a cruft
 * pack. `idx_file`: content of the pack's .idx file.
 */
static inline void oldrepo_cruft(struct oldrepo *o, const struct buf *idx_file)
{
	uint32_t *mtimes = calloc(RANDREPO_MAX, sizeof(*mtimes));
	struct buf out = BUF_INIT;
	struct pack_idx idx;
	struct oid sum;

	assert_non_null(mtimes);
	assert_int_equal(pack_idx_parse(&idx, idx_file->data, idx_file->len,
					HASH_SHA1, "idx", NULL),
			 0);
	for (uint32_t i = 0; i < idx.nr; i++) {
		struct oid oid;

		oid_from_raw(&oid, pack_idx_oid(&idx, i), HASH_SHA1);
		mtimes[i] = OLDREPO_EPOCH + randrepo_below(&o->r, 5000);
		oldrepo_time(o, randrepo_find(&o->r, &oid), mtimes[i]);
	}
	oid_from_raw(&sum, idx.pack_checksum, HASH_SHA1);
	assert_int_equal(
		pack_mtimes_write(&out, mtimes, idx.nr, &sum, HASH_SHA1, NULL),
		0);
	tmprepo_write_len(&o->r.t, "objects/pack/pack-8.mtimes", out.data,
			  out.len);
	pack_idx_release(&idx);
	buf_release(&out);
	free(mtimes);
}

/*
 * Write the pack "<dir>/pack/pack-<place>". It gets each object `i` that has
 * the bit `place` in o->places[i].
 */
static inline void oldrepo_pack(struct oldrepo *o, const char *dir,
				unsigned place)
{
	struct packfile *p = malloc(sizeof(*p));
	uint32_t time = OLDREPO_EPOCH + 1000 * place;
	char name[64], path[4200];

	assert_non_null(p);
	packfile_init(p, HASH_SHA1);
	for (uint32_t i = 0; i < o->r.nr; i++) {
		if (!(o->places[i] & place))
			continue;
		packfile_add(p, o->r.objects[i].type, o->r.objects[i].data.data,
			     o->r.objects[i].data.len);
		if (place != OLD_CRUFT && place != OLD_ALTERNATE)
			oldrepo_time(o, i, time);
	}
	packfile_finish(p);
	snprintf(name, sizeof(name), "%s/pack/pack-%u.pack", dir, place);
	tmprepo_write_len(&o->r.t, name, p->bytes.data, p->bytes.len);
	snprintf(path, sizeof(path), "%s/%s", o->r.t.dir, name);
	assert_int_equal(sys_set_mtime(path, time, NULL), 0);
	snprintf(name, sizeof(name), "%s/pack/pack-%u.idx", dir, place);
	tmprepo_write_len(&o->r.t, name, p->idx.data, p->idx.len);
	if (place == OLD_CRUFT)
		oldrepo_cruft(o, &p->idx);
	packfile_release(p);
	free(p);
}

static inline void oldrepo_loose(struct oldrepo *o, uint32_t nr)
{
	uint32_t time = OLDREPO_EPOCH + randrepo_below(&o->r, 5000);
	char hex[OID_MAX_HEX_LEN + 1], path[4200];

	randrepo_store_one(&o->r, "objects", nr);
	oid_to_hex(hex, &o->r.objects[nr].oid, HASH_SHA1);
	snprintf(path, sizeof(path), "%s/%.2s/%s", o->r.t.objects, hex,
		 hex + 2);
	assert_int_equal(sys_set_mtime(path, time, NULL), 0);
	oldrepo_time(o, nr, time);
}

/*
 * Store every object at one or several places. `allowed`: the possible places,
 * bits of enum oldrepo_place.
 */
static inline void oldrepo_scatter(struct oldrepo *o, unsigned allowed)
{
	for (uint32_t i = 0; i < o->r.nr; i++) {
		while (!o->places[i])
			o->places[i] = 1u << randrepo_below(&o->r, OLD_PLACES) &
				       allowed;
		if (!randrepo_below(&o->r, 4))
			o->places[i] |= randrepo_below(&o->r, 1 << OLD_PLACES) &
					allowed;
		if (o->places[i] & OLD_LOOSE)
			oldrepo_loose(o, i);
	}
	for (unsigned place = 1; place < OLD_LOOSE; place *= 2)
		if (allowed & place)
			oldrepo_pack(o, "objects", place);
	if (allowed & OLD_KEPT)
		tmprepo_write(&o->r.t, "objects/pack/pack-4.keep", "");
	if (allowed & OLD_ALTERNATE) {
		oldrepo_pack(o, "other", OLD_ALTERNATE);
		tmprepo_write(&o->r.t, "objects/info/alternates", "../other\n");
	}
}

static inline uint32_t oldrepo_pos(struct oldrepo *o, uint32_t nr)
{
	uint32_t obj_pos;

	assert_int_equal(
		objspace_add(&o->w.space, o->r.objects[nr].oid.bytes, &obj_pos),
		0);
	return obj_pos;
}

static inline uint32_t oldrepo_nr(struct oldrepo *o, uint32_t obj_pos)
{
	struct oid oid;

	objspace_oid(&oid, &o->w.space, obj_pos);
	return randrepo_find(&o->r, &oid);
}

static inline void oldrepo_open(struct oldrepo *o)
{
	struct error err = ERROR_INIT;

	if (odb_open(&o->odb, &o->r.t.repo, NULL, &err) < 0 ||
	    walk_open(&o->w, o->odb, NULL, 0, &err) < 0)
		fail_msg("%s", err.msg);
	for (uint32_t i = 0; i < o->r.nr; i++)
		oldrepo_pos(o, i);
	assert_int_equal(bitset_init(&o->bits, objspace_end(&o->w.space)), 0);
	for (uint32_t i = 0; i < o->r.nr; i++)
		if (o->reached[i])
			bitset_set(&o->bits, oldrepo_pos(o, i));
}

/*
 * Make the repository, without refs. o->reached has the objects that some
 * commits of the first half of the history reach. Each object is stored at one
 * or several places. `allowed`: the possible places, bits of enum
 * oldrepo_place.
 */
static inline void oldrepo_init(struct oldrepo *o, uint64_t *seed,
				unsigned allowed)
{
	memset(o, 0, sizeof(*o));
	randrepo_init(&o->r, HASH_SHA1, seed);
	randrepo_history(&o->r, 50);
	o->places = calloc(RANDREPO_MAX, sizeof(*o->places));
	o->times = calloc(RANDREPO_MAX, sizeof(*o->times));
	o->reached = calloc(RANDREPO_MAX, sizeof(*o->reached));
	assert_true(o->places && o->times && o->reached);
	for (uint32_t i = 0; i < 3; i++)
		randrepo_reach(&o->r, o->reached,
			       o->r.commits[randrepo_below(
				       &o->r, o->r.commit_nr / 2)]);
	oldrepo_scatter(o, allowed);
	oldrepo_open(o);
}

static inline void oldrepo_release(struct oldrepo *o)
{
	walk_close(&o->w);
	odb_close(o->odb);
	bitset_release(&o->bits);
	randrepo_release(&o->r);
	free(o->places);
	free(o->times);
	free(o->reached);
}

/*
 * Callback of a repack in the tests. Returns true for each pack that the repack
 * will remove: all packs without a .keep file.
 */
static inline bool oldrepo_is_leaving(void *ctx, const struct pack *pack)
{
	return !pack->is_kept;
}

static inline void oldrepo_collect(struct oldrepo *o, struct unreachable *u,
				   bool loose)
{
	struct unreachable_options options = {
		.is_leaving = oldrepo_is_leaving,
		.loose = loose,
	};
	struct error err = ERROR_INIT;

	if (unreachable_collect(u, &o->w, &o->bits, &options, &err) < 0)
		fail_msg("%s", err.msg);
}

#endif
