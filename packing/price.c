/* SPDX-License-Identifier: MIT */
/* Estimates the CPU time of packs. */
#include <stdlib.h>

#include "packing/price.h"

/*
 * ---- prices in microseconds of CPU time, measured by t/perf/prices. A price
 * is only of the right order of magnitude.
 */

/* price of the work that every request needs */
#define REQUEST_US 1200
/* price of comparing the trees of a commit */
#define TREE_DIFF_US 36
/* price of finding an object in a walk of all history */
#define WALKED_OBJECT_US 2
/*
 * A filter tree:<depth> with a depth of at most FLAT_DEPTH lets few objects
 * pass: commits, and for each commit at most the root tree and the entries of
 * the root tree. A walk with such a filter is assumed to find 1 / FLAT_PART of
 * all objects.
 */
#define FLAT_DEPTH 2
#define FLAT_PART 6
/* price of comparing the size of an object with the limit of a filter */
#define SIZED_OBJECT_US 1
/* price of a walk if the length of history is unknown */
#define UNKNOWN_WALK_US 5000
/* price of an object that is not copied in a run */
#define ITEM_US 12
/* number of objects that bitmaps find in a microsecond */
#define FOUND_PER_US 4
/* number of bytes that are copied and hashed in a microsecond */
#define HASHED_PER_US 800
/*
 * number of bytes for which a delta search and deflating together take a
 * microsecond
 */
#define DEFLATED_PER_US 80

/*
 * The stored length of a set of objects is estimated from a sample: about this
 * number of runs of set bits. For each run in the sample, the length of the
 * objects in the pack is computed from pack offsets. The objects of all other
 * runs are assumed to have the same average length.
 */
#define RUNS_MAX 256

/* A pack offset above this number means that the index is damaged. */
#define PACK_LEN_MAX (UINT64_C(1) << 48)

uint64_t packing_price_walk(const struct packing_request *request,
			    const struct bitmap_plan *plan, uint32_t object_nr)
{
	if (plan->reason && plan->walk_cost != UINT64_MAX)
		return plan->walk_cost > UINT64_MAX / TREE_DIFF_US
			       ? UINT64_MAX
			       : plan->walk_cost * TREE_DIFF_US;
	/*
	 * The length of history is unknown before the walk, so the price is a
	 * guess.
	 */
	if (request->have_nr || request->shallow_nr)
		return UNKNOWN_WALK_US;
	if (request->filter && request->filter->depth <= FLAT_DEPTH)
		object_nr /= FLAT_PART;
	return (uint64_t)object_nr * WALKED_OBJECT_US;
}

uint64_t packing_price_filter(const struct filter *filter, uint64_t object_nr)
{
	return filter && filter->blob_limit && filter->blob_limit != UINT64_MAX
		       ? object_nr * SIZED_OBJECT_US
		       : 0;
}

/*
 * Returns the offset in the pack at which the stored object of a bit begins.
 * For the bit after the last one, returns the offset at which the last object
 * ends.
 */
static uint64_t offset_of(const struct bitmap_space *space,
			  const struct bitmap_space_part *part, uint32_t bit)
{
	const struct odb_pack *pack = part->pack;
	uint64_t offset;

	if (bit == part->first + part->nr)
		return pack->pack->file.len - hash_len(space->odb->algo);
	bitmap_space_locate(space, bit, &offset);
	return offset;
}

/*
 * The objects and bytes of the runs of set bits that sample_runs() has visited.
 */
struct runs {
	uint64_t nr, len; /* objects and bytes */
};

/*
 * Adds the objects and bytes of a sample of the runs of set bits to *r. After a
 * run in the sample, all runs that begin less than `step` bits after its start
 * are skipped.
 */
static void sample_runs(struct runs *r, const struct bitmap_space *space,
			const struct bitmap_space_part *part,
			const struct bitset *packed, size_t step)
{
	size_t end = part->first + part->nr;
	size_t bit = bitset_next(packed, part->first);

	while (bit < end) {
		size_t stop = bitset_next_unset(packed, bit);
		uint64_t from, to;

		if (stop > end)
			stop = end;
		from = offset_of(space, part, (uint32_t)bit);
		to = offset_of(space, part, (uint32_t)stop);
		/*
		 * Skip the run if its offsets are wrong, because the index is
		 * damaged.
		 */
		if (from < to && to < PACK_LEN_MAX) {
			r->nr += stop - bit;
			r->len += to - from;
		}
		bit = bitset_next(packed,
				  stop < bit + step ? bit + step : stop);
	}
}

uint64_t packing_stored_len(const struct bitmap_space *space,
			    const struct bitset *packed)
{
	uint64_t nr = bitset_count(packed);
	struct bitmap_space_part *parts;
	struct runs r = {0, 0};
	size_t part_nr;

	if (bitmap_space_parts(&parts, &part_nr, space) < 0)
		return 0;
	for (size_t i = 0; i < part_nr; i++)
		sample_runs(&r, space, &parts[i], packed,
			    packed->bits / RUNS_MAX + 1);
	free(parts);
	if (r.nr && r.nr < nr)
		r.len = r.len / r.nr < PACK_LEN_MAX / nr ? r.len / r.nr * nr
							 : PACK_LEN_MAX;
	return r.len;
}

uint64_t packing_price_spans(const struct bitmap_space *space,
			     const struct bitset *packed)
{
	return bitset_count(packed) / FOUND_PER_US +
	       packing_stored_len(space, packed) / HASHED_PER_US;
}

uint64_t packing_price_items(size_t item_nr)
{
	return REQUEST_US + (uint64_t)item_nr * ITEM_US;
}

uint64_t packing_price_deflate(uint64_t len)
{
	return len / DEFLATED_PER_US;
}

/* Maximum price: an hour. A higher estimate counts as an hour. */
#define PRICE_MAX_US UINT64_C(3600000000)

int packing_admit(unsigned *threads, const struct packing_send_options *options,
		  uint64_t price_us, struct error *err)
{
	const struct packing_admission *admission = options->admission;
	unsigned granted = 0;
	int ret;

	*threads = options->threads;
	if (!admission)
		return 0;
	if (price_us > PRICE_MAX_US)
		price_us = PRICE_MAX_US;
	ret = admission->admit(admission->ctx, price_us, &granted, err);
	if (!ret && granted && (!*threads || *threads > granted))
		*threads = granted;
	return ret;
}
