/* SPDX-License-Identifier: MIT */
/* Marks the delta islands of objects that are to be packed. */
#include <stdio.h>
#include <string.h>

#include "bitmap/fill.h"
#include "pack-bitmap.h"
#include "packs/pack-job-parts.h"
#include "packs/roots.h"

int island_marks_add_tip(struct islands *islands, bool *any,
			 const struct island_marks *marks, struct error *err)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	int ret = roots_add_island_tips(marks->walk, &tips, marks->refs, err);

	*any = tips.commit_nr || tips.others.nr;
	if (!ret && *any)
		ret = islands_mark_tip(islands, marks->walk, &tips, err);
	if (!ret && *any && marks->found && marks->found->lists.lists)
		ret = islands_mark_layers(islands, marks->walk, marks->found,
					  marks->refs, err);
	walk_tips_release(&tips);
	return ret;
}

/*
 * Set *bits to those bits of the bitmap index that stand for items to be
 * packed. An item that the index does not have gets no bit. Returns 0 or
 * ERR_NOMEM.
 */
static int list_bits(struct bitset *bits, const struct island_marks *marks,
		     const struct pack_bitmap *pb)
{
	if (bitset_init(bits, pack_bitmap_object_nr(pb)) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < marks->items->nr; i++) {
		uint32_t bit;

		if (pack_bitmap_bit(pb, marks->walk,
				    marks->items->items[i].obj_pos, &bit))
			bitset_set(bits, bit);
	}
	return 0;
}

/*
 * Find commits that reach no item to be packed, so that the walk to mark
 * islands can stop at these commits. If the bitmap index is broken, no such
 * commits are found, and the walk is longer. Returns 0 or ERR_NOMEM.
 */
static int find_bounds(struct walk_tips *bounds,
		       const struct island_marks *marks,
		       const struct walk_tips *wants, struct error *err)
{
	struct bitset bits = BITSET_INIT;
	struct pack_bitmap *pb = NULL;
	int ret = 0;

	/*
	 * With a shallow boundary, do not use a bitmap index: its bitmaps may
	 * lack objects behind the boundary.
	 */
	if (!marks->walk->shallow.nr)
		ret = pack_bitmap_open(&pb, marks->walk->odb, err);
	if (ret > 0)
		ret = pack_bitmap_prove(pb, err);
	if (!ret && pb && list_bits(&bits, marks, pb) < 0)
		ret = error_nomem(err);
	if (!ret && pb)
		ret = bitmap_disjoint_commits(bounds, &pb->file, &pb->space,
					      marks->walk, wants, &bits, err);
	if (ret < 0 && ret != ERR_NOMEM) {
		walk_tips_release(bounds);
		ret = 0;
	}
	bitset_release(&bits);
	pack_bitmap_close(pb);
	return ret;
}

static int enumerate(struct walk_result *found,
		     const struct island_marks *marks, struct error *err)
{
	/*
	 * Show no progress: the job has already shown how many objects it
	 * enumerates.
	 */
	const struct progress_out quiet = {
		.ctx = marks->progress ? marks->progress->ctx : NULL,
		.poll = marks->progress ? marks->progress->poll : NULL,
	};
	const struct walk_options options = {
		.objects = true,
		.keep_lists = true,
		.threads = marks->threads,
		.progress = &quiet,
	};
	struct walk_tips wants = WALK_TIPS_INIT, bounds = WALK_TIPS_INIT;
	int ret = roots_add(marks->walk, &wants, marks->refs, 0, err);

	if (!ret && marks->promisor)
		ret = promisor_enumerate(found, marks->promisor, &wants,
					 &bounds, PATH_GROUP_NONE, false, err);
	else if (!ret)
		ret = find_bounds(&bounds, marks, &wants, err);
	if (!ret && !marks->promisor)
		ret = walk_enumerate(found, marks->walk, &wants, &bounds,
				     &options, err);
	walk_tips_release(&wants);
	walk_tips_release(&bounds);
	return ret;
}

static int add_heads(struct walk_tips *heads, const struct island_marks *marks,
		     struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < marks->head_nr && !ret; i++)
		ret = walk_add_tip(marks->walk, heads, &marks->heads[i], true,
				   err);
	return ret;
}

int island_marks_tell(struct walk *walk, struct refs *refs,
		      const struct progress_out *out, struct error *err)
{
	char line[sizeof("Marked 18446744073709551615 islands, done.\n")];
	size_t nr;
	int ret;

	if (!out || !out->put)
		return 0;
	ret = islands_count(&nr, walk, refs, err);
	if (ret < 0)
		return ret;
	snprintf(line, sizeof(line), "Marked %zu islands, done.\n", nr);
	out->put(out->ctx, line, strlen(line));
	return 0;
}

static bool has_trees(const struct packing_items *items)
{
	for (size_t i = 0; i < items->nr; i++)
		if (items->items[i].type == OBJ_TREE)
			return true;
	return false;
}

int island_marks_add_references(struct islands *islands,
				const struct island_marks *marks,
				struct error *err)
{
	const struct config *config = &marks->walk->odb->repo->config;
	struct walk_result own = WALK_RESULT_INIT;
	struct walk_tips heads = WALK_TIPS_INIT;
	const struct walk_result *found = marks->found;
	int ret = 0;

	if (!marks->head_nr && !config_string(config, "pack.island"))
		return 0;
	ret = add_heads(&heads, marks, err);
	if (!ret && !found)
		ret = enumerate(&own, marks, err);
	islands->progress = has_trees(marks->items) ? marks->progress : NULL;
	if (!ret)
		ret = islands_mark_refs(islands, marks->walk,
					found ? found : &own, marks->refs,
					&heads, marks->promisor, err);
	walk_tips_release(&heads);
	walk_result_release(&own);
	return ret;
}
