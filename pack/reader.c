/* SPDX-License-Identifier: MIT */
/*
 * Decodes objects of packs.
 *
 * A read follows the delta chain to the first base that is cached or stored
 * whole, and records the deltas. Then the read applies the deltas in the
 * opposite order. Each object on the way is cached, because neighbours in the
 * pack are probably made from the same objects.
 *
 * No size in a header is trusted before the bytes are examined. The length of a
 * stream or a delta limits the size of its result.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/base-cache.h"
#include "pack/delta.h"
#include "pack/reader.h"

enum {
	/* maximum number of bytes of the two sizes at the start of a delta */
	DELTA_HEADER_MAX = 20,
	/*
	 * an object larger than this is checked against the length of its zlib
	 * stream before memory is allocated
	 */
	SIZE_SUSPECT = 16 << 20,
	SCRATCH_KEEP_MAX = 16 << 20,
	/* number of deltas of a chain from one type mark to the next */
	MARK_STEPS = 64,
	/* maximum number of bytes of the type marks of a reader */
	MARKS_MAX = 64 << 20,
};

/* One delta on the way from the wanted object to its delta base. */
struct chain_link {
	uint64_t offset;
	uint64_t size; /* inflated */
	size_t header_len;
};

struct pack_reader {
	struct base_cache cache;
	struct inflater *inflater; /* owned */
	/* owned; the deltas from the wanted object up to its base */
	struct chain_link *chain;
	size_t chain_nr, chain_alloc;
	uint8_t *scratch; /* owned; an inflated delta */
	size_t scratch_alloc;
	/*
	 * finds other copies of damaged bases; NULL: a damaged base is an error
	 */
	pack_reader_spare_fn *spare;
	void *spare_ctx;
	bool checks_crcs;
	/*
	 * Type marks: the types of some deltas of long chains, as nodes without
	 * bytes. A client can push a chain of a million deltas. Without marks,
	 * finding the types of all its objects would take quadratic time.
	 * Initialised with the first mark.
	 */
	struct base_cache marks;
};

struct pack_reader *pack_reader_new(size_t cache_limit)
{
	struct pack_reader *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->inflater = inflater_new();
	if (!r->inflater || base_cache_init(&r->cache, cache_limit) < 0) {
		pack_reader_free(r);
		return NULL;
	}
	return r;
}

void pack_reader_free(struct pack_reader *reader)
{
	if (!reader)
		return;
	base_cache_release(&reader->cache);
	base_cache_release(&reader->marks);
	inflater_free(reader->inflater);
	free(reader->chain);
	free(reader->scratch);
	free(reader);
}

struct inflater *pack_reader_inflater(struct pack_reader *reader)
{
	return reader->inflater;
}

void pack_reader_set_spare(struct pack_reader *reader, pack_reader_spare_fn *fn,
			   void *ctx)
{
	reader->spare = fn;
	reader->spare_ctx = ctx;
}

void pack_reader_check_crcs(struct pack_reader *reader)
{
	reader->checks_crcs = true;
}

void pack_reader_forget(struct pack_reader *reader, const struct pack *pack)
{
	base_cache_forget(&reader->cache, pack);
	base_cache_forget(&reader->marks, pack);
}

/*
 * Returns the maximum length of the zlib stream of the entry at `offset`. For a
 * small object, the stream may extend to the trailer of the pack. For a large
 * object, the limit is the next entry: otherwise a wrong header could cause an
 * allocation as large as the whole inflated pack.
 */
static size_t stream_len_max(struct pack *pack, uint64_t offset,
			     size_t header_len, uint64_t size)
{
	uint64_t start = offset + header_len;
	uint64_t end = pack->file.len - hash_len(pack->algo);
	const struct pack_rev *rev;
	uint32_t pack_pos;

	if (size >= SIZE_SUSPECT) {
		rev = pack_get_rev_unproven(pack, NULL);
		if (rev && pack_rev_find(rev, offset, &pack_pos)) {
			uint64_t next = pack_rev_offset(rev, pack_pos + 1);

			if (next > start && next < end)
				end = next;
		}
	}
	return (size_t)(end - start);
}

