/* SPDX-License-Identifier: MIT */
/*
 * Packs refs: moves loose refs into packed-refs, or merges reftables.
 *
 * A loose file is removed under the ref's lock, and only if the ref still has
 * the value that was packed. Until then readers find the value in the loose
 * file, and afterwards in packed-refs.
 */
#ifndef REFS_WRITE_REF_PACK_H
#define REFS_WRITE_REF_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "odb/odb.h"
#include "repo/repo.h"

struct ref_pack_options {
	/*
	 * Returns whether to pack a loose ref. Not called for symbolic refs,
	 * broken refs and refs of a single work tree, which stay loose.
	 */
	bool (*wants)(void *ctx, const char *name);
	/*
	 * Called for each ref that names a missing object. A ref to a missing
	 * object stays loose.
	 */
	void (*broken)(void *ctx, const char *name);
	/*
	 * Called if the loose file of a packed ref stays, because the ref is
	 * locked. NULL: such refs are not reported.
	 */
	void (*locked)(void *ctx, const char *name, const struct error *why);
	void *ctx;
	bool prune; /* remove the loose files */
	/*
	 * true: pack only if the number of loose refs has reached
	 * ref_pack_limit()
	 */
	bool if_needed;
};

/*
 * Returns the smallest number of loose refs that ref_pack() packs if the option
 * `if_needed` is set. `size` is the length of the packed-refs file in bytes.
 * Only loose refs that options->wants() accepts are counted. Stock Git has the
 * same limit; its values were measured.
 */
size_t ref_pack_limit(uint64_t size);

/*
 * Tells whether ref_pack() with `if_needed` would pack. Returns 1 if it would,
 * 0 if not, or a negative error code. Takes no lock.
 */
int ref_pack_is_due(const struct repo *repo,
		    const struct ref_pack_options *options, struct error *err);

/*
 * Packs refs. If a record of packed-refs lacks the peeled id of a tag, the id
 * is added. Loose refs that another process locks or changes meanwhile stay
 * loose. Returns 0 or a negative error code: ERR_DENIED if packed-refs is
 * locked, or if the repository is a local copy of a repository in a store
 * (repo_check_copy()).
 */
int ref_pack(const struct repo *repo, struct odb_reader *reader,
	     const struct ref_pack_options *options, struct error *err);

/* ---- parts of ref_pack() and ref_pack_is_due() for refs in files */

int refs_files_pack_is_due(const struct repo *repo,
			   const struct ref_pack_options *options,
			   struct error *err);
int refs_files_pack(const struct repo *repo, struct odb_reader *reader,
		    const struct ref_pack_options *options, struct error *err);

#endif
