/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of kept deltas: deltas that a repack stores beside the pack,
 * for later fetches. Chooses pairs of two objects at the same path, one in
 * HEAD's tree (the new version) and one in an older commit's tree (the old
 * version). Makes a delta of the new version against the old version.
 * packs/keep-copies.c makes whole copies for the same file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "deltas/items.h"
#include "pack/delta.h"
#include "pack/entry.h"
#include "pack/inflate.h"
#include "packs/keep-deltas.h"
#include "packs/prepare-parts.h"
#include "prepared/kept-deltas.h"
#include "prepared/prepared.h"
#include "trees/treediff.h"
#include "walk/walk.h"

/*
 * Objects that the pack stores in fewer bytes than this get no kept delta (a
 * delta that a repack makes for later fetches). There are many such objects,
 * but deltas of them would save few bytes. If a fetch needs a delta of such an
 * object, the server can make it quickly while it answers the fetch.
 */
#define STORED_MIN 1024

/*
 * Limit for a delta that an old pack stores and that the new pack does not get
 * (dropped_deltas_find()). The new pack stores the target of the delta in
 * another form: whole, or as another delta. The old delta goes into the file of
 * kept deltas if it is shorter than this form by more than SAVED_MIN bytes. A
 * row in the file needs 64 bytes or more besides the delta, so a smaller saving
 * would not pay.
 */
#define SAVED_MIN 64

/*
 * Default of repack.keptDeltas: the maximum size of the file of kept deltas, in
 * percent of the size of the new pack.
 */
#define DEFAULT_PERCENT 3

/*
 * The cost of a new delta is the number of bytes of its target, plus this
 * number. Following the delta chain of the base takes about as long as reading
 * this number of bytes.
 */
#define PAIR_COST 32768

/*
 * Maximum cost of all new deltas that one repack makes, divided by the number
 * of objects in the new pack. The unit is bytes that are read (see PAIR_COST).
 * With this limit, new deltas add less than 3% to the CPU time of a repack that
 * copies all objects.
 */
#define COST_PER_OBJECT 40

/*
 * Maximum cost of all new whole copies that one repack makes, divided by the
 * number of objects in the new pack. The unit is bytes that are deflated. With
 * this limit, new copies add less than 3% to the CPU time of a repack that
 * copies all objects.
 */
#define COPY_COST_PER_OBJECT 8

/*
 * The limit for the total cost of the new deltas of one repack is
 * COST_PER_OBJECT for each object of the pack, but at least this number. So a
 * repack of a small pack can make new deltas, too. The unit is bytes that are
 * read.
 */
#define COST_MAX_MIN ((uint64_t)512 << 10)

/*
 * The zlib level of kept deltas. Level 6 takes several times the CPU time, and
 * makes the packs of fetches less than 1% smaller.
 */
#define LEVEL 1

/* An object of HEAD's tree, and an older version of it. */
struct keep_pair {
	uint32_t target, base; /* obj_pos of both */
	uint32_t step;
	/* number of inflated bytes of the target */
	uint64_t size;
	/* number of bytes of the target's entry in the pack */
	uint64_t stored;
};

/* A delta or a whole copy for the new file of kept deltas. */
struct keep_row {
	/*
	 * must be the first field: cmp_rows() also compares struct kept_delta
	 */
	struct kept_delta delta;
	/* owned: the zlib stream, if it is new; else NULL */
	uint8_t *made;
};

struct keeping {
	struct walk walk;
	const struct odb_pack *pack;
	/* borrowed: the order of `pack` */
	const struct pack_rev *rev;
	/* the file of kept deltas before the repack */
	struct kept_deltas old;
	/*
	 * number of first-parent commits from HEAD back to the older tree whose
	 * pairs are being listed
	 */
	uint32_t step;
	struct keep_pair *pairs; /* owned */
	size_t nr, alloc;
	struct keep_row *rows; /* owned */
	size_t row_nr, row_alloc;
	/*
	 * The first `dropped_nr` rows are deltas that older packs store and
	 * that the new pack does not get (dropped_deltas_find()). They are
	 * sorted by cmp_rows().
	 */
	size_t dropped_nr;
	/* number of bytes of the zlib streams of all rows */
	uint64_t len;
	uint64_t max_len; /* maximum of `len` */
	/* Maximum of the total cost of new deltas, in bytes that are read. */
	uint64_t cost_max;
	struct deflater *deflater; /* owned */
	struct buf stream;
};

