/* SPDX-License-Identifier: MIT */
/* Walks from tips back to the nearest bitmaps. */
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/fill.h"
#include "bitmap/pseudo-merge.h"
#include "object/parse.h"
#include "trees/treewalk.h"

int bitmap_fill_init(struct bitmap_fill *fill, const struct bitmap_file *file,
		     struct bitmap_space space, struct walk *w,
		     struct error *err)
{
	*fill = (struct bitmap_fill){.file = file, .space = space, .w = w};
	return bitset_init(&fill->packed, file->object_nr) < 0
		       ? error_nomem(err)
		       : 0;
}

void bitmap_fill_release(struct bitmap_fill *fill)
{
	bitset_release(&fill->packed);
	bitset_release(&fill->outside);
	bitset_release(&fill->scratch);
	bitmap_space_table_release(&fill->table);
}

void bitmap_fill_clear(struct bitmap_fill *fill)
{
	bitset_clear(&fill->packed);
	bitset_clear(&fill->outside);
	fill->bitmaps_used = 0;
	fill->pseudo_merges_used = 0;
	fill->commits_walked = 0;
	fill->objects_walked = 0;
}

void bitmap_trace_release(struct bitmap_trace *trace)
{
	free(trace->rows);
	free(trace->pseudo);
	*trace = (struct bitmap_trace){0};
}

/*
 * If many bits of objects are needed, a table of all bits is made, because
 * searching for a bit by the object's offset is slow. Making the table for `nr`
 * indexed objects takes as long as nr / LOOKUPS_RATIO searches. So the table is
 * made after this number of searches, but not before LOOKUPS_MIN searches.
 */
#define LOOKUPS_MIN 4096
#define LOOKUPS_RATIO 64

static uint32_t lookups_max(const struct bitmap_fill *fill)
{
	uint32_t nr = fill->file->object_nr / LOOKUPS_RATIO;

	return nr > LOOKUPS_MIN ? nr : LOOKUPS_MIN;
}

/*
 * Finds the bit of an object, like bitmap_space_bit(). After many calls, makes
 * a table of all bits, which is faster than searching. Returns false if the
 * object has no bit.
 */
static bool find_bit(struct bitmap_fill *fill, uint32_t obj_pos, uint32_t *bit)
{
	struct objspace *objects = &fill->w->space;

	if (!fill->table.bits && ++fill->lookups == lookups_max(fill))
		bitmap_space_table_init(&fill->table, &fill->space);
	return bitmap_space_table_bit(&fill->table, &fill->space, objects,
				      obj_pos, bit);
}

/* One side of a query, the haves or the wants, while its closure is added. */
struct bitmap_side {
	struct bitmap_fill *fill;
	const struct walk_tips *tips;
	/*
	 * receives the objects of the closure that are not indexed; NULL: they
	 * are not listed
	 */
	struct walk_items *others;
	/* commits that were not visited yet, newest first */
	struct heap queue;
	/* owned: the visited commits (commit_nr) without a bitmap */
	uint32_t *walked;
	size_t walked_nr, walked_alloc;
	struct pseudo_fill pseudo;
};

/*
 * Returns whether an object is in the set, which consists of fill->packed and
 * fill->outside.
 */
static bool has(struct bitmap_fill *fill, uint32_t obj_pos)
{
	uint32_t bit;

	if (bitset_get(&fill->outside, obj_pos))
		return true;
	return find_bit(fill, obj_pos, &bit) && bitset_test(&fill->packed, bit);
}

/*
 * Grows fill->outside, the set of objects that the index lacks, so that it has
 * a bit for this object. An empty set takes no memory.
 */
static int grow_outside(struct bitmap_fill *fill, uint32_t obj_pos)
{
	size_t end = objspace_end(&fill->w->space);
	size_t least = (size_t)obj_pos + 4096;

	return obj_pos < fill->outside.bits
		       ? 0
		       : bitset_grow(&fill->outside, end > least ? end : least);
}

