/* SPDX-License-Identifier: MIT */
/*
 * Who may change which multi-pack-index a pack directory has, the one file or
 * a chain: whoever has "multi-pack-index.lock". Putting one of the two into
 * place removes the other, and repacks remove both, so one lock is for all, and
 * is held until what is replaced is gone.
 */
#ifndef REPACK_MULTI_PACK_LOCK_H
#define REPACK_MULTI_PACK_LOCK_H

#include "base/error.h"
#include "sys/tempfile.h"

/*
 * Take the lock of a pack directory, waiting up to a second for others. 0,
 * ERR_DENIED ("Unable to create '<lock>': File exists."), ERR_IO or ERR_NOMEM.
 * sys_tempfile_abort() gives it back.
 */
int multi_pack_lock(struct sys_tempfile *lock, const char *dir,
		    struct error *err);

#endif
