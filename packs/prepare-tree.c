/* SPDX-License-Identifier: MIT */
/*
 * Describes the tree of a prepared answer of depth 1 (struct prepared_tree).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "packs/prepare-parts.h"
#include "trees/tree-tally.h"

/*
 * A prepared answer of depth 1 is the stored response to a clone of depth 1. It
 * has the objects of the tree of one commit. The file of prepared answers also
 * stores a description of this tree: a list of the objects that are at several
 * paths. The list could be nearly as long as the tree, if many objects are at
 * several paths. So there is a limit: if the tree has more than PATHS_MAX paths
 * for each object of the answer, plus PATHS_MORE, no description is stored.
 */
#define PATHS_MAX 2

/*
 * This number is added to the limit PATHS_MAX, so that the limit does not
 * exclude small trees.
 */
#define PATHS_MORE 1024

/*
 * Maximum number of bytes of trees that are read to make the description of an
 * answer's tree: BYTES_MAX for each object of the answer, plus BYTES_MORE. A
 * tree at several paths is read once for each path.
 */
#define BYTES_MAX 256
#define BYTES_MORE (1 << 20)

/*
 * List the objects of the tree that are at several paths, sorted by their
 * positions in the pack index. Returns 1 if all are listed, 0 if one of them is
 * not in the pack, or ERR_NOMEM.
 */
static int list_repeats(struct prepared_repeat *out, size_t *nr,
			const struct tree_tally *tally, struct found *found,
			const struct bitmap_space *space)
{
	struct sort_item *order = mem_alloc(tally->nr, sizeof(*order));
	int ret = order ? 1 : ERR_NOMEM;

	*nr = 0;
	for (size_t i = 0; i < tally->nr && ret > 0; i++) {
		uint32_t idx_pos;

		if (tally->rows[i].paths < 2)
			continue;
		ret = bitmap_space_idx(space, &found->walk.space,
				       tally->rows[i].obj_pos, &idx_pos);
		order[(*nr)++] = (struct sort_item){
			idx_pos, (uint32_t)tally->rows[i].paths};
	}
	if (ret > 0 && sort_items(order, *nr) < 0)
		ret = ERR_NOMEM;
	for (size_t i = 0; i < *nr && ret > 0; i++)
		out[i] = (struct prepared_repeat){(uint32_t)order[i].key,
						  order[i].value};
	free(order);
	return ret;
}

/*
 * List the objects that the wanted tree has at several paths. Returns 1 if they
 * are listed, 0 if they cannot be listed (for example, there are too many), or
 * ERR_NOMEM.
 */
static int find_repeats(struct prepared_described *out, struct found *found,
			const struct bitmap_space *space, size_t object_nr)
{
	struct walk *w = &found->walk;
	struct tree_tally tally = TREE_TALLY_INIT;
	const struct tree_tally_limits limits = {
		.paths = object_nr * PATHS_MAX + PATHS_MORE,
		.bytes = object_nr * BYTES_MAX + BYTES_MORE,
	};
	const struct history_commit *commit;
	int ret;

	if (found->want_nr != 1)
		return 0;
	commit = &w->history.commits[found->wants[0]];
	if (!commit->parsed)
		return 0;
	ret = tree_tally_compare(&tally, &w->space, w->reader, TREE_TALLY_NONE,
				 commit->tree_pos, &limits, NULL);
	if (!ret) {
		out->repeats = mem_alloc(tally.nr, sizeof(*out->repeats));
		ret = out->repeats
			      ? list_repeats(out->repeats, &out->tree.repeat_nr,
					     &tally, found, space)
			      : ERR_NOMEM;
	} else if (ret != ERR_NOMEM) {
		ret = 0;
	}
	tree_tally_release(&tally);
	return ret;
}

/*
 * Lists the runs of set bits of `objects` in out->places: the first bit and the
 * length of each run. `run_nr` is the number of runs. Returns 0 or ERR_NOMEM.
 */
static int find_places(struct prepared_described *out,
		       const struct bitset *objects, size_t run_nr)
{
	size_t at = 0, end;

	out->places = mem_alloc(run_nr, sizeof(*out->places));
	if (!out->places)
		return ERR_NOMEM;
	for (size_t i = 0; i < run_nr; i++) {
		at = bitset_next(objects, at);
		end = bitset_next_unset(objects, at);
		out->places[i] = (struct prepared_place){(uint32_t)at,
							 (uint32_t)(end - at)};
		at = end;
	}
	return 0;
}

int prepare_tree(struct prepared_described *out, struct found *found,
		 const struct bitmap_space *space,
		 const struct prepared_content *plain,
		 const struct bitset *objects, struct error *err)
{
	int ret;

	*out = (struct prepared_described){.places = NULL};
	ret = find_repeats(out, found, space, plain->object_nr);
	if (ret > 0 && find_places(out, objects, plain->run_nr) < 0)
		ret = ERR_NOMEM;
	out->tree.places = out->places;
	out->tree.repeats = out->repeats;
	if (ret > 0 && prepared_hash_order(&out->tree.order, &out->tree,
					   plain->run_nr, space->rev) < 0)
		ret = ERR_NOMEM;
	out->tree.is_known = ret > 0;
	return ret < 0 ? error_nomem(err) : 0;
}

void prepare_tree_release(struct prepared_described *tree)
{
	free(tree->places);
	free(tree->repeats);
}
