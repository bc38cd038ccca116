/* SPDX-License-Identifier: MIT */
/*
 * Reads trees as tables of entry numbers, which are kept in a cache. The key of
 * a table is the tree's pack and offset. The key of a tree outside packs has no
 * pack, and has the obj_pos in place of the offset.
 */
#include <string.h>

#include "base/mem.h"
#include "trees/entry-pool.h"
#include "trees/tree-store.h"

/*
 * Maximum length of a delta chain that is followed. Trees with longer chains,
 * or with circles of deltas, are read like any object.
 */
#define CHAIN_MAX 10000

/* Number of ids that are looked up together. */
#define LOOK_UP_TOGETHER 32

struct link {
	uint64_t offset;
	struct pack_entry entry;
};

struct tree_store {
	struct objspace *space;    /* borrowed */
	struct odb_reader *reader; /* owned */
	size_t limit;
	struct base_cache tables;
	struct entry_pool pool;
	bool wants_objects;
	/*
	 * All entries of the pool with an entry_nr below this one were passed
	 * to look_up_new().
	 */
	uint32_t looked_up;
	struct tree_builder builder;
	/*
	 * owned: the delta chain of the requested tree, from the tree towards
	 * its base
	 */
	struct link *chain;
	size_t chain_nr, chain_alloc;
};

struct tree_store *tree_store_new(struct objspace *space, size_t cache_limit,
				  bool wants_objects)
{
	struct tree_store *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->space = space;
	s->limit = cache_limit;
	s->wants_objects = wants_objects;
	tree_builder_init(&s->builder, &s->pool, space->odb->algo);
	/*
	 * The reader needs no cache of whole objects, because trees are cached
	 * in another form. Each distinct tree entry has a number in the entry
	 * pool (trees/entry-pool.h), and a tree is cached as a table: the array
	 * of the numbers of its entries. A delta of a tree is applied to the
	 * table of its base, not to bytes. Only in the rare case that this is
	 * impossible, the reader reads the whole tree.
	 */
	s->reader = odb_reader_new(space->odb, 0);
	if (!s->reader || entry_pool_init(&s->pool) < 0 ||
	    base_cache_init(&s->tables, cache_limit) < 0) {
		tree_store_free(s);
		return NULL;
	}
	return s;
}

static void unpin(struct tree_store *s, struct base_cache_node *node)
{
	if (node)
		base_cache_unpin(&s->tables, node);
}

void tree_store_free(struct tree_store *store)
{
	if (!store)
		return;
	base_cache_release(&store->tables);
	entry_pool_release(&store->pool);
	tree_builder_release(&store->builder);
	odb_reader_free(store->reader);
	free(store->chain);
	free(store);
}

struct entry_pool *tree_store_pool(struct tree_store *store)
{
	return &store->pool;
}

/*
 * Looks up the objects of `nr` entries, and sets obj_pos for those objects that
 * are in packs.
 */
static void look_up_some(struct tree_store *s, const uint32_t *entry_nrs,
			 size_t nr)
{
	const uint8_t *ids[LOOK_UP_TOGETHER] = {NULL};
	size_t id_len = hash_len(s->space->odb->algo);

	for (size_t i = 0; i < nr; i++)
		ids[i] = entry_pool_raw(&s->pool, entry_nrs[i]) +
			 entry_pool_len(&s->pool, entry_nrs[i]) - id_len;
	objspace_prefetch(s->space, ids, nr);
	for (size_t i = 0; i < nr; i++) {
		struct pool_entry *entry = entry_pool_at(&s->pool,
							 entry_nrs[i]);
		uint32_t obj_pos;

		if (objspace_find_packed(s->space, ids[i], &obj_pos))
			entry->obj_pos = obj_pos;
	}
}

/*
 * Looks up the objects of all entries that were added to the pool since the
 * last call. The commits of submodules are looked up too. No caller needs them,
 * but to skip them, the type of each entry would have to be parsed.
 */
