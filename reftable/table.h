/* SPDX-License-Identifier: MIT */
/*
 * One reftable, mapped, and iterators over its refs and reflogs.
 *
 * Opening a table verifies only header and footer, in O(1). Blocks are verified
 * when they are read. A lookup goes from the root of the index down to one
 * block, and scans that block from a restart on. In a table without an index, a
 * lookup compares the first keys of the blocks.
 *
 * A table is immutable once opened, and threads may share it. An iterator
 * belongs to one thread.
 */
#ifndef REFTABLE_TABLE_H
#define REFTABLE_TABLE_H

#include "reftable/block.h"
#include "sys/map.h"

struct reftable {
	struct sys_map map; /* if opened by path */
	struct reftable_file file;
	/* owned: name of the file without its directory */
	char *name;
};

/*
 * Maps and verifies the table `name` in directory `dir`. Returns 0 with *out
 * owned by the caller, ERR_MISSING, ERR_CORRUPT (also if its hash is not
 * `algo`), ERR_UNSUPPORTED, ERR_IO or ERR_NOMEM.
 */
int reftable_open(struct reftable **out, const char *dir, const char *name,
		  enum hash_algo algo, struct error *err);

/*
 * Works like reftable_open() for the bytes of a table in memory, which are
 * borrowed until the table is closed. Returns 0 or a negative error code.
 */
int reftable_parse(struct reftable **out, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err);
void reftable_close(struct reftable *table);

/*
 * Sets *off to the offset of the section of refs, reflogs or objects. Returns
 * false if the table has no section of this type.
 */
bool reftable_section(const struct reftable *table,
		      enum reftable_block_type type, uint64_t *off);

/* An iterator over the records of one section. */
struct reftable_iter {
	const struct reftable *table; /* borrowed */
	enum reftable_block_type type;
	struct reftable_block block;
	struct reftable_cursor cur;
	/*
	 * true: reftable_iter_seek() has already read the record that
	 * reftable_iter_next() returns next
	 */
	bool has_next;
	bool at_end;
	union {
		struct reftable_ref ref; /* the last record returned */
		struct reftable_log log;
	};
};

void reftable_iter_init(struct reftable_iter *it);
void reftable_iter_release(struct reftable_iter *it);

/*
 * Moves the iterator before the first record of `type` (REFTABLE_REFS or
 * REFTABLE_LOGS) whose key is not less than `key`. Returns 0, ERR_CORRUPT or
 * ERR_NOMEM.
 */
int reftable_iter_seek(struct reftable_iter *it, const struct reftable *table,
		       enum reftable_block_type type, const char *key,
		       size_t key_len, struct error *err);

/*
 * Stores the next record in it->ref or it->log, and its key in it->cur.key.
 * Record and key are valid until the iterator moves. Returns 1 if there was a
 * record, 0 at the end, ERR_CORRUPT or ERR_NOMEM.
 */
int reftable_iter_next(struct reftable_iter *it, struct error *err);

/*
 * Verifies a whole table. Also verifies what readers do not check because of
 * the cost:
 *
 * - blocks follow each other without gaps, and sections are in order;
 * - keys ascend, and restarts are at the beginning of records;
 * - an index has the last key of each block;
 * - each block that is listed for an object is a block of refs.
 */

/*
 * The first and the last name of a set of refs. Both are empty if there are no
 * refs.
 */
struct reftable_names {
	struct buf first, last;
};

#define REFTABLE_NAMES_INIT                                                    \
	{                                                                      \
		BUF_INIT, BUF_INIT                                             \
	}

void reftable_names_release(struct reftable_names *names);

/*
 * Reads and verifies a whole table. Returns 0, ERR_CORRUPT with a message, or
 * ERR_NOMEM. If `symbolic` is not NULL, *symbolic is extended to include the
 * names of the table's symbolic refs. Takes linear time, and memory for the
 * last key of each block.
 */
int reftable_verify(const struct reftable *table,
		    struct reftable_names *symbolic, struct error *err);

#endif
