/* SPDX-License-Identifier: MIT */
/*
 * The parts of git pack-objects:
 *
 *   pack-objects.c        one run of the command
 *   pack-objects-args.c   arguments
 *   pack-objects-packs.c  packs that standard input names, and objects that
 *                         revisions do not reach
 */
#ifndef BUILTIN_PACK_OBJECTS_H
#define BUILTIN_PACK_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "builtin/pack-args.h"
#include "builtin/filterargs.h"
#include "pack/pack-name.h"
#include "packs/pack-job.h"

/* ---- pack-objects-args.c */

struct pack_objects_args {
	struct pack_args packing;
	bool to_stdout, revs, all, reflog, indexed_objects, thin;
	bool include_tag, honor_keep, local, incremental, unpacked, non_empty;
	bool ofs_delta;
	bool write_bitmap, write_bitmap_quiet;
	bool use_bitmap, no_use_bitmap;
	bool all_progress_implied;
	bool keep_true_parents, sparse, shallow, delta_islands;
	int64_t compression; /* INT64_MIN: not given */
	struct strlist keep_packs;
	const char *base;
	struct filter_args filter;
	bool stdin_packs, follow, cruft;
	/*
	 * The <mode> in --stdin-packs=<mode> if it is not a known mode;
	 * otherwise NULL.
	 */
	const char *bad_stdin_packs;
	bool keep_unreachable, pack_loose_unreachable;
	bool exclude_promisor;
	const char *unpack_unreachable, *cruft_expiration; /* dates */
	/* pack_objects_args_check() sets this field and the next two. */
	enum pack_job_missing missing;
	/*
	 * the date in seconds since 1970 of --unpack-unreachable or
	 * --cruft-expiration; 0 if none
	 */
	int64_t expiry;
	/*
	 * format of the pack's index; the version is 0 if --index-version is
	 * not given
	 */
	struct pack_idx_format idx_format;
};

/*
 * Set the defaults of *a. Call this before pack_objects_args_parse(). Release
 * *a in all cases.
 */
void pack_objects_args_init(struct pack_objects_args *a);
void pack_objects_args_release(struct pack_objects_args *a);

/*
 * Parse the arguments. Returns 0, or prints an error and returns the exit code
 * 129.
 */
int pack_objects_args_parse(struct pack_objects_args *a, int argc,
			    const char **argv);

/*
 * Refuse wrong values, and warn of a depth above the limit. Returns 0 or
 * ERR_INVALID. Call this before pack_objects_args_check().
 */
int pack_objects_args_check_values(const struct pack_objects_args *a,
				   const struct config *config,
				   struct error *err);

/*
 * Refuse options that cannot be combined, and set the options that other
 * options imply. Returns 0 or ERR_INVALID.
 */
int pack_objects_args_check(struct pack_objects_args *a, struct error *err);

/*
 * Returns whether standard input has revisions: --revs is given, or an option
 * that implies --revs, as in stock Git.
 */
bool pack_objects_has_revs(const struct pack_objects_args *a);

/*
 * Returns whether the pack goes to a receiver on standard output and contains
 * all objects of the given revisions. Returns false with --non-empty: an empty
 * pack is then not written, but a receiver needs even an empty pack.
 */
bool pack_objects_is_for_receiver(const struct pack_objects_args *a);

/*
 * Returns whether an option is about objects that the revisions do not reach:
 * it asks to keep, pack or loosen them.
 */
bool pack_objects_wants_rest(const struct pack_objects_args *a);

/* ---- functions of pack-objects-packs.c */

/*
 * For --stdin-packs: add the objects of the packs that standard input names to
 * the job. Returns 0 or a negative error code.
 */
int pack_objects_add_packs(struct pack_job *job,
			   const struct pack_objects_args *a,
			   struct error *err);

/*
 * For --keep-unreachable, --pack-loose-unreachable and --unpack-unreachable.
 * Call this after the enumeration of reachable objects. Adds unreachable
 * objects to the job, or writes them as loose objects. Returns 0 or a negative
 * error code.
 */
int pack_objects_add_rest(struct pack_job *job,
			  const struct pack_objects_args *a, struct error *err);

/*
 * For --cruft: standard input names packs that will stay and packs that will be
 * removed. Write into cruft packs the unreachable objects that are loose, or in
 * a pack that will be removed. If `sink` is NULL, the cruft packs are installed
 * and listed in job->newpacks; otherwise a single pack is written to `sink`.
 * Returns 0 or a negative error code.
 */
int pack_objects_write_cruft(struct pack_job *job,
			     const struct pack_objects_args *a,
			     const struct pack_sink *sink, struct error *err);

#endif
