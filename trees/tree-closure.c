/* SPDX-License-Identifier: MIT */
/*
 * A breadth-first search: all trees of one depth are known before the first of
 * them is read. So these trees can be read family by family: a tree, then the
 * trees stored as deltas of it. Threads share the set `seen`. Each thread lists
 * the objects that it was the first to find.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "sys/thread.h"
#include "trees/item-kinds.h"
#include "trees/tree-closure.h"
#include "trees/tree-family.h"
#include "trees/treewalk.h"

/* Number of families of trees that a thread takes at a time. */
#define CHUNK_HEADS 64
#define DEFAULT_CACHE_LIMIT ((size_t)16 << 20)

/*
 * A look-up table of all ids is made if there is at least one tree to read for
 * every ACCELERATE_SHARE packed objects.
 */
#define ACCELERATE_SHARE 64

/*
 * Number of ids that are looked up together, so that the waits for memory
 * overlap.
 */
#define TOGETHER_NR 32

/*
 * Each thread has a table of the ids that it has looked up recently. If a
 * search starts from at most FEW_ROOTS trees, the table has RECENT_FEW_NR
 * slots, because a small table causes fewer page faults. Otherwise it has
 * RECENT_NR slots: the trees of many commits have most ids in common, so most
 * ids are found in the table.
 */
#define RECENT_NR 16384
#define RECENT_FEW_NR 256
#define FEW_ROOTS 16

struct closure;

/* The state of one thread of a search for all objects below some trees. */
struct lane {
	struct closure *closure; /* borrowed */
	/*
	 * owned: reads trees that are stored as deltas of each other
	 * (tree-family.h); NULL: not made yet
	 */
	struct tree_family_reader *reader;
	/* owned: ids that this thread has looked up recently */
	struct oid *recent;
	/*
	 * tree entries that wait until there are TOGETHER_NR of them; then
	 * their ids are looked up together
	 */
	const struct tree_find *waiting[TOGETHER_NR];
	size_t waiting_nr;
	struct walk_items found;
};

struct closure {
	/* space, seen and options are borrowed */
	struct objspace *space;
	struct bitset *seen;
	const struct tree_closure_options *options;
	uint32_t recent_nr; /* of each lane */
	/*
	 * number of bits of the set `seen` when the threads began to read the
	 * trees of one depth; only these bits are shared among the threads
	 */
	size_t shared_bits;
	struct item_kinds kinds;
	/* owned: obj_pos of the trees at the depth that is being read */
	uint32_t *trees;
	size_t nr, alloc;
	/* families of the trees in `trees` */
	struct tree_families families;
	/* owned: the states of the threads, indexed by thread_nr */
	struct lane *lanes;
	unsigned lane_nr;
	struct progress progress;
};

/*
 * Returns whether this thread is the first to find an object, and adds the
 * object to the set `seen`. For an object at or after shared_bits, always
 * returns true and adds nothing; take_found() removes duplicates of such
 * objects.
 */
static bool is_first(struct closure *c, uint32_t obj_pos, bool is_dir)
{
	if (obj_pos >= c->shared_bits)
		return true;
	item_kinds_note(&c->kinds, obj_pos, is_dir ? OBJ_TREE : OBJ_BLOB);
	return bitset_claim(c->seen, obj_pos);
}

/*
 * Looks up the waiting ids together. Each object that no thread has found
 * before is appended to this thread's list of found objects.
 */
