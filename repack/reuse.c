/* SPDX-License-Identifier: MIT */
/* Copying spans from a stored pack. */
#include <string.h>

#include "base/mem.h"
#include "repack/reuse.h"

/*
 * From `in_off` on (until the next one), bytes of the pack go to offsets that
 * are `shift` smaller in the new pack. Unsigned arithmetic may wrap: headers
 * can grow.
 */
struct segment {
	uint64_t in_off;
	uint64_t shift;
};

struct reuse {
	const struct reuse_request *r;
	const struct pack *pack;
	const struct pack_rev *rev;
	struct pack_writer *writer;
	struct bitset copied; /* by pack_pos */
	struct bitset *left_over;
	struct segment *segments; /* owned; ascending in_off */
	size_t segment_nr, segment_alloc;
	uint64_t span_start; /* of bytes not yet put */
	uint64_t span_end;   /* == span_start: none */
	uint64_t dropped;    /* pages before this offset were let go */
	uint32_t objects;
	uint64_t bytes;
};

/* Bytes put at a time; pages behind are let go, so that a clone does not hold
 * the whole pack in memory. */
#define SPAN_MAX ((size_t)8 << 20)

static int put_span(struct reuse *u, uint64_t start, uint64_t end,
		    struct error *err)
{
	while (start < end) {
		size_t len = end - start < SPAN_MAX ? (size_t)(end - start)
						    : SPAN_MAX;
		int ret = pack_writer_put(u->writer, u->pack->map.data + start,
					  len, err);

		if (ret < 0)
			return ret;
		start += len;
		if (start - u->dropped < SPAN_MAX)
			continue;
		sys_map_drop(&u->pack->map, (size_t)u->dropped,
			     (size_t)(start - u->dropped));
		u->dropped = start;
	}
	return 0;
}

static int flush_span(struct reuse *u, struct error *err)
{
	uint64_t start = u->span_start;

	u->span_start = u->span_end;
	return put_span(u, start, u->span_end, err);
}

/* Offset in the new pack of what comes next. */
static uint64_t out_off(const struct reuse *u)
{
	return u->writer->off + (u->span_end - u->span_start);
}

/* Note that bytes from `in_off` on go to the current end of the output. */
static int begin_segment(struct reuse *u, uint64_t in_off)
{
	uint64_t shift = in_off - out_off(u);

	if (u->segment_nr && u->segments[u->segment_nr - 1].shift == shift)
		return 0;
	if (mem_grow(&u->segments, &u->segment_alloc, u->segment_nr + 1,
		     sizeof(*u->segments)) < 0)
		return ERR_NOMEM;
	u->segments[u->segment_nr++] = (struct segment){in_off, shift};
	return 0;
}

/* Where an entry that was copied begins in the new pack. */
static uint64_t copied_to(const struct reuse *u, uint64_t in_off)
{
	size_t low = 0, high = u->segment_nr;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (u->segments[mid].in_off <= in_off)
			low = mid;
		else
			high = mid;
	}
	return in_off - u->segments[low].shift;
}

/* Extend the span by an entry that stays as it is. */
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
	return 0;
}

/*
 * Put an entry with another header. A segment of its own maps the entry's
 * first byte; what follows it gets one when it is taken.
 */
