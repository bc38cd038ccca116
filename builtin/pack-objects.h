/* SPDX-License-Identifier: MIT */
/*
 * The parts of git pack-objects:
 *
 *   pack-objects.c        one run of the command
 *   pack-objects-args.c   arguments
 *   pack-objects-packs.c  packs that standard input names, and what revisions
 *                         do not reach
 */
#ifndef BUILTIN_PACK_OBJECTS_H
#define BUILTIN_PACK_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "builtin/pack-args.h"
#include "builtin/revargs.h"
#include "packs/named-packs.h"
#include "packs/pack-job.h"

/* ---- pack-objects-args.c */

struct pack_objects_args {
	struct pack_args packing;
	bool to_stdout, revs, all, reflog, indexed_objects, thin;
	bool include_tag, honor_keep, local, incremental, unpacked, non_empty;
	bool ofs_delta;
	bool write_bitmap, write_bitmap_quiet;
	bool use_bitmap, no_use_bitmap;
	bool all_progress, all_progress_implied;
	bool keep_true_parents, sparse, shallow, delta_islands;
	const char *index_version_text, *missing_text;
	int64_t compression; /* INT64_MIN: not given */
	struct named_packs keep_packs;
	const char *base;
	struct filter_args filter;
	bool stdin_packs, follow, cruft;
	/* mode that does not exist; or NULL */
	const char *bad_stdin_packs;
	bool keep_unreachable, pack_loose_unreachable;
	bool exclude_promisor;
	const char *unpack_unreachable, *cruft_expiration; /* dates */
	/* By pack_objects_args_check(): */
	enum pack_job_missing missing;
	int64_t expiry;                    /* what these dates say */
	struct pack_idx_format idx_format; /* version 0: not given */
};

/* Before parsing; release in any case. */
void pack_objects_args_init(struct pack_objects_args *a);
void pack_objects_args_release(struct pack_objects_args *a);

/* 0; or prints and returns the exit code 129. */
int pack_objects_args_parse(struct pack_objects_args *a, int argc,
			    const char **argv);

/* Refuse what does not go together; fill in what an option implies. */
int pack_objects_args_check(struct pack_objects_args *a, struct error *err);

/* Whether the pack is what a receiver asks for, by revisions and no less. */
bool pack_objects_is_for_receiver(const struct pack_objects_args *a);

/* Whether something is to be done with what revisions do not reach. */
bool pack_objects_wants_rest(const struct pack_objects_args *a);

/* ---- pack-objects-packs.c */

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
