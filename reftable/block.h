/* SPDX-License-Identifier: MIT */
/*
 * A block of a reftable: sorted records, and a table of those that repeat
 * nothing of their predecessor, for binary search.
 *
 *   type 1  len 3  record...  restart_offset 3 ...  restart_nr 2  [zeros]
 *
 * Offsets are from the start of the block and include its 4 bytes of header;
 * in the first block of a file they are from the start of the file. `len` is
 * where restart_nr ends, counted in the same way. A g-block is deflated behind
 * its header, and its `len` is that of what was deflated. Zeros follow where
 * the next block is aligned.
 *
 * A block is checked when it is opened, records when they are taken. One
 * iterator is for one thread; opened blocks may be shared.
 */
#ifndef REFTABLE_BLOCK_H
#define REFTABLE_BLOCK_H

#include "reftable/format.h"
#include "reftable/record.h"

/* The bytes that blocks are in. */
struct reftable_file {
	const uint8_t *bytes; /* borrowed */
	uint64_t end;         /* where the footer begins */
	struct reftable_footer footer;
	const char *name; /* for messages; borrowed */
};

struct reftable_block {
	const uint8_t *bytes; /* points into the file, or at `inflated` */
	size_t first;         /* offset of the first record */
	size_t records_end;   /* ... of the restart table */
	uint32_t restart_nr;
	enum reftable_block_type type;
	uint64_t off;        /* of the block in the file */
	uint64_t next_off;   /* where the next one begins, or the file's end */
	struct buf inflated; /* of a g-block */
};

/*
 * Open the block at `off`, into *block, which has to be initialised (its
 * memory is used again). ERR_CORRUPT for bytes that are no block.
 */
int reftable_block_open(struct reftable_block *block,
			const struct reftable_file *file, uint64_t off,
			struct error *err);
void reftable_block_init(struct reftable_block *block);
void reftable_block_release(struct reftable_block *block);

/*
 * The type of the block at `off`, 0 at the end of the blocks; what is no type
 * is returned, too.
 */
unsigned reftable_block_peek(const struct reftable_file *file, uint64_t off);

/* Where in a block an iteration is. */
struct reftable_cursor {
	const struct reftable_block *block; /* borrowed */
	size_t off;                         /* of the next record */
	struct buf key;                     /* of the current one */
	unsigned extra;
	struct cursor value; /* of the current one, and what follows */
};

void reftable_cursor_init(struct reftable_cursor *cur);
void reftable_cursor_release(struct reftable_cursor *cur);

/* Go before the first record. */
void reftable_cursor_start(struct reftable_cursor *cur,
			   const struct reftable_block *block);

/*
 * Take the front of the next record; its value is then taken from cur->value,
 * and the cursor is told so with reftable_cursor_done(). 1, 0 at the end, or
 * ERR_CORRUPT, ERR_NOMEM. Keys that do not ascend are ERR_CORRUPT.
 */
int reftable_cursor_next(struct reftable_cursor *cur,
			 const struct reftable_file *file, struct error *err);
void reftable_cursor_done(struct reftable_cursor *cur);

/* An index record's value. False for bytes that are none. */
bool reftable_cursor_take_off(struct reftable_cursor *cur, uint64_t *off);

/*
 * Go before a record near the first whose key is not less than `key`: none
 * that is not less is left out, and at most as many as lie between two
 * restarts are still to be passed over. O(log restarts).
 */
int reftable_cursor_seek(struct reftable_cursor *cur,
			 const struct reftable_file *file,
			 const struct reftable_block *block, const char *key,
			 size_t key_len, struct error *err);

/* ERR_CORRUPT, with the place in words. */
int reftable_block_corrupt(const struct reftable_file *file, uint64_t off,
			   const char *why, struct error *err);

#endif
