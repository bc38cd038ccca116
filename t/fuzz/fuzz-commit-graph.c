/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for graph/commit-graph-layer.c: any bytes are opened as a
 * commit-graph file.
 */
#include <stddef.h>
#include <stdint.h>

#include "graph/commit-graph-layer.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t raw[20] = {0x20, 0x20};
	struct commit_graph_layer layer;
	volatile uint8_t sink;
	uint64_t corrected;
	uint32_t layer_pos;

	if (commit_graph_layer_parse(&layer, data, len, HASH_SHA1, "fuzz",
				     NULL) < 0)
		return 0;
	if (layer.nr) {
		commit_graph_layer_find(&layer, layer.ids.first, &layer_pos);
		sink = commit_graph_layer_data(&layer, layer.nr - 1)[35];
	}
	for (uint32_t i = 0; i < layer.nr && i < 1000; i++) {
		const struct bloom_key key = bloom_key("a/b", 3, 2);
		const struct bloom_settings settings = bloom_settings(2);
		size_t filter_len;
		const uint8_t *filter;

		commit_graph_layer_corrected(&layer, i, 7, &corrected, NULL);
		filter = commit_graph_layer_filter(&layer, i, &filter_len);
		sink = bloom_filter_has(filter, filter_len, &key, &settings);
	}
	commit_graph_layer_verify_filters(&layer, NULL);
	commit_graph_layer_find(&layer, raw, &layer_pos);
	if (layer.edge_nr)
		sink = layer.edges[4 * layer.edge_nr - 1];
	if (layer.bases && layer.base_nr)
		sink = layer.bases[20 * layer.base_nr - 1];
	(void)sink;
	commit_graph_layer_release(&layer);
	return 0;
}
