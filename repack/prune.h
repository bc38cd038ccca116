/* SPDX-License-Identifier: MIT */
/*
 * Removing what is loose and nothing reaches (git-prune(1)), files that were
 * left behind half written, and what is superfluous beside packs.
 *
 *	list loose files -> read references -> open packs -> enumerate
 *	  -> what is recent, and what that reaches -> remove
 *
 * In that order: what is to go was there before the references were read that
 * might name it, and an object whose file has changed its time since, because
 * somebody has written it again, stays. Reached are objects from references,
 * reflogs, HEADs and indexes of all worktrees, and the heads that are given.
 */
#ifndef REPACK_PRUNE_H
#define REPACK_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"
#include "repo/repo.h"
#include "sys/progress.h"

/* What is told about, before it is done; any may be NULL. */
struct prune_hooks {
	/* An object goes. OBJ_NONE: its type cannot be found out. */
	void (*object)(void *ctx, const struct oid *oid, enum object_type type);
	/* A temporary file or directory goes. */
	void (*stale)(void *ctx, const char *path, bool is_dir);
	/* Among the loose objects there is a file that is none, and stays. */
	void (*strange)(void *ctx, const char *path);
	/* A loose object goes that a pack has. */
	void (*packed)(void *ctx, const char *path);
	/* With dry_run: a commit that goes from the shallow file. */
	void (*shallow)(void *ctx, const struct oid *oid);
	void *ctx;
};

struct prune_options {
	int64_t expiry; /* seconds since 1970 (approxidate_parse_expiry()): what
			   is later stays; 0: everything stays */
	bool dry_run;
	const struct oid *heads; /* borrowed: other roots */
	size_t head_nr;
	const struct progress_out *progress; /* borrowed; NULL: none */
	const struct progress_out *packed_progress;
	struct prune_hooks hooks;
};

/*
 * Prune. ERR_DENIED in a repository with extensions.preciousObjects. A root
 * that is missing or broken, or a pack that cannot be read, is an error, and
 * then no object is removed.
 */
int prune_run(const struct repo *repo, const struct prune_options *options,
	      struct error *err);

#endif
