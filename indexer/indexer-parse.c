/* SPDX-License-Identifier: MIT */
/*
 * The first pass of the indexer: it parses the bytes of a pack into entries.
 *
 * The format does not store the length of an entry, so every entry is inflated.
 * If an entry is completely in the window, it is inflated as a whole. Other
 * entries, and large ones, are inflated in pieces. From time to time the parsed
 * bytes are "settled": they are hashed and, if the pack is being received,
 * written to the file. Bytes after the trailer are not parsed, so they are
 * never written.
 *
 * The parser reads more bytes only if it cannot continue without them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "pack/entry.h"
#include "indexer/indexer-parts.h"

enum {
	/* maximum number of bytes in the window */
	WINDOW = 256 << 10,
	/* number of bytes to inflate at a time */
	PIECE = 64 << 10,
	/* size of the largest object that is inflated as a whole */
	WHOLE_MAX = 16 << 20,
	HEADER_LEN = 12,
};

struct parser {
	struct pack_indexer *ix;
	struct pack_source source;
	/*
	 * owned buffer of the pack's bytes; the bytes [at, end) are not parsed
	 * yet
	 */
	uint8_t *window;
	size_t at, end; /* positions in window */
	/*
	 * position in `window`; bytes before this position are hashed and
	 * written
	 */
	size_t settled;
	/* true: the source has no more bytes */
	bool at_eof;
	/* offset in the pack of window[at] */
	uint64_t off;
	/* CRC-32 of the current entry's bytes up to `at` */
	uint32_t crc;
	/* number of entries, taken from the header of the pack */
	uint32_t nr;
	struct hash_ctx pack_hash, object_hash;
	struct inflater *inflater; /* owned */
	struct buf out;            /* inflated bytes */
	struct progress progress;
};

/* The entry that is being parsed. */
struct current {
	struct pack_entry head;
	uint64_t offset;
	uint32_t entry_nr;
	/* id of the delta base, for a REF_DELTA */
	struct oid base;
	/*
	 * true: the stream was inflated to its end; window[at] is the first
	 * byte after the stream
	 */
	bool has_ended;
};

static bool is_whole(const struct current *cur)
{
	return cur->head.type <= OBJ_TAG;
}

static int settle(struct parser *p, bool hash, struct error *err)
{
	const uint8_t *bytes = p->window + p->settled;
	size_t len = p->at - p->settled;

	if (!len)
		return 0;
	if (hash)
		hash_update(&p->pack_hash, bytes, len);
	p->settled = p->at;
	if (p->ix->file.fd < 0)
		return 0;
	return sys_tempfile_write(&p->ix->file, bytes, len, err);
}

/*
 * Reads more bytes from the source into the window. Returns 1 if bytes were
 * read, 0 at the end of the source, or a negative error code.
 */
static int fill(struct parser *p, struct error *err)
{
	ssize_t n;
	int ret;

	if (p->at_eof)
		return 0;
	ret = settle(p, true, err);
	if (ret < 0)
		return ret;
	memmove(p->window, p->window + p->at, p->end - p->at);
	p->end -= p->at;
	p->at = p->settled = 0;
	n = p->source.read(p->source.ctx, p->window + p->end, WINDOW - p->end,
			   err);
	if (n < 0)
		return (int)n;
	p->at_eof = !n;
	p->end += (size_t)n;
	return n > 0;
}

static size_t left(const struct parser *p)
{
	return p->end - p->at;
}

static int early_eof(const struct parser *p, struct error *err)
{
	return indexer_corrupt(p->ix, p->off + left(p), "early EOF", err);
}

/*
 * Reads from the source until the window has at least `len` (< WINDOW) bytes
 * that are not parsed. Returns 0 or a negative error code.
 */
