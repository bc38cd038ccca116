/* SPDX-License-Identifier: MIT */
/* Copies spans (runs of entries) from stored packs to a new pack. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/copy.h"
#include "packing/reuse.h"

struct reuse {
	const struct reuse_request *r;
	/*
	 * Owned: the parts (packs) from which objects were copied, in the order
	 * of their bits.
	 */
	struct reuse_part *parts;
	size_t part_nr;
	/*
	 * the last one of `parts`: the pack from which objects are copied at
	 * present
	 */
	struct reuse_part *part;
	struct pack_writer *writer;
	/* the state of copying from the part's pack */
	struct pack_copy copy;
	/*
	 * The first wanted bit that was not processed. All wanted bits before
	 * this one were copied, or are in `left_over`.
	 */
	uint32_t done_bit;
	/*
	 * The bits of objects that could not be copied. The set has no memory
	 * until there is such an object.
	 */
	struct bitset *left_over;
	/*
	 * start of the span (the run of entries to copy): bytes that are not
	 * written yet
	 */
	uint64_t span_start;
	/*
	 * end of the span (the run of entries to copy); equal to span_start if
	 * the span is empty
	 */
	uint64_t span_end;
	/* the pack_pos after the entry that was examined last */
	uint32_t next_pos;
	/* offset of the entry at next_pos */
	uint64_t next_off;
	uint32_t objects;
	uint64_t bytes;
	bool changed_headers;
};

/*
 * When a span has at least this number of bytes, its bytes are written, and a
 * new span begins.
 */
#define SPAN_MAX ((size_t)512 << 10)

/*
 * When entry i of the wanted entries is copied, the offset of entry i +
 * PREFETCH_NR is prefetched into the CPU cache.
 */
#define PREFETCH_NR 16

/*
 * When entry i of the wanted entries is copied, the bytes of entry i +
 * PREFETCH_ENTRY_NR are prefetched. The offset of that entry is in the cache by
 * then.
 */
#define PREFETCH_ENTRY_NR 8

static int flush_span(struct reuse *u, struct error *err)
{
	uint64_t start = u->span_start;

	u->span_start = u->span_end;
	return pack_copy_put(&u->copy, u->writer, start, u->span_end, err);
}

/* Returns the offset in the new pack of the next byte that is written. */
static uint64_t out_off(const struct reuse *u)
{
	return u->writer->off + (u->span_end - u->span_start);
}

/*
 * Start a segment: bytes of the pack from `in_off` on are copied to the end of
 * the new pack. Returns 0 or ERR_NOMEM.
 */
static int begin_segment(struct reuse *u, uint64_t in_off)
{
	return reuse_part_map(u->part, in_off, out_off(u));
}

/* Append an entry of the pack to the span, without changing it. */
static int take_as_is(struct reuse *u, uint64_t off, uint64_t end,
		      struct error *err)
{
	int ret;

	if (off != u->span_end) {
		ret = flush_span(u, err);
		if (ret < 0)
			return ret;
		u->span_start = u->span_end = off;
		if (begin_segment(u, off) < 0)
			return error_nomem(err);
	}
	u->span_end = end;
	return end - u->span_start < SPAN_MAX ? 0 : flush_span(u, err);
}

/*
 * Write an entry with a new header. If the new header is longer or shorter than
 * the old one, the bytes after it are shifted, so the next entry starts a
 * segment (struct reuse_segment: bytes with the same shift).
 */
static int take_with_header(struct reuse *u, uint64_t off, uint64_t end,
			    size_t old_header_len,
			    const struct pack_entry *entry, struct error *err)
{
	uint8_t header[PACK_ENTRY_HEADER_MAX];
	size_t len = pack_entry_write(header, entry, u->part->pack->algo);
	bool is_after_gap = off != u->span_end;
	int ret = flush_span(u, err);

	u->changed_headers = true;
	if (!ret && is_after_gap && begin_segment(u, off) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = pack_writer_put(u->writer, header, len, err);
	u->span_start = off + old_header_len;
	u->span_end = end;
	if (!ret && len != old_header_len) {
		ret = flush_span(u, err);
		/*
		 * Close the span, so that the next entry starts a new segment.
		 */
		u->span_start = u->span_end = UINT64_MAX;
	}
	return ret;
}

/* The base of a delta: whether it is sent, and where it is in the new pack. */
struct base {
	enum { BASE_ABSENT, BASE_UNINTERESTING, BASE_COPIED } state;
	/* the id of the base; points into the mapped .idx of the pack */
	const uint8_t *raw;
	/* offset of the base in the new pack; valid if BASE_COPIED */
	uint64_t out_off;
};

/* Returns the part (pack) to which a bit belongs. */
static struct reuse_part *part_of(const struct reuse *u, uint32_t bit)
{
	size_t low = 0, high = u->part_nr;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (u->parts[mid].first <= bit)
			low = mid;
		else
			high = mid;
	}
	return &u->parts[low];
}

