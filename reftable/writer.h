/* SPDX-License-Identifier: MIT */
/*
 * Writing a table: refs in the order of their names, then entries of reflogs
 * in the order of their keys (by name, newest first), then finish.
 *
 *   new -> add_ref* -> add_log* -> finish -> free
 *
 * Blocks of refs, objects and their indexes are aligned; where more than
 * three blocks come together they get an index, reflogs with the second block.
 * Objects are mapped to r-blocks where refs have an index. The
 * bytes go to a temporary file as they come up; in memory are one block, the
 * index to be, and 12 to 40 bytes for each ref.
 */
#ifndef REFTABLE_WRITER_H
#define REFTABLE_WRITER_H

#include "reftable/record.h"
#include "sys/tempfile.h"

struct reftable_writer_options {
	enum hash_algo algo;
	uint64_t min_index, max_index; /* of refs and new entries */
	uint32_t block_size;           /* 0: 4096 */
	unsigned restart_interval;     /* 0: 16 */
	bool no_objects;               /* no o-blocks */
};

struct reftable_writer;

/*
 * Begin a table in `file`, which is borrowed, open and empty. 0 with *out
 * owned by the caller; ERR_INVALID for a block size that cannot be; ERR_NOMEM.
 */
int reftable_writer_new(struct reftable_writer **out, struct sys_tempfile *file,
			const struct reftable_writer_options *options,
			struct error *err);
void reftable_writer_free(struct reftable_writer *w);

/*
 * Add a ref. ERR_INVALID for one that is out of order or does not fit a block;
 * ERR_IO, ERR_NOMEM. The writer is of no use after a failure.
 */
int reftable_writer_add_ref(struct reftable_writer *w,
			    const struct reftable_ref *ref, struct error *err);

/* As above; what does not fit a block gets a larger one, up to 16 MB. */
int reftable_writer_add_log(struct reftable_writer *w,
			    const struct reftable_log *log, struct error *err);

/*
 * Write what is left, indexes and the footer. The file stays open, and is not
 * made durable.
 */
int reftable_writer_finish(struct reftable_writer *w, struct error *err);

/* Bytes of the file; after finish, of all of it. */
uint64_t reftable_writer_len(const struct reftable_writer *w);

/* Whether anything was added. */
bool reftable_writer_is_empty(const struct reftable_writer *w);

#endif
