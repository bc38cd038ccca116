/* SPDX-License-Identifier: MIT */
/* Building bitmaps of selected commits. */
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "bitmap/build.h"
#include "bitmap/complete.h"
#include "bitmap/file.h"

#define NO_BITMAP UINT32_MAX

/* How many earlier bitmaps are tried as the other side of a XOR. */
#define XOR_CANDIDATES BITMAP_COMPLETE_NEWEST
/* Longest chain of XORs: what a query decodes for one bitmap. */
#define XOR_MAX_DEPTH 160

struct build {
	const struct bitmap_build_input *in;
	uint32_t *order;    /* by commit_nr: index into in->commits */
	uint32_t *entry_of; /* by commit_nr: index into out, or NO_BITMAP */
	struct bitmap_complete complete; /* bitmaps of `out` */
	struct bitset scratch;
	struct bitmap_built *out;          /* borrowed from the result */
	struct bitmap_built_group *groups; /* borrowed from the result */
	uint8_t *depth;     /* length of each entry's XOR chain */
	size_t done;        /* entries built */
	struct bitset bits; /* of the commit at hand */
	struct ewah full;   /* the same, compressed */
	struct heap queue;  /* its ancestors, by order */
	uint32_t nearest;   /* first built ancestor met, or NO_BITMAP */
};

void bitmap_build_result_release(struct bitmap_build_result *result)
{
	for (size_t i = 0; result->entries && i < result->entry_nr; i++)
		ewah_release(&result->entries[i].bitmap);
	for (size_t i = 0; result->groups && i < result->group_nr; i++) {
		ewah_release(&result->groups[i].commits);
		ewah_release(&result->groups[i].objects);
	}
	free(result->entries);
	free(result->groups);
	memset(result, 0, sizeof(*result));
}

static void build_release(struct build *b)
{
	bitmap_complete_release(&b->complete);
	ewah_release(&b->full);
	bitset_release(&b->scratch);
	free(b->order);
	free(b->entry_of);
	free(b->depth);
	bitset_release(&b->bits);
	heap_release(&b->queue);
}

/*
 * Bitmaps that are there already. They end a line of history, so the later
 * they leave the queue the longer it gets: they come first.
 */
static void take_old(struct build *b)
{
	for (size_t i = 0; i < b->in->old_nr; i++) {
		struct bitmap_built *old = &b->in->old[i];
		size_t back = old->xor_offset;
		unsigned depth = back ? b->depth[i - back] + 1u : 0;

		b->out[i] = *old;
		ewah_init(&old->bitmap);
		b->depth[i] = depth < UINT8_MAX ? (uint8_t)depth : UINT8_MAX;
		b->entry_of[old->commit_nr] = (uint32_t)i;
	}
	b->done = b->in->old_nr;
}

static int build_init(struct build *b, struct bitmap_build_result *result,
		      const struct bitmap_build_input *in)
{
	size_t nr = in->old_nr + in->selected_nr, commit_nr = in->history->nr;

	*b = (struct build){.in = in, .queue = HEAP_INIT};
	ewah_init(&b->full);
	*result = (struct bitmap_build_result){
		.entries = mem_calloc(nr, sizeof(*result->entries)),
		.entry_nr = nr,
		.groups = mem_calloc(in->group_nr, sizeof(*result->groups)),
		.group_nr = in->group_nr,
	};
	b->out = result->entries;
	b->groups = result->groups;
	b->order = mem_alloc(commit_nr, sizeof(*b->order));
	b->entry_of = mem_alloc(commit_nr, sizeof(*b->entry_of));
	b->depth = mem_calloc(nr, 1);
	if (!b->order || !b->entry_of || !b->out || !b->groups || !b->depth ||
	    bitset_init(&b->bits, in->bits) < 0 ||
	    bitset_init(&b->scratch, in->bits) < 0 ||
	    bitmap_complete_init(&b->complete, b->out, nr, in->memory_limit,
				 &b->scratch) < 0)
		return ERR_NOMEM;
	memset(b->entry_of, 0xff, commit_nr * sizeof(*b->entry_of));
	memset(b->order, 0xff, commit_nr * sizeof(*b->order));
	take_old(b);
	for (size_t i = 0; i < in->commit_nr; i++)
		b->order[in->commits[i]] = (uint32_t)i;
	return 0;
}

