/* SPDX-License-Identifier: MIT */
/*
 * Functions that append.c (adding a table) and compact.c (merging tables)
 * share.
 */
#ifndef REFTABLE_APPEND_INTERNAL_H
#define REFTABLE_APPEND_INTERNAL_H

#include "reftable/append.h"

/*
 * Creates the lock file "<dir>/<name>.lock". `share`: permissions of new files,
 * see sys/share.h. Returns 0 or a negative error code.
 */
int reftable_append_lock(struct sys_tempfile *lock, const char *dir,
			 const char *name, unsigned share, int64_t timeout_ms,
			 struct error *err);

/*
 * Makes a->writer, which writes a table with update indexes from min_index to
 * max_index. Also chooses the name of the table. Returns 0 or a negative error
 * code.
 */
int reftable_append_writer(struct reftable_append *a, uint64_t min_index,
			   uint64_t max_index, struct error *err);

/*
 * Completes the table and its temporary file. Returns 0 or a negative error
 * code.
 */
int reftable_append_table(struct reftable_append *a, struct error *err);

/*
 * Writes the new file tables.list under its temporary name. In the new list,
 * a->name replaces the `nr` tables from index `from` on. Returns 0 or a
 * negative error code.
 */
int reftable_append_list(struct reftable_append *a, size_t from, size_t nr,
			 struct error *err);

/*
 * Removes table files that tables.list does not name (unlisted tables). An
 * unlisted table is removed only if each of its update indexes is also an
 * update index of a listed table. If the list is empty, no table is removed.
 * Files that are not valid tables stay. The list must be locked, so that no
 * other process is about to add an unlisted table to it. Returns 0 or a
 * negative error code.
 */
int reftable_unlisted_remove(const struct reftable_append *a,
			     struct error *err);

#endif
