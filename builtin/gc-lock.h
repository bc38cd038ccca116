/* SPDX-License-Identifier: MIT */
/*
 * One `git gc` at a time, and what the last one in the background had to say.
 *
 *	<git dir>/gc.pid   "<process number> SP <host name>", while it runs
 *	<git dir>/gc.log   standard error of one in the background; removed by
 *	                   the next that succeeds
 *
 * gc.pid counts for twelve hours, and on its own host as long as there is such
 * a process.
 */
#ifndef BUILTIN_GC_LOCK_H
#define BUILTIN_GC_LOCK_H

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"
#include "sys/tempfile.h"

/*
 * Write gc.pid, which goes when *pid is aborted. 0; or 1 with who runs in
 * *other ("machine '<host>' pid <n>") when someone does, unless `force`; or
 * negative.
 */
int gc_lock_take(struct sys_tempfile *pid, const struct repo *repo, bool force,
		 struct buf *other, struct error *err);

/*
 * Append gc.log to *text, unless it is empty or older than `expiry` (seconds
 * since 1970; 0: never). 1 when there is something, 0, or negative.
 */
int gc_log_read(struct buf *text, const struct repo *repo, int64_t expiry,
		struct error *err);

/*
 * From now on standard error is the future gc.log, in gc.log.lock. For who has
 * gc.pid. 0 or negative.
 */
int gc_log_open(struct sys_tempfile *log, const struct repo *repo,
		struct error *err);

/* It takes the place of gc.log, if there is something in it. */
int gc_log_close(struct sys_tempfile *log, const struct repo *repo,
		 struct error *err);

void gc_log_remove(const struct repo *repo);

#endif
