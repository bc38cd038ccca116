/* SPDX-License-Identifier: MIT */
/*
 * Marks the tip island and the layers of objects. mark-refs.c marks the islands
 * of references.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/islands.h"
#include "object/oidmap.h"
#include "trees/treewalk.h"

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

/*
 * A tag that gets a layer (enum islands_layer), and the commit that it peels
 * to.
 */
struct layered_tag {
	uint32_t obj_pos;
	uint32_t commit;
};

struct layering {
	struct islands *islands;
	struct walk *w;
	const struct walk_result *found;
	/*
	 * Owned: the layer of each commit, indexed by commit_nr < commit_end.
	 */
	uint8_t *commits;
	uint32_t commit_end;
	struct layered_tag *tags; /* owned */
	size_t tag_nr, tag_alloc;
	/* ids that references name and whose objects have a layer already */
	struct oidmap seen;
	struct error *err;
};

static void lower(uint8_t *layer, uint8_t to)
{
	if (to < *layer)
		*layer = to;
}

static int add_tags(struct layering *l, const struct walk_items *others,
		    uint32_t commit)
{
	if (mem_grow(&l->tags, &l->tag_alloc, l->tag_nr + others->nr,
		     sizeof(*l->tags)) < 0)
		return error_nomem(l->err);
	for (size_t i = 0; i < others->nr; i++)
		l->tags[l->tag_nr++] = (struct layered_tag){
			others->items[i].obj_pos,
			commit,
		};
	return 0;
}

/*
 * Puts the object of a reference into the layer `layer`, if the object is a
 * commit or a tag of a commit. Any other object stays in the last layer, where
 * all objects are at first.
 */
static int add_value(struct layering *l, const struct oid *oid,
		     enum islands_layer layer)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	int ret = walk_add_tip(l->w, &tips, oid, false, l->err);

	if (!ret && tips.commit_nr && tips.commits[0] < l->commit_end) {
		lower(&l->commits[tips.commits[0]], layer);
		ret = add_tags(l, &tips.others, tips.commits[0]);
	}
	walk_tips_release(&tips);
	return ret;
}

static int add_ref(void *ctx, const struct ref *ref)
{
	struct layering *l = ctx;
	int ret = oidmap_add(&l->seen, &ref->oid, 0, NULL);

	if (ret <= 0)
		return ret < 0 ? error_nomem(l->err) : 0;
	return add_value(l, &ref->oid, ISLANDS_LAYER_BRANCHES);
}

static int add_refs(struct layering *l, struct refs *refs,
		    const struct oid *head)
{
	int ret = add_value(l, head, ISLANDS_LAYER_HEAD);

	if (!ret)
		ret = refs_each_strict(refs, "refs/heads/", add_ref, l, l->err);
	if (!ret)
		ret = refs_each_strict(refs, "refs/tags/", add_ref, l, l->err);
	return ret;
}

/*
 * If a parent of a commit is in a later layer than the commit, moves the parent
 * into the commit's layer.
 */
static void mark_parents(struct layering *l)
{
	const struct history *h = &l->w->history;

	for (size_t i = l->found->revs.nr; i-- > 0;) {
		uint32_t c = l->found->parents_first[i];
		const uint32_t *parents = history_parents(h, c);

		for (uint32_t k = 0; k < h->commits[c].parent_nr; k++)
			lower(&l->commits[parents[k]], l->commits[c]);
	}
}

static void mark_object(struct layering *l, uint32_t obj_pos, uint8_t layer)
{
	if (obj_pos < l->islands->layer_end)
		lower(&l->islands->layers[obj_pos], layer);
}

static void mark_objects(struct layering *l)
{
	const struct walk_result *found = l->found;

	for (size_t i = 0; i < found->revs.nr; i++) {
		uint32_t c = found->parents_first[i];
		const struct newobj_list *list = &found->lists.lists[i];

		mark_object(l, l->w->history.commits[c].obj_pos, l->commits[c]);
		for (uint32_t k = 0; k < list->nr; k++)
			mark_object(l, list->items[k].obj_pos, l->commits[c]);
	}
	for (size_t i = 0; i < l->tag_nr; i++)
		mark_object(l, l->tags[i].obj_pos,
			    l->commits[l->tags[i].commit]);
}

static int mark_all(struct layering *l, struct refs *refs,
		    const struct oid *head)
{
	struct islands *islands = l->islands;
	int ret;

	l->commit_end = (uint32_t)l->w->history.nr;
	l->commits = mem_alloc(l->commit_end, 1);
	islands->layer_end = objspace_end(&l->w->space);
	islands->layers = mem_alloc(islands->layer_end, 1);
	if (!l->commits || !islands->layers)
		return error_nomem(l->err);
	memset(l->commits, ISLANDS_LAYER_REST, l->commit_end);
	memset(islands->layers, ISLANDS_LAYER_REST, islands->layer_end);
	ret = add_refs(l, refs, head);
	if (ret < 0)
		return ret;
	mark_parents(l);
	mark_objects(l);
	return 0;
}

int islands_mark_layers(struct islands *islands, struct walk *w,
			const struct walk_result *found, struct refs *refs,
			struct error *err)
{
	struct layering l = {
		.islands = islands,
		.w = w,
		.found = found,
		.err = err,
	};
	struct ref head;
	int ret = refs_lookup_head(refs, &head, err);

	if (ret > 0)
		ret = mark_all(&l, refs, &head.oid);
	free(l.commits);
	free(l.tags);
	oidmap_release(&l.seen);
	return ret;
}
