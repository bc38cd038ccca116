/* SPDX-License-Identifier: MIT */
/*
 * Reads and edits reflogs. A reflog has an entry for each change of a ref,
 * oldest first. In files an entry is a line (reflog-files.c). In reftables an
 * entry is a record (reflog-reftable.c), which is converted to a line.
 * Transactions append entries (refs/reflog-write.h).
 *
 * 	<old> SP <new> SP <name> SP <mail> SP <seconds> SP <zone>
 * 		[TAB <message>]
 *
 * For instance, with ids of four digits:
 *
 * 	0000 1f3a A U Thor <author@example.com> 1700000000 +0100\tcommit: x
 */
#ifndef REFS_REFLOG_H
#define REFS_REFLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/* A parsed line of a reflog. Pointers point into the parsed bytes. */
struct reflog_line {
	struct oid old_oid, new_oid;
	int64_t time; /* seconds since 1970 */
	/* text from the space after the ids to the end of the line */
	const char *text;
	size_t text_len;
	/* the message after the tab; empty if there is none */
	const char *message;
	size_t message_len;
	/* update index of the record; set only if refs are in reftables */
	uint64_t update_index;
	/* true: the callback `decide` wants the line removed */
	bool drop;
};

/*
 * Parses a line of a reflog without its line feed. Returns 0, or ERR_CORRUPT if
 * the ids, the time or the zone are malformed.
 */
int reflog_line_parse(struct reflog_line *out, const char *bytes, size_t len,
		      enum hash_algo algo);

struct reflog {
	struct buf bytes; /* bytes of all lines */
	/* owned: the lines that are well-formed */
	struct reflog_line *lines;
	size_t nr, alloc;
};

#define REFLOG_INIT                                                            \
	{                                                                      \
		BUF_INIT, NULL, 0, 0                                           \
	}

/*
 * Frees a reflog, and makes it empty, so that reflog_read() can fill it again.
 */
void reflog_release(struct reflog *log);

/*
 * Returns whether the ref has a reflog, which may be empty. `name` must be
 * well-formed.
 */
bool reflog_exists(const struct repo *repo, const char *name);

/*
 * Reads a reflog. Returns 1 if read, 0 if there is no reflog, or a negative
 * error code. The caller releases *log in any case.
 */
int reflog_read(struct reflog *log, const struct repo *repo, const char *name,
		struct error *err);

/*
 * Calls `fn` with the name of each ref that has a reflog, in sorted order.
 * Visits shared reflogs and the reflogs of this work tree. With
 * `all_worktrees`, also visits the reflogs of other work trees, as
 * "main-worktree/HEAD" and "worktrees/<id>/HEAD". If `fn` returns a nonzero
 * value, the visit stops and returns this value. Otherwise returns 0 or a
 * negative error code.
 */
int reflog_each(const struct repo *repo, bool all_worktrees,
		int (*fn)(void *ctx, const char *name), void *ctx,
		struct error *err);

struct reflog_edit {
	/*
	 * Sets `drop` in the lines of *log that are to be removed. Called while
	 * the ref is locked. `tip` is the id that the ref has, or NULL if the
	 * ref is symbolic or missing. A negative return value stops the edit.
	 */
	int (*decide)(void *ctx, const char *name, const struct oid *tip,
		      struct reflog *log, struct error *err);
	void *ctx;
	/* true: only call `decide`, and change nothing */
	bool dry_run;
	/*
	 * true: the old id of each kept line becomes the new id of the kept
	 * line before it
	 */
	bool rewrite;
	/*
	 * true: the ref gets the new id of the last kept line. If this would
	 * change the ref in a quarantine, the edit fails
	 * (repo_check_quarantine()).
	 */
	bool update_ref;
};

/*
 * Edits a reflog. Returns 0 (also if there is no reflog) or a negative error
 * code. The code is ERR_DENIED if the ref or the reflog is locked, or if the
 * repository is a local copy of a repository in a store (repo_check_copy()).
 * After an error, nothing is changed.
 */
int reflog_edit(const struct repo *repo, const char *name,
		const struct reflog_edit *edit, struct error *err);

/*
 * Removes a reflog, if there is one. Returns 0 or a negative error code. The
 * code is ERR_DENIED if the repository is a local copy (see reflog_edit()), or
 * if the reftables are locked. If reflogs are files, no lock is taken, as in
 * stock Git: an edit that began before the removal writes the reflog again.
 */
int reflog_drop(const struct repo *repo, const char *name, struct error *err);

#endif
