/* SPDX-License-Identifier: MIT */
/*
 * Who may change which multi-pack-index a pack directory has, the one file or
 * a chain: whoever has "multi-pack-index.lock". Putting one of the two into
 * place removes the other, and repacks remove both, so one lock is for all, and
 * is held until what is replaced is gone.
 *
 * Who has it looks whether the snapshot that the change was made of still
 * holds. Where it does not, that is an error with *outdated set (else it is
 * left alone): a newer snapshot may do.
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
 * Take the lock of a pack directory, waiting up to a second for others: as for
 * packed-refs, whose timeout has a key, which stock Git does not have here, as
 * it does not wait. Most have it for milliseconds; who adds to a chain has it
 * while its bitmap index is made, and is not waited for. 0,
 * ERR_DENIED ("Unable to create '<lock>': File exists."), ERR_IO or ERR_NOMEM.
 * sys_tempfile_abort() gives it back.
 */
int multi_pack_lock(struct sys_tempfile *lock, const char *dir,
		    struct error *err);

/*
 * The packs of one that is about to be put into pack directory `dir` have to be
 * there. 0, ERR_MISSING (outdated), or ERR_NOMEM.
 */
int multi_pack_check_packs(bool *outdated, const struct pack_midx *midx,
			   const char *dir, struct error *err);

/*
 * The multi-pack-index or chain of object directory `dir_nr` has to be the
 * snapshot's, of a chain from the lowest layer on: what is on top of it was
 * added since, or cannot be used. 0, ERR_IO (outdated), or ERR_NOMEM.
 */
int multi_pack_check_current(bool *outdated, const struct odb *odb,
			     size_t dir_nr, struct error *err);

#endif
