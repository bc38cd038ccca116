/* SPDX-License-Identifier: MIT */
/* Merge-comparison of decoded trees. */
#include <string.h>

#include "base/mem.h"
#include "object/parse.h"
#include "walk/treediff.h"
#include "walk/treewalk.h"

struct items {
	struct newobj *items; /* owned */
	size_t nr, alloc;
};

struct treediff {
	struct objspace *space;         /* borrowed */
	struct treediff_shared *shared; /* borrowed, or NULL */
	const struct bitset *known;     /* borrowed, or NULL */
	struct odb_reader *reader;      /* owned */
	struct items trees, blobs;
	uint32_t order;
};

/*
 * A parent's tree. It is read only as far as it is asked about, and then in
 * step with the child's bytes from `synced` on: what they have in common is
 * compared as bytes, not entry by entry.
 */
struct side {
	struct odb_object obj;
	struct cursor rest;      /* after `entry` */
	struct tree_entry entry; /* next one not yet passed */
	bool at_end;
	const uint8_t *synced; /* the child's entry that it is to be compared
				  with; all of the side's before it have
				  smaller names than that one */
};

int treediff_shared_init(struct treediff_shared *shared, size_t nr)
{
	shared->listed_by = mem_calloc(nr, sizeof(*shared->listed_by));
	shared->nr = nr;
	return shared->listed_by ? 0 : ERR_NOMEM;
}

void treediff_shared_release(struct treediff_shared *shared)
{
	free(shared->listed_by);
	shared->listed_by = NULL;
}

struct treediff *treediff_new(struct objspace *space,
			      struct treediff_shared *shared,
			      const struct bitset *known, size_t cache_limit)
{
	struct treediff *d = mem_calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->space = space;
	d->shared = shared;
	d->known = known;
	d->reader = odb_reader_new(space->odb, cache_limit);
	if (!d->reader) {
		free(d);
		return NULL;
	}
	return d;
}

void treediff_free(struct treediff *d)
{
	if (!d)
		return;
	odb_reader_free(d->reader);
	free(d->trees.items);
	free(d->blobs.items);
	free(d);
}

static int append(struct items *list, uint32_t obj_pos, uint32_t name_hash)
{
	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	list->items[list->nr++] = (struct newobj){obj_pos, name_hash};
	return 0;
}

static int bad_tree(struct treediff *d, uint32_t tree_pos, const char *what,
		    struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	objspace_oid(&oid, d->space, tree_pos);
	return error_set(err, ERR_CORRUPT, "%s: %s", what,
			 oid_to_hex(hex, &oid, d->space->odb->algo));
}

static int read_tree(struct treediff *d, uint32_t tree_pos,
		     struct odb_object *obj, struct error *err)
{
	int ret = objspace_read(d->space, d->reader, tree_pos, obj, err);

	if (ret < 0)
		return ret;
	if (obj->type == OBJ_TREE)
		return 0;
	odb_object_release(d->reader, obj);
	return bad_tree(d, tree_pos, "not a tree object", err);
}

/*
 * Whether a commit before this one has listed the tree; if not, this one is
 * entered. What it listed is complete up to its own parents' trees, which are
 * older still, so by induction the union misses nothing. A commit that comes
 * later must not count: of a tree and its revert each could rely on the other.
 */
static bool is_listed_before(struct treediff *d, uint32_t tree_pos)
{
	uint32_t by, self = d->order + 1;

	if (!d->shared || tree_pos >= d->shared->nr)
		return false;
	by = atomic_load_explicit(&d->shared->listed_by[tree_pos],
				  memory_order_relaxed);
	if (by && by < self)
		return true;
	if (!by || by > self)
		atomic_store_explicit(&d->shared->listed_by[tree_pos], self,
				      memory_order_relaxed);
	return false;
}

static void side_advance(struct side *side, enum hash_algo algo)
{
	/* A malformed tail of a parent's tree only means: nothing there. */
	side->at_end = tree_next(&side->entry, &side->rest, algo) <= 0;
}

/* Open the parents' trees that can be read; returns how many. */
static int open_sides(struct treediff *d, struct side *sides,
		      const uint32_t *parents, unsigned nr,
		      const struct odb_object *child, struct error *err)
{
	unsigned opened = 0;

	for (unsigned i = 0; i < nr; i++) {
		struct side *side = &sides[opened];
		int ret;

		side->obj = (struct odb_object)ODB_OBJECT_INIT;
		ret = read_tree(d, parents[i], &side->obj, err);
		if (ret == ERR_NOMEM)
			return ret;
		if (ret < 0)
			continue;
		side->rest = cursor_make(side->obj.data, side->obj.len);
		side->synced = child->data;
		side_advance(side, d->space->odb->algo);
		opened++;
	}
	return (int)opened;
}

