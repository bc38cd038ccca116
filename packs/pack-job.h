/* SPDX-License-Identifier: MIT */
/*
 * One pack from tips or from a list of objects: enumerate, choose, make, index,
 * write the bitmap index, install. Used by `git repack` and `git pack-objects
 * <base>`.
 */
#ifndef PACKS_PACK_JOB_H
#define PACKS_PACK_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/pseudo-config.h"
#include "check/promisor.h"
#include "ewah/bitset.h"
#include "packing/send.h"
#include "packs/named-packs.h"
#include "packs/newpacks.h"
#include "packs/old-packs.h"
#include "refs/refs.h"
#include "walk/walk.h"

/* How to handle an object that is reached and missing. */
enum pack_job_missing {
	/* an error; nothing is written */
	PACK_MISSING_ERROR,
	PACK_MISSING_ANY, /* leave out a missing blob */
	/* Leave out a missing blob only if a remote has promised it. */
	PACK_MISSING_PROMISED,
};

struct pack_job_options {
	const struct newpack_options *newpack; /* borrowed */
	/* For temporary files, on the file system of `base`. */
	const char *dir;
	/* "<base>-<checksum>.pack" is written */
	const char *base;
	/* leave out objects that are in any pack */
	bool loose_only;
	/* leave out objects that are in alternates */
	bool local;
	/*
	 * Borrowed: packs of alternates that are about to be removed, so that
	 * `local` ignores them; NULL: none.
	 */
	const struct old_packs *leaving;
	/* leave out objects of own packs with .keep */
	bool honor_keep;
	/* Borrowed: also leave out objects of these packs; NULL: none. */
	const struct named_packs *keep_packs;
	/* Of the objects that tips reach, leave out those in any pack. */
	bool unpacked;
	bool note_reached; /* fill in job->reached */
	bool write_bitmap;
	/* Nobody asked for it: no warning if it cannot be written. */
	bool bitmap_is_default;
	/* keep deltas of the tip within the tip */
	bool tip_island;
	/* keep deltas within islands of references */
	bool delta_islands;
	/*
	 * Borrowed: with delta_islands, commits that are also asked for
	 * by themselves (packs/pack-job-parts.h).
	 */
	const struct oid *heads;
	size_t head_nr;
	/* the enumerated tips include all references */
	bool all_refs;
	/*
	 * Of the objects that tips reach, leave out those that do not pass this
	 * filter, or with keep_rest put them into job->rest. Borrowed; NULL: no
	 * filter.
	 */
	const struct filter *filter;
	bool keep_rest;
	/*
	 * exclude_promisor: leave out objects of promisor packs, and end the
	 * enumeration there. keep_promised: see promisor_enumerate(). Both have
	 * no effect in a repository without promisor packs.
	 */
	bool exclude_promisor, keep_promised;
	/* Blobs that tips reach and that are missing. */
	enum pack_job_missing missing;
	/* Borrowed: commits treated as having no parents. */
	const struct oid *shallow;
	size_t shallow_nr;
};

struct pack_job {
	const struct pack_job_options *options; /* borrowed */
	/* borrowed: for the tips of bitmaps */
	struct refs *refs;
	struct walk walk;
	struct walk_tips wants, haves;
	struct walk_result found;
	struct packing_items items;
	struct packing_items rest; /* with keep_rest */
	struct islands islands;
	/*
	 * By obj_pos, with note_reached: all enumerated objects, including
	 * those that other options than `unpacked` leave out.
	 */
	struct bitset reached;
	/* by obj_pos: what pack_job_add() has added */
	struct bitset listed;
	struct newpacks newpacks;
	/* With exclude_promisor or PACK_MISSING_PROMISED. */
	struct promisor promisor;
	/* made by pack_job_run_rest() */
	struct newpacks rest_packs;
	/* by obj_pos, with a filter */
	struct bitset passed;
	struct pseudo_config pseudo; /* with write_bitmap */
	/* Owned: packs (borrowed) whose objects the options leave out. */
	const struct pack **excluding;
	size_t excluding_nr;
	/* With `local`: loose objects of alternates. */
	struct oidmap loose_elsewhere;
	/* Some reachable objects are not packed. */
	bool left_out;
	/* `found` is all that references reach */
	bool found_all;
	struct error warning; /* code 0: none */
};

/*
 * Prepare a job. Afterwards the caller adds tips to job->wants and job->haves.
 * Close in any case. Returns 0 or a negative error code.
 */
int pack_job_open(struct pack_job *job, const struct odb *odb,
		  struct refs *refs, const struct pack_job_options *options,
		  struct error *err);
void pack_job_close(struct pack_job *job);

/*
 * Find the closure of the tips and make the list of items from it. Returns 0 or
 * a negative error code.
 */
int pack_job_enumerate(struct pack_job *job, struct error *err);

/*
 * Whether the options allow an object in the pack. If any copy of an object is
 * in a place to leave out, the object is left out.
 */
bool pack_job_wants(const struct pack_job *job, uint32_t obj_pos);

/*
 * Add one object to the items, unless the options leave it out. An object that
 * was added before is ignored. Returns 0 or a negative error code: ERR_MISSING
 * if the object does not exist.
 */
int pack_job_add(struct pack_job *job, const struct oid *oid,
		 uint32_t name_hash, struct error *err);

/*
 * Add one object of which a path is known; "": no path. Otherwise like
 * pack_job_add().
 */
int pack_job_add_named(struct pack_job *job, const struct oid *oid,
		       const char *path, struct error *err);

/*
 * Remove `nr` trees, and all objects below them, from the items. Objects that
 * are missing are ignored. Returns 0 or a negative error code.
 */
int pack_job_leave_out_trees(struct pack_job *job, const struct oid *trees,
			     size_t nr, struct error *err);

/*
 * Add the tags whose target is among the items, and the tags between each tag
 * and its target, unless the options leave them out. Returns 0 or a negative
 * error code. Cost: each tag is visited.
 */
int pack_job_add_tags(struct pack_job *job, const struct packing_tags *tags,
		      struct error *err);

/*
 * Make the packs (one, unless their size is limited) and install them. A pack
 * may be empty. Returns 0 or a negative error code.
 */
int pack_job_run(struct pack_job *job, struct error *err);

/*
 * After pack_job_run(), make and install "<base>-<checksum>.pack" of job->rest,
 * with temporary files in `dir`. Nothing is written if job->rest is empty.
 * Returns 0 or a negative error code.
 */
int pack_job_run_rest(struct pack_job *job, const char *dir, const char *base,
		      struct error *err);

/*
 * Add an object by its obj_pos. The object must exist. Returns 0 or ERR_NOMEM.
 */
int pack_job_add_pos(struct pack_job *job, uint32_t obj_pos,
		     enum object_type type, uint32_t name_hash);

/*
 * Make the pack for a receiver: bytes into `sink`, no files. Returns 0 or a
 * negative error code.
 */
int pack_job_send(struct pack_job *job, struct pack_sink sink,
		  struct error *err);

#endif
