/* SPDX-License-Identifier: MIT */
/* Lists unreachable objects, and marks those that are kept. */
#include <string.h>

#include "base/mem.h"
#include "object/links.h"
#include "odb/freshen.h"
#include "pack/mtimes.h"
#include "packs/old-packs.h"
#include "repack/unreachable.h"
#include "sys/clock.h"
#include "sys/io.h"

#define NS_PER_S INT64_C(1000000000)

struct collecting {
	struct unreachable *u;
	const struct unreachable_options *options;
	struct error *err;
};

/*
 * Returns a pointer to the table entry of an object: the object's item number
 * plus 1. Returns NULL if there is no memory.
 */
static uint32_t *slot_of(struct unreachable *u, uint32_t obj_pos)
{
	uint32_t packed_nr = u->walk->space.packed_nr;
	size_t old = u->extra_alloc, extra;

	if (obj_pos < packed_nr)
		return &u->by_packed[obj_pos];
	extra = obj_pos - packed_nr;
	if (mem_grow(&u->by_extra, &u->extra_alloc, extra + 1,
		     sizeof(*u->by_extra)) < 0)
		return NULL;
	memset(u->by_extra + old, 0,
	       (u->extra_alloc - old) * sizeof(*u->by_extra));
	return &u->by_extra[extra];
}

struct unreachable_item *unreachable_find(const struct unreachable *u,
					  uint32_t obj_pos)
{
	uint32_t packed_nr = u->walk->space.packed_nr, item = 0;

	if (obj_pos < packed_nr)
		item = u->by_packed[obj_pos];
	else if (obj_pos - packed_nr < u->extra_alloc)
		item = u->by_extra[obj_pos - packed_nr];
	return item ? &u->items[item - 1] : NULL;
}

/*
 * Add an unreachable object to the list, or update its item with the time of
 * one more copy. Returns NULL if there is no memory.
 */
static struct unreachable_item *add(struct unreachable *u, uint32_t obj_pos,
				    int64_t mtime)
{
	uint32_t *slot = slot_of(u, obj_pos);
	struct unreachable_item *item;

	if (!slot)
		return NULL;
	if (!*slot) {
		if (mem_grow(&u->items, &u->alloc, u->nr + 1,
			     sizeof(*u->items)) < 0)
			return NULL;
		u->items[u->nr++] = (struct unreachable_item){
			.obj_pos = obj_pos,
		};
		*slot = (uint32_t)u->nr;
	}
	item = &u->items[*slot - 1];
	if (pack_mtimes_clamp(mtime) > item->mtime)
		item->mtime = pack_mtimes_clamp(mtime);
	return item;
}

static void note_staying(struct unreachable_item *item, int64_t mtime)
{
	if (pack_mtimes_clamp(mtime) > item->staying_mtime)
		item->staying_mtime = pack_mtimes_clamp(mtime);
}

/*
 * List the unreachable objects of one pack. If `times` is NULL, the time of
 * each object is `seconds`. Returns 0 or ERR_NOMEM.
 */
static int collect_objects(struct collecting *c, const struct odb_pack *p,
			   const struct pack_mtimes *times, int64_t seconds)
{
	struct unreachable *u = c->u;
	bool is_leaving = c->options->is_leaving(c->options->ctx, p->pack);

	for (uint32_t i = 0; i < p->pack->idx.nr; i++) {
		int64_t mtime = times ? pack_mtimes_get(times, i) : seconds;
		struct unreachable_item *item;
		uint32_t obj_pos;

		if (bitset_get(u->reached, p->first_pos + i))
			continue;
		if (objspace_add(&u->walk->space,
				 pack_idx_oid(&p->pack->idx, i), &obj_pos) < 0)
			return error_nomem(c->err);
		if (bitset_get(u->reached, obj_pos))
			continue;
		item = add(u, obj_pos, mtime);
		if (!item)
			return error_nomem(c->err);
		if (is_leaving)
			item->is_packed = true;
		else if (times)
			note_staying(item, mtime);
	}
	return 0;
}

static int64_t time_of(const struct pack *pack)
{
	return pack->mtime_ns / NS_PER_S;
}

