/* SPDX-License-Identifier: MIT */
/*
 * Finds objects to send of which the receiver has an older version. The packs
 * on disk store the newest version of a file whole, and older versions as
 * deltas against it. So if stored bytes were copied, a fetch of one commit
 * would get whole files.
 *
 * Therefore these objects are not copied. Each of them is sent as a new delta
 * against the receiver's version. Such a delta is called a fallback delta
 * (packing/fallback-delta.h): no other base is tried. Fallback deltas are also
 * made for two other kinds of objects: stored deltas whose base is not sent,
 * and objects that are only in packs from which no spans (runs of neighbouring
 * entries) are copied.
 *
 * To make a fallback delta, both versions are inflated, which costs many times
 * more than copying. So the number of fallback deltas is limited. They are made
 * first for the objects for which they save most: trees before files, because
 * trees deflate badly.
 *
 * A kept delta (prepared/kept-deltas.h) was made by a repack. It is sent as it
 * is stored, so it does not count for the limit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "object/parse.h"
#include "pack/entry.h"
#include "packing/find-parts.h"
#include "packing/price.h"
#include "trees/treediff.h"

/*
 * Maximum number of candidates: objects that may be sent as new deltas against
 * the versions that the receiver has.
 */
#define VERSIONS_MAX 4096

/*
 * Maximum number of inflated bytes of all objects that are sent as fallback
 * deltas: new deltas against versions that the receiver has.
 */
#define BYTES_MAX (UINT64_C(1) << 17)

/*
 * This limit takes the place of BYTES_MAX in two cases:
 * - The request has a shallow boundary. The receiver then usually gets the
 *   newest versions of files. The packs on disk store the newest version of a
 *   file whole. So if the stored bytes were copied, the response would have
 *   whole files. New deltas against the receiver's versions make the response
 *   much smaller.
 * - The delta search groups objects by path. The caller then accepts a longer
 *   time for a smaller pack.
 */
#define BYTES_MAX_OF_MORE (UINT64_C(1) << 22)

/*
 * This limit takes the place of BYTES_MAX_OF_MORE if the request has a shallow
 * boundary and few commits are sent (found->walked_few). It is eight times as
 * high.
 *
 * Orphans are objects whose stored delta has a base that is not sent. The total
 * size of orphans that are sent as fallback deltas has a limit of its own. If
 * the request has a shallow boundary and exactly one commit is sent, this limit
 * is BYTES_MAX_OF_FEW. If it has a shallow boundary and more commits are sent,
 * the limit is the lower number BYTES_MAX_OF_MORE. The reason: with more
 * commits, the best delta base of an orphan is often in another of the sent
 * commits, and not among the receiver's objects. Then a fallback delta is
 * seldom the best one.
 */
#define BYTES_MAX_OF_FEW (UINT64_C(1) << 25)

/*
 * An object without an older version at its path is sent as a kept delta
 * (stored by a repack) only if the delta is smaller than the object's stored
 * bytes, by more than this number of bytes. The reason: a kept delta is sent
 * with the id of its base, which takes 20 bytes or more.
 */
#define SAVED_MIN 32

/*
 * If the stored bytes of an object are less than 1 / SHARE_MIN of all bytes to
 * send, the object is copied, and no new delta (fallback delta) is made. A
 * delta would save little of such a large response and cost more than copying.
 *
 * This limit is used only for requests whose fallback deltas are limited by
 * BYTES_MAX (above). It is not used for requests with one of the higher limits,
 * BYTES_MAX_OF_MORE and BYTES_MAX_OF_FEW.
 */
#define SHARE_MIN 128

/*
 * A new delta against the receiver's version (a fallback delta) is made only if
 * the object's inflated size is at most this number of times its stored size.
 * For an object with a kept delta (stored by a repack), the size of the kept
 * delta counts as the stored size.
 *
 * This limit is used only for requests whose fallback deltas are limited by
 * BYTES_MAX (above). It is not used for requests with one of the higher limits,
 * BYTES_MAX_OF_MORE and BYTES_MAX_OF_FEW.
 */