/*
 * Sets *stream_len to the maximum length of an entry's zlib stream. Returns 0,
 * or ERR_CORRUPT if no zlib stream of this length can have `size` bytes of
 * content. Inflates nothing.
 */
static int check_size(struct pack *pack, uint64_t offset, size_t header_len,
		      uint64_t size, size_t *stream_len, struct error *err)
{
	*stream_len = stream_len_max(pack, offset, header_len, size);
	if (!mem_can_inflate(size, *stream_len))
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "object larger than its data can be");
	return 0;
}

/*
 * Verifies that the bytes of the entry at `offset` have the CRC-32 that the
 * index stores. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int check_crc(struct pack *pack, uint64_t offset, struct error *err)
{
	const struct pack_rev *rev = pack_get_rev(pack, err);
	uint32_t pack_pos, idx_pos;
	uint64_t end;

	if (!rev)
		return ERR_NOMEM;
	if (pack->idx.version < 2)
		return 0;
	if (pack_rev_find(rev, offset, &pack_pos)) {
		idx_pos = pack_rev_idx_pos(rev, pack_pos);
		end = pack_rev_offset(rev, pack_pos + 1);
		if (end > offset && end <= pack->file.len &&
		    pack_crc32(0, pack_bytes(pack, NULL) + offset,
			       (size_t)(end - offset)) ==
			    pack_idx_crc(&pack->idx, idx_pos))
			return 0;
	}
	return error_set_at(err, ERR_CORRUPT, pack->path, offset,
			    "bad packed object CRC");
}

static int inflate_at(struct pack_reader *r, struct pack *pack, uint64_t offset,
		      size_t header_len, void *dst, size_t size,
		      size_t stream_len, struct error *err)
{
	const uint8_t *stream = pack_bytes(pack, NULL) + offset + header_len;
	int ret = r->checks_crcs ? check_crc(pack, offset, err) : 0;

	if (ret < 0)
		return ret;
	ret = inflater_exact(r->inflater, dst, size, stream, stream_len, NULL);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0)
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "object does not inflate to its size");
	return 0;
}

/*
 * Makes a new node in the cache of decoded objects. The node gets the inflated
 * bytes of an object that is stored whole. Sets *out to the node, pinned: it is
 * not evicted while in use. Returns 0 or a negative error code.
 */
static int read_whole(struct pack_reader *r, struct pack *pack, uint64_t offset,
		      const struct pack_entry *entry,
		      struct base_cache_node **out, struct error *err)
{
	struct base_cache_node *node;
	size_t stream_len;
	int ret;

	ret = check_size(pack, offset, entry->header_len, entry->size,
			 &stream_len, err);
	if (ret < 0)
		return ret;
	node = base_cache_alloc(entry->size);
	if (!node)
		return error_nomem(err);
	node->type = entry->type;
	ret = inflate_at(r, pack, offset, entry->header_len, node->data,
			 node->len, stream_len, err);
	if (ret < 0) {
		base_cache_unpin(&r->cache, node);
		return ret;
	}
	base_cache_add(&r->cache, node, pack, offset);
	*out = node;
	return 0;
}

/*
 * Inflates the delta of a chain link into the reader's scratch buffer. Returns
 * 0 or a negative error code.
 */
static int read_stored(struct pack_reader *r, struct pack *pack,
		       const struct chain_link *link, struct error *err)
{
	size_t stream_len;
	int ret;

	ret = check_size(pack, link->offset, link->header_len, link->size,
			 &stream_len, err);
	if (ret < 0)
		return ret;
	if (link->size > r->scratch_alloc) {
		/*
		 * The buffer is freed and allocated again, since realloc()
		 * would copy the old content, which is not needed.
		 */
		size_t alloc = link->size < 4096 ? 4096 : link->size;

		free(r->scratch);
		r->scratch = malloc(alloc);
		r->scratch_alloc = r->scratch ? alloc : 0;
		if (!r->scratch)
			return error_nomem(err);
	}
	return inflate_at(r, pack, link->offset, link->header_len, r->scratch,
			  link->size, stream_len, err);
}

/*
 * Sets *size to the size of the object that a delta makes. Refuses a size that
 * a delta of this length cannot make. Also verifies that the delta is for a
 * base of base_len bytes. Returns 0 or ERR_CORRUPT.
 */