/* ---- trees of older commits */

/*
 * Append the root tree of a commit that was parsed. Returns 0 or a negative
 * error code.
 */
static int add_tree(struct keep_trees *trees, struct walk *w,
		    uint32_t commit_nr, struct error *err)
{
	uint32_t tree_pos;
	int ret = history_tree(&w->history, commit_nr, &tree_pos, err);

	if (!ret)
		objspace_oid(&trees->trees[trees->nr++], &w->space, tree_pos);
	return ret;
}

/*
 * Add the tree of a commit, and the trees of some first-parent ancestors: those
 * at distance 2 (KEEP_STEP_MIN), 8, 32 and so on from the commit. The list ends
 * early where the history ends or a commit is missing. Returns 0 or a negative
 * error code.
 */
static int add_trees(struct keep_trees *trees, struct walk *w,
		     uint32_t commit_nr, struct error *err)
{
	struct history *h = &w->history;
	uint32_t step = KEEP_STEP_MIN;
	int ret = history_parse(h, commit_nr, err);

	if (!ret)
		ret = add_tree(trees, w, commit_nr, err);
	for (uint32_t nr = 1; !ret && trees->nr < KEEP_TREES_MAX; nr++) {
		if (!h->commits[commit_nr].parent_nr)
			break;
		commit_nr = history_parents(h, commit_nr)[0];
		ret = history_parse(h, commit_nr, err);
		if (ret || nr != step)
			continue;
		ret = add_tree(trees, w, commit_nr, err);
		step *= KEEP_STEP_FACTOR;
	}
	return ret == ERR_MISSING ? 0 : ret;
}

int keep_trees_find(struct keep_trees *trees, struct walk *w, struct refs *refs,
		    struct error *err)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	struct ref head;
	int ret = refs_lookup_head(refs, &head, err);

	trees->nr = 0;
	if (ret > 0)
		ret = walk_add_tip(w, &tips, &head.oid, true, err);
	if (!ret && tips.commit_nr)
		ret = add_trees(trees, w, tips.commits[0], err);
	walk_tips_release(&tips);
	return ret;
}

/* ---- pairs of versions */

/*
 * Set pair->size and pair->stored, the sizes of the target. Returns false if
 * the pair is of no use: the pack does not store the target whole, or the
 * target is small.
 */
static bool is_whole(struct keep_pair *pair, const struct keeping *k)
{
	uint32_t idx_pos = pair->target - k->pack->first_pos, pack_pos;
	struct pack_entry entry;
	uint64_t off;

	if (idx_pos >= k->pack->pack->idx.nr)
		return false;
	off = pack_idx_offset(&k->pack->pack->idx, idx_pos);
	if (pack_entry_at(&entry, k->pack->pack, off, NULL) < 0 ||
	    entry.type == OBJ_OFS_DELTA || entry.type == OBJ_REF_DELTA ||
	    !pack_rev_find(k->rev, off, &pack_pos))
		return false;
	pair->size = entry.size;
	pair->stored = pack_rev_offset(k->rev, pack_pos + 1) - off;
	return pair->stored >= STORED_MIN;
}

static int add_pair(void *ctx, uint32_t new_pos, uint32_t old_pos,
		    enum object_type type, const char *path, size_t path_len,
		    struct error *err)
{
	struct keeping *k = ctx;
	struct keep_pair pair = {new_pos, old_pos, k->step, 0, 0};

	if (new_pos >= k->walk.space.packed_nr ||
	    old_pos >= k->walk.space.packed_nr || !is_whole(&pair, k))
		return 0;
	if (mem_grow(&k->pairs, &k->alloc, k->nr + 1, sizeof(*k->pairs)) < 0)
		return error_nomem(err);
	k->pairs[k->nr++] = pair;
	return 0;
}

