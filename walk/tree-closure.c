/* SPDX-License-Identifier: MIT */
/*
 * Level by level: all trees of one depth are known before the first of them is
 * read, so that they can be read in the order of the pack. Threads share the
 * set; each has a list of what it was the first to find.
 */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "object/parse.h"
#include "pack/pack.h"
#include "sys/thread.h"
#include "walk/tree-closure.h"
#include "walk/tree-store.h"
#include "walk/treewalk.h"

/* Trees that a thread takes at a time. The first of them find no base. */
#define CHUNK_TREES 2048
#define DEFAULT_CACHE_LIMIT ((size_t)48 << 20)

/* From this part of the objects on, look-ups are worth a table. */
#define ACCELERATE_SHARE 64

/* Bits for each tree of a level, so that few bases share theirs. */
#define BASE_BITS 8

/* Entries that are looked up together. */
#define WAITING_MAX 32

/* What one thread has. */
struct lane {
	struct tree_store *store; /* owned; NULL: not needed yet */
	struct walk_items found;
	uint32_t waiting[WAITING_MAX]; /* entry_nr: to be looked up */
	size_t waiting_nr;
};

struct closure {
	struct objspace *space; /* borrowed, and so are these */
	struct bitset *seen;
	const struct tree_closure_options *options;
	size_t shared_bits;      /* of `seen`, for threads; it grows later */
	struct sort_item *trees; /* owned: of this level, in pack order */
	size_t nr, alloc;
	struct bitset bases; /* of these: base_bit() of where bases are */
	struct lane *lanes;  /* owned: by thread_nr */
	unsigned lane_nr;
	struct progress progress;
};

/*
 * The bit for what is stored at a place (place_of()). Other places may share
 * it, so that a tree may pass for a base without being one.
 */
static size_t base_bit(const struct closure *c, uint64_t place)
{
	return (place * UINT64_C(0x9e3779b97f4a7c15) >> 32) % c->bases.bits;
}

/* Found for the first time. Objects outside packs are sorted out later. */
static bool is_first(struct closure *c, uint32_t obj_pos)
{
	return obj_pos >= c->shared_bits || bitset_claim(c->seen, obj_pos);
}

static int take_object(struct closure *c, struct lane *lane, uint32_t entry_nr)
{
	struct tree_entry entry = {0};
	uint32_t obj_pos;

	if (tree_store_object(lane->store, entry_nr, &obj_pos) < 0)
		return ERR_NOMEM;
	if (!is_first(c, obj_pos))
		return 0;
	entry_pool_get(&entry, tree_store_pool(lane->store), entry_nr,
		       c->space->odb->algo);
	return walk_items_append(
		&lane->found, obj_pos,
		tree_entry_is_dir(&entry) ? OBJ_TREE : OBJ_BLOB, 0);
}

/* Look up what is waiting. */
static int take_waiting(struct closure *c, struct lane *lane)
{
	const struct entry_pool *pool = tree_store_pool(lane->store);
	const uint8_t *raws[WAITING_MAX];
	size_t id_len = hash_len(c->space->odb->algo);

	for (size_t i = 0; i < lane->waiting_nr; i++)
		raws[i] = entry_pool_raw(pool, lane->waiting[i]) +
			  entry_pool_len(pool, lane->waiting[i]) - id_len;
	objspace_prefetch(c->space, raws, lane->waiting_nr);
	for (size_t i = 0; i < lane->waiting_nr; i++)
		if (take_object(c, lane, lane->waiting[i]) < 0)
			return ERR_NOMEM;
	lane->waiting_nr = 0;
	return 0;
}