#define COST_MAX 8

/*
 * An orphan is a stored delta whose base is neither sent nor known to be with
 * the receiver. find_older() searches the receiver's history for older versions
 * of files. If this base is among them, the orphan can be copied.
 *
 * The search is run if there is an orphan and the number of sent objects is in
 * this range. With fewer objects there are few orphans, and new deltas for them
 * cost less than the search. With more objects, the search would make the
 * response only a little smaller.
 *
 * If an orphan is too large for a new delta, the search is run for any number
 * of sent objects.
 */
#define OLDER_SENT_MIN 32
#define OLDER_SENT_MAX 128

/* A value of candidate.bit: the object is in found->objects. */
#define LISTED UINT32_MAX

/*
 * An object that may be sent as a fallback delta: a new delta against the
 * version that the receiver has.
 */
struct candidate {
	struct walk_item item;
	/*
	 * obj_pos of the receiver's version at the same path. If note_kept()
	 * has added the candidate: obj_pos of the base of its kept delta.
	 */
	uint32_t old_pos;
	/* bit of the object in found->packed, or LISTED */
	uint32_t bit;
	/* index into found->objects, if `bit` is LISTED */
	uint32_t place;
	/* number of inflated bytes of the object */
	uint64_t size;
	/*
	 * Number of stored bytes that a new delta would replace:
	 * - if the object has a kept delta (stored by a repack): the bytes of
	 *   this delta;
	 * - otherwise, if the object is stored whole: its stored bytes;
	 * - otherwise 0: the object is an orphan (a delta whose base is not
	 *   sent), so its stored bytes cannot be sent.
	 *
	 * Also 0 for candidates that note_kept() has added. They are always
	 * sent as their kept deltas.
	 */
	uint64_t stored;
	/*
	 * Cost of a new delta for each byte that it can save: the object's
	 * inflated size, times 256, divided by `stored`. 0 if `stored` is 0.
	 */
	uint64_t cost;
	struct kept_choice kept;
};

struct versions {
	struct found *f;
	struct candidate *candidates; /* owned */
	size_t nr, alloc;
	/* maximum number of inflated bytes of the candidates that are chosen */
	uint64_t bytes_max;
	/*
	 * Maximum number of inflated bytes of the chosen orphans (deltas whose
	 * base is not sent). Orphans are chosen first.
	 */
	uint64_t orphan_bytes_max;
	/* whether bytes_max is more than BYTES_MAX */
	bool is_more;
	/*
	 * A new delta is made for an object only if the object has at least
	 * this number of stored bytes. A smaller object gets no new delta,
	 * because the delta would save little. The limit does not apply to
	 * orphans (deltas whose base is not sent): an orphan cannot be sent as
	 * it is stored.
	 */
	uint64_t stored_min;
	/* Owned: indexes into found->objects, sorted by obj_pos. */
	struct sort_item *listed;
	size_t listed_nr;
	/*
	 * indexed like found->objects: objects that are already in `candidates`
	 */
	struct bitset noted;
	/* Borrowed: the newest commits of the receiver (commit_nr). */
	const uint32_t *haves;
	size_t have_nr;
	/*
	 * Owned: a copy of found->packed, made before objects were removed from
	 * it.
	 */
	struct bitset sent;
	/* number of objects to send */
	size_t sent_nr;
	/* whether find_older() was called */
	bool learned_older;
	/*
	 * receives a message about the first damage in the file of kept deltas
	 */
	struct error *warning;
};