static int result_size(uint64_t *size, const struct pack *pack,
		       const struct chain_link *link, const uint8_t *delta,
		       size_t base_len, struct error *err)
{
	uint64_t base_size;

	if (delta_sizes(delta, link->size, &base_size, size, NULL) < 0)
		return error_set_at(err, ERR_CORRUPT, pack->path, link->offset,
				    "invalid delta");
	if (base_size != base_len)
		return error_set_at(err, ERR_CORRUPT, pack->path, link->offset,
				    "delta for a base of another size");
	if (!delta_can_make(*size, link->size, base_len))
		return error_set_at(err, ERR_CORRUPT, pack->path, link->offset,
				    "object larger than its delta can make");
	return 0;
}

static void trim_scratch(struct pack_reader *r)
{
	if (r->scratch_alloc <= SCRATCH_KEEP_MAX)
		return;
	free(r->scratch);
	r->scratch = NULL;
	r->scratch_alloc = 0;
}

int pack_reader_stored(struct pack_reader *reader, struct pack *pack,
		       uint64_t offset, const struct pack_entry *entry,
		       const uint8_t **data, struct error *err)
{
	struct chain_link link = {offset, entry->size, entry->header_len};
	int ret;

	trim_scratch(reader);
	ret = read_stored(reader, pack, &link, err);
	if (!ret)
		*data = reader->scratch;
	return ret;
}

/*
 * Applies the delta of a chain link to its base. Sets *out to the cache node of
 * the result, pinned. Returns 0 or a negative error code.
 */
static int apply_link(struct pack_reader *r, struct pack *pack,
		      const struct chain_link *link,
		      const struct base_cache_node *base,
		      struct base_cache_node **out, struct error *err)
{
	struct base_cache_node *node;
	uint64_t size;
	int ret;

	ret = read_stored(r, pack, link, err);
	if (ret < 0)
		return ret;
	ret = result_size(&size, pack, link, r->scratch, base->len, err);
	if (ret < 0)
		return ret;
	node = base_cache_alloc(size);
	if (!node)
		return error_nomem(err);
	node->type = base->type;
	if (delta_apply(node->data, node->len, base->data, base->len,
			r->scratch, link->size) < 0) {
		base_cache_unpin(&r->cache, node);
		return error_set_at(err, ERR_CORRUPT, pack->path, link->offset,
				    "invalid delta");
	}
	base_cache_add(&r->cache, node, pack, link->offset);
	*out = node;
	return 0;
}

/*
 * Detects a cycle while a delta chain is followed. Only REF_DELTAs can form a
 * cycle. Uses Brent's algorithm: each offset is compared with an earlier
 * offset. The earlier offset is replaced after 1, 2, 4, 8 ... steps.
 */
struct loop_check {
	uint64_t seen;
	size_t steps, next;
};

static bool loop_closed(struct loop_check *loop, uint64_t offset)
{
	if (loop->steps && offset == loop->seen)
		return true;
	if (loop->steps++ == loop->next) {
		loop->seen = offset;
		loop->next = 2 * loop->next + 1;
	}
	return false;
}

static int push_link(struct pack_reader *r, uint64_t offset,
		     const struct pack_entry *entry)
{
	struct chain_link link = {offset, entry->size, entry->header_len};

	if (mem_grow(&r->chain, &r->chain_alloc, r->chain_nr + 1,
		     sizeof(*r->chain)) < 0)
		return ERR_NOMEM;
	r->chain[r->chain_nr++] = link;
	return 0;
}

/*
 * Follows the delta chain from *at to a base that is cached or stored whole.
 * *base is pinned, and *at is set to its offset. r->chain gets the deltas to
 * apply to *base. Returns 0 or a negative error code.
 *
 * On failure, *at is the offset of the damaged object. r->chain then has the
 * deltas that need this object as their base, directly or through other
 * deltas.
 */
static int find_base(struct pack_reader *r, struct pack *pack, uint64_t *at,
		     struct base_cache_node **base, struct error *err)
{
	struct loop_check loop = {0};
	struct pack_entry entry;
	int ret;

