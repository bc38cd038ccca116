/* SPDX-License-Identifier: MIT */
/*
 * Reflogs, read and rewritten: an entry for each change of a ref, oldest first.
 * They are files with a line for each (reflog-files.c), or records of reftables
 * (reflog-reftable.c), which are given as such lines. refs/reflog-write.h says
 * who appends.
 *
 *	<old> SP <new> SP <name> SP <mail> SP <seconds> SP <zone> [TAB
 *<message>]
 *
 * For instance, with ids of four digits:
 *
 *	0000 1f3a A U Thor <author@example.com> 1700000000 +0100\tcommit: x
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

/* A line, taken apart. Pointers go into the bytes that were parsed. */
struct reflog_line {
	struct oid old_oid, new_oid;
	int64_t time;     /* seconds since 1970 */
	const char *text; /* from the space behind the ids to the line's end */
	size_t text_len;
	const char *message; /* behind the tab, or of length 0 */
	size_t message_len;
	uint64_t update_index; /* of the record of a reftable */
	bool drop;             /* for who edits */
};

/*
 * Parse a line without its line feed. ERR_CORRUPT for what is none: the ids,
 * the time and the zone have to be where they belong.
 */
int reflog_line_parse(struct reflog_line *out, const char *bytes, size_t len,
		      enum hash_algo algo);

struct reflog {
	struct buf bytes;          /* of all lines */
	struct reflog_line *lines; /* owned; what is no line is left out */
	size_t nr, alloc;
};

#define REFLOG_INIT                                                            \
	{                                                                      \
		BUF_INIT, NULL, 0, 0                                           \
	}

void reflog_release(struct reflog *log);

/* Whether the ref has a reflog, maybe an empty one. `name` is well-formed. */
bool reflog_exists(const struct repo *repo, const char *name);

/* 1; 0 when there is none; or ERR_IO, ERR_NOMEM. Release in any case. */
int reflog_read(struct reflog *log, const struct repo *repo, const char *name,
		struct error *err);

/*
 * Call `fn` with the name of each ref that has a reflog, sorted: those of this
 * work tree and those that all share; with `all_worktrees` also those of the
 * others, as "main-worktree/HEAD" and "worktrees/<id>/HEAD". A nonzero return
 * ends it and is returned.
 */
int reflog_each(const struct repo *repo, bool all_worktrees,
		int (*fn)(void *ctx, const char *name), void *ctx,
		struct error *err);

struct reflog_edit {
	/*
	 * Set `drop` of lines. The ref is locked; `tip` is what it names, with
	 * symbolic refs not followed (NULL: it is symbolic, or is not there).
	 * A negative return ends it.
	 */
	int (*decide)(void *ctx, const char *name, const struct oid *tip,
		      struct reflog *log, struct error *err);
	void *ctx;
	bool dry_run; /* that is all that is done */
	/* A line's old id becomes the new id of the line before it. */
	bool rewrite;
	/* The ref gets the new id of the last line that stays. */
	bool update_ref;
};

/*
 * Edit a reflog. 0, also when there is none; ERR_DENIED when the ref or the
 * log is locked; or another error with everything as it was.
 */
int reflog_edit(const struct repo *repo, const char *name,
		const struct reflog_edit *edit, struct error *err);

/* Remove a reflog, if there is one. 0 or as above. */
int reflog_drop(const struct repo *repo, const char *name, struct error *err);

#endif