static int take_entry(struct closure *c, struct lane *lane, uint32_t entry_nr)
{
	const struct entry_pool *pool = tree_store_pool(lane->store);
	struct tree_entry entry = {0};

	/* This thread has had it. */
	if (pool->entries[entry_nr].obj_pos != ENTRY_POOL_NONE)
		return 0;
	entry_pool_get(&entry, pool, entry_nr, c->space->odb->algo);
	if (tree_entry_is_gitlink(&entry) ||
	    (c->options->trees_only && !tree_entry_is_dir(&entry)))
		return 0;
	lane->waiting[lane->waiting_nr++] = entry_nr;
	return lane->waiting_nr == WAITING_MAX ? take_waiting(c, lane) : 0;
}

static int scan_tree(struct closure *c, struct lane *lane,
		     const struct sort_item *tree, struct error *err)
{
	bool is_base = bitset_test(&c->bases, base_bit(c, tree->key));
	struct tree_news news;
	int ret = tree_store_news(lane->store, tree->value, c->seen, is_base,
				  &news, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < news.nr && !ret; i++)
		ret = take_entry(c, lane, news.entries[i]);
	/* What waits is in the pool that is to be emptied. */
	if (!ret && tree_store_is_full(lane->store) &&
	    (take_waiting(c, lane) < 0 || tree_store_trim(lane->store) < 0))
		ret = ERR_NOMEM;
	return ret < 0 ? error_nomem(err) : 0;
}

static int scan_trees(struct closure *c, struct lane *lane,
		      const struct sort_item *trees, size_t nr,
		      struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++)
		ret = scan_tree(c, lane, &trees[i], err);
	if (!ret && take_waiting(c, lane) < 0)
		ret = error_nomem(err);
	return ret;
}

static int scan_chunk(void *ctx, unsigned thread_nr, size_t task_nr,
		      struct error *err)
{
	struct closure *c = ctx;
	struct lane *lane = &c->lanes[thread_nr];
	size_t first = task_nr * CHUNK_TREES;
	size_t last = c->nr - first < CHUNK_TREES ? c->nr : first + CHUNK_TREES;
	size_t limit = c->options->cache_limit;
	size_t before = lane->found.nr;
	int ret;

	if (!lane->store)
		lane->store = tree_store_new(
			c->space, limit ? limit : DEFAULT_CACHE_LIMIT);
	if (!lane->store)
		return error_nomem(err);
	ret = scan_trees(c, lane, c->trees + first, last - first, err);
	if (ret < 0)
		return ret;
	return progress_step(&c->progress, lane->found.nr - before, err);
}

/* Where the object is: what is near each other is next to each other. */
static uint64_t place_of(const struct closure *c, uint32_t obj_pos)
{
	const struct odb *odb = c->space->odb;
	const struct odb_pack *at;
	struct pack *pack;
	uint32_t idx_pos;

	if (obj_pos >= c->space->packed_nr)
		return UINT64_MAX;
	at = odb_locate(odb, obj_pos, &idx_pos);
	return ((uint64_t)(at - odb->packs) << 48) +
	       odb_offset(odb, obj_pos, &pack);
}

static int add_tree(struct closure *c, uint32_t obj_pos)
{
	if (mem_grow(&c->trees, &c->alloc, c->nr + 1, sizeof(*c->trees)) < 0)
		return ERR_NOMEM;
	c->trees[c->nr++] = (struct sort_item){place_of(c, obj_pos), obj_pos};
	return 0;
}

/* Whether it was not in the set, which grows as need be; or ERR_NOMEM. */
static int see(struct closure *c, uint32_t obj_pos)
{
	if (obj_pos >= c->seen->bits &&
	    bitset_grow(c->seen, (size_t)obj_pos + obj_pos / 2 + 64) < 0)
		return ERR_NOMEM;
	return bitset_claim(c->seen, obj_pos);
}

/* Move what a thread has found to the result, and trees to the next level. */
static int take_found(struct closure *c, struct walk_items *found,
		      struct walk_items *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct walk_item *item = &from->items[i];
		int fresh = 1;

		if (item->obj_pos >= c->shared_bits)
			fresh = see(c, item->obj_pos);
		if (fresh < 0 || (fresh && (walk_items_add(found, item) < 0 ||
					    (item->type == OBJ_TREE &&
					     add_tree(c, item->obj_pos) < 0))))
			return ERR_NOMEM;
	}
	from->nr = 0;
	return 0;
}