/*
 * Find the bit of a delta base with the raw id `raw`. The copy of the base in
 * the pack of the delta is preferred, if there are several copies. Returns
 * false if no copy has a bit.
 */
static bool find_bit(const struct reuse *u, uint32_t pack_pos,
		     const uint8_t *raw, uint32_t *bit)
{
	const struct bitmap_space *space = u->r->space;
	uint32_t idx_pos;

	if (reuse_part_bit(u->part, pack_pos, bit))
		return true;
	return space->midx && bitmap_space_find(space, raw, &idx_pos) &&
	       bitmap_space_bit_of(space, idx_pos, bit);
}

static bool is_copied(const struct reuse *u, uint32_t bit)
{
	return bit < u->done_bit && bitset_get(u->r->want, bit) &&
	       !bitset_get(u->left_over, bit);
}

static void look_up_base(const struct reuse *u, uint32_t pack_pos,
			 struct base *base)
{
	uint32_t bit;

	if (!find_bit(u, pack_pos, base->raw, &bit))
		return;
	if (is_copied(u, bit)) {
		const struct reuse_part *part = part_of(u, bit);
		uint32_t at = reuse_part_pack_pos(part, bit);

		base->state = BASE_COPIED;
		base->out_off = reuse_part_mapped(
			part, pack_rev_offset(part->rev, at));
	} else if (u->r->uninteresting &&
		   bitset_get(u->r->uninteresting, bit)) {
		base->state = BASE_UNINTERESTING;
	}
}

/*
 * Find the base of a delta in its own pack. Then find out whether the base was
 * copied, or the receiver has it. Returns 0 or ERR_CORRUPT.
 */
static int find_base(const struct reuse *u, uint32_t pack_pos, uint64_t off,
		     const struct pack_entry *entry, struct base *base,
		     struct error *err)
{
	const struct pack_idx *idx = &u->part->pack->idx;
	const struct pack_rev *rev = u->part->rev;
	uint32_t base_pack_pos, idx_pos;

	base->state = BASE_ABSENT;
	if (entry->type == OBJ_OFS_DELTA) {
		if (!pack_rev_find_before(rev, pack_pos,
					  off - entry->base_distance,
					  &base_pack_pos))
			return error_set_at(err, ERR_CORRUPT,
					    u->part->pack->path, off,
					    "no object begins at the offset of "
					    "the delta base");
		idx_pos = pack_rev_idx_pos(rev, base_pack_pos);
	} else if (!pack_idx_find(idx, entry->base_oid, &idx_pos) ||
		   !pack_rev_find(rev, pack_idx_offset(idx, idx_pos),
				  &base_pack_pos)) {
		return 0;
	}
	base->raw = pack_idx_oid(idx, idx_pos);
	look_up_base(u, base_pack_pos, base);
	return 0;
}

static int take_delta(struct reuse *u, uint32_t pack_pos, uint64_t off,
		      uint64_t end, struct pack_entry *entry, bool *taken,
		      struct error *err)
{
	size_t header_len = entry->header_len;
	bool was_ofs = entry->type == OBJ_OFS_DELTA;
	struct base base;
	int ret = find_base(u, pack_pos, off, entry, &base, err);

	if (ret < 0 || base.state == BASE_ABSENT)
		return ret;
	*taken = true;
	if (!was_ofs)
		return take_as_is(u, off, end, err);
	if (base.state == BASE_UNINTERESTING || !u->r->ofs_delta) {
		entry->type = OBJ_REF_DELTA;
		entry->base_oid = base.raw;
	} else {
		uint64_t distance = out_off(u) - base.out_off;

		if (distance == entry->base_distance)
			return take_as_is(u, off, end, err);
		entry->base_distance = distance;
	}
	return take_with_header(u, off, end, header_len, entry, err);
}

