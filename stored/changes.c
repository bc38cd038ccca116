/* SPDX-License-Identifier: MIT */
/* Finds the refs that differ between two generations. */
#include <string.h>

#include "base/mem.h"
#include "stored/tables.h"

/*
 * Adds an entry with copies of the strings. `before` and `after` are NULL or ""
 * if there is no such ref.
 */
static int add(struct stored_changes *out, const char *ref, const char *before,
	       const char *after, struct error *err)
{
	struct stored_change change = {NULL, NULL, NULL};

	if (mem_grow(&out->items, &out->alloc, out->nr + 1,
		     sizeof(*out->items)) < 0)
		return error_nomem(err);
	change.ref = mem_strdup(ref);
	if (before && *before)
		change.before = mem_strdup(before);
	if (after && *after)
		change.after = mem_strdup(after);
	out->items[out->nr++] = change;
	return !change.ref || (before && *before && !change.before) ||
			       (after && *after && !change.after)
		       ? error_nomem(err)
		       : 0;
}

static void item_release(struct stored_change *change)
{
	free(change->ref);
	free(change->before);
	free(change->after);
}

void stored_changes_release(struct stored_changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++)
		item_release(&changes->items[i]);
	free(changes->items);
	*changes = (struct stored_changes){0};
}

/* ---- generations with the same tables */

static int add_updates(struct stored_changes *out,
		       const struct stored_tables *before,
		       const struct generation *after, struct error *err)
{
	struct buf value = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; !ret && i < after->update_nr; i++) {
		const struct generation_update *update = &after->updates[i];

		if (update->number <= before->g->number)
			continue;
		buf_reset(&value);
		ret = stored_tables_find(before, &value, update->ref, err);
		if (!ret &&
		    strcmp(value.data, update->value ? update->value : "") != 0)
			ret = add(out, update->ref, value.data, update->value,
				  err);
	}
	buf_release(&value);
	return ret;
}

/* ---- generations with different tables */

/*
 * The state of comparing the refs of two generations. `old` is sorted, and the
 * refs of the new generation are visited in the same order.
 */
struct comparison {
	/*
	 * The refs of the old generation. Each value is in the field `before`.
	 */
	struct stored_changes old;
	/* number of refs of `old` that were already compared */
	size_t old_nr;
	struct stored_changes *out;
};

static int note_old(void *ctx, const char *ref, const char *value,
		    struct error *err)
{
	return add(ctx, ref, value, NULL, err);
}

/*
 * Adds the next refs of `old` that sort before `ref` to the result: the new
 * generation does not have them. If `ref` is NULL, adds all remaining refs of
 * `old`.
 */
static int pass_deleted(struct comparison *c, const char *ref,
			struct error *err)
{
	int ret = 0;

	for (; !ret && c->old_nr < c->old.nr; c->old_nr++) {
		const struct stored_change *old = &c->old.items[c->old_nr];

		if (ref && strcmp(old->ref, ref) >= 0)
			break;
		ret = add(c->out, old->ref, old->before, NULL, err);
	}
	return ret;
}

static int compare(void *ctx, const char *ref, const char *value,
		   struct error *err)
{
	struct comparison *c = ctx;
	const struct stored_change *old;
	int ret = pass_deleted(c, ref, err);

	if (ret)
		return ret;
	old = c->old_nr < c->old.nr ? &c->old.items[c->old_nr] : NULL;
	if (!old || strcmp(old->ref, ref) != 0)
		return add(c->out, ref, NULL, value, err);
	c->old_nr++;
	return strcmp(old->before, value) != 0
		       ? add(c->out, ref, old->before, value, err)
		       : 0;
}

static int compare_all(struct stored_changes *out,
		       const struct stored_tables *before,
		       const struct stored_tables *after, struct error *err)
{
	struct comparison c = {.out = out};
	int ret = before ? stored_tables_each(before, note_old, &c.old, err)
			 : 0;

	if (!ret)
		ret = stored_tables_each(after, compare, &c, err);
	if (!ret)
		ret = pass_deleted(&c, NULL, err);
	stored_changes_release(&c.old);
	return ret;
}

int stored_changes_find(struct stored_changes *out, struct stored_cache *cache,
			const struct generation_place *place,
			const struct generation *before,
			const struct generation *after, struct error *err)
{
	bool same = before && stored_tables_are_same(before, after);
	struct stored_tables old = {0}, new = {0};
	int ret = 0;

	*out = (struct stored_changes){0};
	if (same && !after->update_nr)
		return 0;
	if (before)
		ret = stored_tables_open(&old, cache, place, before, err);
	if (!ret && same) {
		ret = add_updates(out, &old, after, err);
	} else if (!ret) {
		ret = stored_tables_open(&new, cache, place, after, err);
		if (!ret)
			ret = compare_all(out, before ? &old : NULL, &new, err);
	}
	stored_tables_release(&old);
	stored_tables_release(&new);
	return ret;
}
