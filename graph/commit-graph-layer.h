/* SPDX-License-Identifier: MIT */
/*
 * One commit-graph file, all numbers big-endian (gitformat-commit-graph(5)):
 *
 *   "CGPH" | version 1 | hash id | chunks C | base graphs B      8 bytes
 *   table of contents: (C + 1) x (chunk id 4, file offset 8)
 *   OIDF  256 x 4          fanout
 *   OIDL  nr x hash        commit ids, ascending
 *   CDAT  nr x (hash + 16) tree | parent 1 | parent 2 | level:30 date:34
 *   GDA2  nr x 4           corrected date less the date, or, with the top bit
 *                          set, an index into GDO2
 *   GDO2  k x 8            offsets that need more than 31 bits
 *   EDGE  k x 4            third and later parents; last has its top bit set
 *   BIDX  nr x 4           where each commit's filter ends in BDAT
 *   BDAT  hash version 4 | hashes 4 | bits per entry 4 | filters (bloom.h)
 *   BASE  B x hash         checksums of the layers below
 *   checksum               hash
 *
 * CDAT has to be there, and what it needs; the rest may be missing.
 *
 * Worked example, one commit c1.. without parents, tree 7e.., level 1, at
 * 1000000000 (0x3b9aca00) seconds:
 *
 *   CDAT  7e7e7e7e 7e7e7e7e 7e7e7e7e 7e7e7e7e 7e7e7e7e
 *         70000000 70000000 00000004 3b9aca00
 *   GDA2  00000000
 *   BIDX  00000002
 *   BDAT  00000001 00000007 0000000a d924
 *
 * Immutable; threads may share it.
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

/* Parent fields of CDAT. */
#define COMMIT_GRAPH_NO_PARENT UINT32_C(0x70000000)
#define COMMIT_GRAPH_EDGE UINT32_C(0x80000000)

/* The highest level: commits above those that have it have it too. */
#define COMMIT_GRAPH_GENERATION_MAX UINT32_C(0x3fffffff)

/* In GDA2: what is left is an index into GDO2. */
#define COMMIT_GRAPH_OVERFLOW UINT32_C(0x80000000)

struct commit_graph_layer {
	struct sys_map map; /* the file, when opened by path */
	char *name;         /* owned: file name for messages */
	enum hash_algo algo;
	uint32_t nr;          /* commits in this file */
	uint32_t below_nr;    /* commits in the layers below; the caller's */
	struct pack_ids ids;  /* these point into the file's bytes */
	const uint8_t *data;  /* CDAT */
	const uint8_t *edges; /* EDGE, or NULL */
	size_t edge_nr;
	const uint8_t *date_offsets; /* GDA2, or NULL */
	const uint8_t *overflow;     /* GDO2 */
	size_t overflow_nr;
	const uint8_t *filter_ends; /* BIDX, or NULL: no filters */
	const uint8_t *filters;     /* BDAT behind its header */
	size_t filters_len;
	struct bloom_settings bloom;
	const uint8_t *bases; /* BASE, or NULL when base_nr is 0 */
	unsigned base_nr;
	const uint8_t *checksum; /* the file's last hash_len() bytes */
};

/*
 * Map and parse a file. ERR_MISSING when it is not there; other errors as
 * commit_graph_layer_parse(). On failure *layer is zeroed.
 */
int commit_graph_layer_open(struct commit_graph_layer *layer, const char *path,
			    enum hash_algo algo, struct error *err);

/*
 * Take the bytes of a file apart, borrowed until release: all chunks are
 * there, have the right sizes, and the fanout ascends. Not checked, being
 * O(nr): order of ids and checksum; edges are checked when followed.
 * 0, ERR_CORRUPT, ERR_UNSUPPORTED or ERR_NOMEM with *layer zeroed. Messages
 * are stock Git's where it has one.
 */
int commit_graph_layer_parse(struct commit_graph_layer *layer,
			     const void *bytes, size_t len, enum hash_algo algo,
			     const char *name, struct error *err);
void commit_graph_layer_release(struct commit_graph_layer *layer);

/*
 * The corrected date of a commit of this file, whose date is `date`; 0 when
 * the file has none. ERR_CORRUPT when it lies outside of GDO2.
 */
int commit_graph_layer_corrected(const struct commit_graph_layer *layer,
				 uint32_t layer_pos, uint64_t date,
				 uint64_t *corrected, struct error *err);

/*
 * The filter of a commit of this file: its first byte and *len, which is 0 when
 * it was not computed, or the file has none, or says nonsense.
 */
const uint8_t *commit_graph_layer_filter(const struct commit_graph_layer *layer,
					 uint32_t layer_pos, size_t *len);

/* Whether filters follow each other: ERR_CORRUPT if not. O(nr). */
int commit_graph_layer_verify_filters(const struct commit_graph_layer *layer,
				      struct error *err);

/* Check the checksum of an opened file: reads all of it. */
int commit_graph_layer_verify(const struct commit_graph_layer *layer,
			      struct error *err);

/* Position in this file of a raw id; false when it is not there. */
static inline bool commit_graph_layer_find(
	const struct commit_graph_layer *layer, const uint8_t *raw,
	uint32_t *layer_pos)
{
	return pack_ids_find(&layer->ids, raw, layer_pos);
}

/* The CDAT record of a commit of this file; layer_pos < nr. */
const uint8_t *commit_graph_layer_data(const struct commit_graph_layer *layer,
				       uint32_t layer_pos);

#endif
