/* SPDX-License-Identifier: MIT */
/*
 * One reftable, mapped, and iterators over its refs and reflogs.
 *
 * Opening checks header and footer only, O(1); blocks are checked when they
 * are come to. A lookup goes from the root of the index to one block, and in
 * it from one restart on; where there is no index, over the blocks' first keys.
 *
 * Immutable once opened, threads may share it; an iterator is one thread's.
 */
#ifndef REFTABLE_TABLE_H
#define REFTABLE_TABLE_H

#include "reftable/block.h"
#include "sys/map.h"

struct reftable {
	struct sys_map map; /* when opened by path */
	struct reftable_file file;
	char *name; /* owned: the file's own name, without directories */
};

/*
 * Map and check the table `name` in directory `dir`. 0 with *out owned by the
 * caller; ERR_MISSING; ERR_CORRUPT, also for another hash than `algo`;
 * ERR_UNSUPPORTED; ERR_IO; ERR_NOMEM.
 */
int reftable_open(struct reftable **out, const char *dir, const char *name,
		  enum hash_algo algo, struct error *err);

/* As above from bytes, which are borrowed until it is closed. */
int reftable_parse(struct reftable **out, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err);
void reftable_close(struct reftable *table);

/* Where refs, reflogs or objects begin; false when there are none. */
bool reftable_section(const struct reftable *table,
		      enum reftable_block_type type, uint64_t *off);

/* Over the records of one section. */
struct reftable_iter {
	const struct reftable *table; /* borrowed */
	enum reftable_block_type type;
	struct reftable_block block;
	struct reftable_cursor cur;
	bool has_next; /* cur stands on a record that has not been given */
	bool at_end;
	union {
		struct reftable_ref ref; /* the record given last */
		struct reftable_log log;
	};
};

void reftable_iter_init(struct reftable_iter *it);
void reftable_iter_release(struct reftable_iter *it);

/*
 * Go before the first record of `type` (REFTABLE_REFS or REFTABLE_LOGS) of
 * `table` whose key is not less than `key`. 0, ERR_CORRUPT, ERR_NOMEM.
 */
int reftable_iter_seek(struct reftable_iter *it, const struct reftable *table,
		       enum reftable_block_type type, const char *key,
		       size_t key_len, struct error *err);

/*
 * Take the next record into it->ref or it->log; it->cur.key is its key. Both
 * live until the iterator moves. 1, 0 at the end, or ERR_CORRUPT, ERR_NOMEM.
 */
int reftable_iter_next(struct reftable_iter *it, struct error *err);

#endif