	r->chain_nr = 0;
	for (;;) {
		*base = base_cache_get(&r->cache, pack, *at);
		if (*base)
			return 0;
		if (loop_closed(&loop, *at))
			return error_set_at(err, ERR_CORRUPT, pack->path, *at,
					    "delta chain is a cycle");
		ret = pack_entry_at(&entry, pack, *at, err);
		if (ret < 0)
			return ret;
		if (entry.type < OBJ_OFS_DELTA)
			return read_whole(r, pack, *at, &entry, base, err);
		if (push_link(r, *at, &entry) < 0)
			return error_nomem(err);
		ret = pack_entry_base(at, pack, *at, &entry, err);
		if (ret < 0) {
			r->chain_nr--;
			return ret;
		}
	}
}

/*
 * Asks the callback `spare` for another copy of the damaged object at
 * `offset`. Returns 0 or a negative error code.
 */
static int ask_spare(struct pack_reader *r, struct pack *pack, uint64_t offset,
		     bool with_data, struct pack_spare *spare)
{
	const struct pack_rev *rev;
	uint32_t pack_pos;
	struct oid oid;

	*spare = (struct pack_spare){.type = OBJ_NONE};
	if (!r->spare)
		return ERR_CORRUPT;
	rev = pack_get_rev(pack, NULL);
	if (!rev)
		return ERR_NOMEM;
	if (!pack_rev_find(rev, offset, &pack_pos))
		return ERR_CORRUPT;
	oid_from_raw(&oid,
		     pack_idx_oid(&pack->idx, pack_rev_idx_pos(rev, pack_pos)),
		     pack->algo);
	return r->spare(r->spare_ctx, pack, offset, &oid, with_data, spare);
}

/*
 * Puts another copy of the damaged object into the cache, under the offset of
 * the damaged one. The node is pinned. Returns 0 or a negative error code.
 */
static int read_spare(struct pack_reader *r, struct pack *pack, uint64_t offset,
		      struct base_cache_node **out)
{
	struct base_cache_node *node;
	struct pack_spare spare;
	int ret = ask_spare(r, pack, offset, true, &spare);

	if (ret < 0)
		return ret;
	node = base_cache_alloc(spare.len);
	if (!node) {
		free(spare.data);
		return ERR_NOMEM;
	}
	node->type = spare.type;
	memcpy(node->data, spare.data, spare.len);
	free(spare.data);
	base_cache_add(&r->cache, node, pack, offset);
	*out = node;
	return 0;
}

/*
 * Clears the error about a damaged object, because another copy of the object
 * was found.
 */
static void forget_error(struct error *err)
{
	if (err)
		*err = (struct error)ERROR_INIT;
}

/*
 * Applies the deltas of the chain one after the other. The base of the first
 * delta is the object at the start of the chain, and the base of each further
 * delta is the result of the delta before it.
 *
 * `ret` and `at` come from find_base(). `at` is the offset of the object at the
 * start of the chain. If `ret` is 0, *node is this object. If `ret` is an
 * error, this object is damaged.
 *
 * A damaged base is replaced by another copy of the same object, for example
 * from another pack (read_spare()). This holds for the object at the start of
 * the chain, and for a result of a delta that cannot be applied. If there is no
 * other copy, the result of the next delta counts as damaged, too. If the last
 * result of the chain is damaged, the error is returned.
 *
 * On success *node is the result of the last delta, pinned. Returns 0 or a
 * negative error code.
 */
static int climb(struct pack_reader *r, struct pack *pack, uint64_t at, int ret,
		 struct base_cache_node **node, struct error *err)
{
	while (r->chain_nr && ret != ERR_NOMEM) {
		const struct chain_link *link = &r->chain[--r->chain_nr];
		struct base_cache_node *base = *node;

		if (ret < 0 && !read_spare(r, pack, at, &base)) {
			forget_error(err);
			ret = 0;
		}
		if (!ret) {
			ret = apply_link(r, pack, link, base, node, err);
			base_cache_unpin(&r->cache, base);
		}
		at = link->offset;
	}
	return ret;
}

int pack_reader_read(struct pack_reader *reader, struct pack *pack,
		     uint64_t offset, struct pack_object *obj,
		     struct error *err)
{
	struct base_cache_node *node;
	uint64_t at = offset;
	int ret;

