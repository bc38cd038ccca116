/* SPDX-License-Identifier: MIT */
/*
 * Checks of the files that store refs, for all work trees, as `git refs verify`
 * does (git-refs(1)).
 *
 *   refs-check.c           chooses by the kind of storage; checks files below
 *                          refs/, HEAD and other root refs
 *   refs-check-report.c    reports, and rules of any storage
 *   refs-check-packed.c    packed-refs
 *   refs-check-reftable.c  reftables
 *
 * Message ids are those of git-fsck(1), and texts are those of stock Git.
 * `rules` says how severe a message is. The checks do not look for objects.
 */
#ifndef REFS_REFS_CHECK_H
#define REFS_REFS_CHECK_H

#include "object/fsck.h"
#include "repo/repo.h"

struct refs_report {
	enum fsck_msg msg;
	bool is_error; /* otherwise a warning */
	/* a ref, "packed-refs line 3", or a table's name */
	const char *where;
	/* valid during the call, like `where` */
	const char *text;
};

struct refs_check {
	/* borrowed; no ids are skipped */
	const struct fsck_rules *rules;
	void (*report)(void *ctx, const struct refs_report *report);
	/*
	 * Called with the next ref or file: "refs/heads/main". NULL: not
	 * wanted.
	 */
	void (*looking)(void *ctx, const char *at);
	void *ctx;
	bool failed; /* an error was reported */
};

/*
 * Checks all refs. Returns 0, even if errors were reported; ERR_CORRUPT for a
 * broken table if no message id fits; ERR_IO or ERR_NOMEM. Cost: linear in the
 * bytes.
 */
int refs_check_run(struct refs_check *c, const struct repo *repo,
		   struct error *err);

/* ---- parts */

/*
 * Reports a message, unless the rules ignore this message. Returns 0 or
 * ERR_NOMEM.
 */
int refs_check_complain(struct refs_check *c, const char *where,
			enum fsck_msg msg, struct error *err, const char *fmt,
			...) __attribute__((format(printf, 5, 6)));

/* Checks the target of the symbolic ref `name`. Returns 0 or ERR_NOMEM. */
int refs_check_target(struct refs_check *c, const char *name,
		      const char *target, struct error *err);

/*
 * Checks any bytes as the content of the file of ref `name`. A NUL ends the
 * bytes. Returns 0 or ERR_NOMEM.
 */
int refs_check_loose(struct refs_check *c, const char *name, const char *bytes,
		     enum hash_algo algo, struct error *err);

/* Checks any bytes as a packed-refs file. Returns 0 or ERR_NOMEM. */
int refs_check_packed(struct refs_check *c, const char *bytes, size_t len,
		      enum hash_algo algo, struct error *err);

/* As refs_check_run(), for one kind of storage. */
int refs_check_files(struct refs_check *c, const struct repo *repo,
		     struct error *err);
int refs_check_reftable(struct refs_check *c, const struct repo *repo,
			struct error *err);

#endif
