/* SPDX-License-Identifier: MIT */
/*
 * git pack-objects: packs that standard input names, and what revisions do not
 * reach.
 */
#ifndef BUILTIN_PACK_OBJECTS_PACKS_H
#define BUILTIN_PACK_OBJECTS_PACKS_H

#include "base/error.h"
#include "builtin/pack-objects-args.h"
#include "packs/pack-job.h"

/* --stdin-packs: add the objects of the packs that stdin names to the job. */
int pack_objects_add_packs(struct pack_job *job,
			   const struct pack_objects_args *a,
			   struct error *err);

/*
 * --keep-unreachable and so on, after the enumeration: add objects to the job,
 * or make them loose.
 */
int pack_objects_add_rest(struct pack_job *job,
			  const struct pack_objects_args *a, struct error *err);

/*
 * --cruft: write and install the cruft packs that the packs named by stdin
 * call for, as job->newpacks; or one of them to `sink`, if that is not NULL.
 */
int pack_objects_write_cruft(struct pack_job *job,
			     const struct pack_objects_args *a,
			     const struct pack_sink *sink, struct error *err);

#endif
