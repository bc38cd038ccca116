/* SPDX-License-Identifier: MIT */
/*
 * The table of entries: adding an entry, checking its object, sorting, and
 * searching.
 *
 * The entries are sorted by id in two steps. First, two radix passes over the
 * first four bytes move only entry numbers. Then merge sort orders each run of
 * entries whose ids share these four bytes. In most packs, a run has one entry.
 * But a peer can find two objects whose ids share four bytes, and send each of
 * them many times. Then a run has many entries, so the second step must be fast
 * for long runs, too. base/sort.h would need 32 bytes of memory per entry; this
 * sort needs 8.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "indexer/indexer-parts.h"

int indexer_work(struct pack_indexer *ix, uint64_t len, uint64_t pack_len,
		 struct error *err)
{
	uint64_t max = ix->config.max_work, before;

	/*
	 * A limit that does not fit into 64 bits means that there is no limit.
	 */
	if (!max || pack_len > (UINT64_MAX - max) / PACK_INDEXER_WORK_FACTOR)
		return 0;
	max += pack_len * PACK_INDEXER_WORK_FACTOR;
	before = atomic_fetch_add(&ix->work, len < max ? len : max);
	if (len <= max && before <= max - len)
		return 0;
	return error_set(err, ERR_DENIED,
			 "the objects of the pack have more than %" PRIu64
			 " bytes (%s)",
			 max, ix->config.max_work_name);
}

int indexer_corrupt(const struct pack_indexer *ix, uint64_t offset,
		    const char *what, struct error *err)
{
	return error_set_at(err, ERR_CORRUPT, ix->name, offset, "%s", what);
}

int indexer_add_entry(struct pack_indexer *ix, uint64_t offset,
		      enum object_type stored)
{
	size_t len = hash_len(ix->config.algo);

	if (mem_grow(&ix->entries, &ix->alloc, ix->nr + 1,
		     sizeof(*ix->entries)) < 0 ||
	    mem_grow(&ix->ids, &ix->ids_alloc, ix->nr + 1, len) < 0)
		return ERR_NOMEM;
	memset(indexer_id(ix, ix->nr), 0, len);
	ix->entries[ix->nr++] = (struct indexer_entry){
		.offset = offset,
		.first_child = INDEXER_NONE,
		.next_sibling = INDEXER_NONE,
		.stored = (uint8_t)stored,
	};
	return 0;
}

int indexer_check_known(struct pack_indexer *ix, unsigned thread_nr,
			const struct oid *oid, enum object_type type,
			const void *data, size_t len, struct error *err)
{
	const struct pack_indexer_hooks *hooks = &ix->config.hooks;
	int ret = 0;

	if (hooks->has && hooks->compare)
		ret = hooks->has(hooks->ctx, thread_nr, oid, err);
	if (ret > 0)
		ret = hooks->compare(hooks->ctx, thread_nr, oid, type, data,
				     len, err);
	if (!ret && hooks->object)
		ret = hooks->object(hooks->object_ctx, thread_nr, oid, type,
				    data, len, err);
	return ret;
}

enum { DIGIT_NR = 1 << 16 };

/*
 * One pass of a radix sort: sorts the entry numbers `src` into `dst` by the two
 * bytes of their ids that start at `byte`. The sort is stable.
 */
static void pass(const struct pack_indexer *ix, uint32_t *dst,
		 const uint32_t *src, size_t byte, uint32_t *starts)
{
	uint32_t sum = 0;

	memset(starts, 0, DIGIT_NR * sizeof(*starts));
	for (size_t i = 0; i < ix->nr; i++)
		starts[load_be16(indexer_id(ix, i) + byte)]++;
	for (size_t d = 0; d < DIGIT_NR; d++) {
		uint32_t count = starts[d];

		starts[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < ix->nr; i++)
		dst[starts[load_be16(indexer_id(ix, src[i]) + byte)]++] =
			src[i];
}

/* Returns whether the id of entry `a` is greater than the id of entry `b`. */
static bool is_greater(const struct pack_indexer *ix, uint32_t a, uint32_t b)
{
	return memcmp(indexer_id(ix, a), indexer_id(ix, b),
		      hash_len(ix->config.algo)) > 0;
}

/*
 * Merges two sorted arrays of entry numbers into `dst`: src[0, half) and
 * src[half, nr). Of entries with the same id, those of the first array come
 * first.
 */
static void merge(const struct pack_indexer *ix, uint32_t *dst,
		  const uint32_t *src, size_t half, size_t nr)
{
	size_t a = 0, b = half;

	for (size_t i = 0; i < nr; i++)
		if (b == nr || (a < half && !is_greater(ix, src[a], src[b])))
			dst[i] = src[a++];
		else
			dst[i] = src[b++];
}

/*
 * Sorts `nr` entry numbers by their whole ids with merge sort, which is stable.
 * `scratch` has room for `nr` numbers.
 */
static void sort_run(const struct pack_indexer *ix, uint32_t *run,
		     uint32_t *scratch, size_t nr)
{
	for (size_t half = 1; half < nr; half *= 2) {
		for (size_t i = 0; i < nr; i += 2 * half) {
			size_t left = nr - i;

			merge(ix, scratch + i, run + i,
			      half < left ? half : left,
			      2 * half < left ? 2 * half : left);
		}
		memcpy(run, scratch, nr * sizeof(*run));
	}
}

/*
 * Sorts entry numbers by their whole ids. They are already sorted by the first
 * four bytes of their ids.
 */
static void finish(const struct pack_indexer *ix, uint32_t *order,
		   uint32_t *scratch)
{
	for (size_t start = 0, end; start < ix->nr; start = end) {
		uint32_t prefix = load_be32(indexer_id(ix, order[start]));

		end = start + 1;
		while (end < ix->nr &&
		       load_be32(indexer_id(ix, order[end])) == prefix)
			end++;
		sort_run(ix, order + start, scratch, end - start);
	}
}

int indexer_sort(struct pack_indexer *ix, struct error *err)
{
	uint32_t *order = mem_alloc(ix->nr, sizeof(*order));
	uint32_t *scratch = mem_alloc(ix->nr, sizeof(*scratch));
	uint32_t *starts = mem_alloc(DIGIT_NR, sizeof(*starts));
	int ret = 0;

	if (!order || !scratch || !starts) {
		free(order);
		ret = error_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < ix->nr; i++)
		order[i] = (uint32_t)i;
	pass(ix, scratch, order, 2, starts);
	pass(ix, order, scratch, 0, starts);
	finish(ix, order, scratch);
	free(ix->order);
	ix->order = order;
out:
	free(scratch);
	free(starts);
	return ret;
}

bool indexer_find_sorted(const struct pack_indexer *ix, size_t sorted_nr,
			 const struct oid *oid, size_t *order_pos)
{
	size_t lo = 0, hi = sorted_nr, len = hash_len(ix->config.algo);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int cmp = memcmp(indexer_id(ix, ix->order[mid]), oid->bytes,
				 len);

		if (!cmp) {
			*order_pos = mid;
			return true;
		}
		if (cmp < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

struct indexer_ref *indexer_find_ref(const struct pack_indexer *ix,
				     const uint8_t *id)
{
	size_t lo = 0, hi = ix->ref_nr, len = hash_len(ix->config.algo);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int cmp = memcmp(ix->refs[mid].base.bytes, id, len);

		if (!cmp)
			return &ix->refs[mid];
		if (cmp < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}