/*
 * List the pairs of a new and an old version of an object: the trees and blobs
 * at paths where HEAD's tree differs from an older tree. Only directories that
 * differ are read. Returns 0 or a negative error code.
 */
static int list_pairs(struct keeping *k, const struct keep_trees *trees,
		      struct error *err)
{
	struct objspace *space = &k->walk.space;
	uint32_t head, old;
	int ret = 0;

	k->step = KEEP_STEP_MIN;
	for (size_t i = 1; i < trees->nr && !ret; i++) {
		if (objspace_add(space, trees->trees[0].bytes, &head) < 0 ||
		    objspace_add(space, trees->trees[i].bytes, &old) < 0)
			return error_nomem(err);
		ret = treepair_run(space, k->walk.reader, head, old, add_pair,
				   k, err);
		k->step *= KEEP_STEP_FACTOR;
	}
	return ret;
}

/*
 * Remove duplicates from the list of pairs. list_pairs() compares HEAD's tree
 * with several older trees, and can find the same pair of objects in several of
 * these comparisons. Of equal pairs, keep the one with the smallest step: the
 * one from the tree nearest to HEAD. Returns 0 or ERR_NOMEM.
 */
static int unify_pairs(struct keeping *k)
{
	struct sort_item *order = mem_alloc(k->nr, sizeof(*order));
	struct keep_pair *pairs = mem_alloc(k->nr, sizeof(*pairs));
	size_t nr = 0;
	int ret = order && pairs ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < k->nr && !ret; i++)
		order[i] = (struct sort_item){
			(uint64_t)k->pairs[i].target << 32 | k->pairs[i].base,
			(uint32_t)i,
		};
	if (!ret)
		ret = sort_items(order, k->nr);
	for (size_t i = 0; i < k->nr && !ret; i++)
		if (!i || order[i - 1].key != order[i].key)
			pairs[nr++] = k->pairs[order[i].value];
	free(order);
	if (ret < 0) {
		free(pairs);
		return ret;
	}
	free(k->pairs);
	k->pairs = pairs;
	k->nr = nr;
	return 0;
}

/* ---- rows */

/*
 * Compare two struct kept_delta, or two struct keep_row, by target, then step,
 * then base. Returns a negative number if *a comes first, 0 if both are equal,
 * or a positive number.
 */
static int cmp_rows(const void *a, const void *b)
{
	const struct kept_delta *x = a, *y = b;
	int cmp = oid_cmp(&x->target, &y->target);

	if (!cmp)
		cmp = (x->step > y->step) - (x->step < y->step);
	return cmp ? cmp : oid_cmp(&x->base, &y->base);
}

static int add_row(struct keeping *k, const struct kept_delta *delta,
		   uint8_t *made)
{
	if (mem_grow(&k->rows, &k->row_alloc, k->row_nr + 1, sizeof(*k->rows)) <
	    0)
		return ERR_NOMEM;
	k->rows[k->row_nr++] = (struct keep_row){*delta, made};
	k->len += delta->len;
	return 0;
}

static bool has_room(const struct keeping *k, size_t len)
{
	return k->len <= k->max_len && len <= k->max_len - k->len;
}

/*
 * Returns the number of bytes in which the new pack stores an object, or 0 if
 * the pack does not have the object.
 */
static uint64_t stored_len(const struct keeping *k, const struct oid *oid)
{
	const struct pack *pack = k->pack->pack;
	uint32_t idx_pos, pack_pos;
	uint64_t off;

	if (!pack_idx_find(&pack->idx, oid->bytes, &idx_pos))
		return 0;
	off = pack_idx_offset(&pack->idx, idx_pos);
	return pack_rev_find(k->rev, off, &pack_pos)
		       ? pack_rev_offset(k->rev, pack_pos + 1) - off
		       : 0;
}

