/* SPDX-License-Identifier: MIT */
/*
 * Writing packed-refs anew: a sorted series of edits merged with the file
 * that is there, in one pass.
 *
 * "packed-refs.lock" is held from begin to release, so that nobody else packs
 * or removes records; the new file is written as "packed-refs.new" and renamed
 * over the old one. Readers see one or the other.
 *
 *   begin -> { delete | put } in ascending order of names
 *         -> finish -> commit -> release
 *
 * Runs of records between edits are copied as they are. The first edit is
 * ERR_DENIED in a quarantine: see repo_check_quarantine(). One thread.
 */
#ifndef REFS_PACKED_REWRITE_H
#define REFS_PACKED_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "refs/packed-refs.h"
#include "repo/repo.h"
#include "sys/tempfile.h"

/*
 * What stands behind the message that a lock on references is held, in the
 * words of Git 2.55. Such a message has three lines, the second empty.
 */
#define PACKED_REWRITE_LOCK_ADVICE                                             \
	"\n\nAnother git process seems to be running in this repository, or "  \
	"the lock file may be stale"

struct packed_rewrite {
	const struct repo *repo; /* borrowed */
	struct packed_refs old;  /* the file as locked */
	size_t copied;           /* bytes of old.table dealt with */
	struct sys_tempfile lock, file;
	enum sys_fsync_method method;
	struct buf out; /* bytes on their way to `file` */
	/* What the new header promises; begin takes it from the old file. */
	bool peeled, fully_peeled;
};

/*
 * Lock packed-refs, waiting for core.packedRefsTimeout (1 s), and open it. 0,
 * or with *rw released ERR_DENIED when someone else has the lock, ERR_CORRUPT,
 * ERR_IO, ERR_NOMEM, ERR_INVALID for bad configuration.
 */
int packed_rewrite_begin(struct packed_rewrite *rw, const struct repo *repo,
			 struct error *err);

/*
 * Leave out a record. 1, 0 when there is none of that name, or a negative
 * error. Nothing is written before something is found.
 */
int packed_rewrite_delete(struct packed_rewrite *rw, const char *name,
			  struct error *err);

/*
 * Add a record, or replace the one of that name. `peeled`: what the tag peels
 * to; NULL when it is none. rw->peeled and rw->fully_peeled have to be true of
 * the whole outcome before the first call.
 */
int packed_rewrite_put(struct packed_rewrite *rw, const char *name,
		       const struct oid *oid, const struct oid *peeled,
		       struct error *err);

/* Whether there is something to commit. */
bool packed_rewrite_is_changed(const struct packed_rewrite *rw);

/*
 * Copy the rest and make the new file durable as core.fsync=reference asks;
 * it is still out of sight. Without edits nothing is written.
 */
int packed_rewrite_finish(struct packed_rewrite *rw, struct error *err);

/* Rename the new file into place, if there is one; the lock stays. */
int packed_rewrite_commit(struct packed_rewrite *rw, struct error *err);

/* Remove what was not committed, and the lock. */
void packed_rewrite_release(struct packed_rewrite *rw);

#endif