static int collect_cruft(struct collecting *c, const struct odb_pack *p)
{
	struct pack_mtimes_file f;
	struct error why = ERROR_INIT;
	int ret = pack_mtimes_open(&f, p->pack, &why);

	if (!ret)
		ret = collect_objects(c, p, &f.times, 0);
	/*
	 * The .mtimes file of the cruft pack is damaged. No object may expire
	 * because of a damaged time, so end with an error. The user can delete
	 * the .mtimes file. The pack is then an ordinary pack: each of its
	 * objects gets the modification time of the pack, which is later than
	 * the times in the .mtimes file.
	 */
	else if (ret == ERR_CORRUPT)
		error_set(
			c->err, ERR_CORRUPT,
			"%s\nTo keep the objects of this pack for now, delete "
			"the file.",
			why.msg);
	/*
	 * The .mtimes file is missing. If the pack was removed, take the time
	 * of the pack for all its objects, because none of them is younger. If
	 * the pack is still there, another process has just written it again as
	 * an ordinary pack. Its objects are in use now, so take the present
	 * time.
	 */
	else if (ret == ERR_MISSING)
		ret = collect_objects(c, p, NULL,
				      old_packs_is_gone(p->pack)
					      ? time_of(p->pack)
					      : sys_clock_seconds());
	else if (c->err)
		*c->err = why;
	pack_mtimes_close(&f);
	return ret;
}

static int collect_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct collecting *c = ctx;
	struct unreachable_item *item;
	struct sys_stat st;
	uint32_t obj_pos;
	int ret;

	if (objspace_add(&c->u->walk->space, oid->bytes, &obj_pos) < 0)
		return error_nomem(c->err);
	if (bitset_get(c->u->reached, obj_pos))
		return 0;
	ret = sys_stat(&st, path, c->err);
	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	item = add(c->u, obj_pos, st.mtime_ns / NS_PER_S);
	if (!item)
		return error_nomem(c->err);
	item->is_loose = true;
	item->loose_mtime = pack_mtimes_clamp(st.mtime_ns / NS_PER_S);
	return 0;
}

/*
 * Returns whether an object needs no other copy than the one in the pack `p`,
 * which stays. The copy in a leaving pack may be younger than `p`. If the
 * object is recent, this function then sets the modification time of `p` to
 * now, and returns false if this fails. The time of an expired object does not
 * matter.
 */
static bool is_safe_in(const struct collecting *c, const struct odb_pack *p,
		       const struct unreachable_item *item,
		       enum freshen_state *freshness)
{
	return !item->is_packed || item->mtime <= c->options->expiry ||
	       freshen_pack(freshness, p->pack, item->mtime * NS_PER_S);
}

/*
 * Mark the listed objects of an ordinary local pack that stays: they need no
 * other copy (is_safe). Returns 0 or ERR_NOMEM.
 */
static int mark_staying(struct collecting *c, const struct odb_pack *p)
{
	enum freshen_state freshness = FRESHEN_NOT_TRIED;

	for (uint32_t i = 0; i < p->pack->idx.nr; i++) {
		struct unreachable_item *item;
		uint32_t obj_pos;

		if (bitset_get(c->u->reached, p->first_pos + i))
			continue;
		if (objspace_add(&c->u->walk->space,
				 pack_idx_oid(&p->pack->idx, i), &obj_pos) < 0)
			return error_nomem(c->err);
		item = unreachable_find(c->u, obj_pos);
		if (item && is_safe_in(c, p, item, &freshness))
			item->is_safe = true;
	}
	return 0;
}

static int mark_all_staying(struct collecting *c, const struct odb *odb)
{
	int ret = 0;

	for (uint32_t i = 0; i < odb->pack_nr && !ret; i++) {
		const struct odb_pack *p = &odb->packs[i];

		if (p->pack->is_local && !p->pack->is_cruft &&
		    !c->options->is_leaving(c->options->ctx, p->pack))
			ret = mark_staying(c, p);
	}
	return ret;
}

/*
 * Find the unreachable objects that `pack`, a pack of an alternate, has. This
 * repack does not remove the pack, so these objects have a copy that stays.
 *
 * If `pack` is an ordinary pack, `times` is NULL. The objects are marked as
 * safe (is_safe): the copies in this repository need not be kept.
 *
 * If `pack` is a cruft pack, `times` has the times of its objects in its
 * .mtimes file. A copy in a cruft pack makes an object safe only if the copy's
 * time is at least as late as that of the object in this repository. With an
 * earlier time, the object would expire too early. So the times are only
 * recorded here (staying_mtime), and are compared later.
 */