/*
 * Add rows for deltas that old packs store and that the new pack does not get.
 * A delta gets a row only if three conditions hold: the delta is shorter than
 * the form in which the new pack stores the target, by more than SAVED_MIN
 * bytes; the repository has the base; and the file has room for the row.
 * Returns 0 or ERR_NOMEM.
 */
static int take_dropped(struct keeping *k, const struct dropped_deltas *dropped)
{
	uint32_t ignored;
	int ret = 0;

	for (size_t i = 0; i < dropped->nr && !ret; i++) {
		const struct kept_delta *delta = &dropped->deltas[i];

		if (stored_len(k, &delta->target) > delta->len + SAVED_MIN &&
		    odb_find(k->walk.odb, &delta->base, &ignored) &&
		    has_room(k, delta->len))
			ret = add_row(k, delta, NULL);
	}
	if (k->row_nr)
		qsort(k->rows, k->row_nr, sizeof(*k->rows), cmp_rows);
	k->dropped_nr = k->row_nr;
	return ret;
}

/* Returns whether take_dropped() has added a row with this target and base. */
static bool is_taken(struct keeping *k, const struct keep_pair *pair)
{
	struct kept_delta wanted = {.step = 0};
	size_t low = 0, high = k->dropped_nr;

	objspace_oid(&wanted.target, &k->walk.space, pair->target);
	objspace_oid(&wanted.base, &k->walk.space, pair->base);
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cmp_rows(&k->rows[mid], &wanted) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < k->dropped_nr && !cmp_rows(&k->rows[low], &wanted);
}

/*
 * Take over the delta of a pair from the old file of kept deltas. Returns 1 if
 * the delta was taken over, 0 if not, or ERR_NOMEM.
 */
static int take_old(struct keeping *k, const struct keep_pair *pair)
{
	const struct objspace *space = &k->walk.space;
	const uint8_t *target = objspace_raw(space, pair->target);
	const uint8_t *base = objspace_raw(space, pair->base);
	size_t id_len = hash_len(space->odb->algo);
	struct kept_delta delta;
	uint32_t row;

	if (!kept_deltas_find(&k->old, target, &row))
		return 0;
	for (; kept_deltas_is_of(&k->old, row, target); row++) {
		if (kept_deltas_get(&delta, &k->old, row, NULL) < 0 ||
		    memcmp(delta.base.bytes, base, id_len) != 0)
			continue;
		delta.step = pair->step;
		return !has_room(k, delta.len)        ? 0
		       : add_row(k, &delta, NULL) < 0 ? ERR_NOMEM
						      : 1;
	}
	return 0;
}

/*
 * Returns the maximum number of inflated bytes of a delta that is kept. There
 * are two limits:
 * - half of the inflated size of the target;
 * - the number of bytes that the pack stores for the target (pair->stored).
 *   keep_new() keeps a delta only if it has at most pair->stored / 2 bytes
 *   after deflating. It is assumed that deflating makes a delta at best half as
 *   long. So a delta of more than pair->stored bytes would have more than
 *   pair->stored / 2 bytes after deflating, and would not be kept.
 */
static size_t max_delta(const struct keep_pair *pair)
{
	return pair->stored < pair->size / 2 ? pair->stored : pair->size / 2;
}

/*
 * Add a row for a pair to the new file of kept deltas, but without a delta. The
 * row tells the next repack that a delta of this pair is not worth keeping, so
 * that it does not try the pair again. Returns 0 or ERR_NOMEM.
 */
static int add_none(struct keeping *k, const struct keep_pair *pair)
{
	struct kept_delta delta = {
		.step = pair->step,
		.stream = (const uint8_t *)"",
	};

	objspace_oid(&delta.target, &k->walk.space, pair->target);
	objspace_oid(&delta.base, &k->walk.space, pair->base);
	return add_row(k, &delta, NULL);
}

