/* SPDX-License-Identifier: MIT */
/* The window that slides over the candidates of a delta search. */
#include <string.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "deltas/delta-order.h"
#include "deltas/delta-search.h"

/*
 * Number of bytes that the id of the base takes in a delta's entry. The maximum
 * size of a delta is reduced by this number.
 */
#define OVERHEAD 20
/*
 * A base is not read if it is more than this number of times as large as the
 * target.
 */
#define BASE_RATIO_MAX 32
/*
 * The parts of a window that slides over objects of islands. Each layer of a
 * pack (islands/islands.h) has two parts: part 2 * layer for objects of the tip
 * island, and the next one for all other objects.
 */
#define PART_NR (2 * ISLANDS_LAYER_NR)

struct member {
	uint32_t item;
	/* The part of the window that has the object. */
	unsigned part;
	/*
	 * The object's depth: the number of deltas between this object and the
	 * whole object at the end of its chain.
	 */
	uint32_t depth;
	/* the object's content; obj.data is NULL until it is read */
	struct odb_object obj;
	/* the index for making deltas against the object; NULL until made */
	struct delta_index *index;
};

struct delta_window {
	const struct packing_items *list;
	const struct delta_search_options *options;
	const uint16_t *heights;
	uint16_t *depths;
	struct odb_reader *reader;
	/*
	 * Owned: the first `nr` elements are in the window, the oldest first.
	 * The other elements are free.
	 */
	struct member **members;
	/* owned: the memory to which the elements of `members` point */
	struct member *storage;
	size_t nr, size;
	/* the number of members of each part */
	size_t nr_of[PART_NR];
	/*
	 * total bytes of the objects in the window that were read, and of their
	 * delta indexes
	 */
	uint64_t bytes;
};

struct delta_window *delta_window_new(
	const struct packing_items *list,
	const struct delta_search_options *options, const uint16_t *heights,
	uint16_t *depths, struct odb_reader *reader)
{
	struct delta_window *w = mem_calloc(1, sizeof(*w));
	size_t parts = list->islands ? PART_NR : 1;
	size_t places = parts * ((size_t)options->window + 1) + 1;

	if (!w)
		return NULL;
	w->list = list;
	w->options = options;
	w->heights = heights;
	w->depths = depths;
	w->reader = reader;
	w->size = options->window;
	w->members = mem_alloc(places, sizeof(*w->members));
	w->storage = mem_calloc(places, sizeof(*w->storage));
	if (!w->members || !w->storage) {
		delta_window_free(w);
		return NULL;
	}
	for (size_t i = 0; i < places; i++)
		w->members[i] = &w->storage[i];
	return w;
}

static void member_clear(struct delta_window *w, struct member *m)
{
	if (m->index)
		w->bytes -= delta_index_size(m->index);
	delta_index_free(m->index);
	m->index = NULL;
	w->bytes -= m->obj.len;
	odb_object_release(w->reader, &m->obj);
	m->obj = (struct odb_object)ODB_OBJECT_INIT;
}

void delta_window_reset(struct delta_window *w)
{
	for (size_t i = 0; i < w->nr; i++)
		member_clear(w, w->members[i]);
	w->nr = 0;
	memset(w->nr_of, 0, sizeof(w->nr_of));
}

void delta_window_free(struct delta_window *w)
{
	if (!w)
		return;
	if (w->members && w->storage)
		delta_window_reset(w);
	free(w->members);
	free(w->storage);
	free(w);
}

/*
 * Move the object at place `from` of the window to the place `to`, which is
 * nearer to the newest object. The objects between the two places move one
 * place towards the oldest.
 */
static void move_up(struct delta_window *w, size_t from, size_t to)
{
	struct member *m = w->members[from];

	memmove(&w->members[from], &w->members[from + 1],
		(to - from) * sizeof(*w->members));
	w->members[to] = m;
}

static void drop(struct delta_window *w, size_t place)
{
	w->nr_of[w->members[place]->part]--;
	member_clear(w, w->members[place]);
	move_up(w, place, w->nr - 1);
	w->nr--;
}

/* Returns the part of the window for an object. */
static unsigned part_of(const struct islands *islands, uint32_t obj_pos)
{
	return !islands ? 0
			: 2 * (unsigned)islands_layer(islands, obj_pos) +
				  !islands_in_tip(islands, obj_pos);
}