static void look_up_new(struct tree_store *s)
{
	uint32_t entry_nrs[LOOK_UP_TOGETHER];

	while (s->looked_up < s->pool.used) {
		size_t nr = 0;

		while (nr < LOOK_UP_TOGETHER && s->looked_up < s->pool.used) {
			entry_nrs[nr++] = s->looked_up;
			s->looked_up = entry_pool_after(&s->pool, s->looked_up);
		}
		look_up_some(s, entry_nrs, nr);
	}
}

/*
 * Returns the table of a tree in a cache node. The node has three parts. First
 * the number n of entries. Then n values entry_nr: each identifies an entry in
 * the pool of entries. Then n offsets: where each entry starts in the bytes of
 * the tree. The length of the tree follows the offsets.
 */
static struct tree_table table_of(const struct base_cache_node *node)
{
	const uint32_t *data = (const uint32_t *)(const void *)node->data;
	uint32_t nr = data[0];

	return (struct tree_table){data + 1, data + 1 + nr, nr};
}

/*
 * Adds to the cache the tree table that was made last. Sets *out to the cache
 * node of the table, pinned: it is not evicted while in use.
 */
static int keep_table(struct tree_store *s, const struct pack *pack,
		      uint64_t offset, struct base_cache_node **out)
{
	struct tree_table made = tree_builder_table(&s->builder);
	struct base_cache_node *node;
	size_t nr = made.nr;
	uint32_t *data;

	node = base_cache_alloc((2 * nr + 2) * sizeof(*data));
	if (!node)
		return ERR_NOMEM;
	node->type = OBJ_TREE;
	data = (uint32_t *)(void *)node->data;
	data[0] = made.nr;
	if (nr)
		memcpy(data + 1, made.entries, nr * sizeof(*data));
	memcpy(data + 1 + nr, made.starts, (nr + 1) * sizeof(*data));
	base_cache_add(&s->tables, node, pack, offset);
	if (s->wants_objects && s->space->tables)
		look_up_new(s);
	*out = node;
	return 0;
}

static int push_link(struct tree_store *s, uint64_t offset,
		     const struct pack_entry *entry)
{
	if (s->chain_nr == CHAIN_MAX)
		return ERR_CORRUPT;
	if (mem_grow(&s->chain, &s->chain_alloc, s->chain_nr + 1,
		     sizeof(*s->chain)) < 0)
		return ERR_NOMEM;
	s->chain[s->chain_nr++] = (struct link){offset, *entry};
	return 0;
}

/*
 * Follows the delta chain from `offset` to the first tree whose table is
 * cached. Sets *base to the cache node of this table, pinned, or to NULL if the
 * chain ends at a tree that is stored whole. Returns 0 or a negative error
 * code.
 */
static int find_base(struct tree_store *s, struct pack *pack, uint64_t offset,
		     struct base_cache_node **base)
{
	struct pack_entry entry;
	int ret = 1;

	s->chain_nr = 0;
	while (ret > 0) {
		*base = base_cache_get(&s->tables, pack, offset);
		if (*base)
			return 0;
		ret = pack_entry_at(&entry, pack, offset, NULL);
		if (!ret)
			ret = push_link(s, offset, &entry);
		if (!ret)
			ret = pack_entry_base(&offset, pack, offset, &entry,
					      NULL);
	}
	return ret;
}

/*
 * Makes the table of one tree of the delta chain. A table has the parsed
 * entries of a tree. If the tree is stored as a delta, `base` is the cache node
 * of its base's table, and the delta is applied to this table. If the tree is
 * stored whole, `base` is NULL, and the tree is parsed. Sets *out to the new
 * cache node, pinned. Returns 0 or a negative error code.
 */
static int make_table(struct tree_store *s, struct pack *pack,
		      const struct link *link,
		      const struct base_cache_node *base,
		      struct base_cache_node **out)
{
	struct tree_table from;
	const uint8_t *data;
	int ret;

