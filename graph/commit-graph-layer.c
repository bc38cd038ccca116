/* SPDX-License-Identifier: MIT */
/* Parses one commit-graph file, and searches it. */
#include <string.h>

#include "base/chunk-format.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "graph/commit-graph-layer.h"
#include "object/hash.h"

/* Indexes of the known chunks in an array of chunks. */
enum {
	CHUNK_FANOUT,
	CHUNK_IDS,
	CHUNK_DATA,
	CHUNK_DATE_OFFSETS,
	CHUNK_OVERFLOW,
	CHUNK_EDGES,
	CHUNK_FILTER_ENDS,
	CHUNK_FILTERS,
	CHUNK_BASES,
	CHUNK_NR,
};

static const struct chunk no_chunks[CHUNK_NR] = {
	[CHUNK_FANOUT] = {.id = CHUNK_ID('O', 'I', 'D', 'F')},
	[CHUNK_IDS] = {.id = CHUNK_ID('O', 'I', 'D', 'L')},
	[CHUNK_DATA] = {.id = CHUNK_ID('C', 'D', 'A', 'T')},
	[CHUNK_DATE_OFFSETS] = {.id = CHUNK_ID('G', 'D', 'A', '2')},
	[CHUNK_OVERFLOW] = {.id = CHUNK_ID('G', 'D', 'O', '2')},
	[CHUNK_EDGES] = {.id = CHUNK_ID('E', 'D', 'G', 'E')},
	[CHUNK_FILTER_ENDS] = {.id = CHUNK_ID('B', 'I', 'D', 'X')},
	[CHUNK_FILTERS] = {.id = CHUNK_ID('B', 'D', 'A', 'T')},
	[CHUNK_BASES] = {.id = CHUNK_ID('B', 'A', 'S', 'E')},
};

#define FILTERS_HEADER_LEN 12

/*
 * Parses the fanout chunk. Its last entry is the number of commits in the file.
 */
static int take_fanout(struct commit_graph_layer *layer,
		       const struct chunk *fanout, const uint8_t *bytes,
		       struct error *err)
{
	int ret;

	if (fanout->len != PACK_FANOUT_LEN)
		return error_set(err, ERR_CORRUPT,
				 "commit-graph required OID fanout chunk "
				 "missing or corrupted");
	ret = pack_fanout_check(&layer->nr, fanout->start, layer->name,
				(uint64_t)(fanout->start - bytes), err);
	if (!ret && layer->nr >= COMMIT_GRAPH_NO_PARENT)
		ret = error_set(err, ERR_CORRUPT, "%s: too many commits",
				layer->name);
	return ret;
}

/* Parses the chunks of ids and of commit data, which are required. */
static int take_commits(struct commit_graph_layer *layer,
			const struct chunk *chunks, struct error *err)
{
	size_t id_len = hash_len(layer->algo);

	if (chunks[CHUNK_IDS].len != (uint64_t)layer->nr * id_len)
		return error_set(err, ERR_CORRUPT,
				 "commit-graph required OID lookup chunk "
				 "missing or corrupted");
	if (chunks[CHUNK_DATA].len != (uint64_t)layer->nr * (id_len + 16))
		return error_set(err, ERR_CORRUPT,
				 "commit-graph required commit data chunk "
				 "missing or corrupted");
	layer->ids = (struct pack_ids){
		.fanout = chunks[CHUNK_FANOUT].start,
		.first = chunks[CHUNK_IDS].start,
		.stride = id_len,
		.nr = layer->nr,
		.algo = layer->algo,
	};
	layer->data = chunks[CHUNK_DATA].start;
	return 0;
}

/* Checks that an optional chunk has `nr` items of `item_len` bytes. */
static int check_size(const struct chunk *chunk, uint64_t nr, size_t item_len,
		      const char *what, struct error *err)
{
	if (chunk->start && chunk->len != nr * item_len)
		return error_set(err, ERR_CORRUPT,
				 "commit-graph %s chunk is wrong size", what);
	return 0;
}