/*
 * Deflate the new delta of a pair (a target and its delta base). Then add a row
 * for the pair to the new file of kept deltas:
 * - If the deflated delta has at most half of the bytes that the pack stores
 *   for the target, the row has the delta.
 * - If the deflated delta is longer, the row has no delta. Such a row tells the
 *   next repack not to try this pair again.
 * - If the delta is short enough, but the file would exceed its maximum size,
 *   no row is added.
 * Returns 0 or ERR_NOMEM.
 */
static int keep_new(struct keeping *k, const struct keep_pair *pair,
		    const void *bytes, size_t len)
{
	struct kept_delta delta = {.step = pair->step, .size = (uint32_t)len};
	uint8_t *made;
	int ret;

	buf_reset(&k->stream);
	if (deflater_append(k->deflater, &k->stream, bytes, len) < 0)
		return ERR_NOMEM;
	if (k->stream.len > pair->stored / 2)
		return add_none(k, pair);
	if (!has_room(k, k->stream.len))
		return 0;
	made = mem_alloc(k->stream.len, 1);
	if (!made)
		return ERR_NOMEM;
	memcpy(made, k->stream.data, k->stream.len);
	objspace_oid(&delta.target, &k->walk.space, pair->target);
	objspace_oid(&delta.base, &k->walk.space, pair->base);
	delta.stream = made;
	delta.len = (uint32_t)k->stream.len;
	ret = add_row(k, &delta, made);
	if (ret < 0)
		free(made);
	return ret;
}

/*
 * Make the delta of a pair whose target was read. If the base cannot be read,
 * no delta is made. Returns 0 or ERR_NOMEM.
 */
static int make_new(struct keeping *k, const struct keep_pair *pair,
		    const struct odb_object *target)
{
	struct odb_object base = ODB_OBJECT_INIT;
	void *bytes = NULL;
	size_t len;
	int ret = objspace_read(&k->walk.space, k->walk.reader, pair->base,
				&base, NULL);

	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	if (base.type == target->type && base.len <= UINT32_MAX)
		ret = delta_create_near(base.data, base.len, target->data,
					target->len, max_delta(pair), &bytes,
					&len);
	else
		ret = 1;
	odb_object_release(k->walk.reader, &base);
	if (ret >= 0)
		ret = ret ? add_none(k, pair) : keep_new(k, pair, bytes, len);
	free(bytes);
	return ret;
}

/*
 * Make the deltas of the pairs order[0] to order[nr - 1], which all have the
 * same target. If the target cannot be read, no delta is made. Returns 0 or
 * ERR_NOMEM.
 */
static int make_of_target(struct keeping *k, const struct sort_item *order,
			  size_t nr)
{
	const struct keep_pair *first = &k->pairs[order[0].value];
	struct odb_object target = ODB_OBJECT_INIT;
	int ret = objspace_read(&k->walk.space, k->walk.reader, first->target,
				&target, NULL);

	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	for (size_t i = 0; i < nr && !ret; i++)
		ret = make_new(k, &k->pairs[order[i].value], &target);
	odb_object_release(k->walk.reader, &target);
	return ret;
}

/*
 * Choose for which pairs a new delta is made. A pair has a target (the new
 * version of an object) and a base (an old version). Take pairs in the given
 * order until the total cost of their deltas (see PAIR_COST) would exceed
 * k->cost_max. Replace the first elements of `order` by the taken pairs, with
 * the offsets of their targets in the pack as keys for sorting. Returns the
 * number of taken pairs.
 */
static size_t choose(struct sort_item *order, size_t nr,
		     const struct keeping *k)
{
	uint64_t cost = 0;
	size_t taken = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct keep_pair *pair = &k->pairs[order[i].value];

		if (pair->size > k->cost_max)
			continue;
		if (cost > k->cost_max - pair->size)
			break;
		cost += pair->size + PAIR_COST;
		order[taken++] = (struct sort_item){
			pack_idx_offset(&k->pack->pack->idx,
					pair->target - k->pack->first_pos),
			order[i].value,
		};
	}
	return taken;
}

