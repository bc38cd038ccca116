/* SPDX-License-Identifier: MIT */
/*
 * The objects of promisor packs in a pack of their own: whether something was
 * made here or promised by a remote is all that tells a partial clone what it
 * may do without.
 */
#ifndef REPACK_PROMISOR_PACK_H
#define REPACK_PROMISOR_PACK_H

#include "base/error.h"
#include "packs/old-packs.h"
#include "packs/pack-job.h"

/*
 * Make one pack (or as many as its size limit takes) of all objects of the
 * repository's promisor packs that are listed in *old, mark it with an empty
 * .promisor file, and install it by the job's options. Without such packs
 * nothing is done. *nr: how many objects there are.
 */
int promisor_pack_write(uint32_t *nr, struct pack_job *job,
			const struct old_packs *old, struct error *err);

#endif
