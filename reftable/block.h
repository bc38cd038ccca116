/* SPDX-License-Identifier: MIT */
/*
 * A block of a reftable: sorted records and a table of restarts. A restart is a
 * record that shares no bytes with the record before it. Binary search uses the
 * restarts.
 *
 *   type (1)  len (3)  record...  restart_offset (3)...  restart_nr (2) [zeros]
 *
 * Numbers in parentheses are sizes in bytes. Offsets count from the start of
 * the block and include its header of 4 bytes. In the first block of a file
 * they count from the start of the file. `len` is the offset of the end of
 * restart_nr. The bytes of a g-block after its header are deflated; its `len`
 * is the length of the inflated block. Zeros follow if the next block is
 * aligned.
 *
 * Opening a block verifies it; taking a record verifies the record. An iterator
 * belongs to one thread; threads may share opened blocks.
 */
#ifndef REFTABLE_BLOCK_H
#define REFTABLE_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "reftable/record.h"

/*
 * The frame of a reftable (Git's technical/reftable): a header, sections of
 * blocks, and a footer with the offsets of the sections. Numbers in parentheses
 * are sizes in bytes. All numbers in the file are big-endian.
 *
 *   header   'REFT' (4)  version (1)  block_size (3)  min_index (8)
 *            max_index (8)  [hash (4): "sha1" or "s256"; only if version is 2]
 *   refs     r-blocks, the first of them together with the header
 *   ...      i-blocks: their index             at ref_index_off
 *   objects  o-blocks: which r-blocks name an object   at obj_off
 *   ...      i-blocks                          at obj_index_off
 *   reflogs  g-blocks, deflated                at log_off
 *   ...      i-blocks                          at log_index_off
 *   footer   the header again
 *            ref_index_off (8)  obj_off << 5 | obj_id_len (8)
 *            obj_index_off (8)  log_off (8)  log_index_off (8)
 *            CRC-32 of the footer so far (4)
 *
 * The offset of a missing section is zero. The offset of reflogs is also zero
 * if the table has no refs. In this case the type of the first block shows that
 * the block belongs to reflogs. The following table is the one that Git 2.55
 * writes for a new repository with HEAD -> refs/heads/master:
 *
 * 	00  52454654 01 001000  0000000000000001 0000000000000001
 * 	18  72 00003a                       r-block, to offset 3a
 * 	1c  00 23 48454144 00 11            "HEAD", a symbolic ref; update
 * 	                                    index: min_index (1) + 0
 * 	24    726566732f68656164732f6d6173746572
 * 	35  00001c 0001                     one restart, at 1c
 * 	3a  52454654 01 001000  0000000000000001 0000000000000001
 * 	52  (40 bytes of zero)
 * 	7a  b6bff78a
 */

#define REFTABLE_BLOCK_SIZE_MAX 0xffffff
#define REFTABLE_FOOTER_MAX 72
#define REFTABLE_HEADER_MAX 28
/*
 * length in bytes of a block with one record, not counting the record and the
 * file's header: the block's header, one restart and the number of restarts
 */
#define REFTABLE_BLOCK_FRAME_LEN (4 + 3 + 2)

enum reftable_block_type {
	REFTABLE_REFS = 'r',
	REFTABLE_INDEX = 'i',
	REFTABLE_OBJECTS = 'o',
	REFTABLE_LOGS = 'g',
};

/* The fields of header and footer. Offsets count from the start of the file. */
struct reftable_footer {
	unsigned version; /* 1 or 2 */
	/*
	 * size in bytes to which blocks are aligned; 0: blocks are not aligned
	 */
	uint32_t block_size;
	uint64_t min_index, max_index;
	enum hash_algo algo;
	uint64_t ref_index_off;
	uint64_t obj_off, obj_index_off;
	/*
	 * length in bytes of the abbreviated ids in the index from objects to
	 * refs
	 */
	unsigned obj_id_len;
	uint64_t log_off, log_index_off;
};

/* Returns the number of bytes of the header: 24, or 28 for version 2. */
static inline size_t reftable_header_len(unsigned version)
{
	return version == 1 ? 24 : 28;
}

/* Returns the number of bytes of the footer: 68, or 72 for version 2. */
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

/* Appends the header of a table. Returns 0 or ERR_NOMEM. */
int reftable_header_append(struct buf *out,
			   const struct reftable_footer *footer);

