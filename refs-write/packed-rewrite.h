/* SPDX-License-Identifier: MIT */
/*
 * Rewrites packed-refs: edits in the order of names are merged with the
 * existing file in one pass.
 *
 * "packed-refs.lock" is held from begin to release. No other process can pack
 * or remove records during that time. The new file is written as
 * "packed-refs.new" and renamed over the old file, so readers see the old or
 * the new file. If packed-refs is a symbolic link, the three files are those of
 * the link's target, and the link stays.
 *
 *   begin -> { delete | put } in ascending order of names
 *         -> finish -> commit -> release
 *
 * Runs of records between edits are copied unchanged. In a quarantine the first
 * edit returns ERR_DENIED (repo_check_quarantine()). Only one thread at a time
 * may use a rewrite.
 */
#ifndef REFS_WRITE_PACKED_REWRITE_H
#define REFS_WRITE_PACKED_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "refs/packed-refs.h"
#include "repo/repo.h"
#include "sys/tempfile.h"

struct packed_rewrite {
	const struct repo *repo; /* borrowed */
	/* owned: path of the file, with symbolic links followed */
	char *path;
	/* the existing packed-refs file, read under the lock */
	struct packed_refs old;
	/*
	 * offset in old.table: all records before it were copied to the new
	 * file or left out
	 */
	size_t copied;
	struct sys_tempfile lock, file;
	enum sys_fsync_method method;
	/* bytes that are not written to `file` yet */
	struct buf out;
	/*
	 * Traits in the header of the new file. packed_rewrite_begin() takes
	 * them from the old file.
	 */
	bool peeled, fully_peeled, is_proved;
	/* bytes of the new file's header; 0: not written yet */
	size_t header_len;
	/* true: the header must be written again, with fewer traits */
	bool has_fewer_traits;
};

/*
 * Locks packed-refs and opens the file. Waits at most core.packedRefsTimeout
 * (default: one second) for the lock. Returns 0, ERR_DENIED if another process
 * keeps the lock, ERR_INVALID for bad configuration, or another negative error
 * code. After an error, *rw is released.
 */
int packed_rewrite_begin(struct packed_rewrite *rw, const struct repo *repo,
			 struct error *err);

/*
 * Sets the traits "peeled", "fully-peeled" and "gitreach-peeled" in the header
 * of the new file. These traits promise a peeled id for each tag. Call this
 * function before the first edit. The caller must then put each tag with its
 * peeled id, also a tag whose record in the old file lacks the peeled id.
 */
void packed_rewrite_promise_peeled(struct packed_rewrite *rw);

/*
 * Takes the promise of packed_rewrite_promise_peeled() back, at any time before
 * packed_rewrite_finish(). Call this function if you cannot find out whether a
 * ref is a tag. The new header then has the traits of the old header without
 * "gitreach-peeled". If there are no old records, the new header has "peeled"
 * and "fully-peeled", as stock Git writes them.
 */
void packed_rewrite_promise_no_more(struct packed_rewrite *rw);

/*
 * Leaves the record of a ref out of the new packed-refs file. Returns 1 if
 * there was a record, 0 if not, or a negative error code. The first successful
 * call creates the new file.
 */
int packed_rewrite_delete(struct packed_rewrite *rw, const char *name,
			  struct error *err);

/*
 * Adds a record to the new packed-refs file, or replaces the record of the same
 * name. `peeled` is the id that the tag peels to, or NULL if the object is not
 * a tag. Returns 0 or a negative error code.
 */
int packed_rewrite_put(struct packed_rewrite *rw, const char *name,
		       const struct oid *oid, const struct oid *peeled,
		       struct error *err);

/*
 * Returns whether a record was changed or left out, so that a new packed-refs
 * file was created.
 */
bool packed_rewrite_is_changed(const struct packed_rewrite *rw);

/*
 * Copies the remaining records and syncs the new file if core.fsync includes
 * "reference". Readers still see the old file. Does nothing without edits.
 * Returns 0 or a negative error code.
 */
int packed_rewrite_finish(struct packed_rewrite *rw, struct error *err);

/*
 * Renames the new file to packed-refs, if there is a new file. The lock is
 * kept. Returns 0 or a negative error code.
 */
int packed_rewrite_commit(struct packed_rewrite *rw, struct error *err);

/* Removes the new file if it was not committed, and releases the lock. */
void packed_rewrite_release(struct packed_rewrite *rw);

#endif
