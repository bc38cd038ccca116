/* SPDX-License-Identifier: MIT */
/*
 * Appends entries to reflogs that are stored in files. Decides which refs get a
 * reflog. The form of a line:
 *
 *   <old> SP <new> SP <name> SP "<"mail">" SP <seconds> SP <zone>
 *       [TAB <message>] LF
 */
#ifndef REFS_REFLOG_WRITE_H
#define REFS_REFLOG_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/* Which refs get a reflog (core.logAllRefUpdates). */
enum reflog_policy {
	/* "false": no reflogs are created; existing reflogs get entries */
	REFLOG_EXISTING,
	/* "true": branches, remote branches, notes and HEAD get reflogs */
	REFLOG_USUAL,
	/* "always": all refs get reflogs */
	REFLOG_ALWAYS,
};

/*
 * Reads the policy from the configuration. The default is REFLOG_USUAL, or
 * REFLOG_EXISTING in a bare repository. Returns 0 or a negative error code.
 */
int reflog_policy(const struct repo *repo, enum reflog_policy *policy,
		  struct error *err);

/* Returns whether a reflog is created for a ref that has none. */
bool reflog_is_made(enum reflog_policy policy, const char *name);

/*
 * Appends a reflog message as one line: each run of white space becomes one
 * space, and the message neither starts nor ends with a space. Returns 0 or
 * ERR_NOMEM.
 */
int reflog_clean_message(struct buf *out, const char *message);

struct reflog_entry {
	const char *name; /* name of the ref */
	struct oid old_oid, new_oid;
	/* the committer: "Name <mail> seconds zone"; NULL: unknown */
	const char *committer;
	/*
	 * the error message if there is no committer; NULL: a standard message
	 * that names the ref
	 */
	const char *no_committer;
	const char *message; /* cleaned message, or NULL */
};

/* Sets the error for an entry without a committer. Returns ERR_INVALID. */
int reflog_no_committer(const struct reflog_entry *entry, struct error *err);

/*
 * The state of a reflog before reflog_append(), from which reflog_take_back()
 * restores the reflog.
 */
struct reflog_before {
	bool is_appended; /* an entry was appended */
	bool existed;
	uint64_t len; /* in bytes */
};

/*
 * Appends an entry to the ref's reflog. `make`: create the reflog if it is
 * missing. An empty directory at the reflog's path is removed. The caller holds
 * the ref's lock. *before is always set. Returns 0 (also if the ref has no
 * reflog and needs none), ERR_INVALID without a committer, ERR_IO or ERR_NOMEM.
 * After an error the reflog is restored as far as the disk allows.
 */
int reflog_append(const struct repo *repo, const struct reflog_entry *entry,
		  bool make, struct reflog_before *before, struct error *err);

/*
 * Removes the entry that reflog_append() appended, as far as possible. The
 * caller still holds the ref's lock.
 */
void reflog_take_back(const struct repo *repo, const char *name,
		      const struct reflog_before *before);

/*
 * Removes a ref's reflog and the directories that become empty. Returns 0 or a
 * negative error code.
 */
int reflog_remove(const struct repo *repo, const char *name, struct error *err);

/*
 * Removes empty directories above `path`, where the file of the ref (or reflog)
 * `name` was removed. Directories for the first two components of the name are
 * kept.
 */
void reflog_prune_dirs(const char *path, const char *name);

#endif
