/* SPDX-License-Identifier: MIT */
/*
 * Removes unreachable loose objects (git-prune(1)), temporary files of killed
 * processes, and loose objects that are also in packs.
 *
 * 	list loose files -> read references -> open packs -> enumerate
 * 	  -> find recent objects and all that they reach -> remove
 *
 * Files are listed before references are read. An object that another process
 * writes later, together with a reference to it, is not on the list and stays.
 * If a process writes a listed object again, the time of its file changes, and
 * the file stays too. Roots are references, reflogs, HEAD and index of every
 * worktree, and the given heads.
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

/*
 * The callbacks of a prune. A callback that reports a removal is called before
 * the removal. Each callback may be NULL.
 */
struct prune_hooks {
	/*
	 * An object is removed. `type` is OBJ_NONE if the type cannot be read.
	 */
	void (*object)(void *ctx, const struct oid *oid, enum object_type type);
	/* A temporary file or directory is removed. */
	void (*stale)(void *ctx, const char *path, bool is_dir);
	/*
	 * A file in a directory of loose objects is no object. The file stays.
	 */
	void (*strange)(void *ctx, const char *path);
	/* A loose object is removed because a pack has it. */
	void (*packed)(void *ctx, const char *path);
	/*
	 * Called with a message of one line if something that may be removed is
	 * left (prune_packed_options.warn).
	 */
	void (*warn)(void *ctx, const char *message);
	/*
	 * A commit would be removed from the shallow file. Called only with
	 * dry_run.
	 */
	void (*shallow)(void *ctx, const struct oid *oid);
	void *ctx;
};

struct prune_options {
	/*
	 * Seconds since 1970 (approxidate_parse_expiry()). Objects and files
	 * with a later time stay. 0: everything stays.
	 */
	int64_t expiry;
	bool dry_run;
	/* borrowed: additional roots, whose objects stay */
	const struct oid *heads;
	size_t head_nr;
	const struct progress_out *progress; /* borrowed; NULL: none */
	const struct progress_out *packed_progress;
	struct prune_hooks hooks;
};

/*
 * Prune a repository. Returns 0 or a negative error code; ERR_DENIED if the
 * repository has extensions.preciousObjects. If a root is missing or broken, or
 * a pack is unreadable, that is an error, and no object is removed.
 */
int prune_run(const struct repo *repo, const struct prune_options *options,
	      struct error *err);

#endif
