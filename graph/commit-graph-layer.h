/* SPDX-License-Identifier: MIT */
/*
 * One commit-graph file, all numbers big-endian (gitformat-commit-graph(5)):
 *
 *    "CGPH" | version 1 | hash id | chunks C | base graphs B      8 bytes
 *    table of contents: (C + 1) x (chunk id: 4, file offset: 8 bytes)
 *    OIDF  256 x 4          fanout
 *    OIDL  nr x hash        commit ids, ascending
 *    CDAT  nr x (hash + 16) tree | parent 1 | parent 2
 *                           | generation number:30 date:34
 *    GDA2  nr x 4           corrected date minus date, or, with the top bit
 *                           set, an index into GDO2
 *    GDO2  k x 8            offsets that need more than 31 bits
 *    EDGE  k x 4            second and later parents of commits with more than
 *                           two; the last one has its top bit set
 *    BIDX  nr x 4           the end of each commit's filter, in bytes from the
 *                           start of the filters
 *    BDAT  3 x 4            hash version | number of hashes | bits per entry
 *          the rest         filters (bloom.h)
 *    BASE  B x hash         checksums of the layers below
 *    checksum               hash
 *
 * OIDF, OIDL and CDAT are required. EDGE and BASE are required if commits or
 * the header refer to them. The other chunks are optional.
 *
 * Worked example: one commit c1.. without parents, tree 7e.. with the file "g",
 * generation number 1, at 1000000000 (0x3b9aca00) seconds:
 *
 *    CDAT  7e7e7e7e 7e7e7e7e 7e7e7e7e 7e7e7e7e 7e7e7e7e
 *          70000000 70000000 00000004 3b9aca00
 *    GDA2  00000000
 *    BIDX  00000002
 *    BDAT  00000001 00000007 0000000a d924
 *
 * A layer is immutable, and threads may share it.
 */
#ifndef GRAPH_COMMIT_GRAPH_LAYER_H
#define GRAPH_COMMIT_GRAPH_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/bloom.h"
#include "object/oid.h"
#include "pack/ids.h"
#include "sys/map.h"

/*
 * Special values of a parent field in CDAT. COMMIT_GRAPH_NO_PARENT: there is no
 * parent. COMMIT_GRAPH_EDGE is a flag: the remaining bits are an index into
 * EDGE.
 */
#define COMMIT_GRAPH_NO_PARENT UINT32_C(0x70000000)
#define COMMIT_GRAPH_EDGE UINT32_C(0x80000000)

/*
 * The largest generation number. If a commit has this number, its descendants
 * have the same number.
 */
#define COMMIT_GRAPH_GENERATION_MAX UINT32_C(0x3fffffff)

/* Flag of a number in GDA2: the remaining bits are an index into GDO2. */
#define COMMIT_GRAPH_OVERFLOW UINT32_C(0x80000000)

struct commit_graph_layer {
	/* the mapped file, if it was opened by path */
	struct sys_map map;
	/* owned: file name for messages */
	char *name;
	enum hash_algo algo;
	/* number of commits in this file */
	uint32_t nr;
	/*
	 * number of commits in the lower layers of the chain; set by the caller
	 */
	uint32_t below_nr;
	/*
	 * The pointers from here on, and those in `ids`, point into the file's
	 * bytes.
	 */
	struct pack_ids ids;
	const uint8_t *data;  /* chunk CDAT */
	const uint8_t *edges; /* chunk EDGE, or NULL */
	size_t edge_nr;
	const uint8_t *date_offsets; /* chunk GDA2, or NULL */
	const uint8_t *overflow;     /* chunk GDO2, or NULL */
	size_t overflow_nr;
	/* chunk BIDX, or NULL if the file has no filters */
	const uint8_t *filter_ends;
	/* chunk BDAT after its header */
	const uint8_t *filters;
	size_t filters_len;
	struct bloom_settings bloom;
	/* chunk BASE, or NULL if the file has no BASE chunk */
	const uint8_t *bases;
	unsigned base_nr;
	/* points to the checksum, the last hash_len() bytes of the file */
	const uint8_t *checksum;
};

/*
 * Maps and parses a file. Returns 0, ERR_MISSING if there is no file, or an
 * error of commit_graph_layer_parse(). After an error, *layer is zeroed.
 */
int commit_graph_layer_open(struct commit_graph_layer *layer, const char *path,
			    enum hash_algo algo, struct error *err);

/*
 * Parses the bytes of a file, which are borrowed until release. Checks that the
 * required chunks exist, that all chunks have the right sizes, and that the
 * fanout ascends. Checks neither the checksum nor the order of the ids, because
 * these two checks take time in proportion to the number of commits. Edges are
 * checked when they are followed. Returns 0, ERR_CORRUPT, ERR_UNSUPPORTED or
 * ERR_NOMEM. After an error, *layer is zeroed. If stock Git has a message for
 * an error, the same message is used.
 */
int commit_graph_layer_parse(struct commit_graph_layer *layer,
			     const void *bytes, size_t len, enum hash_algo algo,
			     const char *name, struct error *err);
void commit_graph_layer_release(struct commit_graph_layer *layer);

/*
 * Computes the corrected date of a commit in this file whose date is `date`.
 * *corrected is 0 if the file has no corrected dates. Returns 0, or ERR_CORRUPT
 * if an index into GDO2 is out of range.
 */
int commit_graph_layer_corrected(const struct commit_graph_layer *layer,
				 uint32_t layer_pos, uint64_t date,
				 uint64_t *corrected, struct error *err);

/*
 * Returns the changed-path filter of a commit in this file, and its length in
 * *len. *len is 0 if the filter was not computed, if the file has no filters,
 * or if the chunk BIDX is corrupt.
 */
const uint8_t *commit_graph_layer_filter(const struct commit_graph_layer *layer,
					 uint32_t layer_pos, size_t *len);

/*
 * Checks that the ends of filters in the chunk BIDX ascend. Returns 0 or
 * ERR_CORRUPT. O(nr).
 */
int commit_graph_layer_verify_filters(const struct commit_graph_layer *layer,
				      struct error *err);

/*
 * Verifies the checksum of an opened file. The check reads the whole file.
 * Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int commit_graph_layer_verify(const struct commit_graph_layer *layer,
			      struct error *err);

/*
 * Sets *layer_pos to the position of a commit, found by raw id. Returns false
 * if the file does not have the commit.
 */
static inline bool commit_graph_layer_find(
	const struct commit_graph_layer *layer, const uint8_t *raw,
	uint32_t *layer_pos)
{
	return pack_ids_find(&layer->ids, raw, layer_pos);
}

/* Returns the CDAT record of a commit in this file. Requires layer_pos < nr. */
const uint8_t *commit_graph_layer_data(const struct commit_graph_layer *layer,
				       uint32_t layer_pos);

#endif
