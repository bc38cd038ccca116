/* SPDX-License-Identifier: MIT */
/*
 * The frame of a reftable (Git's technical/reftable): a header, sections of
 * blocks, and a footer with the offsets of the sections. Numbers are
 * big-endian.
 *
 *   header   'REFT'  version 1  block_size 3  min_index 8  max_index 8
 *            [hash 4: "sha1" or "s256"; version 2 only]
 *   refs     r-blocks, the first of them together with the header
 *   ...      i-blocks: their index             at ref_index_off
 *   objects  o-blocks: which r-blocks name an object   at obj_off
 *   ...      i-blocks                          at obj_index_off
 *   reflogs  g-blocks, deflated                at log_off
 *   ...      i-blocks                          at log_index_off
 *   footer   the header again
 *            ref_index_off 8  obj_off << 5 | obj_id_len 8  obj_index_off 8
 *            log_off 8  log_index_off 8  CRC-32 of the footer so far 4
 *
 * The offset of a missing section is zero. The offset of reflogs is also zero
 * if there are no refs before them: the type of the first block tells whether
 * it belongs to reflogs. This is the table that Git 2.55 writes for a new
 * repository with HEAD -> refs/heads/master:
 *
 * 	00  52454654 01 001000  0000000000000001 0000000000000001
 * 	18  72 00003a                       r-block, to offset 3a
 * 	1c  00 23 48454144 00 11            "HEAD", symbolic, index 1 + 0
 * 	24    726566732f68656164732f6d6173746572
 * 	35  00001c 0001                     one restart, at 1c
 * 	3a  52454654 01 001000  0000000000000001 0000000000000001
 * 	52  (40 bytes of zero)
 * 	7a  b6bff78a
 */
#ifndef REFTABLE_FORMAT_H
#define REFTABLE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"

#define REFTABLE_BLOCK_SIZE_MAX 0xffffff
#define REFTABLE_FOOTER_MAX 72
#define REFTABLE_HEADER_MAX 28

enum reftable_block_type {
	REFTABLE_REFS = 'r',
	REFTABLE_INDEX = 'i',
	REFTABLE_OBJECTS = 'o',
	REFTABLE_LOGS = 'g',
};

/* The fields of header and footer. Offsets count from the start of the file. */
struct reftable_footer {
	unsigned version; /* 1 or 2 */
	/* bytes; 0: blocks are not aligned */
	uint32_t block_size;
	uint64_t min_index, max_index;
	enum hash_algo algo;
	uint64_t ref_index_off;
	uint64_t obj_off, obj_index_off;
	/* bytes of an id in o-blocks */
	unsigned obj_id_len;
	uint64_t log_off, log_index_off;
};

/* Returns 24, or 28 for version 2. */
static inline size_t reftable_header_len(unsigned version)
{
	return version == 1 ? 24 : 28;
}

/* Returns 68, or 72 for version 2. */
static inline size_t reftable_footer_len(unsigned version)
{
	return reftable_header_len(version) + 44;
}

/*
 * Parses the footer of a table of `len` bytes. Verifies that the footer agrees
 * with the header and that its offsets lie in the file. `name` is for messages.
 * Returns 0, ERR_CORRUPT, or ERR_UNSUPPORTED for an unknown version or hash.
 */
int reftable_footer_parse(struct reftable_footer *footer, const void *bytes,
			  size_t len, const char *name, struct error *err);

/* Appends the header. Returns 0 or ERR_NOMEM. */
int reftable_header_append(struct buf *out,
			   const struct reftable_footer *footer);

/* Appends the footer with its checksum. Returns 0 or ERR_NOMEM. */
int reftable_footer_append(struct buf *out,
			   const struct reftable_footer *footer);

#endif