static int list_objects(struct versions *v)
{
	const struct walk_items *objects = &v->f->objects;

	v->listed = mem_alloc(objects->nr, sizeof(*v->listed));
	if (!v->listed || bitset_init(&v->noted, objects->nr) < 0 ||
	    bitset_copy(&v->sent, &v->f->packed) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < objects->nr; i++)
		v->listed[i] = (struct sort_item){objects->items[i].obj_pos,
						  (uint32_t)i};
	v->listed_nr = objects->nr;
	v->sent_nr = objects->nr + bitset_count(&v->f->packed);
	return sort_items(v->listed, v->listed_nr);
}

static bool find_listed(const struct versions *v, uint32_t obj_pos,
			uint32_t *place)
{
	const struct sort_item *found = sort_find(v->listed, v->listed_nr,
						  obj_pos);

	if (found)
		*place = found->value;
	return found != NULL;
}

/*
 * Returns whether the receiver has, or gets, the object at an offset of a pack.
 * If so, a stored delta whose base is this object can be copied.
 */
static bool is_with_receiver(const struct versions *v,
			     const struct odb_pack *pack, uint64_t off)
{
	const struct found *f = v->f;
	const struct odb *odb = f->walk.odb;
	const struct pack_rev *rev = pack_get_rev_unproven(pack->pack, NULL);
	uint32_t pack_pos, obj_pos, bit, ignored;

	if (!rev || !pack_rev_find(rev, off, &pack_pos))
		return false;
	obj_pos = pack->first_pos + pack_rev_idx_pos(rev, pack_pos);
	if (found_bit(f, obj_pos, &bit) &&
	    (bitset_get(&f->packed, bit) ||
	     bitset_get(&f->packed_uninteresting, bit)))
		return true;
	if (!v->listed_nr)
		return false;
	if (odb->pack_nr > 1)
		odb_find_raw(odb, odb_oid_raw(odb, obj_pos), &obj_pos);
	return find_listed(v, obj_pos, &ignored) ||
	       found_is_uninteresting(f, obj_pos);
}

/*
 * Returns the number of stored bytes of an entry, or 0 if the pack has no entry
 * at this offset.
 */
static uint64_t stored_len(const struct odb_pack *pack, uint64_t off)
{
	const struct pack_rev *rev = pack_get_rev_unproven(pack->pack, NULL);
	uint32_t pack_pos;

	return rev && pack_rev_find(rev, off, &pack_pos)
		       ? pack_rev_offset(rev, pack_pos + 1) - off
		       : 0;
}

/*
 * Returns the pack of a candidate, and sets *off to the candidate's offset in
 * the pack. Returns NULL if no pack has the object.
 */
static const struct odb_pack *locate(const struct candidate *c,
				     const struct found *f, uint64_t *off)
{
	const struct odb_pack *pack;
	uint32_t idx_pos;

	if (c->bit != LISTED)
		return bitmap_space_locate(&f->space, c->bit, off);
	if (c->item.obj_pos >= f->walk.space.packed_nr)
		return NULL;
	pack = odb_locate(f->walk.odb, c->item.obj_pos, &idx_pos);
	*off = pack_idx_offset(&pack->pack->idx, idx_pos);
	return pack;
}

/*
 * Returns whether an object is one of the objects to send, and is not a
 * candidate yet. If so, tells where it is listed: c->bit is its bit in
 * found->packed; or c->bit is LISTED, and c->place is its index in
 * found->objects.
 */
static bool is_sent(struct candidate *c, const struct versions *v)
{
	const struct found *f = v->f;

	if (found_bit(f, c->item.obj_pos, &c->bit) &&
	    bitset_get(&f->packed, c->bit))
		return true;
	c->bit = LISTED;
	return find_listed(v, c->item.obj_pos, &c->place) &&
	       !bitset_test(&v->noted, c->place);
}

/*
 * Calls find_older(), which marks older versions of files as objects that the
 * receiver has. Does so only once, and only in one of two cases:
 * - The number of sent objects is from OLDER_SENT_MIN to OLDER_SENT_MAX.
 * - An orphan (a delta whose base is not sent) of `size` inflated bytes is too
 *   large for a new delta.
 *
 * Returns 0 or ERR_NOMEM.
 */