/* Length of the common beginning, in whole steps of 32 bytes. */
static size_t common_len(const uint8_t *a, const uint8_t *b, size_t max)
{
	size_t len = 0;

	for (; len + 32 <= max; len += 32) {
		uint64_t x[4], y[4];

		memcpy(x, a + len, 32);
		memcpy(y, b + len, 32);
		if ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) |
		    (x[3] ^ y[3]))
			break;
	}
	return len;
}

/*
 * The NUL that ends the name of the entry at p: its first three bytes are a
 * digit, a space and a letter at least. NULL when there is none before `end`.
 */
static const uint8_t *name_end(const uint8_t *p, const uint8_t *end)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	for (p += 3; p + 8 <= end; p += 8) {
		uint64_t word, zeros;

		memcpy(&word, p, sizeof(word));
		zeros = (word - ones) & ~word & (ones << 7);
		if (zeros)
			return p + __builtin_ctzll(zeros) / 8;
	}
	return p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;
}

/*
 * Step over entries that child and side have in common from `synced` on, up
 * to `end` in the child: equal bytes up to the end of an entry are equal
 * entries, so only the ends of entries are looked for.
 */
static void skip_common(struct side *side, const uint8_t *end,
			enum hash_algo algo)
{
	const uint8_t *p = side->synced;
	size_t max = (size_t)(side->rest.end - side->entry.raw);

	if ((size_t)(end - p) < max)
		max = (size_t)(end - p);
	end = p + common_len(p, side->entry.raw, max);
	while (p < end) {
		const uint8_t *nul = name_end(p, end);

		if (!nul || (size_t)(end - nul) < 1 + hash_len(algo))
			break;
		p = nul + 1 + hash_len(algo);
	}
	if (p == side->synced)
		return;
	side->rest.p = side->entry.raw + (p - side->synced);
	side->synced = p;
	side_advance(side, algo);
}

/* Bring a side up to the child's entry that begins at `target`. */
static void catch_up(struct side *side, const uint8_t *target,
		     const uint8_t *end, enum hash_algo algo)
{
	while (side->synced < target && !side->at_end) {
		struct tree_entry entry;
		struct cursor c;
		int cmp;

		skip_common(side, target, algo);
		if (side->synced >= target || side->at_end)
			break;
		c = (struct cursor){side->synced, end};
		if (tree_next(&entry, &c, algo) <= 0)
			break;
		cmp = tree_name_cmp(&side->entry, &entry);
		if (cmp >= 0)
			side->synced = c.p;
		if (cmp <= 0)
			side_advance(side, algo);
	}
	side->synced = target;
}

/*
 * Returns true when a side has the same object under `entry`'s name; else
 * *sub lists the sides' directories of that name.
 */
static bool find_in_sides(struct treediff *d, struct side *sides, unsigned nr,
			  const struct tree_entry *entry, const uint8_t *end,
			  const struct tree_entry **sub, unsigned *sub_nr)
{
	enum hash_algo algo = d->space->odb->algo;

	*sub_nr = 0;
	for (unsigned i = 0; i < nr; i++) {
		struct side *side = &sides[i];
		int cmp = -1;

		catch_up(side, entry->raw, end, algo);
		while (!side->at_end) {
			cmp = tree_name_cmp(&side->entry, entry);
			if (cmp >= 0)
				break;
			side_advance(side, algo);
		}
		if (side->at_end || cmp)
			continue;
		/* A submodule's commit is not there, whatever its id. */
		if (!tree_entry_is_gitlink(&side->entry) &&
		    !memcmp(side->entry.oid, entry->oid, hash_len(algo)))
			return true;
		if (tree_entry_is_dir(entry) && tree_entry_is_dir(&side->entry))
			sub[(*sub_nr)++] = &side->entry;
	}
	return false;
}

static int diff_tree(struct treediff *d, uint32_t tree_pos,
		     const uint32_t *parents, unsigned parent_nr,
		     uint32_t name_hash, unsigned depth, struct error *err);