	if (!base && link->entry.type != OBJ_TREE)
		return ERR_CORRUPT;
	ret = pack_reader_stored(odb_reader_pack(s->reader), pack, link->offset,
				 &link->entry, &data, NULL);
	if (ret < 0)
		return ret;
	if (base) {
		from = table_of(base);
		ret = tree_builder_derive(&s->builder, &from, data,
					  link->entry.size);
	} else {
		ret = tree_builder_parse(&s->builder, data, link->entry.size);
	}
	return ret < 0 ? ret : keep_table(s, pack, link->offset, out);
}

/*
 * Makes the tables of all trees in the delta chain, from the base to the
 * requested tree. Before the call, *node is the cache node of the base's table,
 * or NULL. After the call, *node is the node of the requested tree's table, or
 * NULL after a failure. A node in *node is pinned: the cache does not evict it.
 * Returns 0 or a negative error code.
 */
static int climb(struct tree_store *s, struct pack *pack,
		 struct base_cache_node **node)
{
	while (s->chain_nr) {
		struct base_cache_node *made = NULL;
		int ret = make_table(s, pack, &s->chain[--s->chain_nr], *node,
				     &made);

		unpin(s, *node);
		*node = made;
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int read_packed(struct tree_store *s, uint32_t obj_pos,
		       struct base_cache_node **out)
{
	struct pack *pack;
	uint64_t offset = odb_offset(s->space->odb, obj_pos, &pack);
	int ret = find_base(s, pack, offset, out);

	return ret < 0 ? ret : climb(s, pack, out);
}

/*
 * Makes the table of a tree by parsing all bytes of the tree. Applying a delta
 * to the table of a base is faster. But this function accepts every valid tree,
 * and sets the error for an invalid tree.
 */
static int read_plain(struct tree_store *s, uint32_t obj_pos,
		      const struct tree *near, struct base_cache_node **out,
		      struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret;

	*out = base_cache_get(&s->tables, NULL, obj_pos);
	if (*out)
		return 0;
	ret = objspace_read_tree(s->space, s->reader, obj_pos, &obj, err);
	if (ret < 0)
		return ret;
	ret = near ? tree_builder_parse_near(&s->builder, &near->table,
					     obj.data, obj.len)
		   : tree_builder_parse(&s->builder, obj.data, obj.len);
	odb_object_release(s->reader, &obj);
	if (!ret)
		ret = keep_table(s, NULL, obj_pos, out);
	return ret < 0 ? tree_splice_error(ret, s->space, obj_pos, err) : 0;
}

int tree_store_read(struct tree_store *store, uint32_t obj_pos,
		    const struct tree *near, struct tree *tree,
		    struct error *err)
{
	struct base_cache_node *node;
	int ret = ERR_CORRUPT;

	*tree = (struct tree)TREE_INIT;
	if (obj_pos < store->space->packed_nr)
		ret = read_packed(store, obj_pos, &node);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0)
		ret = read_plain(store, obj_pos, near, &node, err);
	if (ret < 0)
		return ret;
	*tree = (struct tree){table_of(node), node};
	return 0;
}

int tree_store_object(struct tree_store *store, uint32_t entry_nr,
		      uint32_t *obj_pos)
{
	struct pool_entry *known = entry_pool_at(&store->pool, entry_nr);

	if (known->obj_pos == ENTRY_POOL_NONE) {
		struct tree_entry entry = {0};

		entry_pool_get(&entry, &store->pool, entry_nr,
			       store->space->odb->algo);
		if (objspace_add(store->space, entry.oid, &known->obj_pos) < 0)
			return ERR_NOMEM;
	}
	*obj_pos = known->obj_pos;
	return 0;
}

void tree_store_release(struct tree_store *store, struct tree *tree)
{
	if (tree->pin)
		base_cache_unpin(&store->tables, tree->pin);
	*tree = (struct tree)TREE_INIT;
}

int tree_store_trim(struct tree_store *store)
{
	if (entry_pool_size(&store->pool) <= store->limit)
		return 0;
	base_cache_release(&store->tables);
	entry_pool_reset(&store->pool);
	store->looked_up = 0;
	return base_cache_init(&store->tables, store->limit);
}
