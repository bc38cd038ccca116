/* SPDX-License-Identifier: MIT */
/*
 * Locking for `git gc`, so that only one runs at a time, and the log of a gc in
 * the background.
 *
 *	<git dir>/gc.pid   "<process number> SP <host name>", while gc runs
 *	<git dir>/gc.log   standard error of a gc in the background; removed by
 *	                   the next gc that succeeds
 *
 * gc.pid is valid for twelve hours. On its own host it is valid only while the
 * process exists.
 */
#ifndef BUILTIN_GC_LOCK_H
#define BUILTIN_GC_LOCK_H

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"
#include "sys/tempfile.h"

/*
 * Write gc.pid; the caller removes it by aborting *pid. Returns 0, or 1 with
 * the running process in *other ("machine '<host>' pid <n>"), or a negative
 * error code. With `force`, a running gc is ignored.
 */
int gc_lock_take(struct sys_tempfile *pid, const struct repo *repo, bool force,
		 struct buf *other, struct error *err);

/*
 * Append gc.log to *text, unless it is empty or older than `expiry` (seconds
 * since 1970; 0: no limit). Returns 1 if text was appended, 0 if not, or a
 * negative error code.
 */
int gc_log_read(struct buf *text, const struct repo *repo, int64_t expiry,
		struct error *err);

/*
 * Redirect standard error to gc.log.lock, the future gc.log. The caller must
 * hold gc.pid. Returns 0 or a negative error code.
 */
int gc_log_open(struct sys_tempfile *log, const struct repo *repo,
		struct error *err);

/*
 * Rename gc.log.lock to gc.log if it is not empty, otherwise remove
 * gc.log.lock. Returns 0 or a negative error code.
 */
int gc_log_close(struct sys_tempfile *log, const struct repo *repo,
		 struct error *err);

void gc_log_remove(const struct repo *repo);

#endif
