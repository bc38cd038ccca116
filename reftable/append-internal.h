/* SPDX-License-Identifier: MIT */
/* What appending (append.c) and compacting (compact.c) share. */
#ifndef REFTABLE_APPEND_INTERNAL_H
#define REFTABLE_APPEND_INTERNAL_H

#include "reftable/append.h"

/* Create "<dir>/<name>.lock"; share: sys/share.h. */
int reftable_append_lock(struct sys_tempfile *lock, const char *dir,
			 const char *name, unsigned share, int64_t timeout_ms,
			 struct error *err);

/* Make a->writer for a table of these update indexes, and its name. */
int reftable_append_writer(struct reftable_append *a, uint64_t min_index,
			   uint64_t max_index, struct error *err);

/*
 * Where the tables to be merged begin, with one of `top_len` bytes on top (0:
 * none). 0 or ERR_NOMEM.
 */
int reftable_append_choose(const struct reftable_append *a, uint64_t top_len,
			   size_t *from);

/* Complete the table. */
int reftable_append_table(struct reftable_append *a, struct error *err);

/* Complete the list: a->name instead of the `nr` tables from `from` on. */
int reftable_append_list(struct reftable_append *a, size_t from, size_t nr,
			 struct error *err);

#endif
