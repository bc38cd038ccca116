/* SPDX-License-Identifier: MIT */
/*
 * Changing a stack: a table on top of it, or one in place of several.
 *
 *   begin -> a->writer: add... -> finish -> commit -> release
 *
 * "tables.list.lock" is held from begin on: there is one writer at a time. The
 * table is written as "tmp_XXXXXX", made durable, renamed, and then the list
 * is replaced. Whoever is killed leaves the old list or the new one; what no
 * list names is removed by reftable_compact_all().
 *
 * Merging tables takes long where they are large. It holds locks of the tables
 * themselves, "<table>.lock", meanwhile, and that of the list only at the
 * beginning and at the end, so that tables can be appended all the time.
 */
#ifndef REFTABLE_APPEND_H
#define REFTABLE_APPEND_H

#include "reftable/stack.h"
#include "reftable/writer.h"

struct reftable_append_options {
	enum hash_algo algo;
	enum sys_fsync_method method;
	unsigned share;     /* of what is made: sys/share.h */
	int64_t timeout_ms; /* to wait for the list's lock; < 0: for ever */
	uint32_t block_size;
	unsigned restart_interval;
	bool no_objects;
	unsigned factor; /* of the sizes of neighbours; 0: 2 */
};

struct reftable_append {
	const char *dir; /* borrowed */
	struct reftable_append_options options;
	struct reftable_stack stack; /* as locked */
	uint64_t index;              /* the update index of what is added */
	struct reftable_writer *writer;
	struct sys_tempfile lock, file;
	struct buf name; /* of the new table */
	uint64_t len;    /* of it, in bytes */
	bool is_ready;   /* it is written, and to be committed */
};

/*
 * Lock the stack in `dir`, which is made when it is not there, and read it. 0,
 * or with *a released ERR_DENIED when someone else has the lock, ERR_CORRUPT,
 * ERR_IO, ERR_NOMEM, ERR_INVALID. `dir` is borrowed until release.
 */
int reftable_append_begin(struct reftable_append *a, const char *dir,
			  const struct reftable_append_options *options,
			  struct error *err);

/* Make a->writer for a table of `indexes` update indexes from a->index on. */
int reftable_append_start(struct reftable_append *a, uint64_t indexes,
			  struct error *err);

/* Complete the table and the new list, out of sight. */
int reftable_append_finish(struct reftable_append *a, struct error *err);

/* Put both in place; without a finished table nothing. The lock goes. */
int reftable_append_commit(struct reftable_append *a, struct error *err);

/*
 * Whether the stack, with the new table, is to be compacted; for after the
 * commit and before the release. 1, 0 or ERR_NOMEM.
 */
int reftable_append_is_full(const struct reftable_append *a);

/* Remove what was not committed, and the lock. */
void reftable_append_release(struct reftable_append *a);

/*
 * Merge the newest tables until each of the rest is `factor` times as large as
 * the next; nothing when that is so. Where someone else is at it, they are
 * left to him. 0 or a negative error, after which the stack is as it was.
 */
int reftable_compact_auto(const char *dir,
			  const struct reftable_append_options *options,
			  struct error *err);

/*
 * Whether that would merge any: 1, 0, also when someone else has the list
 * locked, or negative.
 */
int reftable_compact_is_due(const char *dir,
			    const struct reftable_append_options *options,
			    struct error *err);

/*
 * Merge all tables into one, and remove tables that no list names. ERR_DENIED
 * when the list, or a table, is locked by someone else.
 */
int reftable_compact_all(const char *dir,
			 const struct reftable_append_options *options,
			 struct error *err);

/*
 * Where the tables to be merged begin, by their sizes: `nr` when none has to
 * be. What is merged reaches to the newest.
 */
size_t reftable_compact_from(const uint64_t *sizes, size_t nr, unsigned factor);

#endif
