/* SPDX-License-Identifier: MIT */
/*
 * Packing refs: moves loose refs into packed-refs, or merges reftables.
 *
 * A loose file is removed under the ref's lock, and only if the ref still has
 * the value that was packed. Readers find the value in the loose file first,
 * and afterwards in packed-refs.
 */
#ifndef REFS_WRITE_REF_PACK_H
#define REFS_WRITE_REF_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "odb/odb.h"
#include "repo/repo.h"

struct ref_pack_options {
	/*
	 * Whether a loose ref should be packed. Not called for symbolic refs,
	 * broken refs and refs of a single work tree; they stay loose.
	 */
	bool (*wants)(void *ctx, const char *name);
	/* Called for a ref that names a missing object. The ref stays loose. */
	void (*broken)(void *ctx, const char *name);
	/*
	 * Called if the loose file of a packed ref stays, as it is locked.
	 * NULL: nobody is told.
	 */
	void (*locked)(void *ctx, const char *name, const struct error *why);
	void *ctx;
	bool prune; /* remove the loose files */
	/* pack only if ref_pack_limit() is reached */
	bool if_needed;
};

/*
 * Returns how many wanted loose refs are needed before a packed-refs file of
 * `size` bytes is rewritten. Stock Git's limit, measured from its behaviour.
 */
size_t ref_pack_limit(uint64_t size);

/*
 * Whether ref_pack() with `if_needed` would pack. Returns 1, 0 (also if another
 * process is packing tables), or a negative error code.
 */
int ref_pack_is_due(const struct repo *repo,
		    const struct ref_pack_options *options, struct error *err);

/*
 * Packs refs. Old records of tags without a peeled id are completed. Loose refs
 * that another process locks or changes meanwhile stay loose. Returns 0 or a
 * negative error code: ERR_DENIED if packed-refs is locked.
 */
int ref_pack(const struct repo *repo, struct odb_reader *reader,
	     const struct ref_pack_options *options, struct error *err);

/* ---- parts: the functions above for refs in files */

int refs_files_pack_is_due(const struct repo *repo,
			   const struct ref_pack_options *options,
			   struct error *err);
int refs_files_pack(const struct repo *repo, struct odb_reader *reader,
		    const struct ref_pack_options *options, struct error *err);

#endif
