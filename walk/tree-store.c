/* SPDX-License-Identifier: MIT */
/*
 * Reading trees as tables. The tables live in a base cache: the key is pack
 * and offset, for others no pack and the object's number.
 */
#include <string.h>

#include "base/mem.h"
#include "walk/tree-store.h"

/* Chains longer than this (circles) are the plain reader's. */
#define CHAIN_MAX 10000

/* The number of a tree that was met as a base only. */
#define NO_POS UINT32_MAX

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
	struct tree_builder builder;
	struct link *chain; /* owned: from a tree to its base */
	size_t chain_nr, chain_alloc;
	struct base_cache_node *told; /* pinned: what tree_store_news() gave;
					 NULL: nothing */
};

struct tree_store *tree_store_new(struct objspace *space, size_t cache_limit)
{
	struct tree_store *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->space = space;
	s->limit = cache_limit;
	tree_builder_init(&s->builder, &s->pool, space->odb->algo);
	/* Whole objects are read in exceptional cases only: no cache. */
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

static void let_go(struct tree_store *s)
{
	unpin(s, s->told);
	s->told = NULL;
}

void tree_store_free(struct tree_store *store)
{
	if (!store)
		return;
	let_go(store);
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
 * A node's data: the number of entries; the tree's obj_pos, or NO_POS; the
 * entries' numbers; where they start.
 */
static struct tree_table table_of(const struct base_cache_node *node)
{
	const uint32_t *data = (const uint32_t *)(const void *)node->data;
	uint32_t nr = data[0];

	return (struct tree_table){data + 2, data + 2 + nr, nr};
}

static uint32_t *pos_of(struct base_cache_node *node)
{
	return (uint32_t *)(void *)node->data + 1;
}

/* Keep what the builder has made; pinned. */
static int keep_table(struct tree_store *s, const struct pack *pack,
		      uint64_t offset, struct base_cache_node **out)
{
	struct tree_table made = tree_builder_table(&s->builder);
	struct base_cache_node *node;
	size_t nr = made.nr;
	uint32_t *data;

	node = base_cache_alloc((2 * nr + 3) * sizeof(*data));
	if (!node)
		return ERR_NOMEM;
	node->type = OBJ_TREE;
	data = (uint32_t *)(void *)node->data;
	data[0] = made.nr;
	data[1] = NO_POS;
	memcpy(data + 2, made.entries, nr * sizeof(*data));
	memcpy(data + 2 + nr, made.starts, (nr + 1) * sizeof(*data));
	base_cache_add(&s->tables, node, pack, offset);
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
 * Go down from `offset` to a tree whose table there is, *base, pinned; or to
 * one that is stored whole, *base is NULL then.
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

/* The table of the next tree up the chain; pinned. */
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
 * Make the tables up the chain, but for its last `left` trees: *node, pinned or
 * NULL, is where they start and then what was made last. On failure it is NULL.
 */
static int climb(struct tree_store *s, struct pack *pack, size_t left,
		 struct base_cache_node **node)
{
	while (s->chain_nr > left) {
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

	return ret < 0 ? ret : climb(s, pack, 0, out);
}

static int bad_tree(struct tree_store *s, uint32_t obj_pos, int code,
		    const char *what, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	objspace_oid(&oid, s->space, obj_pos);
	return error_set(err, code, "%s: %s", what,
			 oid_to_hex(hex, &oid, s->space->odb->algo));
}

/* By the tree's bytes: slow, sure, and it can tell what is wrong. */
static int read_plain(struct tree_store *s, uint32_t obj_pos,
		      struct base_cache_node **out, struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret;

	*out = base_cache_get(&s->tables, NULL, obj_pos);
	if (*out)
		return 0;
	ret = objspace_read(s->space, s->reader, obj_pos, &obj, err);
	if (ret < 0)
		return ret;
	if (obj.type != OBJ_TREE)
		ret = bad_tree(s, obj_pos, ERR_CORRUPT, "not a tree object",
			       err);
	else if ((ret = tree_builder_parse(&s->builder, obj.data, obj.len)) ==
		 ERR_NOMEM)
		error_nomem(err);
	else if (ret < 0)
		bad_tree(s, obj_pos, ret,
			 ret == ERR_CORRUPT ? "malformed tree"
					    : "tree too large",
			 err);
	else if ((ret = keep_table(s, NULL, obj_pos, out)) < 0)
		error_nomem(err);
	odb_object_release(s->reader, &obj);
	return ret;
}

int tree_store_read(struct tree_store *store, uint32_t obj_pos,
		    struct tree *tree, struct error *err)
{
	struct base_cache_node *node;
	int ret = ERR_CORRUPT;

	*tree = (struct tree)TREE_INIT;
	if (obj_pos < store->space->packed_nr)
		ret = read_packed(store, obj_pos, &node);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0)
		ret = read_plain(store, obj_pos, &node, err);
	if (ret < 0)
		return ret;
	*tree = (struct tree){table_of(node), node};
	return 0;
}

/* The number of a packed tree's base, which the first link leads to. */
static uint32_t find_base_pos(const struct tree_store *s, struct pack *pack,
			      uint32_t obj_pos)
{
	const struct link *link = &s->chain[0];
	const struct odb_pack *at;
	const struct pack_rev *rev;
	uint32_t idx_pos, pack_pos;
	uint64_t offset;

	at = odb_locate(s->space->odb, obj_pos, &idx_pos);
	rev = pack_get_rev_unproven(pack, NULL);
	if (!rev ||
	    pack_entry_base(&offset, pack, link->offset, &link->entry, NULL) <=
		    0 ||
	    !pack_rev_find(rev, offset, &pack_pos))
		return NO_POS;
	return at->first_pos + pack_rev_idx_pos(rev, pack_pos);
}

static bool is_known(const struct tree_store *s, struct pack *pack,
		     uint32_t obj_pos, struct base_cache_node *base,
		     const struct bitset *known)
{
	uint32_t *base_pos = pos_of(base);

	if (*base_pos == NO_POS)
		*base_pos = find_base_pos(s, pack, obj_pos);
	return *base_pos < known->bits && bitset_test_shared(known, *base_pos);
}

/* What the delta at the chain's end inserts; keeps no table. */
static int skim(struct tree_store *s, struct pack *pack,
		const struct base_cache_node *base)
{
	const struct link *link = &s->chain[0];
	struct tree_table from = table_of(base);
	const uint8_t *delta;
	int ret = pack_reader_stored(odb_reader_pack(s->reader), pack,
				     link->offset, &link->entry, &delta, NULL);

	return ret < 0 ? ret
		       : tree_builder_news(&s->builder, &from, delta,
					   link->entry.size);
}

/* The news of the chain's last tree, whose base was told of before. */
static int news_by_base(struct tree_store *s, struct pack *pack,
			uint32_t obj_pos, bool is_base, struct tree_news *news)
{
	int ret = is_base ? climb(s, pack, 0, &s->told)
			  : skim(s, pack, s->told);

	if (ret < 0)
		return ret;
	if (is_base)
		*pos_of(s->told) = obj_pos;
	*news = (struct tree_news){s->builder.parsed, s->builder.parsed_nr};
	return 0;
}

static struct tree_news all_of(const struct base_cache_node *node)
{
	struct tree_table table = table_of(node);

	return (struct tree_news){table.entries, table.nr};
}

static int news_of_packed(struct tree_store *s, uint32_t obj_pos,
			  const struct bitset *known, bool is_base,
			  struct tree_news *news)
{
	struct pack *pack;
	uint64_t offset = odb_offset(s->space->odb, obj_pos, &pack);
	int ret = find_base(s, pack, offset, &s->told);

	if (!ret)
		ret = climb(s, pack, 1, &s->told);
	if (ret < 0)
		return ret;
	if (s->chain_nr && s->told &&
	    is_known(s, pack, obj_pos, s->told, known))
		return news_by_base(s, pack, obj_pos, is_base, news);
	ret = climb(s, pack, 0, &s->told);
	if (ret < 0)
		return ret;
	*pos_of(s->told) = obj_pos;
	*news = all_of(s->told);
	return 0;
}

int tree_store_news(struct tree_store *store, uint32_t obj_pos,
		    const struct bitset *known, bool is_base,
		    struct tree_news *news, struct error *err)
{
	int ret = ERR_CORRUPT;

	let_go(store);
	if (obj_pos < store->space->packed_nr)
		ret = news_of_packed(store, obj_pos, known, is_base, news);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (!ret)
		return 0;
	let_go(store);
	ret = read_plain(store, obj_pos, &store->told, err);
	if (!ret)
		*news = all_of(store->told);
	return ret;
}

int tree_store_object(struct tree_store *store, uint32_t entry_nr,
		      uint32_t *obj_pos)
{
	struct pool_entry *known = &store->pool.entries[entry_nr];

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

bool tree_store_is_full(const struct tree_store *store)
{
	return entry_pool_size(&store->pool) > store->limit;
}

int tree_store_trim(struct tree_store *store)
{
	if (!tree_store_is_full(store))
		return 0;
	let_go(store);
	base_cache_release(&store->tables);
	entry_pool_reset(&store->pool);
	return base_cache_init(&store->tables, store->limit);
}
