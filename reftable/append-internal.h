/* SPDX-License-Identifier: MIT */
/* Functions that appending (append.c) and compacting (compact.c) share. */
#ifndef REFTABLE_APPEND_INTERNAL_H
#define REFTABLE_APPEND_INTERNAL_H

#include "reftable/append.h"

/* Creates "<dir>/<name>.lock". See sys/share.h for `share`. */
int reftable_append_lock(struct sys_tempfile *lock, const char *dir,
			 const char *name, unsigned share, int64_t timeout_ms,
			 struct error *err);

/*
 * Makes a->writer for a table with these update indexes, and the name of the
 * table.
 */
int reftable_append_writer(struct reftable_append *a, uint64_t min_index,
			   uint64_t max_index, struct error *err);

/*
 * Chooses the tables to merge: those from *from on. If `top_len` is not 0, a
 * table of that many bytes is assumed on top of the stack. Returns 0 or
 * ERR_NOMEM.
 */
int reftable_append_choose(const struct reftable_append *a, uint64_t top_len,
			   size_t *from);

/* Completes the table. */
int reftable_append_table(struct reftable_append *a, struct error *err);

/*
 * Completes the new list, in which a->name replaces the `nr` tables from `from`
 * on.
 */
int reftable_append_list(struct reftable_append *a, size_t from, size_t nr,
			 struct error *err);

#endif