/*
 * Returns whether objects of one part of the window (PART_NR) may be bases of
 * objects of another part. A part number is 2 * layer, plus 1 if the objects
 * are not in the tip island. There are two rules: a base must not be in a later
 * layer than its delta; and if the delta is in the tip island, its base must be
 * in it, too.
 */
static bool may_be_base(unsigned base, unsigned target)
{
	return base / 2 <= target / 2 && base % 2 <= target % 2;
}

/*
 * Remove old objects from the window until there is room for a candidate. Each
 * layer of the pack has two parts of the window: one for objects of the tip
 * island, and one for other objects (see PART_NR). `part` is the part of the
 * candidate.
 *
 * If this part has too many objects, the oldest object of this part is removed.
 * Objects of other parts stay, because candidates of these parts need them as
 * bases. If the memory limit is exceeded, the oldest objects of the whole
 * window are removed, whatever their parts are.
 */
static void make_room(struct delta_window *w, unsigned part, uint64_t size)
{
	uint64_t limit = w->options->window_memory;
	size_t oldest = 0;

	if (w->nr_of[part] > w->size) {
		while (w->members[oldest]->part != part)
			oldest++;
		drop(w, oldest);
	}
	while (limit && w->nr > 1 && (size > limit || w->bytes > limit - size))
		drop(w, 0);
}

static int check_member(const struct delta_window *w, const struct member *m,
			struct error *err)
{
	const struct packing_item *item = &w->list->items[m->item];

	if (m->obj.type != item->type || m->obj.len != item->size)
		return error_set(
			err, ERR_CORRUPT,
			"object is a %s of %zu bytes, not a %s of %llu",
			object_type_name(m->obj.type), m->obj.len,
			object_type_name(item->type),
			(unsigned long long)item->size);
	return w->options->check_ids
		       ? packing_items_check(w->list, item, &m->obj, err)
		       : 0;
}

/*
 * Read another copy of an object in the window, because the copy that was read
 * is damaged. *err describes the damage. Returns 0 with *err cleared, or a
 * negative error code.
 */
static int read_other_copy(struct delta_window *w, struct member *m,
			   struct error *err)
{
	struct odb_object other;
	struct oid oid;

	objspace_oid(&oid, w->list->space, w->list->items[m->item].obj_pos);
	if (odb_read_sound(w->reader, &oid, &other, NULL) < 0)
		return ERR_CORRUPT;
	odb_object_release(w->reader, &m->obj);
	m->obj = other;
	if (err)
		*err = (struct error)ERROR_INIT;
	return check_member(w, m, err);
}

static int read_member(struct delta_window *w, struct member *m,
		       struct error *err)
{
	const struct packing_item *item = &w->list->items[m->item];
	int ret;

	if (m->obj.data)
		return 0;
	ret = objspace_read(w->list->space, w->reader, item->obj_pos, &m->obj,
			    err);
	if (ret < 0) {
		m->obj = (struct odb_object)ODB_OBJECT_INIT;
		return ret;
	}
	ret = check_member(w, m, err);
	if (ret == ERR_CORRUPT)
		ret = read_other_copy(w, m, err);
	w->bytes += m->obj.len;
	return ret;
}

static int index_member(struct delta_window *w, struct member *m,
			struct error *err)
{
	int ret;

	if (m->index)
		return 0;
	ret = read_member(w, m, err);
	if (ret < 0)
		return ret;
	m->index = delta_index_new(m->obj.data, m->obj.len);
	if (!m->index)
		return error_nomem(err);
	w->bytes += delta_index_size(m->index);
	return 0;
}

/* State of searching the best delta base for one target. */
struct trial {
	struct member *target;
	/* The greatest depth that a delta of the target may have. */
	uint32_t depth_max;
	/* bytes of the smallest delta found so far; 0: none */
	size_t best_len;
	/* depth of the best base found so far */
	uint32_t best_depth;
	/* Place in the window of the best base found so far. */
	size_t best;
	struct delta_found *found;
};

/*
 * Returns the largest size that a delta against `base` may have. If the target
 * has no delta yet, this is half the target's size for a whole base, and less
 * for a deeper base. Otherwise it is about the size of the present delta: less
 * if `base` is deeper than the present base, and more if `base` is less deep.
 * This keeps chains short if it costs only a few bytes.
 */