/* An entry that no parent has here. */
static int list_entry(struct treediff *d, const struct tree_entry *entry,
		      const struct tree_entry *const *sub, unsigned sub_nr,
		      uint32_t dir_hash, unsigned depth, struct error *err)
{
	uint32_t hash = name_hash_add(dir_hash, entry->name, entry->name_len);
	uint32_t obj_pos, parents[NEWOBJ_MAX_PARENTS];
	unsigned parent_nr = 0;

	if (objspace_add(d->space, entry->oid, &obj_pos) < 0)
		return error_nomem(err);
	if (d->known && bitset_get(d->known, obj_pos))
		return 0;
	if (!tree_entry_is_dir(entry))
		return append(&d->blobs, obj_pos, hash) < 0 ? error_nomem(err)
							    : 0;
	if (is_listed_before(d, obj_pos))
		return 0;
	if (append(&d->trees, obj_pos, hash) < 0)
		return error_nomem(err);
	for (unsigned i = 0; i < sub_nr; i++)
		if (objspace_add(d->space, sub[i]->oid, &parents[parent_nr]) <
		    0)
			return error_nomem(err);
		else
			parent_nr++;
	return diff_tree(d, obj_pos, parents, parent_nr,
			 name_hash_add(hash, "/", 1), depth + 1, err);
}

static int diff_entries(struct treediff *d, struct cursor *c,
			struct side *sides, unsigned side_nr,
			uint32_t name_hash, unsigned depth, struct error *err)
{
	enum hash_algo algo = d->space->odb->algo;
	const struct tree_entry *sub[NEWOBJ_MAX_PARENTS];
	struct tree_entry entry;
	unsigned sub_nr;
	int ret;

	for (;;) {
		if (side_nr && !sides[0].at_end) {
			catch_up(&sides[0], c->p, c->end, algo);
			skip_common(&sides[0], c->end, algo);
			c->p = sides[0].synced;
		}
		ret = tree_next(&entry, c, algo);
		if (ret <= 0)
			return ret;
		if (tree_entry_is_gitlink(&entry) ||
		    find_in_sides(d, sides, side_nr, &entry, c->end, sub,
				  &sub_nr))
			continue;
		ret = list_entry(d, &entry, sub, sub_nr, name_hash, depth, err);
		if (ret < 0)
			return ret;
	}
}

static int diff_tree(struct treediff *d, uint32_t tree_pos,
		     const uint32_t *parents, unsigned parent_nr,
		     uint32_t name_hash, unsigned depth, struct error *err)
{
	struct side sides[NEWOBJ_MAX_PARENTS];
	struct odb_object tree = ODB_OBJECT_INIT;
	struct error inner;
	struct cursor c;
	int opened = 0, ret;

	if (depth > TREEWALK_MAX_DEPTH)
		return bad_tree(d, tree_pos, "tree nested too deeply", err);
	ret = read_tree(d, tree_pos, &tree, err);
	if (ret < 0)
		return ret;
	/* Not ERROR_INIT: clearing its text would cost more than the rest. */
	inner.code = 0;
	memset(sides, 0, parent_nr * sizeof(*sides));
	opened = open_sides(d, sides, parents, parent_nr, &tree, err);
	if (opened < 0) {
		ret = opened;
		goto out;
	}
	c = cursor_make(tree.data, tree.len);
	ret = diff_entries(d, &c, sides, (unsigned)opened, name_hash, depth,
			   &inner);
	if (ret < 0 && !inner.code)
		ret = bad_tree(d, tree_pos, "malformed tree", err);
	else if (ret < 0 && err)
		*err = inner;
out:
	for (unsigned i = 0; i < parent_nr; i++)
		odb_object_release(d->reader, &sides[i].obj);
	odb_object_release(d->reader, &tree);
	return ret;
}

int treediff_run(struct treediff *d, uint32_t tree_pos, const uint32_t *parents,
		 unsigned parent_nr, uint32_t order,
		 struct treediff_result *result, struct error *err)
{
	int ret = 0;

	d->trees.nr = d->blobs.nr = 0;
	d->order = order;
	for (unsigned i = 0; i < parent_nr; i++)
		if (parents[i] == tree_pos)
			goto out;
	if ((d->known && bitset_get(d->known, tree_pos)) ||
	    is_listed_before(d, tree_pos))
		goto out;
	if (append(&d->trees, tree_pos, 0) < 0)
		ret = error_nomem(err);
	else
		ret = diff_tree(d, tree_pos, parents, parent_nr, 0, 0, err);
out:
	*result = (struct treediff_result){
		d->trees.items,
		d->blobs.items,
		d->trees.nr,
		d->blobs.nr,
	};
	return ret;
}
