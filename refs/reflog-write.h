/* SPDX-License-Identifier: MIT */
/*
 * Writing reflogs: which refs have one, and its lines.
 *
 *   <old> SP <new> SP <name> SP "<"mail">" SP <seconds> SP <zone> [TAB
 * <message>] LF
 */
#ifndef REFS_REFLOG_WRITE_H
#define REFS_REFLOG_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/* core.logAllRefUpdates. */
enum reflog_policy {
	REFLOG_EXISTING, /* false: only where there is a reflog */
	REFLOG_USUAL,    /* true: branches, remote branches, notes, HEAD */
	REFLOG_ALWAYS,   /* always: all refs */
};

/* Without the setting: USUAL unless the repository is bare. */
int reflog_policy(const struct repo *repo, enum reflog_policy *policy,
		  struct error *err);

/* Whether a ref gets a reflog where there is none. */
bool reflog_is_made(enum reflog_policy policy, const char *name);

/*
 * Append a message as one line has it: runs of white space are one space,
 * none at the ends. 0 or ERR_NOMEM.
 */
int reflog_clean_message(struct buf *out, const char *message);

struct reflog_entry {
	const char *name; /* of the ref */
	struct oid old_oid, new_oid;
	const char *committer; /* "Name <mail> seconds zone", or NULL */
	const char *message;   /* clean, or NULL */
};

/* How a reflog was before an entry was appended. */
struct reflog_before {
	bool is_appended; /* there was one to append, and it was */
	bool existed;
	uint64_t len; /* in bytes */
};

/*
 * Append an entry to the ref's reflog; `make`: even if there is none yet. An
 * empty directory that is in its place is removed. Who calls it has the ref's
 * lock. 0 (also when no entry is called for); ERR_INVALID when one is and there
 * is no committer; ERR_IO, ERR_NOMEM. *before is set in any case; after an
 * error the reflog is as it was, as far as the disk allows.
 */
int reflog_append(const struct repo *repo, const struct reflog_entry *entry,
		  bool make, struct reflog_before *before, struct error *err);

/* Take back what was appended, under the same lock; as far as possible. */
void reflog_take_back(const struct repo *repo, const char *name,
		      const struct reflog_before *before);

/* Remove a ref's reflog and the directories that are empty without it. */
int reflog_remove(const struct repo *repo, const char *name, struct error *err);

/*
 * Remove the empty directories of `path`, the file of ref (or reflog) `name`
 * that is gone: not those of the first two components of the name.
 */
void reflog_prune_dirs(const char *path, const char *name);

#endif