static int learn_older(struct versions *v, uint64_t size)
{
	bool is_in_range = v->sent_nr >= OLDER_SENT_MIN &&
			   v->sent_nr <= OLDER_SENT_MAX;

	if (v->learned_older || (!is_in_range && size <= v->orphan_bytes_max))
		return 0;
	v->learned_older = true;
	return find_older(v->f, v->haves, v->have_nr);
}

/*
 * Returns whether a new delta against the receiver's version can help. This is
 * so if the object is stored whole, or as a delta whose base the receiver
 * neither has nor gets. Sets c->size and, if the object is stored whole,
 * c->stored.
 */
static bool needs_base(struct candidate *c, struct versions *v)
{
	const struct found *f = v->f;
	struct pack_entry entry;
	uint64_t off, base_off;
	const struct odb_pack *p = locate(c, f, &off);

	if (!p || pack_entry_at(&entry, p->pack, off, NULL) < 0)
		return false;
	if (entry.type != OBJ_OFS_DELTA && entry.type != OBJ_REF_DELTA) {
		c->size = entry.size;
		c->stored = stored_len(p, off);
		return c->stored > 0;
	}
	return pack_entry_base(&base_off, p->pack, off, &entry, NULL) > 0 &&
	       !is_with_receiver(v, p, base_off) &&
	       !pack_reader_info(odb_reader_pack(f->walk.reader), p->pack, off,
				 NULL, &c->size, NULL) &&
	       !learn_older(v, c->size) && !is_with_receiver(v, p, base_off);
}

/*
 * `old_pos` is an object in the tree of a commit that the receiver has. If
 * earlier requests of the receiver had a filter, the receiver may lack the
 * object. Returns whether the receiver certainly has the object. May add the
 * object to found->packed_uninteresting.
 *
 * There are two cases:
 * - A bitmap query has found the objects to send, and the filter of the request
 *   omits no object of this type. The receiver then has the object. But the
 *   query need not find all objects of the receiver. So the set
 *   found->packed_uninteresting (the receiver's objects that the query has
 *   found) may lack the object. Therefore the object is added to this set.
 * - Otherwise, found_is_uninteresting() decides.
 */
static bool learn_uninteresting(struct found *f, uint32_t old_pos,
				enum object_type type)
{
	uint32_t bit;

	if (old_pos >= f->walk.space.packed_nr)
		return false;
	if (!f->pb || !find_has_entries(f, type))
		return found_is_uninteresting(f, old_pos);
	if (found_bit(f, old_pos, &bit))
		bitset_set(&f->packed_uninteresting, bit);
	return true;
}

/*
 * Returns whether a candidate is best sent as its kept delta (stored by a
 * repack). This is so if the delta's base is one of these:
 * - the receiver's version at the same path;
 * - a version that is sent too, and that is between the receiver's version and
 *   the candidate.
 */
static bool is_kept_best(const struct candidate *c)
{
	return c->kept.delta.stream &&
	       (c->kept.base_is_sent || c->kept.base_pos == c->old_pos);
}

static int add_candidate(struct versions *v, const struct candidate *c)
{
	if (mem_grow(&v->candidates, &v->alloc, v->nr + 1,
		     sizeof(*v->candidates)) < 0)
		return ERR_NOMEM;
	v->candidates[v->nr++] = *c;
	return 0;
}