static int take_waiting(struct lane *lane)
{
	struct closure *c = lane->closure;
	const uint8_t *raws[TOGETHER_NR];
	size_t nr = lane->waiting_nr;

	if (!nr)
		return 0;
	lane->waiting_nr = 0;
	for (size_t i = 0; i < nr; i++)
		raws[i] = lane->waiting[i]->raw;
	objspace_prefetch(c->space, raws, nr);
	for (size_t i = 0; i < nr; i++) {
		bool is_dir = lane->waiting[i]->is_dir;
		uint32_t obj_pos;

		if (objspace_add(c->space, raws[i], &obj_pos) < 0)
			return ERR_NOMEM;
		if (is_first(c, obj_pos, is_dir) &&
		    walk_items_append(&lane->found, obj_pos,
				      is_dir ? OBJ_TREE : OBJ_BLOB, 0) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

/*
 * Returns whether the thread has looked up this id recently. If not, remembers
 * the id. Trees and blobs have different slots. So if an id is used as a tree
 * and as a blob, both uses are recorded.
 */
static bool is_recent(struct lane *lane, const struct tree_find *find)
{
	size_t id_len = hash_len(lane->closure->space->odb->algo);
	const uint8_t *raw = find->raw;
	uint32_t place = (load_be32(raw) & ~UINT32_C(1)) | find->is_dir;
	uint8_t *known = lane->recent[place % lane->closure->recent_nr].bytes;

	if (!memcmp(known, raw, id_len))
		return true;
	memcpy(known, raw, id_len);
	return false;
}

static int take_finds(void *ctx, const struct tree_find *finds, size_t nr,
		      struct error *err)
{
	struct lane *lane = ctx;

	for (size_t i = 0; i < nr; i++) {
		if (is_recent(lane, &finds[i]))
			continue;
		lane->waiting[lane->waiting_nr++] = &finds[i];
		if (lane->waiting_nr == TOGETHER_NR && take_waiting(lane) < 0)
			return error_nomem(err);
	}
	return take_waiting(lane) < 0 ? error_nomem(err) : 0;
}

static int prepare_lane(struct lane *lane)
{
	const struct tree_closure_options *options = lane->closure->options;
	size_t limit = options->cache_limit;

	if (lane->reader)
		return 0;
	if (!lane->recent)
		lane->recent = mem_calloc(lane->closure->recent_nr,
					  sizeof(*lane->recent));
	if (!lane->recent)
		return ERR_NOMEM;
	/*
	 * A slot of zeros would look as if the id of zeros had been looked up.
	 * The slot of an id depends on the first bytes of the id and on its use
	 * (is_recent()): for the id of zeros it is slot 0 as a blob, and slot 1
	 * as a tree. So these two slots get another value.
	 */
	memset(lane->recent[0].bytes, 0xff, sizeof(lane->recent[0].bytes));
	memset(lane->recent[1].bytes, 0xff, sizeof(lane->recent[1].bytes));
	lane->reader = tree_family_reader_new(
		lane->closure->space, limit ? limit : DEFAULT_CACHE_LIMIT,
		options->trees_only, take_finds, lane);
	return lane->reader ? 0 : ERR_NOMEM;
}

static void release_lane(struct lane *lane)
{
	tree_family_reader_free(lane->reader);
	free(lane->recent);
	free(lane->found.items);
}

static int scan_chunk(void *ctx, unsigned thread_nr, size_t task_nr,
		      struct error *err)
{
	struct closure *c = ctx;
	struct lane *lane = &c->lanes[thread_nr];
	size_t first = task_nr * CHUNK_HEADS,
	       left = c->families.head_nr - first;
	size_t before = lane->found.nr;
	int ret;

	if (prepare_lane(lane) < 0)
		return error_nomem(err);
	ret = tree_family_reader_run(
		lane->reader, &c->families, first,
		first + (left < CHUNK_HEADS ? left : CHUNK_HEADS), err);
	if (ret < 0)
		return ret;
	return progress_step(&c->progress, lane->found.nr - before, err);
}

static int add_tree(struct closure *c, uint32_t obj_pos)
{
	if (mem_grow(&c->trees, &c->alloc, c->nr + 1, sizeof(*c->trees)) < 0)
		return ERR_NOMEM;
	c->trees[c->nr++] = obj_pos;
	return 0;
}

/*
 * Adds an object to the set `seen`. Returns 1 if the object is new in the set,
 * 0 if the set had it already, or ERR_NOMEM.
 */
static int see(struct closure *c, uint32_t obj_pos)
{
	if (obj_pos >= c->seen->bits &&
	    bitset_grow(c->seen, (size_t)obj_pos + obj_pos / 2 + 64) < 0)
		return ERR_NOMEM;
	return bitset_claim(c->seen, obj_pos);
}

/*
 * Adds an object that is outside packs to the set `seen`. Returns 1 if the
 * object was found for the first time, 0 if not, or ERR_NOMEM.
 */
static int see_outside(struct closure *c, const struct walk_item *item)
{
	int fresh = see(c, item->obj_pos);

	if (fresh < 0 || item_kinds_reserve(&c->kinds, c->seen->bits) < 0)
		return ERR_NOMEM;
	item_kinds_note(&c->kinds, item->obj_pos, (enum object_type)item->type);
	return fresh;
}

/*
 * Moves objects from `from`, the list of one thread, to the result `found`.
 * Objects that were found before are dropped. Trees are also added to the list
 * of trees for the next depth. Returns 0 or ERR_NOMEM.
 */
static int take_found(struct closure *c, struct walk_items *found,
		      struct walk_items *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct walk_item *item = &from->items[i];
		int fresh = 1;

		if (item->obj_pos >= c->shared_bits)
			fresh = see_outside(c, item);
		if (fresh < 0 || (fresh && (walk_items_add(found, item) < 0 ||
					    (item->type == OBJ_TREE &&
					     add_tree(c, item->obj_pos) < 0))))
			return ERR_NOMEM;
	}
	from->nr = 0;
	return 0;
}

static int scan_level(struct closure *c, struct walk_items *found,
		      struct error *err)
{
	struct tree_families *f = &c->families;
	int ret;

	if (c->nr >= c->space->packed_nr / ACCELERATE_SHARE)
		objspace_accelerate(c->space);
	c->shared_bits = c->seen->bits;
	if (item_kinds_reserve(&c->kinds, c->shared_bits) < 0)
		return error_nomem(err);
	ret = tree_families_init(f, c->space, c->trees, c->nr, c->lane_nr, err);
	if (!ret)
		ret = sys_parallel(c->lane_nr,
				   (f->head_nr + CHUNK_HEADS - 1) / CHUNK_HEADS,
				   scan_chunk, c, err);
	tree_families_release(f);
	c->nr = 0;
	for (unsigned i = 0; i < c->lane_nr && !ret; i++)
		if (take_found(c, found, &c->lanes[i].found) < 0)
			ret = error_nomem(err);
	return ret;
}

static int scan_all(struct closure *c, struct walk_items *found,
		    struct error *err)
{
	int ret = 0;

	for (unsigned depth = 0; c->nr && !ret; depth++) {
		if (odb_is_too_deep(c->space->odb, depth))
			return objspace_error(c->space, c->trees[0],
					      ERR_CORRUPT, ODB_TOO_DEEP, err);
		ret = scan_level(c, found, err);
	}
	return ret;
}

static int add_roots(struct closure *c, struct walk_items *found,
		     const uint32_t *trees, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct walk_item root = {
			.obj_pos = trees[i],
			.type = OBJ_TREE,
		};
		int fresh = see_outside(c, &root);

		if (fresh < 0 ||
		    (fresh &&
		     (walk_items_append(found, trees[i], OBJ_TREE, 0) < 0 ||
		      add_tree(c, trees[i]) < 0)))
			return ERR_NOMEM;
	}
	return 0;
}

int tree_closure_find(struct walk_items *found, struct bitset *seen,
		      struct objspace *space, const uint32_t *trees, size_t nr,
		      const struct tree_closure_options *options,
		      struct error *err)
{
	struct closure c = {
		.space = space,
		.seen = seen,
		.options = options,
		.recent_nr = nr > FEW_ROOTS ? RECENT_NR : RECENT_FEW_NR,
		.lane_nr = options->threads ? options->threads : sys_cpu_nr(),
	};
	int ret = 0;

	c.lanes = mem_calloc(c.lane_nr, sizeof(*c.lanes));
	for (unsigned i = 0; c.lanes && i < c.lane_nr; i++)
		c.lanes[i].closure = &c;
	if (!c.lanes || add_roots(&c, found, trees, nr) < 0)
		ret = error_nomem(err);
	progress_start(&c.progress, options->progress, "Enumerating objects",
		       0);
	if (!ret)
		ret = progress_step(&c.progress, c.nr, err);
	if (!ret)
		ret = scan_all(&c, found, err);
	if (!ret)
		ret = item_kinds_check(&c.kinds, space, err);
	progress_stop(&c.progress);
	for (unsigned i = 0; c.lanes && i < c.lane_nr; i++)
		release_lane(&c.lanes[i]);
	free(c.lanes);
	free(c.trees);
	item_kinds_release(&c.kinds);
	return ret;
}
