/* SPDX-License-Identifier: MIT */
/* What the receiver has in trees of commits that it has. */
#include "base/mem.h"
#include "repack/find-parts.h"
#include "walk/treewalk.h"

/* Boundary commits whose trees are looked into for thin bases. */
#define MAX_BOUNDARY 256

int find_boundary_add(struct found *f, const uint32_t *commits, size_t nr)
{
	if (!f->boundary)
		f->boundary = mem_alloc(MAX_BOUNDARY, sizeof(*f->boundary));
	if (!f->boundary)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr && f->boundary_nr < MAX_BOUNDARY; i++)
		f->boundary[f->boundary_nr++] = commits[i];
	return 0;
}

bool find_has_entries(const struct found *f, enum object_type type)
{
	return filter_is_empty(f->request->filter) ||
	       filter_takes_all(f->request->filter, type);
}

static int collect_boundary_object(void *ctx, uint32_t obj_pos,
				   enum object_type type, const char *path,
				   size_t path_len, struct error *err)
{
	struct found *f = ctx;
	const struct walk_item item = {
		.obj_pos = obj_pos,
		.name_hash = name_hash_add(0, path, path_len),
		.group = name_group_path(f->grouping, path, path_len),
		.type = (uint8_t)type,
	};

	if (!find_has_entries(f, type))
		return 0;
	return walk_items_add(&f->boundary_objects, &item) < 0
		       ? error_nomem(err)
		       : 0;
}

/* Set the bits (by commit_nr) of the commits' parents. */
static int mark_parents(struct bitset *set, const struct history *h,
			const uint32_t *commits, size_t nr)
{
	if (bitset_init(set, h->nr) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct history_commit *c = &h->commits[commits[i]];

		for (uint32_t k = 0; c->parsed && k < c->parent_nr; k++)
			bitset_set(set, history_parents(h, commits[i])[k]);
	}
	return 0;
}

/* Put a commit in its place by date, the oldest falls out. */
static void insert_newest(uint32_t out[FOUND_NEWEST_MAX], size_t *nr,
			  const struct history *h, uint32_t c)
{
	size_t at = *nr;

	while (at && h->commits[out[at - 1]].date < h->commits[c].date) {
		if (at < FOUND_NEWEST_MAX)
			out[at] = out[at - 1];
		at--;
	}
	if (at < FOUND_NEWEST_MAX)
		out[at] = c;
	*nr += *nr < FOUND_NEWEST_MAX;
}

int found_newest(uint32_t out[FOUND_NEWEST_MAX], size_t *out_nr,
		 const struct history *h, const uint32_t *commits, size_t nr,
		 struct error *err)
{
	struct bitset parents = BITSET_INIT;

	*out_nr = 0;
	if (mark_parents(&parents, h, commits, nr) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < nr; i++)
		if (h->commits[commits[i]].parsed &&
		    !bitset_test(&parents, commits[i]))
			insert_newest(out, out_nr, h, commits[i]);
	bitset_release(&parents);
	return 0;
}

int find_boundary_collect(struct found *f, struct error *err)
{
	struct history *h = &f->walk.history;
	uint32_t few[FOUND_NEWEST_MAX];
	const uint32_t *commits = f->boundary;
	size_t nr = f->boundary_nr;
	struct treewalk tree;
	int ret = 0;

	if (f->has_boundary || !f->boundary_nr)
		return 0;
	if (f->pb || f->had_all) {
		ret = found_newest(few, &nr, h, commits, nr, err);
		commits = few;
	}
	if (ret < 0)
		return ret;
	ret = treewalk_init(&tree, &f->walk.space, f->walk.reader);
	if (ret < 0)
		ret = error_nomem(err);
	for (size_t i = 0; i < nr && !ret; i++) {
		const struct history_commit *c = &h->commits[commits[i]];

		if (c->parsed)
			ret = treewalk_run(&tree, c->tree_pos, "",
					   collect_boundary_object, f, err);
	}
	f->has_boundary = true;
	if (!f->had_all) {
		f->had = tree.seen;
		tree.seen = (struct bitset)BITSET_INIT;
	}
	treewalk_release(&tree);
	return ret;
}