/*
 * Returns whether a delta and its base are both in the last segment. A segment
 * is copied without a gap, so the distance between the delta and its base is
 * then unchanged.
 */
static bool is_in_base_segment(const struct reuse *u, uint64_t off,
			       const struct pack_entry *entry)
{
	const struct reuse_part *part = u->part;

	return entry->type == OBJ_OFS_DELTA && u->r->ofs_delta &&
	       off == u->span_end &&
	       off - entry->base_distance >=
		       part->segments[part->segment_nr - 1].in_off;
}

static int leave_over(struct reuse *u, uint32_t bit)
{
	if (bitset_grow(u->left_over, bitmap_space_nr(u->r->space)) < 0)
		return ERR_NOMEM;
	bitset_set(u->left_over, bit);
	return 0;
}

static int take_entry(struct reuse *u, uint32_t bit, bool *taken,
		      struct error *err)
{
	const struct pack *pack = u->part->pack;
	uint32_t pack_pos = reuse_part_pack_pos(u->part, bit);
	uint64_t off = pack_pos == u->next_pos
			       ? u->next_off
			       : pack_rev_offset(u->part->rev, pack_pos);
	uint64_t end = pack_rev_offset(u->part->rev, pack_pos + 1);
	struct pack_entry entry;
	int ret = pack_entry_at(&entry, pack, off, err);

	if (ret < 0)
		return ret;
	if (end > pack->file.len || end < off || end - off < entry.header_len)
		return error_set_at(err, ERR_CORRUPT, pack->path, off,
				    "pack entry overlaps the next");
	u->next_pos = pack_pos + 1;
	u->next_off = end;
	if ((entry.type == OBJ_OFS_DELTA || entry.type == OBJ_REF_DELTA) &&
	    !is_in_base_segment(u, off, &entry)) {
		ret = take_delta(u, pack_pos, off, end, &entry, taken, err);
	} else {
		*taken = true;
		ret = take_as_is(u, off, end, err);
	}
	if (*taken) {
		u->objects++;
		u->bytes += end - off;
	}
	return ret;
}

/*
 * Copy an object, or add its bit to `left_over`. An object whose entry is
 * damaged is added to `left_over`, because another pack may have a good copy.
 */
static int take(struct reuse *u, uint32_t bit, struct error *err)
{
	bool taken = false;
	int ret = take_entry(u, bit, &taken, err);

	if (ret == ERR_CORRUPT && !taken) {
		if (err)
			*err = (struct error)ERROR_INIT;
		ret = 0;
	}
	if (ret < 0)
		return ret;
	u->done_bit = bit + 1;
	return taken || !leave_over(u, bit) ? 0 : error_nomem(err);
}

/*
 * Copy a whole pack without looking at its entries. All its objects must be
 * wanted, and the receiver must read OFS_DELTA.
 */
static int take_all(struct reuse *u, struct error *err)
{
	const struct reuse_part *part = u->part;
	uint64_t off = pack_rev_offset(part->rev, 0);
	int ret;

	if (begin_segment(u, off) < 0)
		return error_nomem(err);
	u->done_bit = part->first + part->nr;
	u->objects += part->nr;
	u->bytes += part->rev->end - off;
	ret = pack_copy_put(&u->copy, u->writer, off, part->rev->end, err);
	if (!ret && u->r->progress)
		ret = progress_step(u->r->progress, part->nr, err);
	return ret;
}

static bool wants_all(const struct reuse *u)
{
	const struct reuse_part *part = u->part;

	return u->r->ofs_delta && part->nr && !part->pack_pos &&
	       bitset_next_unset(u->r->want, part->first) >=
		       (size_t)part->first + part->nr;
}

/*
 * Prefetches the memory of the next wanted entries after `bit`. Their offsets
 * are scattered over the index, and their headers are hundreds of bytes apart.
 */
