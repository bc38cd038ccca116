/* SPDX-License-Identifier: MIT */
/* Finds the families of trees. tree-family-read.c reads them. */
#include <string.h>

#include "base/mem.h"
#include "sys/thread.h"
#include "trees/tree-family.h"

#define NONE TREE_FAMILIES_NONE

enum {
	/*
	 * A place is a sort key for a packed tree. The lower OFFSET_BITS bits
	 * have the offset of the tree, and the bits above have the number of
	 * the pack.
	 */
	OFFSET_BITS = 48,
	PACKS_MAX = 1 << (64 - OFFSET_BITS),
	/*
	 * Number of trees that a thread takes at a time when it looks for
	 * bases.
	 */
	CHUNK_TREES = 4096,
};

/*
 * The place (sort key) of a tree that is in no pack, or in a pack with a number
 * of PACKS_MAX or more.
 */
#define PLACE_NONE UINT64_MAX

static uint64_t place_of(const struct objspace *space, uint32_t obj_pos)
{
	const struct odb *odb = space->odb;
	const struct odb_pack *at;
	uint32_t idx_pos;
	uint64_t offset;

	if (obj_pos >= space->packed_nr || odb->pack_nr >= PACKS_MAX)
		return PLACE_NONE;
	at = odb_locate(odb, obj_pos, &idx_pos);
	offset = pack_idx_offset(&at->pack->idx, idx_pos);
	/*
	 * An offset of more than OFFSET_BITS bits means that the .idx of the
	 * pack is damaged.
	 */
	if (offset >> OFFSET_BITS)
		return PLACE_NONE;
	return (uint64_t)(at - odb->packs) << OFFSET_BITS | offset;
}

bool tree_families_at(const struct tree_families *f, uint32_t tree,
		      struct pack **pack, uint64_t *offset)
{
	uint64_t place = f->trees[tree].key;

	if (place == PLACE_NONE)
		return false;
	*pack = f->space->odb->packs[place >> OFFSET_BITS].pack;
	*offset = place & ((UINT64_C(1) << OFFSET_BITS) - 1);
	return true;
}

/* Working state of the search for families. */
struct search {
	struct tree_families *f;
	/*
	 * owned array, indexed by tree: the tree that is the delta base of this
	 * tree, or NONE
	 */
	uint32_t *base;
	/*
	 * owned array, indexed by tree: the number of trees in its family: the
	 * tree itself, and all trees made from it by deltas
	 */
	uint32_t *size;
};

/*
 * Returns the index of the tree that is stored at `place`, or NONE. A place is
 * a pack together with an offset in the pack, and the array f->trees is sorted
 * by place. Only the trees before index `i` are searched. The search goes
 * backwards from index `i`, because the base of a delta is usually stored near
 * the delta.
 */
static uint32_t find_before(const struct tree_families *f, uint32_t i,
			    uint64_t place)
{
	uint32_t step = 1, lo = i;

	while (lo && f->trees[lo].key > place) {
		lo = lo > step ? lo - step : 0;
		step *= 2;
	}
	while (lo < i) {
		uint32_t mid = lo + (i - lo) / 2;

		if (f->trees[mid].key == place)
			return mid;
		if (f->trees[mid].key < place)
			lo = mid + 1;
		else
			i = mid;
	}
	return NONE;
}

static uint32_t find_base(const struct tree_families *f, uint32_t i)
{
	uint64_t offset, base;
	struct pack_entry entry;
	struct pack *pack;

	if (!tree_families_at(f, i, &pack, &offset) ||
	    pack_entry_at(&entry, pack, offset, NULL) < 0 ||
	    pack_entry_base(&base, pack, offset, &entry, NULL) <= 0 ||
	    base >= offset)
		return NONE;
	return find_before(f, i, f->trees[i].key - offset + base);
}

static int find_bases(void *ctx, unsigned thread_nr, size_t task_nr,
		      struct error *err)
{
	struct search *s = ctx;
	size_t first = task_nr * CHUNK_TREES;
	size_t left = s->f->nr - first;
	size_t last = first + (left < CHUNK_TREES ? left : CHUNK_TREES);

	for (size_t i = first; i < last; i++)
		s->base[i] = find_base(s->f, (uint32_t)i);
	return 0;
}

/*
 * Links trees to their bases. A base comes before its deltas in the pack. So in
 * a loop from the last tree to the first, all deltas of a tree are linked when
 * the tree is reached.
 */
static void link_trees(struct search *s)
{
	struct tree_families *f = s->f;

	for (uint32_t i = (uint32_t)f->nr; i-- > 0;) {
		uint32_t base = s->base[i];

		s->size[i]++;
		if (base == NONE) {
			f->heads[f->head_nr++] = i;
			continue;
		}
		s->size[base] += s->size[i];
		f->next[i] = f->eldest[base];
		f->eldest[base] = i;
		if (f->heir[base] == NONE ||
		    s->size[i] > s->size[f->heir[base]])
			f->heir[base] = i;
	}
}

/* Reverses the list of heads, which were found from the last to the first. */
static void reverse_heads(struct tree_families *f)
{
	for (size_t i = 0; i < f->head_nr / 2; i++) {
		uint32_t head = f->heads[i];

		f->heads[i] = f->heads[f->head_nr - 1 - i];
		f->heads[f->head_nr - 1 - i] = head;
	}
}

static uint32_t *new_links(size_t nr)
{
	uint32_t *links = mem_alloc(nr, sizeof(*links));

	if (links)
		memset(links, 0xff, nr * sizeof(*links));
	return links;
}

static int sort_trees(struct tree_families *f, const uint32_t *trees, size_t nr)
{
	f->trees = mem_alloc(nr, sizeof(*f->trees));
	if (!f->trees)
		return ERR_NOMEM;
	f->nr = nr;
	for (size_t i = 0; i < nr; i++)
		f->trees[i] = (struct sort_item){
			.key = place_of(f->space, trees[i]),
			.value = trees[i],
		};
	return sort_items(f->trees, nr);
}

int tree_families_init(struct tree_families *f, struct objspace *space,
		       const uint32_t *trees, size_t nr, unsigned threads,
		       struct error *err)
{
	struct search s = {.f = f};
	int ret;

	*f = (struct tree_families){.space = space};
	f->eldest = new_links(nr);
	f->next = new_links(nr);
	f->heir = new_links(nr);
	f->heads = mem_alloc(nr, sizeof(*f->heads));
	s.base = mem_alloc(nr, sizeof(*s.base));
	s.size = mem_calloc(nr, sizeof(*s.size));
	if (!f->eldest || !f->next || !f->heir || !f->heads || !s.base ||
	    !s.size || sort_trees(f, trees, nr) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	ret = sys_parallel(threads, (nr + CHUNK_TREES - 1) / CHUNK_TREES,
			   find_bases, &s, err);
	if (ret < 0)
		goto out;
	link_trees(&s);
	reverse_heads(f);
out:
	free(s.base);
	free(s.size);
	return ret;
}

void tree_families_release(struct tree_families *f)
{
	free(f->trees);
	free(f->eldest);
	free(f->next);
	free(f->heir);
	free(f->heads);
	*f = (struct tree_families){0};
}