static void mark_elsewhere(struct unreachable *u, const struct pack *pack,
			   const struct pack_mtimes *times)
{
	for (size_t i = 0; i < u->nr; i++) {
		uint32_t idx_pos;
		struct oid oid;

		objspace_oid(&oid, &u->walk->space, u->items[i].obj_pos);
		if (!pack_idx_find(&pack->idx, oid.bytes, &idx_pos))
			continue;
		if (times)
			note_staying(&u->items[i],
				     pack_mtimes_get(times, idx_pos));
		else
			u->items[i].is_safe = true;
	}
}

/* A cruft pack whose times cannot be read is ignored. */
static void mark_elsewhere_cruft(struct unreachable *u, const struct pack *pack)
{
	struct pack_mtimes_file f;

	if (!pack_mtimes_open(&f, pack, NULL))
		mark_elsewhere(u, pack, &f.times);
	pack_mtimes_close(&f);
}

/*
 * Mark unreachable objects that have a copy in an alternate (mark_elsewhere()).
 */
static void mark_alternates(struct unreachable *u, const struct odb *odb)
{
	for (uint32_t i = 0; i < odb->pack_nr && u->nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (pack->is_local)
			continue;
		if (pack->is_cruft)
			mark_elsewhere_cruft(u, pack);
		else
			mark_elsewhere(u, pack, NULL);
	}
}

/*
 * Mark as safe each unreachable object whose latest time is recorded in a cruft
 * pack that stays: the object needs no new copy.
 */
static void mark_noted(struct unreachable *u)
{
	for (size_t i = 0; i < u->nr; i++) {
		struct unreachable_item *item = &u->items[i];

		if (item->staying_mtime && item->staying_mtime >= item->mtime)
			item->is_safe = true;
	}
}

int unreachable_collect(struct unreachable *u, struct walk *walk,
			const struct bitset *reached,
			const struct unreachable_options *options,
			struct error *err)
{
	struct collecting c = {u, options, err};
	const struct odb *odb = walk->odb;
	int ret = 0;

	*u = (struct unreachable){.walk = walk, .reached = reached};
	u->by_packed = mem_calloc(odb->packed_nr, sizeof(*u->by_packed));
	if (!u->by_packed)
		return error_nomem(err);
	for (uint32_t i = 0; i < odb->pack_nr && !ret; i++) {
		const struct odb_pack *p = &odb->packs[i];

		if (!p->pack->is_local)
			continue;
		ret = p->pack->is_cruft
			      ? collect_cruft(&c, p)
			      : collect_objects(&c, p, NULL, time_of(p->pack));
	}
	if (!ret && options->loose)
		ret = odb_each_loose(odb, true, collect_loose, &c, err);
	if (!ret)
		ret = mark_all_staying(&c, odb);
	if (!ret) {
		mark_alternates(u, odb);
		mark_noted(u);
	}
	return ret;
}

bool unreachable_in_pack(const struct unreachable *u, const char *name)
{
	const struct odb *odb = u->walk->odb;
	bool found = false;

	for (uint32_t p = 0; p < odb->pack_nr && !found; p++) {
		const struct pack *pack = odb->packs[p].pack;

		if (!pack->is_local || pack->is_cruft ||
		    strcmp(pack->name, name) != 0)
			continue;
		for (size_t i = 0; i < u->nr && !found; i++) {
			uint32_t idx_pos;
			struct oid oid;

			objspace_oid(&oid, &u->walk->space,
				     u->items[i].obj_pos);
			found = pack_idx_find(&pack->idx, oid.bytes, &idx_pos);
		}
	}
	return found;
}

void unreachable_release(struct unreachable *u)
{
	free(u->items);
	free(u->by_packed);
	free(u->by_extra);
	*u = (struct unreachable){0};
}

/* ---- objects that recent objects reach */

struct following {
	struct unreachable *u;
	struct bitset seen; /* indexed by obj_pos */
	/* owned: objects (obj_pos) whose links were not followed yet */
	uint32_t *stack;
	size_t nr, alloc;
	struct error *err;
};

