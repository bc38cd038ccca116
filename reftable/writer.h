/* SPDX-License-Identifier: MIT */
/*
 * Writes a table: first refs in the order of their names, then entries of
 * reflogs in the order of their keys (by name, newest first).
 *
 *   new -> add_ref* -> add_log* -> finish -> free
 *
 * Blocks of refs, objects and their indexes are aligned. The section of refs
 * gets an index if it has more than three blocks, and so does the section of
 * objects. Reflogs get an index if they have more than one block. If refs have
 * an index, the table also gets a section of objects. This section says, for an
 * object id, which blocks of refs (r-blocks) have refs to the object.
 *
 * Bytes go to a temporary file as soon as a block is complete. The writer keeps
 * in memory one block, the future index, and 12 to 40 bytes for each ref.
 */
#ifndef REFTABLE_WRITER_H
#define REFTABLE_WRITER_H

#include "reftable/record.h"
#include "sys/tempfile.h"

#define REFTABLE_BLOCK_SIZE_DEFAULT 4096 /* bytes */

struct reftable_writer_options {
	enum hash_algo algo;
	/*
	 * range of the update indexes of the refs and reflog entries in the
	 * table
	 */
	uint64_t min_index, max_index;
	/* block size in bytes; 0: REFTABLE_BLOCK_SIZE_DEFAULT */
	uint32_t block_size;
	unsigned restart_interval; /* number of records; 0: 16 */
	/* true: write no index from objects to refs (no o-blocks) */
	bool no_objects;
};

struct reftable_writer;

/*
 * Begins to write a table into `file`. The file is borrowed, and must be open
 * and empty. Returns 0 with *out owned by the caller, ERR_INVALID for an
 * invalid block size, or ERR_NOMEM.
 */
int reftable_writer_new(struct reftable_writer **out, struct sys_tempfile *file,
			const struct reftable_writer_options *options,
			struct error *err);
void reftable_writer_free(struct reftable_writer *w);

/*
 * Adds a ref. Returns 0, ERR_INVALID if the ref is out of order or too large
 * for a block, ERR_IO or ERR_NOMEM. After an error the writer can only be
 * freed.
 */
int reftable_writer_add_ref(struct reftable_writer *w,
			    const struct reftable_ref *ref, struct error *err);

/*
 * Returns the smallest block size, in bytes, that is enough for a ref in every
 * table. The name of the ref has `name_len` bytes. The ref may be stored as an
 * id with or without a peeled id, as a deletion, or as a symbolic ref whose
 * target has `target_len` bytes. With this block size,
 * reftable_writer_add_ref() never says that the ref is too large.
 */
size_t reftable_writer_ref_size(size_t name_len, size_t target_len,
				enum hash_algo algo);

/*
 * Adds an entry of a reflog. An entry that is too large for a block gets a
 * larger block, of up to 16 MB. Returns 0 or the same errors as
 * reftable_writer_add_ref().
 */
int reftable_writer_add_log(struct reftable_writer *w,
			    const struct reftable_log *log, struct error *err);

/*
 * Writes the remaining blocks, indexes and the footer. The file stays open and
 * is not made durable. Returns 0 or a negative error code.
 */
int reftable_writer_finish(struct reftable_writer *w, struct error *err);

/*
 * Returns how many bytes the file has so far. After reftable_writer_finish(),
 * this is the whole length.
 */
uint64_t reftable_writer_len(const struct reftable_writer *w);

/* Returns whether no record was added to the table. */
bool reftable_writer_is_empty(const struct reftable_writer *w);

#endif
