/* SPDX-License-Identifier: MIT */
/* Looks up refs in the tables of a generation. */
#include <string.h>

#include "stored/finder.h"

void stored_finder_release(struct stored_finder *l)
{
	if (l->has_tables)
		stored_tables_release(&l->tables);
	l->has_tables = false;
	generation_release(&l->tables_of);
	l->tables_of = (struct generation){0};
}

/*
 * Opens the tables of a generation, unless the last call opened the same
 * tables.
 */
static int open_tables(struct stored_finder *l, const struct generation *g,
		       struct error *err)
{
	int ret = 0;

	if (l->has_tables && stored_tables_are_same(&l->tables_of, g))
		return 0;
	stored_finder_release(l);
	for (size_t i = 0; !ret && i < g->file_nr; i++)
		if (generation_path_is_table(g->files[i].path))
			ret = generation_add_file(&l->tables_of, &g->files[i],
						  err);
	if (!ret)
		ret = stored_tables_open(&l->tables, l->cache, l->place,
					 &l->tables_of, err);
	l->has_tables = !ret;
	return ret;
}

/*
 * Returns whether to ignore a ref in the tables: the generation has an update
 * of this ref, or the change deletes it.
 */
static bool is_ignored(void *ctx, const char *ref)
{
	const struct stored_finder_refs *r = ctx;

	if (generation_find_update(r->looked_at, ref))
		return true;
	for (size_t i = 0; i < r->ref_nr; i++)
		if (!r->refs[i].after && !strcmp(r->refs[i].ref, ref))
			return true;
	return false;
}

int stored_finder_find(void *ctx, struct buf *value, const struct generation *g,
		       const char *ref, struct error *err)
{
	struct stored_finder_refs *r = ctx;
	const struct stored_tables *tables = &r->finder->tables;
	int ret = open_tables(r->finder, g, err);

	r->looked_at = g;
	if (!ret)
		ret = stored_tables_find(tables, value, ref, err);
	if (ret || value->len)
		return ret;
	return stored_tables_collide(tables, ref, is_ignored, r, err);
}
