/* SPDX-License-Identifier: MIT */
/* Painting the tip. Islands of references: mark-refs.c */
#include <stdlib.h>

#include "islands/islands.h"
#include "walk/treewalk.h"

void islands_release(struct islands *islands)
{
	bitset_release(&islands->tip);
	island_sets_release(&islands->sets);
	free(islands->set_of);
	free(islands->layers);
	*islands = (struct islands)ISLANDS_INIT;
}

static int mark_others(struct treewalk *tree, const struct walk_items *others,
		       struct error *err)
{
	for (size_t i = 0; i < others->nr; i++) {
		const struct walk_item *item = &others->items[i];
		int ret = 0;

		if (item->type == OBJ_TREE)
			ret = treewalk_run(tree, item->obj_pos, "", NULL, NULL,
					   err);
		else if (item->type == OBJ_BLOB &&
			 treewalk_see(tree, item->obj_pos) < 0)
			ret = error_nomem(err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int islands_mark_tip(struct islands *islands, struct walk *w,
		     const struct walk_tips *tips, struct error *err)
{
	struct treewalk tree;
	int ret = 0;

	if (treewalk_init(&tree, &w->space, w->reader) < 0)
		ret = error_nomem(err);
	for (size_t i = 0; i < tips->commit_nr && !ret; i++)
		ret = treewalk_run(
			&tree, w->history.commits[tips->commits[i]].tree_pos,
			"", NULL, NULL, err);
	if (!ret)
		ret = mark_others(&tree, &tips->others, err);
	bitset_release(&islands->tip);
	islands->tip = tree.seen;
	tree.seen = (struct bitset)BITSET_INIT;
	treewalk_release(&tree);
	return ret;
}
