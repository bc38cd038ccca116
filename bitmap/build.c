/* SPDX-License-Identifier: MIT */
/* Builds the bitmaps of selected commits. */
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "bitmap/build.h"
#include "bitmap/file.h"

#define NO_BITMAP UINT32_MAX

/*
 * The cost of a bitmap that is stored as an XOR is the number of words of the
 * XOR, plus the number of words of the whole XOR chain / CHAIN_WORDS_PER_WORD.
 * The chain counts because a query that uses the bitmap must decode the whole
 * chain.
 */
#define CHAIN_WORDS_PER_WORD 64

/*
 * The search for the best XOR of a bitmap tries earlier bitmaps one after the
 * other. It ends when this number of consecutive tries has not lowered the
 * cost. A longer search would make all bitmaps together at most 3% smaller.
 */
#define MOST_IDLE_TRIALS 32

/*
 * The size of an XOR chain: the bitmaps that must be decoded to get the bitmap
 * of an entry.
 */
struct build_chain {
	/* number of bitmaps that the chain has besides the entry's own */
	uint32_t links;
	/*
	 * number of words of all bitmaps of the chain, including the entry's
	 * own
	 */
	uint32_t words;
};

struct build {
	const struct bitmap_build_input *in;
	/*
	 * owned array, indexed by commit_nr: the commit's index in in->commits
	 */
	uint32_t *order;
	/*
	 * owned array, indexed by commit_nr: the index in `out` of the entry
	 * with the commit's bitmap, or NO_BITMAP
	 */
	uint32_t *entry_of;
	struct bitmap_complete complete; /* whole bitmaps of `out` */
	struct bitset scratch;
	/* borrowed from the result: the entries */
	struct bitmap_built *out;
	/* borrowed from the result: the pseudo-merges */
	struct bitmap_built_group *groups;
	/*
	 * owned array, indexed by entry: the XOR chain that ends with the entry
	 */
	struct build_chain *chains;
	size_t done; /* number of entries built */
	/* the bitmap of the current commit, uncompressed */
	struct bitset bits;
	/* the bitmap of the current commit, compressed */
	struct ewah full;
	/* the best XOR so far, and the XOR that is tried now */
	struct ewah best, diff;
	/* cost of `best` in words */
	size_t best_cost;
	/*
	 * ancestors that are still to be visited while a bitmap is built;
	 * `order` decides which comes first
	 */
	struct heap queue;
	/*
	 * index in `out` of the entry of the nearest ancestor that has a
	 * bitmap, or NO_BITMAP
	 */
	uint32_t nearest;
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
	ewah_release(&b->best);
	ewah_release(&b->diff);
	bitset_release(&b->scratch);
	free(b->order);
	free(b->entry_of);
	free(b->chains);
	bitset_release(&b->bits);
	heap_release(&b->queue);
}

static void note_chain(struct build *b, size_t entry)
{
	const struct bitmap_built *built = &b->out[entry];
	struct build_chain *chain = &b->chains[entry];

	*chain = (struct build_chain){0};
	if (built->xor_offset) {
		*chain = b->chains[entry - built->xor_offset];
		chain->links++;
	}
	if (built->bitmap.word_nr > UINT32_MAX - chain->words)
		chain->words = UINT32_MAX;
	else
		chain->words += (uint32_t)built->bitmap.word_nr;
}

/*
 * Returns by how many words the XOR chain of `entry` may grow, if another
 * bitmap is stored as an XOR with the bitmap of `entry`. Returns 0 if the chain
 * already has its maximum length.
 */
static size_t chain_room(const struct build *b, size_t entry)
{
	const struct build_chain *chain = &b->chains[entry];
	size_t most = BITMAP_CHAIN_WORDS +
		      BITMAP_CHAIN_FACTOR * b->bits.word_nr;

	if (chain->links >= BITMAP_CHAIN_LINKS || chain->words >= most)
		return 0;
	return most - chain->words;
}

/*
 * Takes over the bitmaps of the older index. They are the first entries of the
 * new file.
 */