static int note_version(void *ctx, uint32_t new_pos, uint32_t old_pos,
			enum object_type type, const char *path,
			size_t path_len, struct error *err)
{
	struct versions *v = ctx;
	struct found *f = v->f;
	struct candidate c = {
		.item = {.obj_pos = new_pos, .type = (uint8_t)type},
		.old_pos = old_pos,
	};

	if (v->nr >= VERSIONS_MAX)
		return 1;
	if (!is_sent(&c, v) || !learn_uninteresting(f, old_pos, type) ||
	    !needs_base(&c, v))
		return 0;
	find_kept(&c.kept, f, objspace_raw(&f->walk.space, new_pos), c.bit,
		  old_pos, v->warning);
	if (c.kept.delta.stream)
		c.stored = c.kept.delta.len;
	if (!c.kept.delta.stream && c.stored && c.size >= v->bytes_max)
		return 0;
	c.cost = c.stored ? c.size * 256 / c.stored : 0;
	c.item.name_hash = name_hash_add(0, path, path_len);
	c.item.group = path_group_path(f->grouping, path, path_len);
	if (add_candidate(v, &c) < 0)
		return error_nomem(err);
	if (c.bit == LISTED)
		bitset_set(&v->noted, c.place);
	else
		bitset_unset(&f->packed, c.bit);
	return 0;
}

/* ---- objects without an older version at their path */

/*
 * If an object of `packed` has a kept delta (stored by a repack) that is
 * smaller than its stored bytes, move the object to the candidates. A damaged
 * file of kept deltas may list an object twice; the second time, nothing is
 * done. Returns 0 or ERR_NOMEM.
 */
static int note_kept(void *ctx, const struct walk_item *item)
{
	struct versions *v = ctx;
	struct found *f = v->f;
	struct candidate c = {.item = *item};
	const struct odb_pack *pack;
	uint64_t off;

	if (found_bit(f, item->obj_pos, &c.bit) &&
	    bitset_get(&f->packed, c.bit))
		find_kept(&c.kept, f,
			  objspace_raw(&f->walk.space, item->obj_pos), c.bit,
			  KEPT_NO_VERSION, v->warning);
	if (!c.kept.delta.stream)
		return 0;
	pack = bitmap_space_locate(&f->space, c.bit, &off);
	if (!pack || stored_len(pack, off) <= c.kept.delta.len + SAVED_MIN)
		return 0;
	c.old_pos = c.kept.base_pos;
	if (add_candidate(v, &c) < 0)
		return ERR_NOMEM;
	bitset_unset(&f->packed, c.bit);
	return 0;
}

/*
 * Visit those objects in `packed` for which a repack has stored a kept delta.
 */
static int note_targets(struct versions *v)
{
	const struct found *f = v->f;
	struct odb_reader *reader = f->walk.reader;
	const uint8_t *target, *last = NULL;
	int ret = 0;

	for (uint32_t row = 0; row < f->kept.nr && !ret; row++, last = target) {
		struct walk_item item = {.name_hash = 0};
		enum object_type type;
		uint32_t bit;

		target = kept_deltas_target(&f->kept, row);
		if (last && !memcmp(last, target, hash_len(f->kept.algo)))
			continue;
		if (!objspace_find_packed(&f->walk.space, target,
					  &item.obj_pos) ||
		    !found_bit(f, item.obj_pos, &bit) ||
		    !bitset_get(&f->packed, bit) ||
		    odb_info_pos(reader, item.obj_pos, &type, NULL, NULL) < 0)
			continue;
		item.type = (uint8_t)type;
		ret = note_kept(v, &item);
	}
	return ret;
}

/*
 * Find kept deltas (deltas that a repack has stored beside a pack) of objects
 * that have no older version at their path. An example is a file that was
 * renamed. The function visits either the objects to send or the kept deltas,
 * whichever are fewer.
 */
static int note_unpaired(struct versions *v, struct error *err)
{
	struct found *f = v->f;

	if (!f->kept.nr)
		return 0;
	return bitset_count(&f->packed) < f->kept.nr
		       ? found_each_packed(f, &f->packed, note_kept, v, err)
		       : note_targets(v);
}

/* ---- choosing */