/*
 * Mark an unreachable object as kept, and remember to mark all objects that it
 * refers to. Does nothing for a reachable object. A leaf (a blob) refers to no
 * objects. Returns 0 or ERR_NOMEM.
 */
static int keep(struct following *f, uint32_t obj_pos, bool is_leaf)
{
	struct unreachable_item *item;

	if (bitset_get(f->u->reached, obj_pos))
		return 0;
	if (obj_pos >= f->seen.bits &&
	    bitset_grow(&f->seen, (size_t)obj_pos + obj_pos / 2 + 64) < 0)
		return error_nomem(f->err);
	if (bitset_test(&f->seen, obj_pos))
		return 0;
	bitset_set(&f->seen, obj_pos);
	item = unreachable_find(f->u, obj_pos);
	if (item)
		item->is_kept = true;
	if (is_leaf)
		return 0;
	if (mem_grow(&f->stack, &f->alloc, f->nr + 1, sizeof(*f->stack)) < 0)
		return error_nomem(f->err);
	f->stack[f->nr++] = obj_pos;
	return 0;
}

static int keep_link(void *ctx, const struct oid *to, enum object_type type,
		     struct error *err)
{
	struct following *f = ctx;
	uint32_t obj_pos;

	if (objspace_add(&f->u->walk->space, to->bytes, &obj_pos) < 0)
		return error_nomem(err);
	return keep(f, obj_pos, type == OBJ_BLOB);
}

static int follow(struct following *f, uint32_t obj_pos)
{
	struct walk *w = f->u->walk;
	struct odb_object obj = ODB_OBJECT_INIT;
	enum object_type type;
	int ret = objspace_info(&w->space, w->reader, obj_pos, &type, NULL,
				f->err);

	if (!ret && type == OBJ_BLOB)
		return 0;
	if (!ret)
		ret = objspace_read(&w->space, w->reader, obj_pos, &obj,
				    f->err);
	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	ret = object_links_each(obj.type, obj.data, obj.len, w->odb->algo,
				keep_link, f, f->err);
	odb_object_release(w->reader, &obj);
	return ret;
}

static int follow_all(struct following *f)
{
	int ret = 0;

	while (f->nr && !ret)
		ret = follow(f, f->stack[--f->nr]);
	return ret;
}

static int keep_hooked(void *ctx, const struct oid *oid)
{
	struct following *f = ctx;
	struct unreachable_item *item;
	uint32_t obj_pos;

	if (!odb_reader_has(f->u->walk->reader, oid))
		return 0;
	if (objspace_add(&f->u->walk->space, oid->bytes, &obj_pos) < 0)
		return error_nomem(f->err);
	item = unreachable_find(f->u, obj_pos);
	if (item)
		item->mtime = pack_mtimes_clamp(sys_clock_seconds());
	return keep(f, obj_pos, false);
}

int unreachable_keep(struct unreachable *u, int64_t expiry, struct error *err)
{
	struct following f = {.u = u, .err = err};
	int ret;

	if (expiry <= 0) {
		for (size_t i = 0; i < u->nr; i++)
			u->items[i].is_kept = true;
		return 0;
	}
	if (bitset_init(&f.seen, objspace_end(&u->walk->space)) < 0)
		return error_nomem(err);
	ret = recent_hook_each(u->walk->odb->repo, keep_hooked, &f, err);
	for (size_t i = 0; i < u->nr && !ret; i++)
		if (u->items[i].mtime > expiry)
			ret = keep(&f, u->items[i].obj_pos, false);
	if (!ret)
		ret = follow_all(&f);
	bitset_release(&f.seen);
	free(f.stack);
	return ret;
}

int unreachable_type(struct unreachable *u, const struct unreachable_item *item,
		     enum object_type *type, struct error *err)
{
	struct walk *w = u->walk;
	struct error why;
	int ret = objspace_info(&w->space, w->reader, item->obj_pos, type, NULL,
				err);

	if (ret != ERR_CORRUPT || !item->is_loose || item->is_packed)
		return ret;
	objspace_error(&w->space, item->obj_pos, ERR_CORRUPT,
		       "loose object could not be examined", &why);
	if (u->warn)
		u->warn(u->warn_ctx, why.msg);
	return 1;
}
