/* SPDX-License-Identifier: MIT */
/* repo/commit-graph-layer.c: any bytes as a commit-graph file. */
#include <stddef.h>
#include <stdint.h>

#include "repo/commit-graph-layer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t raw[20] = {0x20, 0x20};
	struct commit_graph_layer layer;
	volatile uint8_t sink;
	uint32_t layer_pos;

	if (commit_graph_layer_parse(&layer, data, len, HASH_SHA1, "fuzz",
				     NULL) < 0)
		return 0;
	if (layer.nr) {
		commit_graph_layer_find(&layer, layer.ids.first, &layer_pos);
		sink = commit_graph_layer_data(&layer, layer.nr - 1)[35];
	}
	commit_graph_layer_find(&layer, raw, &layer_pos);
	if (layer.edge_nr)
		sink = layer.edges[4 * layer.edge_nr - 1];
	if (layer.base_nr)
		sink = layer.bases[20 * layer.base_nr - 1];
	(void)sink;
	commit_graph_layer_release(&layer);
	return 0;
}