	*obj = (struct pack_object)PACK_OBJECT_INIT;
	ret = find_base(reader, pack, &at, &node, err);
	if (reader->chain_nr) {
		ret = climb(reader, pack, at, ret, &node, err);
		trim_scratch(reader);
	}
	if (ret < 0)
		return ret;
	*obj = (struct pack_object){node->type, node->data, node->len, node};
	return 0;
}

void pack_object_release(struct pack_reader *reader, struct pack_object *obj)
{
	if (obj->pin)
		base_cache_unpin(&reader->cache, obj->pin);
	*obj = (struct pack_object)PACK_OBJECT_INIT;
}

/*
 * Sets *size to the size of the result of the delta at `offset`. Inflates only
 * the first bytes of the delta. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int peek_result_size(struct pack_reader *r, const struct pack *pack,
			    uint64_t offset, const struct pack_entry *entry,
			    uint64_t *size, struct error *err)
{
	uint64_t start = offset + entry->header_len;
	uint64_t end = pack->file.len - hash_len(pack->algo);
	uint8_t head[DELTA_HEADER_MAX];
	uint64_t base_size;
	ssize_t n;

	n = inflater_prefix(r->inflater, head, sizeof(head),
			    pack_bytes(pack, NULL) + start,
			    (size_t)(end - start));
	if (n == ERR_NOMEM)
		return error_nomem(err);
	if (n < 0 || delta_sizes(head, (size_t)n, &base_size, size, NULL) < 0)
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "invalid delta");
	return 0;
}

/*
 * Sets *type to the type of the node that a cache has for the entry at
 * `offset`. Returns false if the cache has no node.
 */
static bool known_type(enum object_type *type, struct base_cache *cache,
		       const struct pack *pack, uint64_t offset)
{
	struct base_cache_node *node = cache->nr ? base_cache_get(cache, pack,
								  offset)
						 : NULL;

	if (!node)
		return false;
	*type = node->type;
	base_cache_unpin(cache, node);
	return true;
}

/* Adds a type mark. If memory runs out, later searches take longer. */
static void add_mark(struct base_cache *marks, const struct pack *pack,
		     uint64_t offset, enum object_type type)
{
	struct base_cache_node *node;

	if (!marks->buckets && base_cache_init(marks, MARKS_MAX) < 0)
		return;
	node = base_cache_alloc(0);
	if (!node)
		return;
	node->type = type;
	base_cache_add(marks, node, pack, offset);
	base_cache_unpin(marks, node);
}

/*
 * Adds a type mark for each MARK_STEPS-th of the bases of the delta at
 * `offset`. The first `nr` bases exist, and have no marks.
 */
static void mark_chain(struct pack_reader *r, const struct pack *pack,
		       uint64_t offset, size_t nr, enum object_type type)
{
	struct pack_entry entry;

	for (size_t i = 1; i <= nr; i++) {
		if (pack_entry_at(&entry, pack, offset, NULL) < 0 ||
		    pack_entry_base(&offset, pack, offset, &entry, NULL) <= 0)
			return;
		if (i % MARK_STEPS == 0)
			add_mark(&r->marks, pack, offset, type);
	}
}

/*
 * Sets *type to the type of the whole object at the end of a delta chain.
 * *entry is the first entry of the chain. Returns 0 or a negative error code.
 */
static int base_type(struct pack_reader *r, const struct pack *pack,
		     uint64_t offset, struct pack_entry *entry,
		     enum object_type *type, struct error *err)
{
	struct loop_check loop = {0};
	uint64_t start = offset;
	int ret;

	while ((ret = pack_entry_base(&offset, pack, offset, entry, err)) > 0) {
		if (known_type(type, &r->cache, pack, offset) ||
		    known_type(type, &r->marks, pack, offset))
			break;
		if (loop_closed(&loop, offset))
			return error_set_at(err, ERR_CORRUPT, pack->path,
					    offset, "delta chain is a cycle");
		ret = pack_entry_at(entry, pack, offset, err);
		if (ret < 0)
			return ret;
	}
	if (ret < 0)
		return ret;
	if (!ret)
		*type = entry->type;
	if (loop.steps >= MARK_STEPS)
		mark_chain(r, pack, start, loop.steps, *type);
	return 0;
}