static uint64_t size_limit(const struct delta_window *w, const struct trial *t,
			   const struct member *base)
{
	uint64_t size = w->list->items[t->target->item].size;
	uint64_t left = t->depth_max - base->depth;
	uint64_t limit;

	if (!t->best_len) {
		limit = size / 2;
		limit = limit > OVERHEAD ? limit - OVERHEAD : 0;
		return limit * left / t->depth_max;
	}
	limit = t->best_len * left / (t->depth_max - t->best_depth);
	return base->depth == t->best_depth ? limit - 1 : limit;
}

/*
 * Returns whether the sizes of base and target already show that no delta can
 * be within `limit`.
 */
static bool is_hopeless(uint64_t base_size, uint64_t target_size,
			uint64_t limit)
{
	if (target_size > base_size && target_size - base_size >= limit)
		return true;
	return limit == 0 || target_size < base_size / BASE_RATIO_MAX;
}

static int try_base(struct delta_window *w, struct trial *t, size_t place,
		    struct error *err)
{
	struct member *base = w->members[place], *target = t->target;
	const struct packing_item *base_item = &w->list->items[base->item];
	const struct packing_item *item = &w->list->items[target->item];
	uint64_t limit;
	void *delta;
	size_t len;
	int ret;

	/* An object must not become a delta of itself. */
	if (base->depth >= t->depth_max ||
	    base_item->obj_pos == item->obj_pos ||
	    !islands_may_delta(w->list->islands, item->obj_pos,
			       base_item->obj_pos) ||
	    !delta_order_may_pair(base_item, item, w->options->retry_same_pack))
		return 0;
	limit = size_limit(w, t, base);
	if (is_hopeless(base_item->size, item->size, limit))
		return 0;
	ret = read_member(w, target, err);
	if (!ret)
		ret = index_member(w, base, err);
	if (ret < 0)
		return ret;
	ret = delta_create(base->index, target->obj.data, target->obj.len,
			   (size_t)limit, &delta, &len);
	if (ret)
		return ret < 0 ? error_nomem(err) : 0;
	free(t->found->delta);
	*t->found = (struct delta_found){base->item, delta, len};
	t->best_len = len;
	t->best_depth = base->depth;
	t->best = place;
	return 0;
}

static int find_base(struct delta_window *w, struct member *target,
		     struct delta_found *found, struct error *err)
{
	uint32_t height = w->heights[target->item];
	struct trial t = {.target = target, .found = found};
	size_t tried = 0;

	if (height >= w->options->depth)
		return 0;
	t.depth_max = w->options->depth - height;
	if (w->list->items[target->item].how == PACKING_DELTA) {
		t.best_len = w->list->items[target->item].delta_size;
		t.best_depth = target->depth - 1;
	}
	for (size_t i = w->nr; i-- > 0 && tried < w->size;) {
		int ret;

		if (!may_be_base(w->members[i]->part, target->part))
			continue;
		tried++;
		ret = try_base(w, &t, i, err);
		if (ret < 0) {
			free(found->delta);
			*found = (struct delta_found){PACKING_NO_ITEM, NULL, 0};
			return ret;
		}
	}
	if (found->delta) {
		target->depth = w->members[t.best]->depth + 1;
		move_up(w, t.best, w->nr - 1);
	}
	return 0;
}

/*
 * Returns the depth of a candidate that an earlier pass has made a delta, else
 * 0.
 */
static uint32_t depth_of(const struct delta_window *w, uint32_t item)
{
	const struct packing_item *it = &w->list->items[item];

	if (it->how != PACKING_DELTA || !w->depths)
		return 0;
	return w->depths[item] == DELTA_WINDOW_BASE_DEPTH
		       ? w->depths[it->base] + 1u
		       : w->depths[item];
}

int delta_window_slide(struct delta_window *w, uint32_t item, bool is_target,
		       struct delta_found *found, struct error *err)
{
	unsigned part = part_of(w->list->islands, w->list->items[item].obj_pos);
	struct member *m;
	int ret = 0;

	*found = (struct delta_found){PACKING_NO_ITEM, NULL, 0};
	make_room(w, part, w->list->items[item].size);
	m = w->members[w->nr];
	m->item = item;
	m->part = part;
	m->depth = depth_of(w, item);
	if (is_target)
		ret = find_base(w, m, found, err);
	if (w->depths)
		w->depths[item] = (uint16_t)m->depth;
	if (ret < 0 || m->depth >= w->options->depth) {
		member_clear(w, m);
		return ret;
	}
	w->nr++;
	w->nr_of[part]++;
	return 0;
}