/*
 * Adds an object to the set (fill->packed or fill->outside). Returns 1 if the
 * set lacked the object, 0 if the set had it, or ERR_NOMEM.
 */
static int add(struct bitmap_side *f, uint32_t obj_pos, enum object_type type,
	       uint32_t name_hash)
{
	struct bitmap_fill *fill = f->fill;
	uint32_t bit;

	if (find_bit(fill, obj_pos, &bit)) {
		if (bitset_test(&fill->packed, bit))
			return 0;
		bitset_set(&fill->packed, bit);
		fill->objects_walked++;
		return 1;
	}
	if (grow_outside(fill, obj_pos) < 0)
		return ERR_NOMEM;
	if (bitset_test(&fill->outside, obj_pos))
		return 0;
	bitset_set(&fill->outside, obj_pos);
	fill->objects_walked++;
	if (f->others &&
	    walk_items_append(f->others, obj_pos, type, name_hash) < 0)
		return ERR_NOMEM;
	return 1;
}

static int queue_commit(struct bitmap_side *f, uint32_t c, struct error *err)
{
	struct history *h = &f->fill->w->history;
	int ret = history_parse(h, c, err);

	if (ret < 0)
		return ret;
	if (heap_push(&f->queue, h->commits[c].date, c) < 0)
		return error_nomem(err);
	return 0;
}

static int trace_row(struct bitmap_trace *trace, uint32_t row)
{
	if (mem_grow(&trace->rows, &trace->row_alloc, trace->row_nr + 1,
		     sizeof(*trace->rows)) < 0)
		return ERR_NOMEM;
	trace->rows[trace->row_nr++] = row;
	return 0;
}

static int trace_pseudo(struct bitmap_trace *trace,
			const struct pseudo_fill *pseudo)
{
	if (mem_grow(&trace->pseudo, &trace->pseudo_alloc,
		     trace->pseudo_nr + pseudo->used,
		     sizeof(*trace->pseudo)) < 0)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < pseudo->used; i++)
		trace->pseudo[trace->pseudo_nr++] = pseudo->served[i];
	return 0;
}

static bool find_row(const struct bitmap_fill *fill, uint32_t obj_pos,
		     uint32_t *row)
{
	uint32_t idx_pos;

	return bitmap_space_idx(&fill->space, &fill->w->space, obj_pos,
				&idx_pos) &&
	       bitmap_file_find(fill->file, idx_pos, row);
}

bool bitmap_side_has_bitmap(const struct bitmap_side *side, uint32_t commit_nr)
{
	const struct walk *w = side->fill->w;
	uint32_t row;

	return find_row(side->fill, w->history.commits[commit_nr].obj_pos,
			&row);
}

/*
 * Counts the commits from bit `bit` to the next commit with a bitmap, in the
 * order of the pack: older commits have higher bits. Stops at `most`. Returns
 * the number of commits, or 0 if memory runs out.
 */
static size_t indexed_distance(struct bitmap_fill *fill, uint32_t bit,
			       size_t most)
{
	struct bitset *commits = &fill->scratch;
	size_t nr = 0;

	if (bitset_grow(commits, fill->packed.bits) < 0)
		return 0;
	bitset_clear(commits);
	bitmap_file_or_type(commits, fill->file, BITMAP_COMMITS);
	for (size_t at = bit; nr < most && at < commits->bits;
	     at = bitset_next(commits, at + 1), nr++) {
		uint32_t idx_pos, row;

		idx_pos = bitmap_space_idx_pos(&fill->space, (uint32_t)at);
		if (bitmap_file_find(fill->file, idx_pos, &row))
			break;
	}
	return nr;
}