/*
 * Returns the rank of a pair; pairs of low rank are handled first. A pair has a
 * target (the new version of an object) and a base (an old version). The step
 * of a pair is the number of commits between the tree with the old version and
 * HEAD.
 *
 * The rank is cost / stored * step. The cost is that of making the delta (see
 * PAIR_COST). `stored` is the number of bytes that the pack stores for the
 * target: the delta can save at most so many bytes. So a low rank means a low
 * cost for each byte that can be saved.
 *
 * The factor `step` puts pairs with small steps first. Such pairs serve clients
 * that are few commits behind. A fetch of such a client is small, so each saved
 * byte counts more.
 */
static uint64_t rank(const struct keep_pair *pair)
{
	uint64_t cost = pair->size + PAIR_COST;

	return cost < UINT64_MAX / (256 * KEEP_STEP_MAX)
		       ? cost * 256 / pair->stored * pair->step
		       : UINT64_MAX;
}

static int make_rows(struct keeping *k)
{
	struct sort_item *order = mem_alloc(k->nr, sizeof(*order));
	size_t nr = 0;
	int ret = order ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < k->nr && ret >= 0; i++) {
		ret = is_taken(k, &k->pairs[i]) ? 1 : take_old(k, &k->pairs[i]);
		if (!ret)
			order[nr++] = (struct sort_item){rank(&k->pairs[i]),
							 (uint32_t)i};
	}
	if (ret >= 0)
		ret = sort_items(order, nr);
	if (!ret) {
		nr = choose(order, nr, k);
		ret = sort_items(order, nr);
	}
	for (size_t i = 0, end; i < nr && !ret; i = end) {
		for (end = i + 1; end < nr && order[end].key == order[i].key;)
			end++;
		ret = make_of_target(k, order + i, end - i);
	}
	free(order);
	return ret;
}

/* ---- whole copies */

static int add_copy(void *ctx, const struct kept_delta *copy, uint8_t *made)
{
	return add_row(ctx, copy, made);
}

/*
 * Add whole copies to the file of kept deltas, as many as fit after the deltas.
 * Returns 0 or a negative error code.
 */
static int add_copies(struct keeping *k, const struct keep_options *options)
{
	uint64_t len = k->len +
		       k->row_nr * (uint64_t)keep_row_len(k->walk.odb->algo);
	const struct keep_copies_options copies = {
		.tips = options->tips,
		.pack = k->pack,
		.old = &k->old,
		.max_len = len < k->max_len ? k->max_len - len : 0,
		.cost_max = options->all_copies
				    ? UINT64_MAX
				    : k->pack->pack->idx.nr *
					      (uint64_t)COPY_COST_PER_OBJECT,
		.add = add_copy,
		.ctx = k,
	};

	return keep_copies_make(&copies, &k->walk);
}

/* ---- the file */

static int put_rows(struct buf *out, const struct keeping *k)
{
	struct kept_delta *rows = mem_alloc(k->row_nr, sizeof(*rows));
	int ret = rows ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < k->row_nr && !ret; i++)
		rows[i] = k->rows[i].delta;
	if (!ret && k->row_nr) {
		qsort(rows, k->row_nr, sizeof(*rows), cmp_rows);
		ret = kept_deltas_write(out, k->walk.odb->algo, rows,
					(uint32_t)k->row_nr);
	}
	free(rows);
	return ret;
}

static void keeping_release(struct keeping *k)
{
	for (size_t i = 0; i < k->row_nr; i++)
		free(k->rows[i].made);
	free(k->rows);
	free(k->pairs);
	kept_deltas_close(&k->old);
	deflater_free(k->deflater);
	buf_release(&k->stream);
	walk_close(&k->walk);
}

/*
 * Make the content of the new file of kept deltas. The content is empty if the
 * file would have no rows. Returns 0 or a negative error code.
 */
static int make_file(struct buf *out, struct keeping *k,
		     const struct keep_options *options, struct error *err)
{
	int ret;

	k->rev = pack_get_rev(k->pack->pack, err);
	if (!k->rev)
		return ERR_NOMEM;
	ret = kept_deltas_open(&k->old, k->walk.odb, 0, NULL);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	ret = list_pairs(k, options->trees, err);
	if (!ret &&
	    (unify_pairs(k) < 0 || take_dropped(k, options->dropped) < 0 ||
	     make_rows(k) < 0 || add_copies(k, options) < 0 ||
	     put_rows(out, k) < 0))
		ret = error_nomem(err);
	return ret;
}

