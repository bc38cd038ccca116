/* SPDX-License-Identifier: MIT */
/*
 * Makes one pack from tips or from a list of objects: enumerate, choose, make
 * the pack, index it, write the bitmap index, install. `git repack` and `git
 * pack-objects <base>` use a pack job.
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
#include "pack/pack-name.h"
#include "packs/newpacks.h"
#include "packs/old-packs.h"
#include "refs/refs.h"
#include "walk/walk.h"

/* How a pack job handles a missing object that tips reach. */
enum pack_job_missing {
	/* if an object is missing, the job fails and writes nothing */
	PACK_MISSING_ERROR,
	PACK_MISSING_ANY, /* leave out a missing blob */
	/* a missing blob is left out if a remote has promised it */
	PACK_MISSING_PROMISED,
};

struct pack_job_options {
	const struct newpack_options *newpack; /* borrowed */
	/*
	 * Directory for temporary files. It must be on the file system of
	 * `base`.
	 */
	const char *dir;
	/* The files become "<base>-<checksum>.pack" and so on. */
	const char *base;
	/* Leave out objects that are in any pack. */
	bool loose_only;
	/* Leave out objects that are in alternates. */
	bool local;
	/*
	 * Borrowed: packs that are about to be removed from alternates. Their
	 * objects are packed even if `local` is set. NULL: none.
	 */
	const struct old_packs *leaving;
	/* Leave out objects of the repository's own packs with .keep. */
	bool honor_keep;
	/* Borrowed: names of packs whose objects are left out. NULL: none. */
	const struct strlist *keep_packs;
	/*
	 * Leave out objects that tips reach and that are already in any pack.
	 */
	bool unpacked;
	bool note_reached; /* fill in job->reached */
	bool write_bitmap;
	/*
	 * true: the bitmap index was not asked for, but is written by default.
	 * If it cannot be written, there is no warning.
	 */
	bool bitmap_is_default;
	/*
	 * For an object of the tip island, use only delta bases that are in the
	 * tip island too. The tip island has the trees at chosen tips, and all
	 * objects that these trees reach.
	 */
	bool tip_island;
	/*
	 * For an object in islands of references, use only delta bases that are
	 * in all of these islands.
	 */
	bool delta_islands;
	/*
	 * Borrowed: with delta_islands, commits that clients often fetch alone
	 * (packs/pack-job-parts.h).
	 */
	const struct oid *heads;
	size_t head_nr;
	/* true: the tips that are enumerated include all references */
	bool all_refs;
	/*
	 * Borrowed; NULL: no filter. Objects that tips reach and that do not
	 * pass this filter are left out. With keep_rest, they are put into
	 * job->rest.
	 */
	const struct filter *filter;
	bool keep_rest;
	/*
	 * Leave out the objects of promisor packs, and objects that are
	 * reachable only through them. No effect in a repository without
	 * promisor packs.
	 */
	bool exclude_promisor;
	/*
	 * With exclude_promisor: still pack promised objects that also exist
	 * outside of promisor packs. No effect in a repository without promisor
	 * packs.
	 */
	bool keep_promised;
	/* The new packs get a .promisor file: they become promisor packs. */
	bool promisor;
	/* How missing blobs that tips reach are handled. */
	enum pack_job_missing missing;
	/* Borrowed: commits treated as having no parents. */
	const struct oid *shallow;
	size_t shallow_nr;
};

struct pack_job {
	const struct pack_job_options *options; /* borrowed */
	/* borrowed: used to choose the commits that get bitmaps */
	struct refs *refs;
	struct walk walk;
	struct walk_tips wants, haves;
	struct walk_result found;
	struct packing_items items;
	/*
	 * objects that options->filter leaves out, if options->keep_rest is
	 * true
	 */
	struct packing_items rest;
	struct islands islands;
	/*
	 * Indexed by obj_pos: the objects that the enumeration from the tips
	 * has found. Filled in if the option note_reached is set.
	 *
	 * Most objects that an option leaves out of the pack are in this set,
	 * too. Objects that the option `unpacked` leaves out are never in the
	 * set. Objects that do not pass options->filter are in the set only if
	 * options->keep_rest is set (they are then put into `rest`).
	 */
	struct bitset reached;
	/* indexed by obj_pos: the objects that pack_job_add() has added */
	struct bitset listed;
	struct newpacks newpacks;
	/*
	 * Initialised only if the options have exclude_promisor or
	 * PACK_MISSING_PROMISED.
	 */
	struct promisor promisor;
	/* the packs that pack_job_run_rest() has made */
	struct newpacks rest_packs;
	/* indexed by obj_pos: the objects that pass options->filter */
	struct bitset passed;
	/* true: `found` has only objects that pass options->filter */
	bool walk_filtered;
	struct pseudo_config pseudo; /* used with write_bitmap */
	/*
	 * Owned array of borrowed packs. Their objects are left out because of
	 * the options.
	 */
	const struct pack **excluding;
	size_t excluding_nr;
	/* With options->local: the loose objects of alternates. */
	struct oidmap loose_elsewhere;
	/* true: some objects that packed commits reach are not in job->items */
	bool left_out;
	/* true: `found` has all objects that references reach */
	bool found_all;
	struct error warning; /* code 0: none */
};

/*
 * Prepare a pack job. Then the caller adds tips to job->wants and job->haves.
 * Close the job in any case. Returns 0 or a negative error code.
 */
int pack_job_open(struct pack_job *job, const struct odb *odb,
		  struct refs *refs, const struct pack_job_options *options,
		  struct error *err);
void pack_job_close(struct pack_job *job);

/*
 * Find all objects that the tips reach, and add them to job->items. Returns 0
 * or a negative error code.
 */
int pack_job_enumerate(struct pack_job *job, struct error *err);

/*
 * Returns whether the options allow an object in the pack. Returns false if any
 * copy of the object is in a place whose objects the options leave out.
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
 * Add to the items one object whose path is known. A `path` of "" means that
 * there is no path. Returns the same codes as pack_job_add().
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
 * Add tags whose final target is among the items. If such a tag refers to its
 * target through other tags, add these too. Tags that the options leave out are
 * not added. Returns 0 or a negative error code. Cost: each tag is visited.
 */
int pack_job_add_tags(struct pack_job *job, const struct packing_tags *tags,
		      struct error *err);

/*
 * Returns whether the pack can have a bitmap index: its objects are closed
 * under reachability, and the repository is not shallow. Otherwise sets
 * job->warning, unless the bitmap index is only wanted by default.
 */
bool pack_job_can_have_bitmap(struct pack_job *job);

/*
 * Make the pack and install it. If the size of packs is limited, there may be
 * several. A pack may be empty. Returns 0 or a negative error code.
 */
int pack_job_run(struct pack_job *job, struct error *err);

/*
 * Make and install the pack "<base>-<checksum>.pack" of the items in job->rest,
 * after pack_job_run(). `dir` is for temporary files. If job->rest is empty,
 * nothing is written. Returns 0 or a negative error code.
 */
int pack_job_run_rest(struct pack_job *job, const char *dir, const char *base,
		      struct error *err);

/*
 * Add an object by its obj_pos. The object must exist. Returns 0 or ERR_NOMEM.
 */
int pack_job_add_pos(struct pack_job *job, uint32_t obj_pos,
		     enum object_type type, uint32_t name_hash);

/*
 * Make the pack and write its bytes into `sink`. No files are made. Returns 0
 * or a negative error code.
 */
int pack_job_send(struct pack_job *job, struct pack_sink sink,
		  struct error *err);

#endif