/*
 * Make sure that a candidate is not copied from the pack as it is stored. (A
 * candidate is an object to send that could be sent as a short delta against an
 * object that the receiver has or gets.) The candidate is still sent, in one of
 * two forms: as a new delta that is made now, or as its kept delta. A kept
 * delta is a delta that a repack has made for later fetches and has stored
 * beside the pack.
 *
 * Append the candidate to f->objects, unless it is there already. (A candidate
 * that was in f->packed has been removed from this set when it became a
 * candidate.) Append the candidate and its delta base to f->versions. The delta
 * base is usually an older version of the same file. The receiver has the base
 * already, or gets it in the same pack. Returns 0 or ERR_NOMEM.
 */
static int withhold(struct found *f, const struct candidate *c)
{
	struct found_version *version = &f->versions[f->version_nr];

	version->object = c->place;
	if (c->bit != LISTED) {
		if (walk_items_add(&f->objects, &c->item) < 0)
			return ERR_NOMEM;
		version->object = f->objects.nr - 1;
	}
	version->old = c->item;
	version->kept = c->kept.delta;
	version->base_is_sent = c->kept.base_is_sent;
	version->old.obj_pos = c->kept.delta.stream ? c->kept.base_pos
						    : c->old_pos;
	f->version_nr++;
	return 0;
}

/*
 * Returns whether a new delta of a candidate, against the receiver's version at
 * the same path, should be made. If so, adds the candidate's inflated bytes to
 * *taken, the sum for all chosen candidates.
 */
static bool is_worth_making(const struct candidate *c, const struct versions *v,
			    uint64_t *taken)
{
	uint64_t max = c->stored ? v->bytes_max : v->orphan_bytes_max;

	if (is_kept_best(c) || c->size > max || *taken > max - c->size)
		return false;
	if (!v->is_more && c->stored &&
	    (c->stored < v->stored_min || c->cost > COST_MAX * 256))
		return false;
	*taken += c->size;
	return true;
}

/*
 * Set v->stored_min to 1 / SHARE_MIN of the stored bytes that would be sent if
 * no new delta were made.
 */
static void set_stored_min(struct versions *v)
{
	const struct found *f = v->f;
	uint64_t len = 0;

	if (v->is_more)
		return;
	if (f->space.odb)
		len = packing_stored_len(&f->space, &f->packed);
	for (size_t i = 0; i < v->nr; i++)
		len += v->candidates[i].stored;
	v->stored_min = len / SHARE_MIN;
}

/*
 * Choose the candidates for which a new delta is made: those that cost least
 * for each byte they save, up to the limits. A candidate that is not chosen is
 * sent in one of two ways:
 * - If it has a kept delta (a delta that a repack has stored in a file beside
 *   the pack), this delta is sent.
 * - Otherwise its entry in the pack is copied.
 *
 * Returns 0 or ERR_NOMEM.
 */
static int choose(struct versions *v)
{
	struct found *f = v->f;
	struct sort_item *order = mem_alloc(v->nr, sizeof(*order));
	uint64_t taken = 0;
	int ret = ERR_NOMEM;

	set_stored_min(v);
	f->versions = mem_alloc(v->nr, sizeof(*f->versions));
	for (size_t i = 0; order && i < v->nr; i++)
		order[i] = (struct sort_item){v->candidates[i].cost,
					      (uint32_t)i};
	if (order && f->versions)
		ret = sort_items(order, v->nr);
	for (size_t i = 0; i < v->nr && !ret; i++) {
		struct candidate *c = &v->candidates[order[i].value];

		if (is_worth_making(c, v, &taken))
			c->kept = (struct kept_choice){.base_is_sent = false};
		else if (!c->kept.delta.stream) {
			if (c->bit != LISTED)
				bitset_set(&f->packed, c->bit);
			continue;
		}
		ret = withhold(f, c);
	}
	free(order);
	return ret;
}

