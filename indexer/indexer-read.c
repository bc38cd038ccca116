/* SPDX-License-Identifier: MIT */
/*
 * Reads single objects of a resolved pack before its files are in place. All
 * bases of the delta chain are decoded each time, so these functions are for a
 * few objects.
 *
 * A `place` is an index into ix->by_offset.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "pack/entry.h"
#include "indexer/indexer-parts.h"
#include "sys/io.h"

/*
 * A delta chain, from an object down to its base that is stored whole. Each
 * element is an index into ix->by_offset.
 */
struct chain {
	uint32_t *places; /* owned */
	size_t nr, alloc;
};

/* The header and the inflated bytes of one stored entry. */
struct stored {
	struct pack_entry head;
	/* id of the base of a REF_DELTA */
	struct oid base;
	uint8_t *data; /* owned */
};

/*
 * Makes ix->by_offset, the list of entries sorted by offset, if the list does
 * not exist yet. Returns 0 or ERR_NOMEM.
 */
static int index_offsets(struct pack_indexer *ix, struct error *err)
{
	if (ix->by_offset)
		return 0;
	ix->by_offset = mem_alloc(ix->nr, sizeof(*ix->by_offset));
	if (!ix->by_offset)
		return error_nomem(err);
	for (size_t i = 0; i < ix->nr; i++)
		ix->by_offset[i] = (struct sort_item){ix->sorted[i].offset,
						      (uint32_t)i};
	return sort_items(ix->by_offset, ix->nr) < 0 ? error_nomem(err) : 0;
}

/*
 * Returns the place (index into ix->by_offset) of the entry at `offset`, or
 * INDEXER_NONE.
 */
static uint32_t place_at(const struct pack_indexer *ix, uint64_t offset)
{
	const struct sort_item *found = sort_find(ix->by_offset, ix->nr,
						  offset);

	return found ? (uint32_t)(found - ix->by_offset) : INDEXER_NONE;
}

