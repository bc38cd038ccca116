/* SPDX-License-Identifier: MIT */
/*
 * Changes a stack: adds a table on top, or replaces several tables by one.
 *
 *   begin -> a->writer: add... -> finish -> commit -> release
 *
 * To add a table, a process holds the lock of the list, "tables.list.lock",
 * from begin to commit. So only one process at a time adds a table. The table
 * is written as "tmp_XXXXXX", made durable and renamed. Then the list is
 * replaced. If a process is killed, the list is either the old or the new one.
 * The killed process may leave table files that are not in the list.
 * reftable_compact_all() removes such a file if the tables of the list cover
 * its update indexes.
 *
 * A merge may take long, so a process that merges tables holds the lock of the
 * list only at the beginning and at the end of the merge. In between, it holds
 * the locks of the tables that it merges, "<table>.lock". So other processes
 * can add tables meanwhile.
 */
#ifndef REFTABLE_APPEND_H
#define REFTABLE_APPEND_H

#include "reftable/stack.h"
#include "reftable/writer.h"

struct reftable_append_options {
	enum hash_algo algo;
	enum sys_fsync_method method;
	/* permissions of new files, see sys/share.h */
	unsigned share;
	/* milliseconds to wait for the lock of tables.list; < 0: no limit */
	int64_t timeout_ms;
	uint32_t block_size;
	unsigned restart_interval;
	bool no_objects;
	/*
	 * Tables are merged unless each table is at least this many times as
	 * large as the next newer table. 0: the factor is 2.
	 */
	unsigned factor;
};

struct reftable_append {
	const char *dir; /* borrowed */
	struct reftable_append_options options;
	/* the stack as it was when the list was locked */
	struct reftable_stack stack;
	/*
	 * The update index of the new table. It is higher than the update index
	 * of each table that tables.list names. If tables.list names no table,
	 * it is higher than that of each table in the directory: the list may
	 * have been lost.
	 */
	uint64_t index;
	struct reftable_writer *writer;
	struct sys_tempfile lock, file;
	struct buf name; /* of the new table */
	uint64_t len;    /* bytes of the new table */
	/*
	 * true: the new table and the new tables.list are complete and can be
	 * committed
	 */
	bool is_ready;
};

/*
 * Locks the stack in the directory `dir`, and reads the stack. If the directory
 * does not exist, returns ERR_IO and makes no empty stack: the stack may have
 * been lost, or may be that of a work tree that does not exist. `dir` is
 * borrowed until release.
 *
 * Returns 0, ERR_DENIED if another process has the lock, ERR_CORRUPT, ERR_IO,
 * ERR_NOMEM or ERR_INVALID. After an error, *a is released.
 */
int reftable_append_begin(struct reftable_append *a, const char *dir,
			  const struct reftable_append_options *options,
			  struct error *err);

/*
 * Makes a->writer, which writes a table with the update indexes [a->index,
 * a->index + indexes). Returns 0 or a negative error code.
 */
int reftable_append_start(struct reftable_append *a, uint64_t indexes,
			  struct error *err);

/*
 * Completes the new table and the new tables.list. Both files keep their
 * temporary names. Returns 0 or a negative error code.
 */
int reftable_append_finish(struct reftable_append *a, struct error *err);

/*
 * Renames the new table and the new tables.list to their final names, if they
 * are complete. Releases the lock in any case. Returns 0 or a negative error
 * code.
 */
int reftable_append_commit(struct reftable_append *a, struct error *err);

/*
 * Returns 1 if the stack, with the new table on top, has tables that should be
 * merged; see reftable_compact_auto(). Returns 0 if not, or ERR_NOMEM. Call
 * this after the commit and before the release.
 */
int reftable_append_is_full(const struct reftable_append *a);

/* Releases *a: removes files that were not committed, and releases the lock. */
void reftable_append_release(struct reftable_append *a);

/*
 * Merges the newest tables until each remaining table is at least `factor`
 * times as large as the next newer table. Does nothing if all tables have such
 * sizes already, or if another process is compacting these tables. Returns 0
 * or a negative error code. After an error, the stack is unchanged.
 */
int reftable_compact_auto(const char *dir,
			  const struct reftable_append_options *options,
			  struct error *err);

/*
 * Returns 1 if reftable_compact_auto() would merge tables, 0 if not, or a
 * negative error code. Only reads the stack, and takes no lock.
 */
int reftable_compact_is_due(const char *dir,
			    const struct reftable_append_options *options,
			    struct error *err);

/*
 * Merges all tables of a stack into one. Also removes table files that are not
 * in tables.list, if the listed tables cover all their update indexes. Other
 * table files stay, because they may be the only copy of refs: tables.list may
 * be lost at a power failure. Returns 0, ERR_DENIED if another process has
 * locked the list or a table, or another negative error code.
 */
int reftable_compact_all(const char *dir,
			 const struct reftable_append_options *options,
			 struct error *err);

/*
 * Chooses the tables of a stack to merge. `sizes` has the sizes of all tables,
 * oldest first. Returns the index of the first table to merge; all newer tables
 * are merged too. Returns `nr` if no merge is needed.
 */
size_t reftable_compact_from(const uint64_t *sizes, size_t nr, unsigned factor);

#endif
