/* SPDX-License-Identifier: MIT */
/*
 * One pack from tips or from a list of objects: enumerate, select, make,
 * index, write the bitmap, install. What `git repack` and `git pack-objects
 * <base>` have in common.
 */
#ifndef REPACK_PACK_JOB_H
#define REPACK_PACK_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "repack/newpack.h"
#include "repo/refs.h"
#include "walk/walk.h"

struct pack_job_options {
	const struct newpack_options *newpack; /* borrowed */
	const char *dir;  /* for temporary files, on the file system of: */
	const char *base; /* "<base>-<checksum>.pack" is written */
	bool loose_only;  /* leave out what any pack has */
	bool local;       /* leave out what is in alternates */
	bool honor_keep;  /* leave out what own packs with .keep have */
	bool write_bitmap;
	bool bitmap_is_default; /* nobody asked: be silent when it cannot be */
	bool tip_island;        /* keep the tip's deltas within the tip */
	bool delta_islands;     /* keep deltas within islands of references */
};

struct pack_job {
	const struct pack_job_options *options; /* borrowed */
	struct refs *refs; /* borrowed: for tips of bitmaps */
	struct walk walk;
	struct walk_tips wants, haves;
	struct walk_result found;
	struct repack_items items;
	struct islands islands;
	struct newpack newpack;
	const struct pack **excluding; /* owned: packs (borrowed) whose objects
					  the options leave out */
	size_t excluding_nr;
	struct oidmap loose_elsewhere; /* with `local`: in alternates */
	bool left_out;                 /* reachable objects are not packed */
	struct error warning;          /* code 0: none */
};

/* Prepare; the caller adds tips to job->wants and job->haves then. */
int pack_job_open(struct pack_job *job, const struct odb *odb,
		  struct refs *refs, const struct pack_job_options *options,
		  struct error *err);
void pack_job_close(struct pack_job *job);

/* Find what the tips reach and make the list of items from it. */
int pack_job_enumerate(struct pack_job *job, struct error *err);

/*
 * Add one object to the items by itself, unless the options leave it out. An
 * object that is not there is ERR_MISSING.
 */
int pack_job_add(struct pack_job *job, const struct oid *oid,
		 uint32_t name_hash, struct error *err);

/* Make the pack and install it; it may have no objects. */
int pack_job_run(struct pack_job *job, struct error *err);

/* Make the pack for a receiver: bytes into `sink`, no files. */
int pack_job_send(struct pack_job *job, struct pack_sink sink,
		  struct error *err);

#endif
