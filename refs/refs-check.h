/* SPDX-License-Identifier: MIT */
/*
 * Checks the files that store refs, for all work trees, as `git refs verify`
 * does (git-refs(1)).
 *
 *   refs-check.c           calls the checks for the kind of storage; checks
 *                          files below refs/, HEAD and other root refs
 *   refs-check-report.c    reports, and rules of any storage
 *   refs-check-packed.c    packed-refs
 *   refs-check-reftable.c  reftables
 *
 * Message ids are those of git-fsck(1), and texts are those of stock Git.
 * `rules` has the severity of each message. The checks do not look for objects.
 */
#ifndef REFS_REFS_CHECK_H
#define REFS_REFS_CHECK_H

#include "object/fsck.h"
#include "repo/repo.h"

struct refs_report {
	enum fsck_msg msg;
	bool is_error; /* otherwise a warning */
	/*
	 * the place of the error: a ref, "packed-refs line 3", or a table's
	 * name
	 */
	const char *where;
	/*
	 * the message; like `where`, valid until the callback report() returns
	 */
	const char *text;
};

struct refs_check {
	/*
	 * borrowed; the rules may list ids of objects to skip, which has no
	 * effect here
	 */
	const struct fsck_rules *rules;
	void (*report)(void *ctx, const struct refs_report *report);
	/*
	 * Called with the name of the next ref or file, such as
	 * "refs/heads/main". May be NULL.
	 */
	void (*looking)(void *ctx, const char *at);
	void *ctx;
	bool failed; /* an error was reported */
};

/*
 * Checks the stored refs of all work trees. Returns 0 (also if errors were
 * reported), ERR_IO or ERR_NOMEM. Returns ERR_CORRUPT if a table is broken in a
 * way that has no message id. The cost is linear in the number of bytes.
 */
int refs_check_run(struct refs_check *c, const struct repo *repo,
		   struct error *err);

/* ---- parts */

/*
 * Reports a message, unless `rules` ignore messages with this id. Returns 0 or
 * ERR_NOMEM.
 */
int refs_check_complain(struct refs_check *c, const char *where,
			enum fsck_msg msg, struct error *err, const char *fmt,
			...) __attribute__((format(printf, 5, 6)));

/* Checks the target of the symbolic ref `name`. Returns 0 or ERR_NOMEM. */
int refs_check_target(struct refs_check *c, const char *name,
		      const char *target, struct error *err);

/*
 * Checks the content of the file of ref `name`. The bytes may be malformed, but
 * must end with a NUL. Returns 0 or ERR_NOMEM.
 */
int refs_check_loose(struct refs_check *c, const char *name, const char *bytes,
		     enum hash_algo algo, struct error *err);

/*
 * Checks the content of a packed-refs file, which may be malformed. Returns 0
 * or ERR_NOMEM.
 */
int refs_check_packed(struct refs_check *c, const char *bytes, size_t len,
		      enum hash_algo algo, struct error *err);

/*
 * Check all refs of one kind of storage. Return the values of
 * refs_check_run().
 */
int refs_check_files(struct refs_check *c, const struct repo *repo,
		     struct error *err);
int refs_check_reftable(struct refs_check *c, const struct repo *repo,
			struct error *err);

#endif
