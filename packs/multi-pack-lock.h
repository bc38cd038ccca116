/* SPDX-License-Identifier: MIT */
/*
 * The lock of a pack directory's multi-pack-index, "multi-pack-index.lock".
 * Only its holder may change the single file or the chain. Installing one of
 * the two removes the other, and repacks remove both. So there is one lock for
 * all, and it is held until replaced files are gone.
 *
 * The holder checks whether its snapshot is still current. If not, the checks
 * below return an error and set *outdated; a newer snapshot may succeed.
 * *outdated is not changed otherwise.
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
 * as for packed-refs. Stock Git does not wait and has no key for the timeout.
 * Most operations hold the lock for milliseconds. Adding to a chain holds it
 * while a bitmap index is made, and is not waited for. Release the lock with
 * sys_tempfile_abort(). `share` is that of the repository (sys/share.h).
 * Returns 0, ERR_DENIED ("Unable to create '<lock>': File exists."), ERR_IO or
 * ERR_NOMEM.
 */
int multi_pack_lock(struct sys_tempfile *lock, const char *dir, unsigned share,
		    struct error *err);

/*
 * Check that the packs of a multi-pack-index exist in pack directory `dir`.
 * Call this function before installing the multi-pack-index. Returns 0,
 * ERR_MISSING (outdated) or ERR_NOMEM.
 */
int multi_pack_check_packs(bool *outdated, const struct pack_midx *midx,
			   const char *dir, struct error *err);

/*
 * Check that object directory `dir_nr` still has the multi-pack-index or chain
 * of the snapshot. Further layers on top of the snapshot's chain are allowed:
 * they are newer, or the snapshot could not use them. Returns 0, ERR_IO
 * (outdated) or ERR_NOMEM.
 */
int multi_pack_check_current(bool *outdated, const struct odb *odb,
			     size_t dir_nr, struct error *err);

#endif
