/* SPDX-License-Identifier: MIT */
/* Finds commits whose bitmaps do not contain any object of a given set. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/fill.h"

struct disjoint {
	struct walk_tips *bounds;
	const struct bitmap_file *file;
	const struct bitmap_space *space;
	struct walk *w;
	const struct bitset *set;
	/*
	 * owned array, indexed by row of the bitmap file: the commit_nr of the
	 * row's commit
	 */
	uint32_t *commits;
	/*
	 * indexed by bit_pos: objects that are reachable from the commits found
	 * so far
	 */
	struct bitset reached;
	struct bitset bits; /* the bitmap of one row */
	struct bitset scratch;
	struct error *err;
};

static int load_commit(struct disjoint *d, uint32_t row)
{
	struct bitmap_row at = bitmap_file_row(d->file, row);
	uint32_t obj_pos;
	int ret;

	if (at.idx_pos >= bitmap_space_nr(d->space) ||
	    !bitmap_space_obj(d->space, at.idx_pos, &obj_pos))
		return error_set(d->err, ERR_CORRUPT,
				 "%s: no object found for bitmap %u",
				 d->file->name, row);
	ret = history_add(&d->w->history, obj_pos, &d->commits[row]);
	return ret < 0 ? error_nomem(d->err)
		       : history_parse(&d->w->history, d->commits[row], d->err);
}

/* Sorts the rows of the bitmap file from the newest commit to the oldest. */
static int sort_rows(struct disjoint *d, struct sort_item *rows)
{
	for (uint32_t row = 0; row < d->file->row_nr; row++) {
		int ret = load_commit(d, row);

		if (ret < 0)
			return ret;
		rows[row] = (struct sort_item){
			UINT64_MAX -
				d->w->history.commits[d->commits[row]].date,
			row,
		};
	}
	return sort_items(rows, d->file->row_nr) < 0 ? error_nomem(d->err) : 0;
}

static bool is_reached(const struct disjoint *d, uint32_t row)
{
	struct bitmap_row at = bitmap_file_row(d->file, row);
	uint32_t bit;

	return bitmap_space_bit_of(d->space, at.idx_pos, &bit) &&
	       bitset_get(&d->reached, bit);
}

static int add_bound(struct disjoint *d, uint32_t commit)
{
	struct walk_tips *bounds = d->bounds;

	if (mem_grow(&bounds->commits, &bounds->commit_alloc,
		     bounds->commit_nr + 1, sizeof(*bounds->commits)) < 0)
		return error_nomem(d->err);
	bounds->commits[bounds->commit_nr++] = commit;
	return 0;
}

static int look_at(struct disjoint *d, uint32_t row)
{
	int ret;

	if (is_reached(d, row))
		return 0;
	bitset_clear(&d->bits);
	ret = bitmap_file_or(&d->bits, d->file, row, &d->scratch, d->err);
	if (ret < 0 || bitset_count_and(&d->bits, d->set))
		return ret;
	bitset_or(&d->reached, &d->bits);
	return add_bound(d, d->commits[row]);
}

static int find_by_row(struct disjoint *d)
{
	struct sort_item *rows = mem_alloc(d->file->row_nr, sizeof(*rows));
	int ret = 0;

	d->commits = mem_alloc(d->file->row_nr, sizeof(*d->commits));
	if (!rows || !d->commits ||
	    bitset_init(&d->reached, d->file->object_nr) < 0 ||
	    bitset_init(&d->bits, d->file->object_nr) < 0)
		ret = error_nomem(d->err);
	if (!ret)
		ret = sort_rows(d, rows);
	for (uint32_t i = 0; i < d->file->row_nr && !ret; i++)
		ret = look_at(d, rows[i].value);
	bitset_release(&d->reached);
	bitset_release(&d->bits);
	bitset_release(&d->scratch);
	free(d->commits);
	free(rows);
	return ret;
}

/*
 * A stack of commits that the index lacks. The parents of a commit on the stack
 * must still be visited.
 */
struct pending {
	struct bitset seen; /* indexed by commit_nr */
	uint32_t *commits;  /* owned */
	size_t nr, alloc;
};

static int pending_add(struct pending *p, uint32_t commit)
{
	if (bitset_get(&p->seen, commit))
		return 0;
	if (bitset_grow(&p->seen, (size_t)commit + 1) < 0 ||
	    mem_grow(&p->commits, &p->alloc, p->nr + 1, sizeof(*p->commits)) <
		    0)
		return ERR_NOMEM;
	bitset_set(&p->seen, commit);
	p->commits[p->nr++] = commit;
	return 0;
}

static int look_behind(struct disjoint *d, struct pending *p, uint32_t commit)
{
	struct history *h = &d->w->history;
	uint32_t ignored;
	int ret = history_parse(h, commit, d->err);

	if (ret < 0)
		return ret;
	if (bitmap_space_idx(d->space, &d->w->space, h->commits[commit].obj_pos,
			     &ignored))
		return add_bound(d, commit);
	for (uint32_t i = 0; i < h->commits[commit].parent_nr; i++)
		if (pending_add(p, history_parents(h, commit)[i]) < 0)
			return error_nomem(d->err);
	return 0;
}

static int find_by_index(struct disjoint *d, const struct walk_tips *wants)
{
	struct pending p = {.nr = 0};
	int ret = 0;

	for (size_t i = 0; i < wants->commit_nr && !ret; i++)
		if (pending_add(&p, wants->commits[i]) < 0)
			ret = error_nomem(d->err);
	while (p.nr && !ret)
		ret = look_behind(d, &p, p.commits[--p.nr]);
	bitset_release(&p.seen);
	free(p.commits);
	return ret;
}

int bitmap_disjoint_commits(struct walk_tips *bounds,
			    const struct bitmap_file *file,
			    const struct bitmap_space *space, struct walk *w,
			    const struct walk_tips *wants,
			    const struct bitset *set, struct error *err)
{
	struct disjoint d = {
		.bounds = bounds,
		.file = file,
		.space = space,
		.w = w,
		.set = set,
		.err = err,
	};

	return bitset_is_empty(set) ? find_by_index(&d, wants)
				    : find_by_row(&d);
}
