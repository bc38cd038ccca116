/* SPDX-License-Identifier: MIT */
/*
 * Puts the objects of all promisor packs into a promisor pack of their own. A
 * partial clone tells only by the pack whether an object was made locally or
 * promised by a remote. So these objects are never mixed with others.
 */
#ifndef REPACK_PROMISOR_PACK_H
#define REPACK_PROMISOR_PACK_H

#include "base/error.h"
#include "packs/old-packs.h"
#include "packs/pack-job.h"

/*
 * Write one pack with all objects of the local promisor packs in *old, or
 * several packs if there is a size limit. Mark each with an empty .promisor
 * file and install it by the job's options. Does nothing without promisor
 * packs. *nr: the number of objects. Returns 0 or a negative error code.
 */
int promisor_pack_write(uint32_t *nr, struct pack_job *job,
			const struct old_packs *old, struct error *err);

#endif