static int mark_chunk(void *ctx, unsigned thread_nr, size_t task_nr,
		      struct error *err)
{
	struct closure *c = ctx;
	size_t first = task_nr * CHUNK_TREES;
	size_t last = c->nr - first < CHUNK_TREES ? c->nr : first + CHUNK_TREES;

	for (size_t i = first; i < last; i++) {
		uint64_t offset, base, place = c->trees[i].key;
		struct pack_entry entry;
		struct pack *pack;

		if (c->trees[i].value >= c->space->packed_nr)
			break;
		offset = odb_offset(c->space->odb, c->trees[i].value, &pack);
		if (!pack_entry_at(&entry, pack, offset, NULL) &&
		    pack_entry_base(&base, pack, offset, &entry, NULL) > 0)
			bitset_claim(&c->bases,
				     base_bit(c, place - offset + base));
	}
	return 0;
}

/* Note which trees of the level others are made from. */
static int mark_bases(struct closure *c, struct error *err)
{
	bitset_release(&c->bases);
	if (bitset_init(&c->bases, c->nr * BASE_BITS) < 0)
		return error_nomem(err);
	return sys_parallel(c->lane_nr, (c->nr + CHUNK_TREES - 1) / CHUNK_TREES,
			    mark_chunk, c, err);
}

static int scan_level(struct closure *c, struct walk_items *found,
		      struct error *err)
{
	int ret;

	if (c->nr >= c->space->packed_nr / ACCELERATE_SHARE)
		objspace_accelerate(c->space);
	if (sort_items(c->trees, c->nr) < 0)
		return error_nomem(err);
	c->shared_bits = c->seen->bits;
	ret = mark_bases(c, err);
	if (ret < 0)
		return ret;
	ret = sys_parallel(c->lane_nr, (c->nr + CHUNK_TREES - 1) / CHUNK_TREES,
			   scan_chunk, c, err);
	c->nr = 0;
	for (unsigned i = 0; i < c->lane_nr && !ret; i++)
		if (take_found(c, found, &c->lanes[i].found) < 0)
			ret = error_nomem(err);
	return ret;
}

static int too_deep(const struct closure *c, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	objspace_oid(&oid, c->space, c->trees[0].value);
	return error_set(err, ERR_CORRUPT, "tree nested too deeply: %s",
			 oid_to_hex(hex, &oid, c->space->odb->algo));
}

static int scan_all(struct closure *c, struct walk_items *found,
		    struct error *err)
{
	int ret = 0;

	for (unsigned depth = 0; c->nr && !ret; depth++) {
		if (depth > TREEWALK_MAX_DEPTH)
			return too_deep(c, err);
		ret = scan_level(c, found, err);
	}
	return ret;
}

static int add_roots(struct closure *c, struct walk_items *found,
		     const uint32_t *trees, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int fresh = see(c, trees[i]);

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
		.lane_nr = options->threads ? options->threads : sys_cpu_nr(),
	};
	int ret = 0;

	c.lanes = mem_calloc(c.lane_nr, sizeof(*c.lanes));
	if (!c.lanes || add_roots(&c, found, trees, nr) < 0)
		ret = error_nomem(err);
	progress_start(&c.progress, options->progress, "Enumerating objects",
		       0);
	if (!ret)
		ret = progress_step(&c.progress, c.nr, err);
	if (!ret)
		ret = scan_all(&c, found, err);
	progress_stop(&c.progress);
	for (unsigned i = 0; c.lanes && i < c.lane_nr; i++) {
		tree_store_free(c.lanes[i].store);
		free(c.lanes[i].found.items);
	}
	free(c.lanes);
	free(c.trees);
	bitset_release(&c.bases);
	return ret;
}