static int need(struct parser *p, size_t len, struct error *err)
{
	while (left(p) < len) {
		int ret = fill(p, err);

		if (!ret)
			ret = early_eof(p, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Moves past `len` parsed bytes of the current entry, and updates its CRC.
 * Returns 0, or ERR_DENIED if the pack is longer than config.max_len.
 */
static int consume(struct parser *p, size_t len, struct error *err)
{
	uint64_t max = p->ix->config.max_len;

	p->crc = pack_crc32(p->crc, p->window + p->at, len);
	p->at += len;
	p->off += len;
	if (max && p->off > max)
		return error_set(err, ERR_DENIED,
				 "pack exceeds maximum allowed size (%" PRIu64
				 " bytes)",
				 max);
	return 0;
}

static int parse_header(struct parser *p, struct error *err)
{
	const uint8_t *bytes;
	uint32_t version;
	int ret = need(p, HEADER_LEN, err);

	if (ret < 0)
		return ret;
	bytes = p->window + p->at;
	version = load_be32(bytes + 4);
	if (memcmp(bytes, "PACK", 4))
		return error_set(err, ERR_CORRUPT, "pack signature mismatch");
	if (version != 2 && version != 3)
		return error_set(err, ERR_UNSUPPORTED,
				 "pack version %" PRIu32 " unsupported",
				 version);
	p->nr = load_be32(bytes + 8);
	return consume(p, HEADER_LEN, err);
}

/*
 * Returns true if the next bytes cannot be an entry header. Returns false if
 * the header is only incomplete, so that more bytes are needed.
 */
static bool is_bad_head(const struct parser *p)
{
	unsigned type = left(p) ? p->window[p->at] >> 4 & 7 : OBJ_BLOB;

	return left(p) >= PACK_ENTRY_HEADER_MAX || type == 0 || type == 5;
}

/*
 * Parses the header of the next entry. The id of a delta base is copied.
 * Returns 0 or a negative error code.
 */
static int take_head(struct parser *p, struct current *cur, struct error *err)
{
	enum hash_algo algo = p->ix->config.algo;
	int ret;

	for (;;) {
		struct cursor c = cursor_make(p->window + p->at, left(p));

		if (pack_entry_parse(&cur->head, &c, algo) == 0)
			break;
		if (is_bad_head(p))
			return indexer_corrupt(p->ix, p->off,
					       "bad object header", err);
		ret = fill(p, err);
		if (!ret)
			ret = early_eof(p, err);
		if (ret < 0)
			return ret;
	}
	if (cur->head.type == OBJ_REF_DELTA)
		oid_from_raw(&cur->base, cur->head.base_oid, algo);
	cur->offset = p->off;
	cur->head.base_oid = NULL;
	p->crc = 0;
	return consume(p, cur->head.header_len, err);
}

static void set_id(struct pack_indexer *ix, const struct current *cur,
		   const struct oid *oid)
{
	ix->entries[cur->entry_nr].type = (uint8_t)cur->head.type;
	memcpy(indexer_id(ix, cur->entry_nr), oid->bytes,
	       hash_len(ix->config.algo));
}

static int bad_stream(const struct parser *p, const struct current *cur,
		      int ret, struct error *err)
{
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	return indexer_corrupt(p->ix, cur->offset,
			       "object does not inflate to its size", err);
}

/*
 * Handles an object that was inflated in pieces, so its content was never in
 * memory as a whole. A new blob is passed to hooks.object without its content.
 * Other objects that must be passed to hooks.object or compared with existing
 * objects are put on the list ix->large. They are read again after all entries
 * are parsed. Returns 0 or a negative error code.
 */
static int compare_later(struct pack_indexer *ix, const struct current *cur,
			 const struct oid *oid, struct error *err)
{
	const struct pack_indexer_hooks *hooks = &ix->config.hooks;
	bool is_blob = cur->head.type == OBJ_BLOB;
	int ret = hooks->object && !is_blob;

	if (!ret && hooks->has && hooks->compare)
		ret = hooks->has(hooks->ctx, 0, oid, err);
	if (!ret && hooks->object && is_blob)
		return hooks->object(hooks->object_ctx, 0, oid, OBJ_BLOB, NULL,
				     0, err);
	if (ret <= 0)
		return ret;
	if (mem_grow(&ix->large, &ix->large_alloc, ix->large_nr + 1,
		     sizeof(*ix->large)) < 0)
		return error_nomem(err);
	ix->large[ix->large_nr++] = cur->entry_nr;
	return 0;
}

/*
 * Starts the hash of an object: hashes "<type> <len>\0", which precedes the
 * content.
 */
static void start_object_hash(struct parser *p, const struct current *cur)
{
	/* the header of the object: "commit ", at most 20 digits and a NUL */
	char front[32];
	int n = snprintf(front, sizeof(front), "%s %" PRIu64,
			 object_type_name(cur->head.type), cur->head.size);

	hash_reset(&p->object_hash);
	hash_update(&p->object_hash, front, (size_t)n + 1);
}

/*
 * Inflates an entry in pieces up to the end of its stream. If the object is
 * stored whole, its content is hashed. Returns 0 or a negative error code.
 */
static int run_pieces(struct parser *p, struct current *cur, struct error *err)
{
	uint64_t total = 0;
	int ended = inflater_start(p->inflater);

	while (!ended) {
		size_t src_len = left(p), dst_len = PIECE;
		int ret;

		ended = inflater_feed(p->inflater, p->out.data, &dst_len,
				      p->window + p->at, &src_len);
		total += dst_len;
		ret = consume(p, src_len, err);
		if (ended < 0 || total > cur->head.size)
			break;
		if (is_whole(cur))
			hash_update(&p->object_hash, p->out.data, dst_len);
		if (!ret && !ended && !src_len && !dst_len)
			ret = need(p, 1, err);
		if (ret < 0)
			return ret;
	}
	cur->has_ended = ended == 1;
	return cur->has_ended && total == cur->head.size
		       ? 0
		       : bad_stream(p, cur, ended, err);
}

static int take_pieces(struct parser *p, struct current *cur, struct error *err)
{
	struct oid oid;
	int ret;

	if (buf_reserve(&p->out, PIECE) < 0)
		return error_nomem(err);
	if (is_whole(cur))
		start_object_hash(p, cur);
	ret = run_pieces(p, cur, err);
	if (ret < 0 || !is_whole(cur))
		return ret;
	hash_final(&p->object_hash, &oid);
	set_id(p->ix, cur, &oid);
	ret = hash_refuse_attack(&p->object_hash, &oid, err);
	return ret < 0 ? ret : compare_later(p->ix, cur, &oid, err);
}

/*
 * Inflates an entry whose stream is completely in the window. Returns 0, or a
 * negative error code. Returns 1 if the stream is damaged or not completely in
 * the window; take_pieces() then handles the entry.
 */
static int take_at_once(struct parser *p, struct current *cur,
			struct error *err)
{
	size_t size = (size_t)cur->head.size, used;
	struct oid oid;
	int ret;

	if (cur->head.size > WHOLE_MAX || !left(p))
		return 1;
	if (buf_reserve(&p->out, size) < 0)
		return error_nomem(err);
	ret = inflater_exact(p->inflater, p->out.data, size, p->window + p->at,
			     left(p), &used);
	if (ret < 0)
		return ret == ERR_NOMEM ? error_nomem(err) : 1;
	cur->has_ended = true;
	ret = consume(p, used, err);
	if (ret < 0 || !is_whole(cur))
		return ret;
	hash_object(&p->object_hash, &oid, cur->head.type, p->out.data, size);
	set_id(p->ix, cur, &oid);
	ret = hash_refuse_attack(&p->object_hash, &oid, err);
	if (ret < 0)
		return ret;
	return indexer_check_known(p->ix, 0, &oid, cur->head.type, p->out.data,
				   size, err);
}

/*
 * Returns the entry_nr of the entry that starts exactly at `offset`, or
 * INDEXER_NONE.
 */
static uint32_t find_entry(const struct pack_indexer *ix, uint64_t offset)
{
	size_t lo = 0, hi = ix->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ix->entries[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ix->nr && ix->entries[lo].offset == offset ? (uint32_t)lo
							       : INDEXER_NONE;
}

static int link_ofs_delta(struct pack_indexer *ix, const struct current *cur,
			  struct error *err)
{
	uint64_t distance = cur->head.base_distance;
	uint32_t base = INDEXER_NONE;

	if (distance < cur->offset)
		base = find_entry(ix, cur->offset - distance);
	if (base == INDEXER_NONE)
		return indexer_corrupt(ix, cur->offset,
				       "delta base offset is out of bound",
				       err);
	ix->entries[cur->entry_nr].next_sibling = ix->entries[base].first_child;
	ix->entries[base].first_child = cur->entry_nr;
	return 0;
}

/*
 * Records one REF_DELTA and the id of its base. group_refs() joins the records
 * with the same base when all entries are parsed. Returns 0 or ERR_NOMEM.
 */
static int note_ref_delta(struct pack_indexer *ix, const struct current *cur,
			  struct error *err)
{
	if (mem_grow(&ix->refs, &ix->ref_alloc, ix->ref_nr + 1,
		     sizeof(*ix->refs)) < 0)
		return error_nomem(err);
	ix->refs[ix->ref_nr++] = (struct indexer_ref){cur->base, cur->entry_nr,
						      INDEXER_NONE};
	return 0;
}

static int ref_cmp(const void *a, const void *b)
{
	const struct indexer_ref *x = a, *y = b;
	uint32_t x_first = x->first, y_first = y->first;
	int cmp = oid_cmp(&x->base, &y->base);

	if (cmp)
		return cmp;
	return x_first < y_first ? -1 : x_first > y_first;
}

/*
 * Joins all records of REF_DELTAs that have the same base. Each base then has
 * one record, with a list of its deltas.
 */
static void group_refs(struct pack_indexer *ix)
{
	size_t nr = 0;

	qsort(ix->refs, ix->ref_nr, sizeof(*ix->refs), ref_cmp);
	for (size_t i = 0; i < ix->ref_nr; i++) {
		uint32_t entry_nr = ix->refs[i].first;

		if (nr &&
		    oid_equal(&ix->refs[nr - 1].base, &ix->refs[i].base)) {
			ix->entries[entry_nr].next_sibling =
				ix->refs[nr - 1].first;
			ix->refs[nr - 1].first = entry_nr;
		} else {
			ix->refs[nr++] = ix->refs[i];
		}
	}
	ix->ref_nr = nr;
}

/*
 * Records the base of an entry, if the entry is a delta. Returns 0, ERR_CORRUPT
 * if an OFS_DELTA has no base in the pack, or ERR_NOMEM.
 */
static int link_base(struct pack_indexer *ix, const struct current *cur,
		     struct error *err)
{
	if (cur->head.type == OBJ_OFS_DELTA)
		return link_ofs_delta(ix, cur, err);
	if (cur->head.type == OBJ_REF_DELTA)
		return note_ref_delta(ix, cur, err);
	return 0;
}

static int take_stream(struct parser *p, struct current *cur, struct error *err)
{
	int ret = take_at_once(p, cur, err);

	return ret > 0 ? take_pieces(p, cur, err) : ret;
}

/*
 * Parses the next entry. After success, *cur describes the entry. After a
 * failure, *cur describes the entry if the entry was added to p->ix. Returns 0
 * or a negative error code.
 */
static int take_entry(struct parser *p, struct current *cur, struct error *err)
{
	struct pack_indexer *ix = p->ix;
	int ret = take_head(p, cur, err), linked;

	if (ret < 0)
		return ret;
	cur->entry_nr = (uint32_t)ix->nr;
	cur->has_ended = false;
	if (indexer_add_entry(ix, cur->offset, cur->head.type) < 0)
		return error_nomem(err);
	linked = link_base(ix, cur, err);
	ix->delta_nr += !is_whole(cur);
	/*
	 * An entry whose base is not in the pack is inflated, too: the next
	 * entry starts at the end of the stream.
	 */
	if (linked != ERR_NOMEM)
		ret = take_stream(p, cur, err);
	/*
	 * Count the inflated bytes as work after the bytes of the entry have
	 * arrived, because the limit grows with the number of received bytes.
	 */
	if (!ret)
		ret = indexer_work(ix, cur->head.size, p->off, err);
	ix->entries[cur->entry_nr].crc = p->crc;
	return ret ? ret : linked;
}

/*
 * Verifies the checksum at the end of the pack, and that no bytes follow it.
 * Returns 0, ERR_CORRUPT, or another negative error code.
 */
static int take_trailer(struct parser *p, struct error *err)
{
	struct pack_indexer *ix = p->ix;
	size_t len = hash_len(ix->config.algo);
	int ret = need(p, len, err);

	if (!ret)
		ret = settle(p, true, err);
	if (ret < 0)
		return ret;
	ix->end = p->off;
	hash_final(&p->pack_hash, &ix->checksum);
	if (memcmp(p->window + p->at, ix->checksum.bytes, len))
		return error_set(
			err, ERR_CORRUPT, "pack is corrupted (%s mismatch)",
			ix->config.algo == HASH_SHA1 ? "SHA1" : "SHA256");
	ret = consume(p, len, err);
	if (!ret)
		ret = settle(p, false, err);
	if (!ret && !left(p) && p->source.must_end)
		ret = fill(p, err);
	if (ret < 0)
		return ret;
	if (!left(p))
		return 0;
	if (p->source.rest && !p->source.must_end)
		return p->source.rest(p->source.ctx, p->window + p->at, left(p),
				      err);
	return error_set(err, ERR_CORRUPT, "pack has junk at the end");
}

static int parser_init(struct parser *p, struct error *err)
{
	enum hash_algo algo = p->ix->config.algo;

	buf_init(&p->out);
	p->window = mem_alloc(WINDOW, 1);
	p->inflater = inflater_new();
	if (!p->window || !p->inflater || hash_init(&p->pack_hash, algo) < 0 ||
	    hash_init_checked(&p->object_hash, algo) < 0)
		return error_nomem(err);
	return 0;
}

static void parser_release(struct parser *p)
{
	hash_release(&p->pack_hash);
	hash_release(&p->object_hash);
	inflater_free(p->inflater);
	free(p->window);
	buf_release(&p->out);
}

/*
 * Parses an entry of the pack, or skips it if it is damaged and hooks.broken
 * accepts the damage. The place where the next entry begins is known only when
 * an entry was inflated to its end. So parsing can continue only after such an
 * entry. Returns 0 or a negative error code.
 */
static int take_or_skip(struct parser *p, struct error *err)
{
	struct current cur = {.has_ended = false};
	size_t before = p->ix->nr;
	int ret = take_entry(p, &cur, err);
	bool is_entry = p->ix->nr > before && left(p);

	if (!is_entry || !indexer_salvages(p->ix, false, ret, err))
		return ret;
	if (cur.has_ended)
		return 0;
	return indexer_corrupt(p->ix, cur.offset,
			       "the next object cannot be found", err);
}

static int take_entries(struct parser *p, struct error *err)
{
	const struct pack_indexer_config *config = &p->ix->config;
	int ret = 0;

	progress_start(&p->progress, config->parse_progress,
		       config->parse_title, p->nr);
	for (uint32_t i = 0; i < p->nr && !ret; i++) {
		ret = take_or_skip(p, err);
		progress_add(&p->progress, 1);
	}
	progress_stop(&p->progress);
	return ret;
}

/*
 * Ends the parsing early, after damage, and keeps the entries that were
 * parsed. Returns 0 or a negative error code.
 */
static int end_early(struct parser *p, struct error *err)
{
	if (!p->ix->end)
		p->ix->end = p->off;
	return settle(p, false, err);
}

static int take_rest(struct parser *p, struct error *err)
{
	int ret = take_entries(p, err);

	if (!ret)
		ret = take_trailer(p, err);
	return indexer_salvages(p->ix, true, ret, err) ? end_early(p, err)
						       : ret;
}

int indexer_parse(struct pack_indexer *ix, struct pack_source source,
		  struct error *err)
{
	struct parser p = {.ix = ix, .source = source};
	int ret = parser_init(&p, err);

	if (!ret)
		ret = parse_header(&p, err);
	if (!ret)
		ret = take_rest(&p, err);
	if (!ret && ix->ref_nr)
		group_refs(ix);
	parser_release(&p);
	return ret;
}