/*
 * Sets *type to the type of the delta at `offset`, whose delta chain has a
 * damaged object. All objects of a delta chain have the same type. So the type
 * is read from another copy of one of them: of the damaged object, or of a
 * delta between this object and the delta at `offset`. Returns 0 or a negative
 * error code.
 */
static int spare_type(struct pack_reader *r, struct pack *pack, uint64_t offset,
		      enum object_type *type)
{
	struct base_cache_node *node = NULL;
	struct pack_spare spare;
	int ret = find_base(r, pack, &offset, &node, NULL);

	if (!ret) {
		*type = node->type;
		base_cache_unpin(&r->cache, node);
		return 0;
	}
	while (r->chain_nr && ret < 0 && ret != ERR_NOMEM) {
		ret = ask_spare(r, pack, offset, false, &spare);
		offset = r->chain[--r->chain_nr].offset;
	}
	if (!ret)
		*type = spare.type;
	return ret;
}

/*
 * Sets *type to the type of the object whose entry at `offset` was parsed into
 * *entry. A delta has the type of its base. Returns 0 or a negative error
 * code.
 */
static int type_of_entry(struct pack_reader *r, struct pack *pack,
			 uint64_t offset, struct pack_entry *entry,
			 enum object_type *type, struct error *err)
{
	int ret = base_type(r, pack, offset, entry, type, err);

	if (ret != ERR_CORRUPT || !r->spare ||
	    spare_type(r, pack, offset, type))
		return ret;
	forget_error(err);
	return 0;
}

int pack_reader_info(struct pack_reader *reader, struct pack *pack,
		     uint64_t offset, enum object_type *type, uint64_t *size,
		     struct error *err)
{
	struct pack_entry entry;
	enum object_type t;
	uint64_t s;
	int ret;

	ret = pack_entry_at(&entry, pack, offset, err);
	if (ret < 0)
		return ret;
	t = entry.type;
	s = entry.size;
	if (size && entry.type >= OBJ_OFS_DELTA)
		ret = peek_result_size(reader, pack, offset, &entry, &s, err);
	if (!ret && type)
		ret = type_of_entry(reader, pack, offset, &entry, &t, err);
	if (ret < 0)
		return ret;
	if (type)
		*type = t;
	if (size)
		*size = s;
	return 0;
}

enum { PIECE = 64 << 10 };

static int inflate_all(const struct pack *pack, uint64_t offset,
		       const struct pack_entry *entry, struct inflater *inf,
		       uint8_t *piece,
		       int (*fn)(void *ctx, const void *bytes, size_t len,
				 struct error *err),
		       void *ctx, struct error *err)
{
	const uint8_t *bytes = pack_bytes(pack, NULL);
	const uint8_t *src = bytes + offset + entry->header_len;
	const uint8_t *end = bytes + pack->file.len - hash_len(pack->algo);
	uint64_t total = 0;
	int ended = inflater_start(inf);

	while (!ended) {
		size_t src_len = (size_t)(end - src), dst_len = PIECE;
		int ret;

		ended = inflater_feed(inf, piece, &dst_len, src, &src_len);
		src += src_len;
		total += dst_len;
		if (!src_len && !dst_len && !ended)
			break;
		if (ended < 0 || total > entry->size)
			break;
		ret = dst_len ? fn(ctx, piece, dst_len, err) : 0;
		if (ret)
			return ret;
	}
	if (ended == ERR_NOMEM)
		return error_nomem(err);
	if (ended != 1 || total != entry->size)
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "object does not inflate to its size");
	return 0;
}

int pack_pieces(const struct pack *pack, uint64_t offset,
		const struct pack_entry *entry, struct inflater *inf,
		int (*fn)(void *ctx, const void *bytes, size_t len,
			  struct error *err),
		void *ctx, struct error *err)
{
	uint8_t *piece = mem_alloc(PIECE, 1);
	int ret = piece ? inflate_all(pack, offset, entry, inf, piece, fn, ctx,
				      err)
			: error_nomem(err);

	free(piece);
	return ret;
}
