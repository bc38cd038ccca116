/* SPDX-License-Identifier: MIT */
/*
 * One pack from tips or from a list of objects: enumerate, select, make,
 * index, write the bitmap, install. What `git repack` and `git pack-objects
 * <base>` have in common.
 */
#ifndef PACKS_PACK_JOB_H
#define PACKS_PACK_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/pseudo-config.h"
#include "check/promisor.h"
#include "ewah/bitset.h"
#include "packs/named-packs.h"
#include "packs/newpacks.h"
#include "packs/old-packs.h"
#include "refs/refs.h"
#include "walk/walk.h"

/* What becomes of an object that is reached and not there. */
enum pack_job_missing {
	PACK_MISSING_ERROR,    /* nothing is written */
	PACK_MISSING_ANY,      /* a blob is left out, */
	PACK_MISSING_PROMISED, /* or only one that a remote has promised */
};

struct pack_job_options {
	const struct newpack_options *newpack; /* borrowed */
	const char *dir;  /* for temporary files, on the file system of: */
	const char *base; /* "<base>-<checksum>.pack" is written */
	bool loose_only;  /* leave out what any pack has */
	bool local;       /* leave out what is in alternates, */
	const struct old_packs *leaving; /* borrowed: but not for these packs
					    of theirs, which are about to go;
					    NULL: none */
	bool honor_keep; /* leave out what own packs with .keep have */
	const struct named_packs *keep_packs; /* borrowed: and what these have;
						NULL: none */
	bool unpacked;     /* of what tips reach, leave out what any pack has */
	bool note_reached; /* fill in job->reached */
	bool write_bitmap;
	bool bitmap_is_default; /* nobody asked: be silent when it cannot be */
	bool tip_island;        /* keep the tip's deltas within the tip */
	bool delta_islands;     /* keep deltas within islands of references */
	const struct oid
		*heads; /* borrowed: with delta_islands, what else is
			   asked for by itself (packs/island-marks.h) */
	size_t head_nr;
	bool all_refs; /* the tips that are enumerated are all references, and
			  perhaps more */
	/*
	 * Of what tips reach, leave out what it does not let through, or with
	 * keep_rest put that into job->rest. Borrowed; NULL: none.
	 */
	const struct filter *filter;
	bool keep_rest;
	/*
	 * Leave out what promisor packs have, and end the enumeration there;
	 * with keep_promised see promisor_enumerate(). In a repository without
	 * such packs this means nothing.
	 */
	bool exclude_promisor, keep_promised;
	enum pack_job_missing missing; /* of blobs that tips reach */
};

struct pack_job {
	const struct pack_job_options *options; /* borrowed */
	struct refs *refs; /* borrowed: for tips of bitmaps */
	struct walk walk;
	struct walk_tips wants, haves;
	struct walk_result found;
	struct packing_items items;
	struct packing_items rest; /* with keep_rest */
	struct islands islands;
	struct bitset reached; /* by obj_pos, with note_reached: enumerated,
				  also what options leave out, but for
				  `unpacked` */
	struct newpacks newpacks;
	struct promisor promisor;      /* with exclude_promisor, or missing
					  promised */
	struct newpacks rest_packs;    /* by pack_job_run_rest() */
	struct bitset passed;          /* by obj_pos, with a filter */
	struct pseudo_config pseudo;   /* with write_bitmap */
	const struct pack **excluding; /* owned: packs (borrowed) whose objects
					  the options leave out */
	size_t excluding_nr;
	struct oidmap loose_elsewhere; /* with `local`: in alternates */
	bool left_out;                 /* reachable objects are not packed */
	bool found_all;       /* `found` is all that references reach */
	struct error warning; /* code 0: none */
};

/* Prepare; the caller adds tips to job->wants and job->haves then. */
int pack_job_open(struct pack_job *job, const struct odb *odb,
		  struct refs *refs, const struct pack_job_options *options,
		  struct error *err);
void pack_job_close(struct pack_job *job);

/* Find what the tips reach and make the list of items from it. */
int pack_job_enumerate(struct pack_job *job, struct error *err);

/*
 * Whether the options let an object into the pack. Any copy in a place that is
 * to be left out leaves the object out, also when there are other copies.
 */
bool pack_job_wants(const struct pack_job *job, uint32_t obj_pos);

/*
 * Add one object to the items by itself, unless the options leave it out. An
 * object that is not there is ERR_MISSING.
 */
int pack_job_add(struct pack_job *job, const struct oid *oid,
		 uint32_t name_hash, struct error *err);

/* The same for an object of which a path is known, or "". */
int pack_job_add_named(struct pack_job *job, const struct oid *oid,
		       const char *path, struct error *err);

/*
 * Make the packs (one, unless their size is limited) and install them. A pack
 * may have no objects.
 */
int pack_job_run(struct pack_job *job, struct error *err);

/*
 * After pack_job_run(), do the same for the rest: "<base>-<checksum>.pack",
 * with temporary files in `dir`. Nothing is written when there is none.
 */
int pack_job_run_rest(struct pack_job *job, const char *dir, const char *base,
		      struct error *err);

/*
 * The same for an object that has a number and is known to be there. 0 or
 * ERR_NOMEM.
 */
int pack_job_add_pos(struct pack_job *job, uint32_t obj_pos,
		     enum object_type type, uint32_t name_hash);

/* Make the pack for a receiver: bytes into `sink`, no files. */
int pack_job_send(struct pack_job *job, struct pack_sink sink,
		  struct error *err);

#endif