size_t bitmap_side_distance(const struct bitmap_side *side, uint32_t commit_nr,
			    size_t most)
{
	struct bitmap_fill *fill = side->fill;
	const struct walk *w = fill->w;
	size_t indexed = fill->file->object_nr;
	size_t packed = w->odb->packed_nr;
	uint32_t bit;

	if (find_bit(fill, w->history.commits[commit_nr].obj_pos, &bit))
		return indexed_distance(fill, bit, most);
	if (!indexed)
		return most;
	if (packed <= indexed)
		return 0;
	return (size_t)((double)(packed - indexed) / (double)indexed *
			(double)bitmap_file_count_type(fill->file,
						       BITMAP_COMMITS));
}

/*
 * Returns whether the set contains the commit at idx_pos, which has a bitmap.
 * If so, the set also contains all objects that the commit reaches. The reason:
 * the walk itself adds only commits without a bitmap. So this commit was added
 * by a bitmap, and a bitmap contains all objects that its commits reach.
 */
static bool holds(void *ctx, uint32_t idx_pos)
{
	const struct bitmap_fill *fill = ctx;
	uint32_t bit;

	return bitmap_space_bit_of(&fill->space, idx_pos, &bit) &&
	       bitset_test(&fill->packed, bit);
}

static int or_row(struct bitmap_side *f, uint32_t row, struct error *err)
{
	struct bitmap_fill *fill = f->fill;
	const struct bitmap_held held = {
		.is_empty = !fill->bitmaps_used && !fill->pseudo_merges_used &&
			    !fill->objects_walked && !f->pseudo.used,
		.has = holds,
		.ctx = fill,
	};
	int ret = bitmap_file_or_rest(&fill->packed, fill->file, row, &held,
				      &fill->scratch, err);

	if (ret < 0)
		return ret;
	fill->bitmaps_used++;
	if (fill->trace && trace_row(fill->trace, row) < 0)
		return error_nomem(err);
	return 0;
}

/*
 * ORs the bitmap of a commit into the set. Returns 1 if the commit has a
 * bitmap, 0 if not, or a negative error code.
 */
static int or_bitmap(struct bitmap_side *f, uint32_t obj_pos, struct error *err)
{
	uint32_t row;
	int ret;

	if (!find_row(f->fill, obj_pos, &row))
		return 0;
	ret = or_row(f, row, err);
	return ret < 0 ? ret : 1;
}

/*
 * Records that the set has a commit, so that pseudo-merges with this commit are
 * considered. Returns 0 or a negative error code.
 */
static int note_commit(struct bitmap_side *f, uint32_t c, struct error *err)
{
	struct bitmap_fill *fill = f->fill;
	uint32_t bit;

	if (!fill->file->pseudo.nr ||
	    !find_bit(fill, fill->w->history.commits[c].obj_pos, &bit))
		return 0;
	return pseudo_fill_note(&f->pseudo, bit, err);
}

/*
 * Pseudo-merges are tried again when this number of commits was walked, and
 * then each time that the number of walked commits has doubled.
 */
#define PSEUDO_FIRST 16

/*
 * Tries again to use pseudo-merges, each time that the number of walked commits
 * has doubled. So the tries cost little compared to the walk. Returns 0 or a
 * negative error code.
 */
static int retry_pseudo_merges(struct bitmap_side *f, struct error *err)
{
	size_t nr = f->walked_nr;

	if (nr < PSEUDO_FIRST || (nr & (nr - 1)))
		return 0;
	return pseudo_fill_run(&f->pseudo, &f->fill->packed, err);
}

