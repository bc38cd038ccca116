/* SPDX-License-Identifier: MIT */
/* Taking one commit-graph file apart, and searching it. */
#include <string.h>

#include "base/chunk-format.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "object/hash.h"
#include "repo/commit-graph-layer.h"

/* The chunks that are read, and where each stands in an array of them. */
enum {
	CHUNK_FANOUT,
	CHUNK_IDS,
	CHUNK_DATA,
	CHUNK_EDGES,
	CHUNK_BASES,
	CHUNK_NR,
};

static const struct chunk no_chunks[CHUNK_NR] = {
	[CHUNK_FANOUT] = {.id = CHUNK_ID('O', 'I', 'D', 'F')},
	[CHUNK_IDS] = {.id = CHUNK_ID('O', 'I', 'D', 'L')},
	[CHUNK_DATA] = {.id = CHUNK_ID('C', 'D', 'A', 'T')},
	[CHUNK_EDGES] = {.id = CHUNK_ID('E', 'D', 'G', 'E')},
	[CHUNK_BASES] = {.id = CHUNK_ID('B', 'A', 'S', 'E')},
};

/* The fanout, which says how many commits there are. */
static int take_fanout(struct commit_graph_layer *layer,
		       const struct chunk *fanout, const uint8_t *bytes,
		       struct error *err)
{
	int ret;

	if (fanout->len != PACK_FANOUT_LEN)
		return error_set(err, ERR_CORRUPT,
				 "%s: fanout missing or of a wrong size",
				 layer->name);
	ret = pack_fanout_check(&layer->nr, fanout->start, layer->name,
				(uint64_t)(fanout->start - bytes), err);
	if (!ret && layer->nr >= COMMIT_GRAPH_NO_PARENT)
		ret = error_set(err, ERR_CORRUPT, "%s: too many commits",
				layer->name);
	return ret;
}

static int check_size(const struct chunk *chunk, uint64_t nr, size_t item_len,
		      const char *what, const char *name, struct error *err)
{
	if (chunk->len != nr * item_len)
		return error_set(err, ERR_CORRUPT,
				 "%s: %s missing or of a wrong size", name,
				 what);
	return 0;
}

/* Sizes of the chunks, and the fields that follow from them. */
static int take_chunks(struct commit_graph_layer *layer,
		       const struct chunk *chunks, const uint8_t *bytes,
		       struct error *err)
{
	size_t id_len = hash_len(layer->algo);
	int ret = take_fanout(layer, &chunks[CHUNK_FANOUT], bytes, err);

	if (!ret)
		ret = check_size(&chunks[CHUNK_IDS], layer->nr, id_len,
				 "commit ids", layer->name, err);
	if (!ret)
		ret = check_size(&chunks[CHUNK_DATA], layer->nr, id_len + 16,
				 "commit data", layer->name, err);
	if (!ret)
		ret = check_size(&chunks[CHUNK_EDGES],
				 chunks[CHUNK_EDGES].len / 4, 4, "extra edges",
				 layer->name, err);
	if (!ret)
		ret = check_size(&chunks[CHUNK_BASES], layer->base_nr, id_len,
				 "base graphs", layer->name, err);
	layer->ids = (struct pack_ids){
		.fanout = chunks[CHUNK_FANOUT].start,
		.first = chunks[CHUNK_IDS].start,
		.stride = id_len,
		.nr = layer->nr,
		.algo = layer->algo,
	};
	layer->data = chunks[CHUNK_DATA].start;
	layer->edges = chunks[CHUNK_EDGES].start;
	layer->edge_nr = chunks[CHUNK_EDGES].len / 4;
	layer->bases = chunks[CHUNK_BASES].start;
	return ret;
}

static int parse_header(struct commit_graph_layer *layer, struct cursor *c,
			unsigned *chunk_nr, struct error *err)
{
	const uint8_t *p;

	if (!cursor_bytes(c, &p, 8) || memcmp(p, "CGPH", 4))
		return error_set(err, ERR_CORRUPT, "%s: not a commit-graph",
				 layer->name);
	if (p[4] != 1)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: commit-graph version %u", layer->name,
				 p[4]);
	if (p[5] != layer->algo)
		return error_set(err, ERR_CORRUPT,
				 "%s: commit-graph of another hash (%u)",
				 layer->name, p[5]);
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
		ret = error_set(err, ERR_CORRUPT, "%s: commit-graph cut short",
				name);
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

int commit_graph_layer_verify(const struct commit_graph_layer *layer,
			      struct error *err)
{
	return hash_check_trailer(layer->map.data, layer->map.len, layer->algo,
				  layer->name, err);
}