static int make(struct buf *out, const struct odb *odb,
		const struct keep_options *options, uint64_t percent,
		struct error *err)
{
	struct keeping k = {
		.pack = prepared_pack(odb, options->checksum),
		.old = KEPT_DELTAS_INIT,
		.stream = BUF_INIT,
	};
	int ret;

	if (!k.pack)
		return 0;
	ret = walk_open(&k.walk, odb, NULL, 0, err);
	if (ret < 0)
		return ret;
	k.max_len = k.pack->pack->file.len / 100 * percent;
	k.cost_max = k.pack->pack->idx.nr * (uint64_t)COST_PER_OBJECT;
	if (k.cost_max < COST_MAX_MIN)
		k.cost_max = COST_MAX_MIN;
	k.deflater = deflater_new(LEVEL);
	ret = k.deflater ? make_file(out, &k, options, err) : error_nomem(err);
	keeping_release(&k);
	return ret;
}

int keep_deltas(const struct repo *repo, const struct keep_options *options,
		struct error *err)
{
	uint64_t percent = DEFAULT_PERCENT;
	struct buf bytes = BUF_INIT;
	struct odb *odb = NULL;
	int ret = config_u64(&repo->config, "repack.keptdeltas", &percent, err);

	if (ret >= 0 && percent > 100)
		ret = error_set(err, ERR_INVALID,
				"repack.keptDeltas is more than 100");
	if (ret >= 0 && percent)
		ret = odb_open(&odb, repo, NULL, err);
	if (ret >= 0 && odb)
		ret = make(&bytes, odb, options, percent, err);
	if (ret >= 0)
		ret = prepare_store(repo, "info/deltas", &bytes, err);
	buf_release(&bytes);
	odb_close(odb);
	return ret < 0 ? ret : 0;
}

/* ---- verifying */

/*
 * Inflate the delta of a row and apply it to its base. Returns 0, ERR_CORRUPT
 * or ERR_NOMEM.
 */
static int apply(struct buf *out, const struct kept_delta *row,
		 const struct odb_object *base, struct inflater *inflater)
{
	struct buf delta = BUF_INIT;
	uint64_t base_len, len;
	int ret = ERR_NOMEM;

	if (!mem_can_inflate(row->size, row->len))
		return ERR_CORRUPT;
	if (buf_reserve(&delta, row->size) < 0)
		goto out;
	ret = inflater_exact(inflater, delta.data, row->size, row->stream,
			     row->len, NULL);
	if (!ret)
		ret = delta_sizes(delta.data, row->size, &base_len, &len, NULL);
	if (!ret && (base_len != base->len || len > UINT32_MAX))
		ret = ERR_CORRUPT;
	buf_reset(out);
	if (!ret)
		ret = buf_reserve(out, len);
	if (!ret)
		ret = delta_apply(out->data, len, base->data, base->len,
				  delta.data, row->size);
	if (!ret)
		buf_set_len(out, len);
out:
	buf_release(&delta);
	return ret;
}

/*
 * Inflate a whole copy: the row `row` of the file of kept deltas has a complete
 * object in place of a delta. The type of the object comes from a pack. Returns
 * 1 if the copy was inflated, 0 if no pack has the object, or a negative error
 * code.
 */
static int inflate_copy(struct odb_object *made, struct buf *bytes,
			const struct kept_delta *row, struct odb_reader *reader,
			struct inflater *inflater, const struct odb *odb)
{
	uint32_t pos;
	int ret;