/* Appends the footer of a table, with its checksum. Returns 0 or ERR_NOMEM. */
int reftable_footer_append(struct buf *out,
			   const struct reftable_footer *footer);

/* The bytes of a reftable file, for the functions that read its blocks. */
struct reftable_file {
	const uint8_t *bytes; /* borrowed */
	uint64_t end;         /* offset of the footer */
	struct reftable_footer footer;
	const char *name; /* for messages; borrowed */
};

struct reftable_block {
	/* points into the file, or into `inflated` if the block is a g-block */
	const uint8_t *bytes;
	/* offset in `bytes` of the first record */
	size_t first;
	/* offset in `bytes` of the restart table, where the records end */
	size_t records_end;
	uint32_t restart_nr;
	enum reftable_block_type type;
	/* offset of the block in the file */
	uint64_t off;
	/* offset in the file of the next block, or of the end of all blocks */
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
 * Returns the type byte of the block at `off`, whether or not the type is
 * valid, or 0 at the end of the blocks.
 */
unsigned reftable_block_peek(const struct reftable_file *file, uint64_t off);

/* A position in a block, for an iteration over its records. */
struct reftable_cursor {
	const struct reftable_block *block; /* borrowed */
	/* offset of the next record in the block */
	size_t off;
	/* key of the current record */
	struct buf key;
	unsigned extra;
	/* the unread bytes of the current record, from its value on */
	struct cursor value;
};

void reftable_cursor_init(struct reftable_cursor *cur);
void reftable_cursor_release(struct reftable_cursor *cur);

/* Moves the cursor to the start of a block, before the first record. */
void reftable_cursor_start(struct reftable_cursor *cur,
			   const struct reftable_block *block);

/*
 * Takes the key of the next record. The caller then takes its value from
 * cur->value and calls reftable_cursor_done(). Returns 1 if there is a
 * record, 0 at the end, ERR_CORRUPT or ERR_NOMEM. If keys do not ascend, the
 * block is corrupt.
 */
int reftable_cursor_next(struct reftable_cursor *cur,
			 const struct reftable_file *file, struct error *err);
void reftable_cursor_done(struct reftable_cursor *cur);

/*
 * Takes the offset that is the value of an index record, and calls
 * reftable_cursor_done(). Returns false for invalid bytes.
 */
bool reftable_cursor_take_off(struct reftable_cursor *cur, uint64_t *off);

/*
 * Moves the cursor to the last restart whose key is less than `key`. So to find
 * the first key that is not less than `key`, the caller skips at most the
 * records between two restarts. O(log restarts). Returns 0 or a negative error
 * code.
 */
int reftable_cursor_seek(struct reftable_cursor *cur,
			 const struct reftable_file *file,
			 const struct reftable_block *block, const char *key,
			 size_t key_len, struct error *err);

/*
 * Sets an error message that contains the file's name and the offset. Returns
 * ERR_CORRUPT.
 */
int reftable_block_corrupt(const struct reftable_file *file, uint64_t off,
			   const char *why, struct error *err);

/* A writer that fills a block with records. */
struct reftable_block_writer {
	enum reftable_block_type type;
	/*
	 * bytes of the block so far; in the first block of a file they start
	 * with the file's header
	 */
	struct buf bytes;
	struct buf last_key; /* of the last record */
	struct buf record;   /* scratch memory */
	/* number of bytes of the file's header at the start of `bytes` */
	size_t header;
	size_t limit; /* limit of `bytes` */
	/* number of records from one restart to the next */
	unsigned interval;
	/* number of records since the last restart */
	unsigned since;
	uint32_t *restarts; /* owned: offsets */
	size_t restart_nr, restart_alloc;
};

void reftable_block_writer_init(struct reftable_block_writer *bw);
void reftable_block_writer_release(struct reftable_block_writer *bw);

/*
 * Begins to fill a block of at most `limit` bytes, not counting padding. The
 * block starts with the `header_len` bytes of the file's header. Returns 0 or
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
 * Adds a record with this key and the bytes of its value to the block. Returns
 * 1 if the record was added, 0 if the block is full, or ERR_NOMEM. If
 * `must_fit`, the block may grow beyond its limit, up to the maximum length of
 * a block (REFTABLE_BLOCK_SIZE_MAX).
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
