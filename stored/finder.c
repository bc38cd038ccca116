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

/* A search for refs that conflict with a new ref. */
struct search {
	const struct generation *g;
	const struct generation_change *change;
};

/*
 * Returns whether to ignore a ref in the tables: the generation has an update
 * of this ref, or the change deletes it.
 */
static bool is_ignored(void *ctx, const char *ref)
{
	const struct search *s = ctx;

	return generation_find_update(s->g, ref) ||
	       generation_change_deletes(s->change, ref);
}

int stored_finder_find(void *ctx, struct buf *value, const struct generation *g,
		       const struct generation_change *change, const char *ref,
		       struct error *err)
{
	struct stored_finder *l = ctx;
	struct search search = {g, change};
	int ret = open_tables(l, g, err);

	if (!ret)
		ret = stored_tables_find(&l->tables, value, ref, err);
	if (ret || value->len)
		return ret;
	return stored_tables_collide(&l->tables, ref, is_ignored, &search, err);
}