static void set_limits(struct versions *v)
{
	const struct found *f = v->f;

	bool is_shallow = f->request->shallow_nr > 0;
	bool is_more = is_shallow || f->grouping != PATH_GROUP_NONE;

	v->bytes_max = is_more ? BYTES_MAX_OF_MORE : BYTES_MAX;
	v->orphan_bytes_max = v->bytes_max;
	if (is_shallow && f->walked_few_nr)
		v->bytes_max = BYTES_MAX_OF_FEW;
	if (is_shallow && f->walked_few_nr == 1)
		v->orphan_bytes_max = BYTES_MAX_OF_FEW;
	v->is_more = is_more;
}

/*
 * Compare the trees of wanted commits with the trees of the receiver's commits
 * (`haves`). If an object to send differs from the receiver's object at the
 * same path, the object to send becomes a candidate.
 */
static int compare_trees(struct versions *v, const uint32_t *wants,
			 size_t want_nr, const uint32_t *haves, size_t have_nr,
			 struct error *err)
{
	struct walk *w = &v->f->walk;
	const struct history *h = &w->history;
	int ret = 0;

	for (size_t i = 0; i < want_nr && !ret; i++)
		for (size_t k = 0; k < have_nr && !ret; k++)
			ret = treepair_run(&w->space, w->reader,
					   h->commits[wants[i]].tree_pos,
					   h->commits[haves[k]].tree_pos,
					   note_version, v, err);
	return ret;
}

/*
 * Remove the objects to send from found->packed_uninteresting, even if the
 * receiver has some of them. This prevents a cycle. If an object Y to send were
 * in the set, another object X could be copied as a stored delta of Y. If Y
 * were then sent as a delta of X, the receiver could unpack neither X nor Y.
 */
static void unmark_sent(struct versions *v)
{
	struct found *f = v->f;

	bitset_andnot(&f->packed_uninteresting, &v->sent);
	for (size_t i = 0; i < v->listed_nr; i++) {
		uint32_t bit;

		if (found_bit(f, (uint32_t)v->listed[i].key, &bit) &&
		    bitset_get(&f->packed_uninteresting, bit))
			bitset_unset(&f->packed_uninteresting, bit);
	}
}

int found_withhold_versions(struct found *found, struct error *warning,
			    struct error *err)
{
	struct versions v = {
		.f = found,
		.warning = warning,
	};
	struct history *h = &found->walk.history;
	uint32_t newest[FOUND_NEWEST_MAX], haves[FOUND_NEWEST_MAX];
	const uint32_t *wants = newest;
	size_t want_nr, have_nr;
	int ret;

	if (!found->boundary_nr ||
	    (bitset_is_empty(&found->packed) && !found->objects.nr))
		return 0;
	set_limits(&v);
	ret = list_objects(&v) < 0 ? error_nomem(err) : 0;
	if (!ret)
		ret = found_newest(newest, &want_nr, FOUND_NEWEST_MAX, h,
				   found->wants, found->want_nr, err);
	if (!ret)
		ret = found_newest(haves, &have_nr, FOUND_NEWEST_MAX, h,
				   found->boundary, found->boundary_nr, err);
	if (ret < 0)
		goto out;
	/*
	 * A client that deepens its history gets older versions of files. So
	 * compare the trees of all sent commits, not only of the newest.
	 */
	if (found->walked_few_nr) {
		wants = found->walked_few;
		want_nr = found->walked_few_nr;
	}
	v.haves = haves;
	v.have_nr = have_nr;
	ret = find_kept_open(found, warning, err);
	if (!ret)
		ret = compare_trees(&v, wants, want_nr, haves, have_nr, err);
	if (ret >= 0)
		ret = note_unpaired(&v, err);
	if (ret >= 0 && v.nr)
		ret = choose(&v) < 0 ? error_nomem(err) : 0;
	unmark_sent(&v);
out:
	free(v.listed);
	bitset_release(&v.noted);
	bitset_release(&v.sent);
	free(v.candidates);
	return ret < 0 ? ret : 0;
}
