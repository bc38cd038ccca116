/* SPDX-License-Identifier: MIT */
/*
 * A block of a reftable: sorted records and a table of restarts. A restart is a
 * record that shares no bytes with the record before it. Binary search uses the
 * restarts.
 *
 *   type 1  len 3  record...  restart_offset 3 ...  restart_nr 2  [zeros]
 *
 * Offsets count from the start of the block and include its header of 4 bytes.
 * In the first block of a file they count from the start of the file. `len` is
 * the offset of the end of restart_nr. A g-block is deflated after its header,
 * and its `len` is that of the inflated block. Zeros follow if the next block
 * is aligned.
 *
 * Opening a block verifies it; taking a record verifies the record. An iterator
 * belongs to one thread; threads may share opened blocks.
 */
#ifndef REFTABLE_BLOCK_H
#define REFTABLE_BLOCK_H

#include "reftable/format.h"
#include "reftable/record.h"

/* The file that contains the blocks. */
struct reftable_file {
	const uint8_t *bytes; /* borrowed */
	uint64_t end;         /* offset of the footer */
	struct reftable_footer footer;
	const char *name; /* for messages; borrowed */
};

struct reftable_block {
	/* points into the file, or to `inflated` */
	const uint8_t *bytes;
	/* offset of the first record */
	size_t first;
	/* offset of the restart table */
	size_t records_end;
	uint32_t restart_nr;
	enum reftable_block_type type;
	/* offset of the block in the file */
	uint64_t off;
	/* offset of the next block, or of the file's end */
	uint64_t next_off;
	struct buf inflated; /* content of a g-block */
};

/*
 * Opens the block at `off` into *block, which has to be initialised. The memory
 * of *block is reused. Returns 0, ERR_CORRUPT for an invalid block, or
 * ERR_NOMEM.
 */
int reftable_block_open(struct reftable_block *block,
			const struct reftable_file *file, uint64_t off,
			struct error *err);
void reftable_block_init(struct reftable_block *block);
void reftable_block_release(struct reftable_block *block);

/*
 * Returns the type byte of the block at `off`, even if it is no valid type, or
 * 0 at the end of the blocks.
 */
unsigned reftable_block_peek(const struct reftable_file *file, uint64_t off);

/* The position of an iteration in a block. */
struct reftable_cursor {
	const struct reftable_block *block; /* borrowed */
	/* offset of the next record */
	size_t off;
	/* key of the current record */
	struct buf key;
	unsigned extra;
	/* value of the current record, and the bytes after it */
	struct cursor value;
};

void reftable_cursor_init(struct reftable_cursor *cur);
void reftable_cursor_release(struct reftable_cursor *cur);

/* Moves before the first record. */
void reftable_cursor_start(struct reftable_cursor *cur,
			   const struct reftable_block *block);

/*
 * Takes the key of the next record. The caller then takes its value from
 * cur->value and calls reftable_cursor_done(). Returns 1, 0 at the end,
 * ERR_CORRUPT or ERR_NOMEM. Keys that do not ascend are ERR_CORRUPT.
 */
int reftable_cursor_next(struct reftable_cursor *cur,
			 const struct reftable_file *file, struct error *err);
void reftable_cursor_done(struct reftable_cursor *cur);

/*
 * Takes the value of an index record, and calls reftable_cursor_done(). Returns
 * false for invalid bytes.
 */
bool reftable_cursor_take_off(struct reftable_cursor *cur, uint64_t *off);

/*
 * Moves to a record at or before the first whose key is not less than `key`.
 * The cursor stands at a restart, so the caller skips at most the records
 * between two restarts. O(log restarts). Returns 0 or a negative error code.
 */
int reftable_cursor_seek(struct reftable_cursor *cur,
			 const struct reftable_file *file,
			 const struct reftable_block *block, const char *key,
			 size_t key_len, struct error *err);

/* Sets a message that contains the file and the offset. Returns ERR_CORRUPT. */
int reftable_block_corrupt(const struct reftable_file *file, uint64_t off,
			   const char *why, struct error *err);

#endif
