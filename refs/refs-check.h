/* SPDX-License-Identifier: MIT */
/*
 * Whether the files that keep refs are as they should be: what `git refs
 * verify` finds (git-refs(1)), of all work trees.
 *
 *   refs-check.c		chooses by the kind of storage
 *   refs-check-report.c	reports, and rules of any storage
 *   refs-check-loose.c		files below refs/, HEAD and its like
 *   refs-check-packed.c	packed-refs
 *   refs-check-reftable.c	tables
 *
 * Message ids are those of git-fsck(1), texts stock Git's; rules say how severe
 * a message is. Whether objects are there is not asked.
 */
#ifndef REFS_REFS_CHECK_H
#define REFS_REFS_CHECK_H

#include "object/fsck.h"
#include "repo/repo.h"

struct refs_report {
	enum fsck_msg msg;
	bool is_error;     /* else a warning */
	const char *where; /* a ref, "packed-refs line 3", a table's name */
	const char *text;  /* valid for the call, like `where` */
};

struct refs_check {
	const struct fsck_rules *rules; /* borrowed; no ids are skipped */
	void (*report)(void *ctx, const struct refs_report *report);
	/* Told what is looked at next: "refs/heads/main". NULL: not wanted. */
	void (*looking)(void *ctx, const char *at);
	void *ctx;
	bool failed; /* an error was reported */
};

/*
 * Check all. 0, whatever was reported; ERR_CORRUPT for a table that is broken
 * where there is no message id for it; ERR_IO, ERR_NOMEM. Linear in the bytes.
 */
int refs_check_run(struct refs_check *c, const struct repo *repo,
		   struct error *err);

/* ---- parts */

/* Report, unless the message is ignored. 0 or ERR_NOMEM. */
int refs_check_complain(struct refs_check *c, const char *where,
			enum fsck_msg msg, struct error *err, const char *fmt,
			...) __attribute__((format(printf, 5, 6)));

/* Where the symbolic ref `name` leads to. 0 or ERR_NOMEM. */
int refs_check_target(struct refs_check *c, const char *name,
		      const char *target, struct error *err);

/* Any bytes as the file of ref `name`; a NUL ends them. 0 or ERR_NOMEM. */
int refs_check_loose(struct refs_check *c, const char *name, const char *bytes,
		     enum hash_algo algo, struct error *err);

/* Any bytes as a packed-refs file. 0 or ERR_NOMEM. */
int refs_check_packed(struct refs_check *c, const char *bytes, size_t len,
		      enum hash_algo algo, struct error *err);

/* refs_check_run() for one kind of storage. */
int refs_check_files(struct refs_check *c, const struct repo *repo,
		     struct error *err);
int refs_check_reftable(struct refs_check *c, const struct repo *repo,
			struct error *err);

#endif