static int walk_commit(struct bitmap_side *f, uint32_t c, struct error *err)
{
	struct history *h = &f->fill->w->history;
	int ret = add(f, h->commits[c].obj_pos, OBJ_COMMIT, 0);

	if (ret < 0 || mem_grow(&f->walked, &f->walked_alloc, f->walked_nr + 1,
				sizeof(*f->walked)) < 0)
		return error_nomem(err);
	f->walked[f->walked_nr++] = c;
	ret = note_commit(f, c, err);
	if (!ret)
		ret = retry_pseudo_merges(f, err);
	if (ret < 0)
		return ret;
	for (uint32_t i = 0; i < h->commits[c].parent_nr; i++) {
		uint32_t p = history_parents(h, c)[i];

		if (has(f->fill, h->commits[p].obj_pos))
			continue;
		ret = queue_commit(f, p, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Adds the counters of one side of a query (haves or wants) to the counters of
 * the fill. If there is a trace (fill->trace), appends to it the pseudo-merges
 * that this side has used. Returns 0 or a negative error code.
 */
static int account(struct bitmap_side *side)
{
	struct bitmap_fill *fill = side->fill;

	fill->pseudo_merges_used += side->pseudo.used;
	fill->commits_walked += (uint32_t)side->walked_nr;
	return fill->trace ? trace_pseudo(fill->trace, &side->pseudo) : 0;
}

/*
 * Visit the newest commit first. Its bitmap most likely contains other commits
 * of the queue, which then need no visit.
 */
int bitmap_side_walk(struct bitmap_side *f, size_t limit, struct error *err)
{
	uint32_t c;

	while (heap_pop(&f->queue, &c)) {
		uint32_t obj_pos = f->fill->w->history.commits[c].obj_pos;
		int ret;

		if (has(f->fill, obj_pos))
			continue;
		ret = or_bitmap(f, obj_pos, err);
		if (!ret && f->walked_nr >= limit)
			return heap_push(&f->queue,
					 f->fill->w->history.commits[c].date,
					 c) < 0
				       ? error_nomem(err)
				       : 1;
		if (!ret)
			ret = walk_commit(f, c, err);
		if (ret < 0)
			return ret;
	}
	return account(f) < 0 ? error_nomem(err) : 0;
}

static int fill_tree(struct bitmap_side *f, uint32_t tree_pos,
		     uint32_t name_hash, unsigned depth, struct error *err);

static int fill_entry(struct bitmap_side *f, const struct tree_entry *entry,
		      uint32_t dir_hash, unsigned depth, struct error *err)
{
	struct walk *w = f->fill->w;
	uint32_t hash, obj_pos;
	int ret;

	if (tree_entry_is_gitlink(entry))
		return 0;
	if (objspace_add(&w->space, entry->oid, &obj_pos) < 0)
		return error_nomem(err);
	hash = name_hash_add(dir_hash, entry->name, entry->name_len);
	if (tree_entry_is_dir(entry))
		return fill_tree(f, obj_pos, hash, depth + 1, err);
	ret = add(f, obj_pos, OBJ_BLOB, hash);
	return ret < 0 ? error_nomem(err) : 0;
}

static int fill_entries(struct bitmap_side *f, const struct odb_object *tree,
			uint32_t dir_hash, unsigned depth, struct error *err)
{
	enum hash_algo algo = f->fill->w->odb->algo;
	struct cursor c = cursor_make(tree->data, tree->len);
	struct tree_entry entry;
	int ret;

	while ((ret = tree_next(&entry, &c, algo)) > 0) {
		ret = fill_entry(f, &entry, dir_hash, depth, err);
		if (ret < 0)
			return ret;
	}
	return ret < 0 ? error_set(err, ret, "malformed tree object") : 0;
}

/*
 * Adds a tree and the objects below it. Does nothing if the set already has the
 * tree: it then has the objects below the tree too.
 */
static int fill_tree(struct bitmap_side *f, uint32_t tree_pos,
		     uint32_t name_hash, unsigned depth, struct error *err)
{
	struct walk *w = f->fill->w;
	struct odb_object tree = ODB_OBJECT_INIT;
	int ret = add(f, tree_pos, OBJ_TREE, name_hash);

	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	if (odb_is_too_deep(w->odb, depth))
		return objspace_error(&w->space, tree_pos, ERR_CORRUPT,
				      ODB_TOO_DEEP, err);
	ret = objspace_read_tree(&w->space, w->reader, tree_pos, &tree, err);
	if (ret < 0)
		return ret;
	if (depth)
		name_hash = name_hash_add(name_hash, "/", 1);
	ret = fill_entries(f, &tree, name_hash, depth, err);
	odb_object_release(w->reader, &tree);
	return ret;
}

static int fill_others(struct bitmap_side *f, const struct walk_items *others,
		       struct error *err)
{
	for (size_t i = 0; i < others->nr; i++) {
		const struct walk_item *item = &others->items[i];
		int ret;

		if (item->type == OBJ_TREE) {
			ret = fill_tree(f, item->obj_pos, 0, 0, err);
		} else {
			ret = add(f, item->obj_pos, item->type, 0);
			if (ret < 0)
				ret = error_nomem(err);
		}
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Converts fill->packed, which is indexed by bit_pos, to the same set indexed
 * by obj_pos, and stores it in *known. fill->packed is closed under
 * reachability. Returns 0 or ERR_NOMEM.
 */
static int known_set(struct bitset *known, const struct bitmap_fill *fill)
{
	const struct bitmap_space *space = &fill->space;
	uint32_t obj_pos;

	if (bitset_init(known, fill->w->space.packed_nr) < 0)
		return ERR_NOMEM;
	bitmap_space_prepare(space);
	for (size_t bit = bitset_next(&fill->packed, 0);
	     bit < fill->packed.bits; bit = bitset_next(&fill->packed, bit + 1))
		if (bitmap_space_obj(space,
				     bitmap_space_idx_pos(space, (uint32_t)bit),
				     &obj_pos))
			bitset_set(known, obj_pos);
	return 0;
}

static int add_lists(struct bitmap_side *f, const struct newobj_set *set,
		     struct error *err)
{
	for (size_t i = 0; i < set->nr; i++) {
		const struct newobj_list *list = &set->lists[i];

		for (uint32_t k = 0; k < list->nr; k++)
			if (add(f, list->items[k].obj_pos,
				k < list->tree_nr ? OBJ_TREE : OBJ_BLOB,
				list->items[k].name_hash) < 0)
				return error_nomem(err);
	}
	return 0;
}

/*
 * If at least this many commits were walked, newobj_compute() gets a list of
 * the objects that are in the set already, and skips them. For fewer commits,
 * making this list costs more than it saves.
 */
#define KNOWN_MIN 64

/*
 * Adds the new objects of the walked commits: objects that no parent has at the
 * same path. The other objects of a walked commit are in the tree of one of its
 * parents. They need not be added, for one of two reasons. The parent was
 * walked too, and so its new objects are added. Or the set of `f`, to which the
 * objects are added, already has the closure of the parent from a bitmap.
 */
static int fill_walked(struct bitmap_side *f, struct error *err)
{
	struct history *h = &f->fill->w->history;
	const struct filter *filter = f->fill->filter;
	struct newobj_options options = {
		.threads = h->threads,
		.union_only = true,
		.trees_only = filter && !filter_takes_type(filter, OBJ_BLOB),
	};
	struct newobj_set set = NEWOBJ_SET_INIT;
	struct bitset known = BITSET_INIT;
	int ret;

	if (!f->walked_nr ||
	    (options.trees_only && !filter_takes_type(filter, OBJ_TREE)))
		return 0;
	ret = revwalk_parents_first(h, f->walked, f->walked_nr, NULL, 0, NULL,
				    err);
	if (!ret && f->walked_nr >= KNOWN_MIN) {
		if (known_set(&known, f->fill) < 0)
			ret = error_nomem(err);
		options.known = &known;
	}
	if (!ret)
		ret = newobj_compute(&set, h, f->walked, f->walked_nr, &options,
				     err);
	if (!ret)
		ret = add_lists(f, &set, err);
	newobj_release(&set);
	bitset_release(&known);
	return ret;
}

/* Marks a tip that is not indexed, and so has no bit. */
#define NO_BIT UINT32_MAX

/*
 * Sets bits[i] to the bit of the i-th tip, or NO_BIT. Passes the tips to
 * pseudo_fill_note(), so that pseudo-merges with these tips are considered.
 * Returns 0 or a negative error code.
 */
static int note_tips(struct bitmap_side *f, uint32_t *bits,
		     const struct walk_tips *tips, struct error *err)
{
	const struct history *h = &f->fill->w->history;
	int ret = 0;

	for (size_t i = 0; i < tips->commit_nr && !ret; i++) {
		uint32_t obj_pos = h->commits[tips->commits[i]].obj_pos;

		if (!find_bit(f->fill, obj_pos, &bits[i]))
			bits[i] = NO_BIT;
		else if (f->fill->file->pseudo.nr)
			ret = pseudo_fill_note(&f->pseudo, bits[i], err);
	}
	return ret;
}

static bool has_tip(struct bitmap_fill *fill, uint32_t obj_pos, uint32_t bit)
{
	return bit == NO_BIT ? bitset_get(&fill->outside, obj_pos)
			     : bitset_test(&fill->packed, bit);
}

/*
 * Lists the tips for which three facts hold: the bitmap index has the tip, so
 * it has a bit; the commit was not parsed yet; and the tip is not in the set of
 * objects found so far (fill->packed). The list has pairs (bit, obj_pos) in the
 * order of the bits. Returns 0 or ERR_NOMEM.
 */
static int list_unread(struct sort_item *list, size_t *nr,
		       const struct bitmap_side *f, const uint32_t *bits,
		       const struct walk_tips *tips)
{
	const struct history *h = &f->fill->w->history;

	*nr = 0;
	for (size_t i = 0; i < tips->commit_nr; i++) {
		const struct history_commit *c = &h->commits[tips->commits[i]];

		if (!c->parsed && bits[i] != NO_BIT &&
		    !bitset_test(&f->fill->packed, bits[i]))
			list[(*nr)++] = (struct sort_item){bits[i], c->obj_pos};
	}
	return sort_items(list, *nr);
}

/*
 * Turns a list of commits into a list of rows: the bitmaps of these commits in
 * the file. list_unread() has made the list of commits. Two kinds of commits
 * are omitted: those that have no bitmap, and those that are now in
 * fill->packed, the set of objects found so far. The rows are sorted in the
 * order of the file, in which a bitmap follows the bitmap with which it is
 * XORed. Returns 0 or ERR_NOMEM.
 */
static int list_rows(struct sort_item *list, size_t *nr,
		     const struct bitmap_side *f)
{
	const struct bitmap_fill *fill = f->fill;
	size_t kept = 0;

	for (size_t i = 0; i < *nr; i++) {
		uint32_t row;

		if (bitset_test(&fill->packed, list[i].key) ||
		    !find_row(fill, list[i].value, &row))
			continue;
		list[kept++] = (struct sort_item){
			bitmap_file_row(fill->file, row).off, row};
	}
	*nr = kept;
	return sort_items(list, kept);
}

/*
 * ORs the bitmap of a row into fill->packed, unless fill->packed contains the
 * bitmap already.
 */
static int or_lacking(struct bitmap_side *f, uint32_t row, struct error *err)
{
	uint32_t idx_pos = bitmap_file_row(f->fill->file, row).idx_pos;

	return holds(f->fill, idx_pos) ? 0 : or_row(f, row, err);
}

/*
 * ORs the bitmaps of the tips whose commits are not parsed. Their dates are
 * unknown, so the tips are taken in the order of their bits:
 * 1. The first tip that has a bitmap is taken, and its bitmap is ORed. In a
 *    pack, newer commits usually precede older ones. So this bitmap contains
 *    most of the remaining tips.
 * 2. The bitmaps of tips that are still not in fill->packed are ORed, in the
 *    order of the entries in the bitmap file.
 * Afterwards, the set contains all unparsed tips that have a bitmap.
 */
static int or_unread(struct bitmap_side *f, const uint32_t *bits,
		     const struct walk_tips *tips, struct error *err)
{
	struct sort_item *list = mem_alloc(tips->commit_nr, sizeof(*list));
	size_t nr = 0, i = 0;
	int ret = 0;

	if (!list || list_unread(list, &nr, f, bits, tips) < 0)
		ret = error_nomem(err);
	while (i < nr && !ret)
		ret = or_bitmap(f, list[i++].value, err);
	if (ret >= 0)
		ret = list_rows(list, &nr, f) < 0 ? error_nomem(err) : 0;
	for (i = 0; i < nr && !ret; i++)
		ret = or_lacking(f, list[i].value, err);
	free(list);
	return ret;
}

/*
 * Uses the pseudo-merges whose commits are all tips, then queues the tips that
 * are still not in the set of objects found so far. Returns 0 or a negative
 * error code.
 */
static int queue_tips(struct bitmap_side *f, const struct walk_tips *tips,
		      struct error *err)
{
	const struct history *h = &f->fill->w->history;
	uint32_t *bits = mem_alloc(tips->commit_nr, sizeof(*bits));
	int ret = bits ? 0 : error_nomem(err);

	if (!ret)
		ret = note_tips(f, bits, tips, err);
	if (!ret)
		ret = pseudo_fill_run(&f->pseudo, &f->fill->packed, err);
	if (!ret)
		ret = or_unread(f, bits, tips, err);
	for (size_t i = 0; i < tips->commit_nr && !ret; i++)
		if (!has_tip(f->fill, h->commits[tips->commits[i]].obj_pos,
			     bits[i]))
			ret = queue_commit(f, tips->commits[i], err);
	free(bits);
	return ret;
}

bool bitmap_side_next(struct bitmap_side *side, uint32_t *commit_nr)
{
	const struct history *h = &side->fill->w->history;

	while (heap_peek(&side->queue, commit_nr)) {
		if (!has(side->fill, h->commits[*commit_nr].obj_pos))
			return true;
		heap_pop(&side->queue, commit_nr);
	}
	return false;
}

const uint32_t *bitmap_side_walked(const struct bitmap_side *side, size_t *nr)
{
	*nr = side->walked_nr;
	return side->walked;
}

int bitmap_side_start(struct bitmap_side **out, struct bitmap_fill *fill,
		      const struct walk_tips *tips, struct walk_items *others,
		      struct error *err)
{
	struct bitmap_side *side = mem_calloc(1, sizeof(*side));

	*out = side;
	if (!side)
		return error_nomem(err);
	side->fill = fill;
	side->tips = tips;
	side->others = others;
	pseudo_fill_init(&side->pseudo, &fill->file->pseudo);
	return queue_tips(side, tips, err);
}

int bitmap_side_finish(struct bitmap_side *side, bool trees, struct error *err)
{
	int ret = trees ? fill_walked(side, err) : 0;

	return ret < 0 ? ret : fill_others(side, &side->tips->others, err);
}

void bitmap_side_free(struct bitmap_side *side)
{
	if (!side)
		return;
	pseudo_fill_release(&side->pseudo);
	heap_release(&side->queue);
	free(side->walked);
	free(side);
}

int bitmap_fill_commits(struct bitmap_fill *fill, const struct walk_tips *tips,
			struct error *err)
{
	struct bitmap_side *side;
	int ret = bitmap_side_start(&side, fill, tips, NULL, err);

	if (!ret)
		ret = bitmap_side_walk(side, SIZE_MAX, err);
	bitmap_side_free(side);
	return ret;
}

int bitmap_fill_tips(struct bitmap_fill *fill, const struct walk_tips *tips,
		     struct walk_items *others, struct error *err)
{
	struct bitmap_side *side;
	int ret = bitmap_side_start(&side, fill, tips, others, err);

	if (!ret)
		ret = bitmap_side_walk(side, SIZE_MAX, err);
	if (!ret)
		ret = bitmap_side_finish(side, true, err);
	bitmap_side_free(side);
	return ret;
}