	if (!odb_find(odb, &row->target, &pos))
		return 0;
	if (!mem_can_inflate(row->size, row->len))
		return ERR_CORRUPT;
	ret = odb_info_pos(reader, pos, &made->type, NULL, NULL);
	if (!ret)
		ret = buf_reserve(bytes, row->size);
	if (!ret)
		ret = inflater_exact(inflater, bytes->data, row->size,
				     row->stream, row->len, NULL);
	made->data = (const uint8_t *)bytes->data;
	made->len = row->size;
	return ret ? ret : 1;
}

/*
 * A row of the file of kept deltas has a delta, or the deflated bytes of an
 * object itself (a whole copy). *row is a whole copy. Check that it inflates to
 * an object with the id row->target. Returns 1 if so, 0 if no pack has the
 * object, ERR_CORRUPT if the content is wrong or cannot be read, or ERR_NOMEM.
 */
static int verify_copy(const struct kept_delta *row, struct odb_reader *reader,
		       struct inflater *inflater, const struct odb *odb,
		       struct error *err)
{
	struct odb_object made = ODB_OBJECT_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf bytes = BUF_INIT;
	int ret = inflate_copy(&made, &bytes, row, reader, inflater, odb);

	if (ret > 0 &&
	    odb_object_check_id(&made, &row->target, odb->algo, NULL) < 0)
		ret = ERR_CORRUPT;
	buf_release(&bytes);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	oid_to_hex(hex, &row->target, odb->algo);
	return ret < 0 ? error_set(err, ERR_CORRUPT,
				   "info/deltas: the stored copy of object %s "
				   "is wrong",
				   hex)
		       : ret;
}

/*
 * Check that a row's delta makes its target. Returns 1 if so, 0 if the row has
 * no delta or no pack has its base, or a negative error code.
 */
static int verify_row(const struct kept_delta *row, struct odb_reader *reader,
		      struct inflater *inflater, const struct odb *odb,
		      struct error *err)
{
	struct odb_object base = ODB_OBJECT_INIT, made = ODB_OBJECT_INIT;
	struct buf bytes = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t base_pos;
	int ret;

	if (!row->len)
		return 0;
	if (kept_delta_is_copy(row))
		return verify_copy(row, reader, inflater, odb, err);
	if (!odb_find(odb, &row->base, &base_pos))
		return 0;
	ret = odb_read_pos(reader, base_pos, &base, err);
	if (ret < 0)
		return ret;
	ret = apply(&bytes, row, &base, inflater);
	made.type = base.type;
	made.data = (const uint8_t *)bytes.data;
	made.len = bytes.len;
	if (!ret)
		ret = odb_object_check_id(&made, &row->target, odb->algo, NULL);
	odb_object_release(reader, &base);
	buf_release(&bytes);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	oid_to_hex(hex, &row->target, odb->algo);
	return ret < 0 ? error_set(err, ERR_CORRUPT,
				   "info/deltas: the stored delta of object %s "
				   "is wrong",
				   hex)
		       : 1;
}

static int verify_rows(size_t *checked, const struct kept_deltas *k,
		       const struct odb *odb, struct error *err)
{
	struct odb_reader *reader = odb_reader_new(odb, (size_t)16 << 20);
	struct inflater *inflater = inflater_new();
	struct kept_delta row;
	int ret = reader && inflater ? kept_deltas_check(k, err)
				     : error_nomem(err);

	for (uint32_t i = 0; i < k->nr && ret >= 0; i++) {
		ret = kept_deltas_get(&row, k, i, err);
		if (!ret)
			ret = verify_row(&row, reader, inflater, odb, err);
		*checked += ret > 0;
	}
	inflater_free(inflater);
	odb_reader_free(reader);
	return ret < 0 ? ret : 0;
}

int keep_deltas_verify(size_t *nr, size_t *checked, const struct odb *odb,
		       size_t dir_nr, struct error *err)
{
	struct kept_deltas k;
	int ret = kept_deltas_open(&k, odb, dir_nr, err);

	*nr = *checked = 0;
	if (ret <= 0)
		return ret == ERR_UNSUPPORTED ? 1 : ret;
	*nr = k.nr;
	ret = verify_rows(checked, &k, odb, err);
	kept_deltas_close(&k);
	return ret;
}
