/* SPDX-License-Identifier: MIT */
/*
 * Finds the delta chains of a pack. Bases come from the entry headers, and
 * children from a counting sort. A breadth-first walk down from the whole
 * objects gives an order with bases first. Objects that this walk does not
 * reach are in a cycle.
 */
#include <string.h>

#include "base/mem.h"
#include "object/type.h"
#include "pack/chains.h"

static int allocate(struct pack_chains *c, struct error *err)
{
	size_t nr = c->nr;

	c->base = mem_alloc(nr, sizeof(*c->base));
	c->depth = mem_alloc(nr, sizeof(*c->depth));
	c->type = mem_alloc(nr, sizeof(*c->type));
	c->children = mem_alloc(nr, sizeof(*c->children));
	c->child_first = mem_calloc(nr + 1, sizeof(*c->child_first));
	c->order = mem_alloc(nr, sizeof(*c->order));
	if (!c->base || !c->depth || !c->type || !c->children ||
	    !c->child_first || !c->order ||
	    pack_rev_compute(&c->rev, &c->pack->idx, c->pack->file.len) < 0)
		return error_nomem(err);
	return 0;
}

static int find_base(struct pack_chains *c, uint32_t pack_pos, uint64_t offset,
		     const struct pack_entry *entry, struct error *err)
{
	uint64_t base_offset;
	bool found;
	int ret = pack_entry_base(&base_offset, c->pack, offset, entry, err);

	if (ret < 0)
		return ret;
	if (!ret) {
		c->base[pack_pos] = PACK_CHAINS_WHOLE;
		return 0;
	}
	if (base_offset < offset)
		found = pack_rev_find_before(&c->rev, pack_pos, base_offset,
					     &c->base[pack_pos]);
	else
		found = pack_rev_find(&c->rev, base_offset, &c->base[pack_pos]);
	if (!found)
		return error_set_at(err, ERR_CORRUPT, c->pack->path, offset,
				    "delta base is not an object");
	return 0;
}

/*
 * Reads the entry headers of all objects. Sets base[] of all objects, and
 * type[] of the objects that are stored whole. Returns 0 or a negative error
 * code.
 */
static int read_headers(struct pack_chains *c, struct error *err)
{
	uint64_t expected = PACK_HEADER_LEN;

	for (uint32_t p = 0; p < c->nr; p++) {
		uint64_t offset = pack_rev_offset(&c->rev, p);
		struct pack_entry entry;
		int ret;

		/*
		 * The first entry must directly follow the pack's header. The
		 * offset of each later entry must be larger than the one
		 * before.
		 */
		if (p ? offset < expected : offset != expected)
			return error_set_at(err, ERR_CORRUPT, c->pack->path,
					    offset,
					    "object in the wrong place");
		expected = offset + 1;
		ret = pack_entry_at(&entry, c->pack, offset, err);
		if (!ret)
			ret = find_base(c, p, offset, &entry, err);
		if (ret < 0)
			return ret;
		c->type[p] = (uint8_t)entry.type;
	}
	if (!c->nr && c->rev.end != PACK_HEADER_LEN)
		return error_set_at(err, ERR_CORRUPT, c->pack->path,
				    PACK_HEADER_LEN,
				    "pack without objects has trailing data");
	return 0;
}

static void group_children(struct pack_chains *c)
{
	uint32_t sum = 0;

	for (uint32_t p = 0; p < c->nr; p++)
		if (c->base[p] != PACK_CHAINS_WHOLE)
			c->child_first[c->base[p]]++;
	for (uint32_t p = 0; p <= c->nr; p++) {
		sum += c->child_first[p];
		c->child_first[p] = sum;
	}
	/*
	 * At first, child_first[] holds the end of each base's group in
	 * children[]. Each step fills a group from its end, so child_first[]
	 * finally holds the starts.
	 */
	for (uint32_t p = c->nr; p-- > 0;)
		if (c->base[p] != PACK_CHAINS_WHOLE)
			c->children[--c->child_first[c->base[p]]] = p;
}

/*
 * Appends to order[] the children of each object that is already in order[].
 * Returns the number of objects reached.
 */
static uint32_t order_from_bases(struct pack_chains *c)
{
	uint32_t nr = 0;

	for (uint32_t p = 0; p < c->nr; p++) {
		if (c->base[p] != PACK_CHAINS_WHOLE)
			continue;
		c->depth[p] = 0;
		c->order[nr++] = p;
	}
	c->whole_nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t p = c->order[i];

		if (c->depth[p] > c->depth_max)
			c->depth_max = c->depth[p];
		for (uint32_t k = c->child_first[p]; k < c->child_first[p + 1];
		     k++) {
			uint32_t child = c->children[k];

			c->depth[child] = c->depth[p] + 1;
			c->type[child] = c->type[p];
			c->order[nr++] = child;
		}
	}
	return nr;
}

int pack_chains_init(struct pack_chains *chains, const struct pack *pack,
		     struct error *err)
{
	int ret;

	memset(chains, 0, sizeof(*chains));
	chains->pack = pack;
	chains->nr = pack->idx.nr;
	ret = allocate(chains, err);
	if (!ret)
		ret = read_headers(chains, err);
	if (ret < 0)
		goto out;
	group_children(chains);
	if (order_from_bases(chains) != chains->nr)
		ret = error_set(err, ERR_CORRUPT, "%s: delta chain is a cycle",
				pack->path);
out:
	if (ret < 0)
		pack_chains_release(chains);
	return ret;
}

void pack_chains_release(struct pack_chains *chains)
{
	pack_rev_release(&chains->rev);
	free(chains->base);
	free(chains->depth);
	free(chains->type);
	free(chains->children);
	free(chains->child_first);
	free(chains->order);
	memset(chains, 0, sizeof(*chains));
}

int pack_chains_end(const struct pack *pack, struct error *err)
{
	struct pack_chains chains;
	int ret = pack_chains_init(&chains, pack, NULL);

	pack_chains_release(&chains);
	return ret == ERR_NOMEM ? error_nomem(err) : !ret;
}
