/* SPDX-License-Identifier: MIT */
/*
 * The lock of a pack directory's multi-pack-index, "multi-pack-index.lock". If
 * the multi-pack-index is a symbolic link, the lock is beside the link's
 * target. Only the holder of the lock may change the single file or the chain.
 * Installing the single file removes the chain, installing a chain removes the
 * single file, and repacks remove both. So the file and the chain have one
 * lock, which is held until replaced files are removed.
 *
 * A process that also locks the pack directory (sys/dirlock.h) takes the lock
 * of the multi-pack-index first. A process that removes packs does not wait for
 * the lock of the multi-pack-index: if another process holds it, the packs are
 * removed without it. So a process that writes a multi-pack-index also locks
 * the pack directory before it installs or removes files.
 *
 * The holder of both locks checks whether its snapshot of the repository's
 * packs is still current. If the snapshot is out of date, the checks below
 * return an error and set *outdated to true: the caller should try again with a
 * newer snapshot. In other cases *outdated does not change.
 */
#ifndef PACKS_MULTI_PACK_LOCK_H
#define PACKS_MULTI_PACK_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "odb/odb.h"
#include "pack/midx.h"
#include "sys/tempfile.h"

/*
 * Take the lock of a pack directory. Waits up to a second for other processes,
 * as for packed-refs; stock Git does not wait. Most holders have the lock for
 * milliseconds. A process that appends to a chain holds the lock while it makes
 * a bitmap index. This takes longer than the wait.
 *
 * Release the lock with sys_tempfile_abort(). `share` is that of the repository
 * (sys/share.h). Returns 0, ERR_DENIED ("Unable to create '<lock>': File
 * exists."), ERR_IO or ERR_NOMEM.
 */
int multi_pack_lock(struct sys_tempfile *lock, const char *dir, unsigned share,
		    struct error *err);

/*
 * Check that pack directory `dir` has all packs that a multi-pack-index names.
 * Call this function before the multi-pack-index is installed. Returns 0,
 * ERR_MISSING with *outdated set, or ERR_NOMEM.
 */
int multi_pack_check_packs(bool *outdated, const struct pack_midx *midx,
			   const char *dir, struct error *err);

/*
 * Check that object directory `dir_nr` still has the multi-pack-index or the
 * chain of the snapshot. The chain may have further layers on top: newer ones,
 * or layers that the snapshot could not use. Returns 0, ERR_IO with *outdated
 * set, or ERR_NOMEM.
 */
int multi_pack_check_current(bool *outdated, const struct odb *odb,
			     size_t dir_nr, struct error *err);

#endif