static int take_dates(struct commit_graph_layer *layer,
		      const struct chunk *chunks, struct error *err)
{
	const struct chunk *overflow = &chunks[CHUNK_OVERFLOW];
	int ret = check_size(&chunks[CHUNK_DATE_OFFSETS], layer->nr, 4,
			     "generations", err);

	if (!ret)
		ret = check_size(overflow, overflow->len / 8, 8,
				 "overflow generations", err);
	layer->date_offsets = chunks[CHUNK_DATE_OFFSETS].start;
	layer->overflow = overflow->start;
	layer->overflow_nr = overflow->len / 8;
	return ret;
}

static int take_filters(struct commit_graph_layer *layer,
			const struct chunk *chunks, struct error *err)
{
	const struct chunk *ends = &chunks[CHUNK_FILTER_ENDS];
	const struct chunk *filters = &chunks[CHUNK_FILTERS];

	if (!ends->start || !filters->start)
		return 0;
	if (filters->len < FILTERS_HEADER_LEN)
		return error_set(err, ERR_CORRUPT,
				 "commit-graph changed-path data chunk is too "
				 "small");
	layer->filter_ends = ends->start;
	layer->filters = filters->start + FILTERS_HEADER_LEN;
	layer->filters_len = filters->len - FILTERS_HEADER_LEN;
	layer->bloom = (struct bloom_settings){
		load_be32(filters->start),
		load_be32(filters->start + 4),
		load_be32(filters->start + 8),
	};
	return check_size(ends, layer->nr, 4, "changed-path index", err);
}

/*
 * Checks the sizes of all chunks, and sets the fields of the layer that point
 * to chunks.
 */
static int take_chunks(struct commit_graph_layer *layer,
		       const struct chunk *chunks, const uint8_t *bytes,
		       struct error *err)
{
	const struct chunk *edges = &chunks[CHUNK_EDGES];
	int ret = take_fanout(layer, &chunks[CHUNK_FANOUT], bytes, err);

	if (!ret)
		ret = take_commits(layer, chunks, err);
	if (!ret)
		ret = take_dates(layer, chunks, err);
	if (!ret)
		ret = take_filters(layer, chunks, err);
	if (!ret)
		ret = check_size(edges, edges->len / 4, 4, "extra edges", err);
	if (!ret && chunks[CHUNK_BASES].start &&
	    chunks[CHUNK_BASES].len != layer->base_nr * hash_len(layer->algo))
		ret = error_set(err, ERR_CORRUPT,
				"commit-graph base graphs chunk is of a wrong "
				"size");
	layer->edges = edges->start;
	layer->edge_nr = edges->len / 4;
	layer->bases = chunks[CHUNK_BASES].start;
	return ret;
}

static int parse_header(struct commit_graph_layer *layer, struct cursor *c,
			unsigned *chunk_nr, struct error *err)
{
	const uint8_t *p;

	if (!cursor_bytes(c, &p, 8))
		return error_set(err, ERR_CORRUPT,
				 "commit-graph file is too small");
	if (memcmp(p, "CGPH", 4) != 0)
		return error_set(err, ERR_CORRUPT,
				 "commit-graph signature %X does not match "
				 "signature %X",
				 (unsigned)load_be32(p),
				 (unsigned)CHUNK_ID('C', 'G', 'P', 'H'));
	if (p[4] != 1)
		return error_set(err, ERR_UNSUPPORTED,
				 "commit-graph version %X does not match "
				 "version 1",
				 p[4]);
	if (p[5] != layer->algo)
		return error_set(err, ERR_CORRUPT,
				 "commit-graph hash version %X does not match "
				 "version %X",
				 p[5], (unsigned)layer->algo);
	*chunk_nr = p[6];
	layer->base_nr = p[7];
	return 0;
}