static void prefetch_after(const struct reuse *u, size_t bit, size_t end)
{
	const struct reuse_part *part = u->part;

	if (bit + PREFETCH_NR >= end)
		return;
	pack_rev_prefetch(
		part->rev,
		reuse_part_pack_pos(part, (uint32_t)bit + PREFETCH_NR));
	bit += PREFETCH_ENTRY_NR;
	if (bitset_test(u->r->want, bit))
		pack_prefetch(part->pack,
			      pack_rev_offset(part->rev,
					      reuse_part_pack_pos(
						      part, (uint32_t)bit)));
}

static int take_each(struct reuse *u, struct error *err)
{
	const struct bitset *want = u->r->want;
	size_t end = (size_t)u->part->first + u->part->nr;

	for (size_t bit = bitset_next(want, u->part->first); bit < end;
	     bit = bitset_next(want, bit + 1)) {
		int ret;

		prefetch_after(u, bit, end);
		ret = take(u, (uint32_t)bit, err);
		if (!ret && u->r->progress)
			ret = progress_step(u->r->progress, 1, err);
		if (ret < 0)
			return ret;
	}
	return flush_span(u, err);
}

/*
 * Copy no object of a part (pack): add all its wanted objects to `left_over`.
 * Returns 0 or ERR_NOMEM.
 */
static int leave(struct reuse *u, const struct bitmap_space_part *bits,
		 struct error *err)
{
	const struct bitset *want = u->r->want;
	size_t end = (size_t)bits->first + bits->nr;

	for (size_t bit = bitset_next(want, bits->first); bit < end;
	     bit = bitset_next(want, bit + 1))
		if (leave_over(u, (uint32_t)bit) < 0)
			return error_nomem(err);
	u->done_bit = bits->first + bits->nr;
	return 0;
}

/*
 * Returns the number of bytes of `wanted` objects, estimated from the average
 * length of the pack's entries.
 */
static uint64_t estimate(const struct pack *pack, size_t wanted)
{
	return (uint64_t)((double)wanted / pack->idx.nr *
			  (double)pack->file.len);
}

static int take_part(struct reuse *u, const struct bitmap_space_part *bits,
		     struct error *err)
{
	size_t wanted = bitset_count_range(u->r->want, bits->first,
					   (size_t)bits->first + bits->nr);
	int ret = reuse_part_init(&u->parts[u->part_nr], u->r->space, bits,
				  wanted, err);

	u->part = &u->parts[u->part_nr++];
	if (ret)
		return ret < 0 ? ret : leave(u, bits, err);
	u->span_start = u->span_end = UINT64_MAX;
	u->next_pos = UINT32_MAX;
	ret = pack_copy_open(&u->copy, u->part->pack, u->writer,
			     estimate(u->part->pack, wanted), err);
	if (!ret)
		ret = wants_all(u) ? take_all(u, err) : take_each(u, err);
	pack_copy_close(&u->copy);
	return ret;
}

static int take_parts(struct reuse *u, const struct bitmap_space_part *bits,
		      size_t nr, struct reuse_report *report, struct error *err)
{
	const struct bitset *want = u->r->want;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		uint32_t before = u->objects;

		if (bitset_next(want, bits[i].first) >=
		    (size_t)bits[i].first + bits[i].nr)
			continue;
		if (!i || u->r->all_packs)
			ret = take_part(u, &bits[i], err);
		else
			ret = leave(u, &bits[i], err);
		report->packs += u->objects > before;
	}
	return ret;
}

int reuse_write(struct bitset *left_over, const struct reuse_request *request,
		struct pack_writer *writer, struct reuse_report *report,
		struct error *err)
{
	struct reuse u = {
		.r = request,
		.writer = writer,
		.left_over = left_over,
	};
	struct bitmap_space_part *bits = NULL;
	size_t bits_nr = 0;
	int ret = 0;

	*left_over = (struct bitset)BITSET_INIT;
	if (bitmap_space_parts(&bits, &bits_nr, request->space) < 0)
		ret = error_nomem(err);
	else
		u.parts = mem_calloc(bits_nr, sizeof(*u.parts));
	if (!ret && !u.parts)
		ret = error_nomem(err);
	if (!ret)
		ret = take_parts(&u, bits, bits_nr, report, err);
	report->objects += u.objects;
	report->bytes_verbatim += u.bytes;
	report->changed_headers = u.changed_headers;
	for (size_t i = 0; i < u.part_nr; i++)
		reuse_part_release(&u.parts[i]);
	free(u.parts);
	free(bits);
	return ret;
}