static int take_with_header(struct reuse *u, uint64_t off, uint64_t end,
			    size_t old_header_len,
			    const struct pack_entry *entry, struct error *err)
{
	uint8_t header[PACK_ENTRY_HEADER_MAX];
	size_t len = pack_entry_write(header, entry, u->pack->algo);
	int ret = flush_span(u, err);

	if (!ret && begin_segment(u, off) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = pack_writer_put(u->writer, header, len, err);
	u->span_start = off + old_header_len;
	u->span_end = end;
	if (!ret && len != old_header_len) {
		ret = flush_span(u, err);
		/* No entry begins here: the next one opens a segment. */
		u->span_start = u->span_end = UINT64_MAX;
	}
	return ret;
}

enum base_state { BASE_COPIED, BASE_HAD, BASE_ABSENT };

/* Where the base of a delta is, and its raw id. */
static int find_base(const struct reuse *u, uint32_t pack_pos, uint64_t off,
		     const struct pack_entry *entry, uint64_t *base_off,
		     const uint8_t **base_raw, enum base_state *state,
		     struct error *err)
{
	uint32_t base_pack_pos, idx_pos;

	*state = BASE_ABSENT;
	if (entry->type == OBJ_OFS_DELTA) {
		*base_off = off - entry->base_distance;
		if (!pack_rev_find_before(u->rev, pack_pos, *base_off,
					  &base_pack_pos))
			return error_set_at(err, ERR_CORRUPT, u->pack->path,
					    off, "delta base is no object");
		idx_pos = pack_rev_idx_pos(u->rev, base_pack_pos);
	} else {
		if (!pack_idx_find(&u->pack->idx, entry->base_oid, &idx_pos))
			return 0;
		*base_off = pack_idx_offset(&u->pack->idx, idx_pos);
		if (!pack_rev_find(u->rev, *base_off, &base_pack_pos))
			return 0;
	}
	*base_raw = pack_idx_oid(&u->pack->idx, idx_pos);
	if (bitset_get(&u->copied, base_pack_pos))
		*state = BASE_COPIED;
	else if (u->r->had && bitset_get(u->r->had, base_pack_pos))
		*state = BASE_HAD;
	return 0;
}

static int take_delta(struct reuse *u, uint32_t pack_pos, uint64_t off,
		      uint64_t end, struct pack_entry *entry, bool *taken,
		      struct error *err)
{
	size_t header_len = entry->header_len;
	bool was_ofs = entry->type == OBJ_OFS_DELTA;
	enum base_state state;
	uint64_t base_off;
	int ret = find_base(u, pack_pos, off, entry, &base_off,
			    &entry->base_oid, &state, err);

	if (ret < 0 || state == BASE_ABSENT)
		return ret;
	*taken = true;
	if (state == BASE_HAD || !u->r->ofs_delta) {
		entry->type = OBJ_REF_DELTA;
		if (!was_ofs)
			return take_as_is(u, off, end, err);
	} else if (was_ofs) {
		uint64_t distance = out_off(u) - copied_to(u, base_off);

		if (distance == entry->base_distance)
			return take_as_is(u, off, end, err);
		entry->base_distance = distance;
	} else {
		return take_as_is(u, off, end, err);
	}
	return take_with_header(u, off, end, header_len, entry, err);
}

static int take(struct reuse *u, uint32_t pack_pos, struct error *err)
{
	uint64_t off = pack_rev_offset(u->rev, pack_pos);
	uint64_t end = pack_rev_offset(u->rev, pack_pos + 1);
	struct pack_entry entry;
	bool taken = false;
	int ret = pack_entry_at(&entry, u->pack, off, err);

	if (ret < 0)
		return ret;
	if (end > u->pack->map.len || end < off || end - off < entry.header_len)
		return error_set_at(err, ERR_CORRUPT, u->pack->path, off,
				    "pack entry overlaps the next");
	if (entry.type == OBJ_OFS_DELTA || entry.type == OBJ_REF_DELTA) {
		ret = take_delta(u, pack_pos, off, end, &entry, &taken, err);
	} else {
		ret = take_as_is(u, off, end, err);
		taken = true;
	}
	if (ret < 0)
		return ret;
	if (!taken) {
		bitset_set(u->left_over, pack_pos);
		return 0;
	}
	bitset_set(&u->copied, pack_pos);
	u->objects++;
	u->bytes += end - off;
	return 0;
}

/*
 * All objects of the pack are wanted and the receiver reads every kind of
 * entry: no header needs to be looked at.
 */
static int take_all(struct reuse *u, struct error *err)
{
	uint64_t first = pack_rev_offset(u->rev, 0);
	uint64_t end = pack_rev_offset(u->rev, u->pack->idx.nr);

	if (first > end || end > u->pack->map.len)
		return error_set(err, ERR_CORRUPT,
				 "%s: objects are not in the order of the pack",
				 u->pack->path);
	u->objects = u->pack->idx.nr;
	u->bytes = end - first;
	return put_span(u, first, end, err);
}

static bool wants_all(const struct reuse *u)
{
	const struct bitset *want = u->r->want;

	return u->r->ofs_delta && u->pack->idx.nr &&
	       bitset_next_unset(want, 0) >= u->pack->idx.nr;
}

static int take_each(struct reuse *u, struct error *err)
{
	const struct bitset *want = u->r->want;

	for (size_t pack_pos = bitset_next(want, 0); pack_pos < want->bits;
	     pack_pos = bitset_next(want, pack_pos + 1)) {
		int ret = take(u, (uint32_t)pack_pos, err);

		if (!ret && u->r->progress)
			ret = progress_step(u->r->progress, 1, err);
		if (ret < 0)
			return ret;
	}
	return flush_span(u, err);
}

int reuse_write(struct bitset *left_over, const struct reuse_request *request,
		struct pack_writer *writer, struct reuse_report *report,
		struct error *err)
{
	struct reuse u = {
		.r = request,
		.pack = request->pack,
		.rev = request->rev,
		.writer = writer,
		.left_over = left_over,
		.span_start = UINT64_MAX,
		.span_end = UINT64_MAX,
	};
	int ret = 0;

	if (bitset_init(left_over, u.pack->idx.nr) < 0 ||
	    bitset_init(&u.copied, u.pack->idx.nr) < 0)
		ret = error_nomem(err);
	else if (wants_all(&u))
		ret = take_all(&u, err);
	else
		ret = take_each(&u, err);
	report->objects += u.objects;
	report->bytes_verbatim += u.bytes;
	bitset_release(&u.copied);
	free(u.segments);
	return ret;
}