static void take_old(struct build *b)
{
	for (size_t i = 0; i < b->in->old_nr; i++) {
		struct bitmap_built *old = &b->in->old[i];

		b->out[i] = *old;
		ewah_init(&old->bitmap);
		note_chain(b, i);
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
	ewah_init(&b->best);
	ewah_init(&b->diff);
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
	b->chains = mem_calloc(nr, sizeof(*b->chains));
	if (!b->order || !b->entry_of || !b->out || !b->groups || !b->chains ||
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

/*
 * Sets the bits of a commit, and of the objects in its new-object list, in
 * b->bits.
 */
static int set_commit(struct build *b, uint32_t c, struct error *err)
{
	const struct newobj_list *list;
	int ret = set_bit(b, b->in->history->commits[c].obj_pos, err);

	if (!ret && b->order[c] >= b->in->commit_nr)
		return error_set(err, ERR_MISSING,
				 "a commit was not enumerated");
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

/*
 * Finds the row of a commit's bitmap in in->below, the bitmap file of lower
 * layers. Returns false if the file has no bitmap of this commit.
 */
static bool find_below(const struct build *b, uint32_t c, uint32_t *row)
{
	const struct bitmap_file *below = b->in->below;
	uint32_t bit = b->in->bit_pos[b->in->history->commits[c].obj_pos];

	return below && bit < below->object_nr &&
	       bitmap_file_find(below, bitmap_space_idx_pos(b->in->space, bit),
				row);
}

/*
 * ORs the finished bitmap of a commit into b->bits. Returns 1 if the commit has
 * a bitmap, 0 if not, or a negative error code.
 */
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
 * Fills b->bits with the closure of `nr` commits. The commits and their
 * ancestors pass through b->queue, children before parents. If a commit has a
 * bitmap, the bitmap is ORed into b->bits. This bitmap contains all ancestors
 * of the commit, so bitmaps of these ancestors are skipped.
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

/*
 * Computes the XOR of the bitmaps of `entry` and `other`. If its cost in words
 * (see CHAIN_WORDS_PER_WORD) is below b->best_cost, puts it into b->best.
 * Returns 0 or ERR_NOMEM.
 */
static int try_xor(struct build *b, size_t entry, size_t other)
{
	struct ewah_view full = ewah_view_of(&b->full);
	size_t chain = b->chains[other].words / CHAIN_WORDS_PER_WORD;
	size_t room = chain_room(b, other);
	struct ewah_view base;
	struct ewah diff;
	int ret;

	if (!room || b->best_cost <= chain)
		return 0;
	if (room > b->best_cost - chain)
		room = b->best_cost - chain;
	if (bitmap_complete_get(&b->complete, other, &base) < 0)
		return ERR_NOMEM;
	ret = ewah_xor_below(&b->diff, &full, &base, room);
	if (ret)
		return ret < 0 ? ret : 0;
	diff = b->best;
	b->best = b->diff;
	b->diff = diff;
	b->best_cost = b->best.word_nr + chain;
	b->out[entry].xor_offset = (uint8_t)(entry - other);
	return 0;
}

/*
 * Tries XORs of an entry's bitmap with earlier bitmaps, and stores the best one
 * in b->best. The XOR with the nearest ancestor is tried first, because it is
 * small. Other XORs are abandoned when they get larger than the best one.
 * Returns 0 or ERR_NOMEM.
 */
static int choose_base(struct build *b, size_t entry)
{
	int idle = 0;
	size_t first = entry > BITMAP_WRITE_XOR_OFFSET
			       ? entry - BITMAP_WRITE_XOR_OFFSET
			       : 0;

	b->best_cost = b->full.word_nr;
	if (b->in->whole)
		return 0;
	if (b->nearest != NO_BITMAP && b->nearest >= first &&
	    try_xor(b, entry, b->nearest) < 0)
		return ERR_NOMEM;
	for (size_t other = entry;
	     other-- > first && idle < MOST_IDLE_TRIALS;) {
		size_t cost = b->best_cost;

		if (other != b->nearest && try_xor(b, entry, other) < 0)
			return ERR_NOMEM;
		idle = b->best_cost < cost ? 0 : idle + 1;
	}
	return 0;
}

/*
 * Stores the bitmap b->full of an entry, as an XOR or whole, whichever is
 * smaller. Returns 0 or ERR_NOMEM.
 */
static int store(struct build *b, size_t entry)
{
	struct bitmap_built *built = &b->out[entry];
	struct ewah full;

	if (choose_base(b, entry) < 0 ||
	    ewah_copy(&built->bitmap, built->xor_offset ? &b->best : &b->full) <
		    0)
		return ERR_NOMEM;
	note_chain(b, entry);
	if (!built->xor_offset)
		return 0;
	if (ewah_copy(&full, &b->full) < 0)
		return ERR_NOMEM;
	bitmap_complete_put(&b->complete, entry, &full);
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

/*
 * Makes the set of a pseudo-merge's commits. Their bits are sorted first, since
 * ewah_set() needs ascending bits. Returns 0 or ERR_NOMEM.
 */
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
