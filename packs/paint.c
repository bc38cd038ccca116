/* SPDX-License-Identifier: MIT */
/* Painting what is to be packed. */
#include "bitmap/disjoint.h"
#include "pack-bitmap.h"
#include "packs/paint.h"
#include "packs/roots.h"

int paint_tip(struct islands *islands, bool *any, const struct paint *paint,
	      struct error *err)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	int ret = roots_add_island_tips(paint->walk, &tips, paint->refs, err);

	*any = tips.commit_nr || tips.others.nr;
	if (!ret && *any)
		ret = islands_paint_tip(islands, paint->walk, &tips, err);
	if (!ret && *any && paint->found && paint->found->lists.lists)
		ret = islands_paint_layers(islands, paint->walk, paint->found,
					   paint->refs, err);
	walk_tips_release(&tips);
	return ret;
}

/* The items that an index has, by its bits. */
static int list_bits(struct bitset *bits, const struct paint *paint,
		     const struct pack_bitmap *pb)
{
	if (bitset_init(bits, pack_bitmap_object_nr(pb)) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < paint->items->nr; i++) {
		uint32_t bit;

		if (pack_bitmap_bit(pb, paint->walk,
				    paint->items->items[i].obj_pos, &bit))
			bitset_set(bits, bit);
	}
	return 0;
}

/*
 * Commits behind which no item is. An index that is broken is no help, and
 * none is needed.
 */
static int find_bounds(struct walk_tips *bounds, const struct paint *paint,
		       const struct walk_tips *wants, struct error *err)
{
	struct bitset bits = BITSET_INIT;
	struct pack_bitmap *pb = NULL;
	int ret = 0;

	/* What is behind the edge of a shallow history, bitmaps do not know. */
	if (!paint->walk->shallow.nr)
		ret = pack_bitmap_open(&pb, paint->walk->odb, err);
	if (ret > 0)
		ret = pack_bitmap_prove(pb, err);
	if (!ret && pb && list_bits(&bits, paint, pb) < 0)
		ret = error_nomem(err);
	if (!ret && pb)
		ret = bitmap_disjoint_commits(bounds, &pb->file, &pb->space,
					      paint->walk, wants, &bits, err);
	if (ret < 0 && ret != ERR_NOMEM) {
		walk_tips_release(bounds);
		ret = 0;
	}
	bitset_release(&bits);
	pack_bitmap_close(pb);
	return ret;
}

static int enumerate(struct walk_result *found, const struct paint *paint,
		     struct error *err)
{
	const struct walk_options options = {
		.objects = true,
		.keep_lists = true,
		.threads = paint->threads,
		.progress = paint->progress,
	};
	struct walk_tips wants = WALK_TIPS_INIT, bounds = WALK_TIPS_INIT;
	int ret = roots_add(paint->walk, &wants, paint->refs, false, err);

	if (!ret)
		ret = find_bounds(&bounds, paint, &wants, err);
	if (!ret)
		ret = walk_enumerate(found, paint->walk, &wants, &bounds,
				     &options, err);
	walk_tips_release(&wants);
	walk_tips_release(&bounds);
	return ret;
}

static int add_heads(struct walk_tips *heads, const struct paint *paint,
		     struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < paint->head_nr && !ret; i++)
		ret = walk_add_tip(paint->walk, heads, &paint->heads[i], true,
				   err);
	return ret;
}

int paint_references(struct islands *islands, const struct paint *paint,
		     struct error *err)
{
	const struct config *config = &paint->walk->odb->repo->config;
	struct walk_result own = WALK_RESULT_INIT;
	struct walk_tips heads = WALK_TIPS_INIT;
	const struct walk_result *found = paint->found;
	int ret = 0;

	if (!paint->head_nr && !config_string(config, "pack.island"))
		return 0;
	ret = add_heads(&heads, paint, err);
	if (!ret && !found)
		ret = enumerate(&own, paint, err);
	if (!ret)
		ret = islands_paint_refs(islands, paint->walk,
					 found ? found : &own, paint->refs,
					 &heads, err);
	walk_tips_release(&heads);
	walk_result_release(&own);
	return ret;
}
