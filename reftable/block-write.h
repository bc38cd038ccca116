/* SPDX-License-Identifier: MIT */
/* Fills a block with records; see block.h. */
#ifndef REFTABLE_BLOCK_WRITE_H
#define REFTABLE_BLOCK_WRITE_H

#include "reftable/block.h"

struct reftable_block_writer {
	enum reftable_block_type type;
	/* from the start of the block, or of the file */
	struct buf bytes;
	struct buf last_key; /* of the last record */
	struct buf record;   /* scratch */
	/* bytes of the file's header in `bytes` */
	size_t header;
	size_t limit; /* limit of `bytes` */
	/* distance of restarts, in records */
	unsigned interval;
	/* records since the last restart */
	unsigned since;
	uint32_t *restarts; /* owned: offsets */
	size_t restart_nr, restart_alloc;
};

void reftable_block_writer_init(struct reftable_block_writer *bw);
void reftable_block_writer_release(struct reftable_block_writer *bw);

/*
 * Begins a block of at most `limit` bytes, not counting padding. The block
 * starts with the `header_len` bytes of the file's header. Returns 0 or
 * ERR_NOMEM.
 */
int reftable_block_writer_start(struct reftable_block_writer *bw,
				enum reftable_block_type type,
				const void *header, size_t header_len,
				size_t limit, unsigned interval);

/* Returns whether the block has no records yet. */
static inline bool reftable_block_writer_is_empty(
	const struct reftable_block_writer *bw)
{
	return !bw->restart_nr;
}

/*
 * Adds a record with the bytes of its value. Returns 1 if it was added, 0 if
 * the block is full, or ERR_NOMEM. If `must_fit`, the limit is that of the
 * format.
 */
int reftable_block_writer_add(struct reftable_block_writer *bw, const char *key,
			      size_t key_len, unsigned extra, const void *value,
			      size_t value_len, bool must_fit);

/*
 * Completes bw->bytes: appends the restarts, sets the length, and deflates a
 * g-block. Returns 0 or ERR_NOMEM.
 */
int reftable_block_writer_finish(struct reftable_block_writer *bw);

#endif