int commit_graph_layer_parse(struct commit_graph_layer *layer,
			     const void *bytes, size_t len, enum hash_algo algo,
			     const char *name, struct error *err)
{
	struct cursor c = cursor_make(bytes, len);
	struct chunk chunks[CHUNK_NR];
	size_t id_len = hash_len(algo);
	unsigned chunk_nr = 0;
	int ret;

	memcpy(chunks, no_chunks, sizeof(chunks));
	memset(layer, 0, sizeof(*layer));
	layer->algo = algo;
	layer->name = mem_strdup(name);
	if (!layer->name)
		return error_nomem(err);
	if (len < 8 + id_len)
		ret = error_set(err, ERR_CORRUPT,
				"commit-graph file is too small");
	else
		ret = parse_header(layer, &c, &chunk_nr, err);
	if (!ret)
		ret = chunk_contents_read(chunks, CHUNK_NR, &c, bytes,
					  len - id_len, chunk_nr, name, err);
	if (!ret)
		ret = take_chunks(layer, chunks, bytes, err);
	if (ret < 0)
		commit_graph_layer_release(layer);
	else
		layer->checksum = (const uint8_t *)bytes + len - id_len;
	return ret;
}

int commit_graph_layer_open(struct commit_graph_layer *layer, const char *path,
			    enum hash_algo algo, struct error *err)
{
	struct sys_map map;
	int ret = sys_map_open(&map, path, err);

	if (ret < 0) {
		memset(layer, 0, sizeof(*layer));
		return ret;
	}
	ret = commit_graph_layer_parse(layer, map.data, map.len, algo, path,
				       err);
	if (ret < 0)
		sys_map_close(&map);
	else
		layer->map = map;
	return ret;
}

void commit_graph_layer_release(struct commit_graph_layer *layer)
{
	sys_map_close(&layer->map);
	free(layer->name);
	memset(layer, 0, sizeof(*layer));
}

const uint8_t *commit_graph_layer_data(const struct commit_graph_layer *layer,
				       uint32_t layer_pos)
{
	return layer->data + layer_pos * (hash_len(layer->algo) + 16);
}

int commit_graph_layer_corrected(const struct commit_graph_layer *layer,
				 uint32_t layer_pos, uint64_t date,
				 uint64_t *corrected, struct error *err)
{
	uint64_t off;

	*corrected = 0;
	if (!layer->date_offsets)
		return 0;
	off = load_be32(layer->date_offsets + (size_t)4 * layer_pos);
	if (off & COMMIT_GRAPH_OVERFLOW) {
		off &= ~COMMIT_GRAPH_OVERFLOW;
		if (off >= layer->overflow_nr)
			return error_set(err, ERR_CORRUPT,
					 "commit-graph overflow generation "
					 "data is too small");
		off = load_be64(layer->overflow + 8 * off);
	}
	*corrected = date + off;
	return 0;
}

const uint8_t *commit_graph_layer_filter(const struct commit_graph_layer *layer,
					 uint32_t layer_pos, size_t *len)
{
	uint32_t start = 0, end;

	*len = 0;
	if (!layer->filter_ends)
		return NULL;
	end = load_be32(layer->filter_ends + (size_t)4 * layer_pos);
	if (layer_pos)
		start = load_be32(layer->filter_ends +
				  (size_t)4 * (layer_pos - 1));
	if (start > end || end > layer->filters_len)
		return NULL;
	*len = end - start;
	return layer->filters + start;
}

int commit_graph_layer_verify_filters(const struct commit_graph_layer *layer,
				      struct error *err)
{
	uint32_t last = 0;

	for (uint32_t i = 0; layer->filter_ends && i < layer->nr; i++) {
		uint32_t end = load_be32(layer->filter_ends + (size_t)4 * i);

		if (end < last || end > layer->filters_len)
			return error_set(err, ERR_CORRUPT,
					 "commit-graph changed-path index is "
					 "wrong at position %u",
					 (unsigned)i);
		last = end;
	}
	return 0;
}

int commit_graph_layer_verify(const struct commit_graph_layer *layer,
			      struct error *err)
{
	return hash_check_trailer(layer->map.data, layer->map.len, layer->algo,
				  layer->name, err);
}