static uint32_t place_of(const struct pack_indexer *ix, const struct oid *oid)
{
	size_t lo = 0, hi = ix->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int cmp = memcmp(ix->sorted[mid].oid, oid->bytes,
				 hash_len(ix->config.algo));

		if (!cmp)
			return place_at(ix, ix->sorted[mid].offset);
		if (cmp < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return INDEXER_NONE;
}

/*
 * Parses and inflates the bytes of an entry. The caller frees st->data in any
 * case. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int decode(struct pack_indexer *ix, struct inflater *inf,
		  const uint8_t *raw, size_t len, struct stored *st)
{
	struct cursor c = cursor_make(raw, len);

	if (pack_entry_parse(&st->head, &c, ix->config.algo) < 0)
		return ERR_CORRUPT;
	if (st->head.type == OBJ_REF_DELTA)
		oid_from_raw(&st->base, st->head.base_oid, ix->config.algo);
	st->data = mem_alloc((size_t)st->head.size, 1);
	if (!st->data)
		return ERR_NOMEM;
	return inflater_exact(inf, st->data, (size_t)st->head.size, c.p,
			      cursor_left(&c), NULL);
}

/*
 * Reads and inflates an entry. The caller frees st->data in any case. Returns
 * 0 or a negative error code.
 */
static int read_stored(struct pack_indexer *ix, struct inflater *inf,
		       uint32_t place, struct stored *st, struct error *err)
{
	uint64_t offset = ix->by_offset[place].key;
	uint64_t end = place + 1 < ix->nr ? ix->by_offset[place + 1].key
					  : ix->end;
	size_t len = (size_t)(end - offset);
	uint8_t *raw = mem_alloc(len, 1);
	int ret;

	st->data = NULL;
	if (!raw)
		return error_nomem(err);
	ret = sys_read_at(ix->fd, raw, len, offset, ix->name, err);
	if (!ret) {
		ret = decode(ix, inf, raw, len, st);
		if (ret == ERR_NOMEM)
			error_nomem(err);
		else if (ret < 0)
			indexer_corrupt(ix, offset, "bad entry", err);
	}
	free(raw);
	return ret;
}

static uint32_t base_of(const struct pack_indexer *ix, uint32_t place,
			const struct stored *st)
{
	if (st->head.type == OBJ_REF_DELTA)
		return place_of(ix, &st->base);
	return place_at(ix, ix->by_offset[place].key - st->head.base_distance);
}

/*
 * Collects the delta chain of an object. *st becomes the last entry of the
 * chain, which is stored whole. Returns 0 or a negative error code.
 */
static int collect(struct pack_indexer *ix, struct inflater *inf,
		   struct chain *chain, uint32_t place, struct stored *st,
		   struct error *err)
{
	for (;;) {
		uint64_t offset = ix->by_offset[place].key;
		int ret = read_stored(ix, inf, place, st, err);

		if (ret < 0)
			return ret;
		if (st->head.type != OBJ_OFS_DELTA &&
		    st->head.type != OBJ_REF_DELTA)
			return 0;
		if (mem_grow(&chain->places, &chain->alloc, chain->nr + 1,
			     sizeof(*chain->places)) < 0)
			return error_nomem(err);
		chain->places[chain->nr++] = place;
		free(st->data);
		st->data = NULL;
		place = base_of(ix, place, st);
		if (place == INDEXER_NONE || chain->nr > ix->nr)
			return indexer_corrupt(ix, offset,
					       "delta without a base", err);
	}
}

/*
 * Replaces *data by the result of applying the delta at `place`. The delta has
 * been applied before, so an error means that the file has changed. Returns 0
 * or a negative error code.
 */
static int apply(struct pack_indexer *ix, struct inflater *inf, uint32_t place,
		 uint8_t **data, size_t *len, struct error *err)
{
	uint64_t base_len, result_len;
	uint8_t *result = NULL;
	struct stored st;
	int ret = read_stored(ix, inf, place, &st, err);

	if (ret < 0)
		goto out;
	ret = ERR_CORRUPT;
	if (!delta_sizes(st.data, (size_t)st.head.size, &base_len, &result_len,
			 NULL) &&
	    base_len == *len) {
		result = mem_alloc((size_t)result_len, 1);
		ret = result ? delta_apply(result, (size_t)result_len, *data,
					   *len, st.data, (size_t)st.head.size)
			     : ERR_NOMEM;
	}
	if (ret == ERR_NOMEM) {
		error_nomem(err);
	} else if (ret < 0) {
		indexer_corrupt(ix, ix->by_offset[place].key, "bad delta", err);
	} else {
		free(*data);
		*data = result;
		*len = (size_t)result_len;
		result = NULL;
	}
out:
	free(result);
	free(st.data);
	return ret;
}

static int read_chain(struct pack_indexer *ix, struct inflater *inf,
		      uint32_t place, struct stored *st, size_t *len,
		      struct error *err)
{
	struct chain chain = {NULL, 0, 0};
	int ret = collect(ix, inf, &chain, place, st, err);

	if (!ret)
		*len = (size_t)st->head.size;
	while (!ret && chain.nr)
		ret = apply(ix, inf, chain.places[--chain.nr], &st->data, len,
			    err);
	free(chain.places);
	return ret;
}

int pack_indexer_read(struct pack_indexer *ix, const struct oid *oid,
		      enum object_type *type, void **data, size_t *len,
		      struct error *err)
{
	struct stored st = {.data = NULL};
	struct inflater *inf;
	uint32_t place;
	int ret = index_offsets(ix, err);

	if (ret < 0)
		return ret;
	place = place_of(ix, oid);
	if (place == INDEXER_NONE)
		return 0;
	inf = inflater_new();
	ret = inf ? read_chain(ix, inf, place, &st, len, err)
		  : error_nomem(err);
	inflater_free(inf);
	if (ret < 0) {
		free(st.data);
		return ret;
	}
	*type = st.head.type;
	*data = st.data;
	return 1;
}
