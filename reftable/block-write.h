/* SPDX-License-Identifier: MIT */
/* Filling a block with records, see block.h. */
#ifndef REFTABLE_BLOCK_WRITE_H
#define REFTABLE_BLOCK_WRITE_H

#include "reftable/block.h"

struct reftable_block_writer {
	enum reftable_block_type type;
	struct buf bytes;    /* from the start of the block, or of the file */
	struct buf last_key; /* of the record added last */
	struct buf record;   /* scratch */
	size_t header;       /* bytes of the file's header in it */
	size_t limit;        /* bytes that it may have */
	unsigned interval;   /* a restart every so many records */
	unsigned since;      /* records since the last restart */
	uint32_t *restarts;  /* owned: offsets */
	size_t restart_nr, restart_alloc;
};

void reftable_block_writer_init(struct reftable_block_writer *bw);
void reftable_block_writer_release(struct reftable_block_writer *bw);

/*
 * Begin a block of at most `limit` bytes (without those of padding) that
 * starts with the `header_len` bytes of the file's header. 0 or ERR_NOMEM.
 */
int reftable_block_writer_start(struct reftable_block_writer *bw,
				enum reftable_block_type type,
				const void *header, size_t header_len,
				size_t limit, unsigned interval);

/* Records so far. */
static inline bool reftable_block_writer_is_empty(
	const struct reftable_block_writer *bw)
{
	return !bw->restart_nr;
}

/*
 * Add a record with the bytes of its value. 1; 0 when the block is full, and
 * nothing was added; or ERR_NOMEM. `must_fit`: the limit is that of the format.
 */
int reftable_block_writer_add(struct reftable_block_writer *bw, const char *key,
			      size_t key_len, unsigned extra, const void *value,
			      size_t value_len, bool must_fit);

/* Complete bw->bytes: restarts, length; g-blocks are deflated. */
int reftable_block_writer_finish(struct reftable_block_writer *bw);

#endif