static int missing_bit(const struct build *b, uint32_t obj_pos,
		       struct error *err)
{
	struct objspace *space = b->in->history->space;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	objspace_oid(&oid, space, obj_pos);
	return error_set(err, ERR_MISSING,
			 "object %s is reachable but not in the pack",
			 oid_to_hex(hex, &oid, space->odb->algo));
}

static int set_bit(struct build *b, uint32_t obj_pos, struct error *err)
{
	uint32_t bit = b->in->bit_pos[obj_pos];

	if (bit == UINT32_MAX)
		return missing_bit(b, obj_pos, err);
	bitset_set(&b->bits, bit);
	return 0;
}

/* The commit itself and what it adds. */
static int set_commit(struct build *b, uint32_t c, struct error *err)
{
	const struct newobj_list *list;
	int ret = set_bit(b, b->in->history->commits[c].obj_pos, err);

	if (!ret && b->order[c] >= b->in->commit_nr)
		return error_set(err, ERR_MISSING,
				 "a commit that was not enumerated");
	if (ret < 0)
		return ret;
	list = &b->in->lists->lists[b->order[c]];

	for (uint32_t i = 0; i < list->nr && !ret; i++)
		ret = set_bit(b, list->items[i].obj_pos, err);
	return ret;
}

static bool is_set(const struct build *b, uint32_t c)
{
	uint32_t bit = b->in->bit_pos[b->in->history->commits[c].obj_pos];

	return bit != UINT32_MAX && bitset_test(&b->bits, bit);
}

static int queue_parents(struct build *b, uint32_t c)
{
	const uint32_t *parents = history_parents(b->in->history, c);

	for (uint32_t i = 0; i < b->in->history->commits[c].parent_nr; i++)
		if (!is_set(b, parents[i]) &&
		    heap_push(&b->queue, b->order[parents[i]], parents[i]) < 0)
			return ERR_NOMEM;
	return 0;
}

/* Whether there is a bitmap of a commit below, and which. */
static bool find_below(const struct build *b, uint32_t c, uint32_t *row)
{
	const struct bitmap_file *below = b->in->below;
	uint32_t bit = b->in->bit_pos[b->in->history->commits[c].obj_pos];

	return below && bit < below->object_nr &&
	       bitmap_file_find(below, bitmap_space_idx_pos(b->in->space, bit),
				row);
}

/* OR a bitmap in, if there is one: 1, 0 or negative. */
static int or_known(struct build *b, uint32_t c, struct error *err)
{
	uint32_t entry = b->entry_of[c], row;
	struct ewah_view view;
	int ret;

	if (entry == NO_BITMAP) {
		if (!find_below(b, c, &row))
			return 0;
		ret = bitmap_file_or(&b->bits, b->in->below, row, &b->scratch,
				     err);
		return ret < 0 ? ret : 1;
	}
	if (bitmap_complete_get(&b->complete, entry, &view) < 0)
		return error_nomem(err);
	ewah_or_into(&b->bits, &view);
	if (b->nearest == NO_BITMAP)
		b->nearest = entry;
	return 1;
}

/*
 * Fill b->bits for `nr` commits. Ancestors leave the queue newest first, so
 * that a bitmap that covers others is ORed in before them.
 */
static int fill(struct build *b, const uint32_t *commits, size_t nr,
		struct error *err)
{
	uint32_t c;
	int ret;

	bitset_clear(&b->bits);
	b->nearest = NO_BITMAP;
	for (size_t i = 0; i < nr; i++)
		if (heap_push(&b->queue, b->order[commits[i]], commits[i]) < 0)
			return error_nomem(err);
	while (heap_pop(&b->queue, &c)) {
		if (is_set(b, c))
			continue;
		ret = or_known(b, c, err);
		if (ret < 0)
			return ret;
		if (ret)
			continue;
		ret = set_commit(b, c, err);
		if (ret < 0)
			return ret;
		if (queue_parents(b, c) < 0)
			return error_nomem(err);
	}
	return 0;
}

/* Keep the difference to entry `other` if it is the smallest so far. */
static int try_xor(struct build *b, size_t entry, size_t other)
{
	struct bitmap_built *built = &b->out[entry];
	struct ewah_view full = ewah_view_of(&b->full);
	struct ewah_view base;
	size_t best = built->xor_offset ? built->bitmap.word_nr : full.word_nr;
	struct ewah diff;

	if (b->depth[other] >= XOR_MAX_DEPTH)
		return 0;
	if (bitmap_complete_get(&b->complete, other, &base) < 0)
		return ERR_NOMEM;
	ewah_init(&diff);
	if (ewah_xor(&diff, &full, &base) < 0) {
		ewah_release(&diff);
		return ERR_NOMEM;
	}
	if (diff.word_nr >= best) {
		ewah_release(&diff);
		return 0;
	}
	ewah_release(&built->bitmap);
	built->bitmap = diff;
	built->xor_offset = (uint8_t)(entry - other);
	b->depth[entry] = (uint8_t)(b->depth[other] + 1);
	return 0;
}

/* Choose how to store an entry, of which b->full is used up. */
static int store(struct build *b, size_t entry)
{
	size_t first = entry > XOR_CANDIDATES ? entry - XOR_CANDIDATES : 0;

	if (b->in->whole)
		first = entry;
	else if (b->nearest != NO_BITMAP && b->nearest < first &&
		 entry - b->nearest <= BITMAP_WRITE_XOR_OFFSET &&
		 try_xor(b, entry, b->nearest) < 0)
		return ERR_NOMEM;
	for (size_t other = entry; other-- > first;)
		if (try_xor(b, entry, other) < 0)
			return ERR_NOMEM;
	if (b->out[entry].xor_offset) {
		bitmap_complete_put(&b->complete, entry, &b->full);
	} else {
		b->out[entry].bitmap = b->full;
		ewah_init(&b->full);
	}
	return 0;
}

static int build_entry(struct build *b, uint32_t c, struct error *err)
{
	size_t entry = b->done;
	int ret = fill(b, &c, 1, err);

	if (ret < 0)
		return ret;
	ewah_init(&b->out[entry].bitmap);
	b->out[entry].commit_nr = c;
	if (ewah_from_bitset(&b->full, &b->bits) < 0 || store(b, entry) < 0)
		return error_nomem(err);
	b->entry_of[c] = (uint32_t)entry;
	b->done++;
	return 0;
}

static int build_all(struct build *b, struct error *err)
{
	const struct bitmap_build_input *in = b->in;
	uint8_t *wanted = mem_calloc(in->history->nr, 1);
	struct progress progress;
	int ret = 0;

	if (!wanted)
		return error_nomem(err);
	for (size_t i = 0; i < in->selected_nr; i++)
		wanted[in->selected[i]] = 1;
	progress_start(&progress, in->progress, "Building bitmaps",
		       in->selected_nr);
	for (size_t i = 0; i < in->commit_nr && !ret; i++) {
		if (!wanted[in->commits[i]] ||
		    b->entry_of[in->commits[i]] != NO_BITMAP)
			continue;
		ret = build_entry(b, in->commits[i], err);
		if (!ret)
			ret = progress_step(&progress, 1, err);
	}
	progress_stop(&progress);
	free(wanted);
	return ret;
}

/* The commits of a pseudo-merge: bits have to come in ascending order. */
static int set_members(struct build *b, const struct bitmap_group *group,
		       struct ewah *members)
{
	const struct history *h = b->in->history;

	bitset_clear(&b->bits);
	for (size_t i = 0; i < group->nr; i++)
		bitset_set(
			&b->bits,
			b->in->bit_pos[h->commits[group->commits[i]].obj_pos]);
	for (size_t bit = bitset_next(&b->bits, 0); bit < b->bits.bits;
	     bit = bitset_next(&b->bits, bit + 1))
		if (ewah_set(members, bit) < 0)
			return ERR_NOMEM;
	return 0;
}

static int build_group(struct build *b, const struct bitmap_group *group,
		       struct bitmap_built_group *built, struct error *err)
{
	int ret = fill(b, group->commits, group->nr, err);

	if (ret < 0)
		return ret;
	if (ewah_from_bitset(&built->objects, &b->bits) < 0 ||
	    set_members(b, group, &built->commits) < 0)
		return error_nomem(err);
	return 0;
}

int bitmap_build(struct bitmap_build_result *out,
		 const struct bitmap_build_input *input, struct error *err)
{
	struct build b;
	int ret = build_init(&b, out, input) < 0 ? error_nomem(err)
						 : build_all(&b, err);

	for (size_t i = 0; i < input->group_nr && !ret; i++)
		ret = build_group(&b, &input->groups[i], &out->groups[i], err);
	build_release(&b);
	return ret;
}
