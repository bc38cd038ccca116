/* SPDX-License-Identifier: MIT */
/*
 * Lists the unreachable objects of a repository. Each listed object has a time:
 * when the object was last known to be in use. Each listed object also has a
 * mark that says whether the object is kept for some time.
 *
 * The time of an object is the latest of its copies' times. The time of a loose
 * copy is the modification time of the file. The time of a copy in a cruft pack
 * is recorded in the .mtimes file of the pack. The time of a copy in any other
 * pack is the modification time of the pack. An object is recent if its time is
 * later than the time of expiry. Objects that a recent object reaches are kept
 * too, whatever their age: a client may be about to make the recent object
 * reachable.
 *
 * For use by one thread.
 */
#ifndef REPACK_UNREACHABLE_H
#define REPACK_UNREACHABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "object/oid.h"
#include "repo/repo.h"
#include "walk/walk.h"

struct unreachable_item {
	uint32_t obj_pos;
	uint32_t mtime; /* seconds since 1970 */
	/*
	 * modification time of the loose file, seconds since 1970; 0: not loose
	 */
	uint32_t loose_mtime;
	/*
	 * The latest time of the object in the .mtimes files of cruft packs
	 * that stay: they are not removed, or belong to an alternate. 0: none.
	 */
	uint32_t staying_mtime;
	/* true: a pack that is about to be removed has the object */
	bool is_packed;
	bool is_loose; /* has a loose file */
	/*
	 * true: the object has a copy that is not removed: in a pack that
	 * stays, or in an alternate. A copy in a cruft pack counts only if its
	 * time in the .mtimes file is `mtime` or later.
	 */
	bool is_safe;
	/*
	 * true: the object is recent, or a recent object reaches it, so it is
	 * not dropped
	 */
	bool is_kept;
};

struct unreachable {
	struct unreachable_item *items; /* owned: each object once */
	size_t nr, alloc;
	/*
	 * Owned array for packed objects. The index is the obj_pos of the
	 * object, which is below packed_nr. The value is the item number of the
	 * object, plus 1, or 0 if the object is not listed.
	 */
	uint32_t *by_packed;
	/*
	 * Owned array for objects that are not packed. The index is the obj_pos
	 * of the object minus packed_nr. The values are as in by_packed.
	 */
	uint32_t *by_extra;
	size_t extra_alloc;
	/*
	 * The caller may set both fields after unreachable_collect().
	 * unreachable_type() calls `warn` with a message. NULL: no call.
	 */
	void (*warn)(void *ctx, const char *message);
	void *warn_ctx;
	const struct bitset *reached; /* borrowed */
	struct walk *walk;            /* borrowed */
};

struct unreachable_options {
	/* Returns whether a local pack is about to be removed. */
	bool (*is_leaving)(void *ctx, const struct pack *pack);
	void *ctx;
	bool loose; /* list loose objects too */
	/*
	 * Seconds since 1970. The caller keeps the time of an object only if
	 * this time is later than `expiry`. 0: the times of all objects are
	 * kept. INT64_MAX: no times are kept.
	 */
	int64_t expiry;
};

/*
 * List the local objects that have no bit in `reached` (indexed by obj_pos).
 * This reads all pack indexes, the times of cruft packs and the times of loose
 * files, but no objects.
 *
 * A local pack that stays may have an object whose copy in a leaving pack is
 * younger. The object must not expire earlier than without the repack. So the
 * modification time of the staying pack is set to now, unless it is a cruft
 * pack. This is done only if the object's time is later than options->expiry,
 * because a new time keeps all unreachable objects of the pack.
 *
 * Returns 0, ERR_CORRUPT if a .mtimes file is damaged, or another negative
 * error code. On failure *u may be partly filled. The caller releases *u in any
 * case.
 */
int unreachable_collect(struct unreachable *u, struct walk *walk,
			const struct bitset *reached,
			const struct unreachable_options *options,
			struct error *err);
void unreachable_release(struct unreachable *u);

/*
 * Mark the listed objects that are kept: objects whose time is later than
 * `expiry`, objects that gc.recentObjectsHook names, and all objects that these
 * reach. `expiry` is in seconds since 1970 (approxidate_parse_expiry()). 0
 * keeps all listed objects. INT64_MAX: the times do not matter, and only the
 * objects that gc.recentObjectsHook names, and the objects that these reach,
 * are kept.
 *
 * To find the objects that are reached, the function also follows unreachable
 * objects of alternates, which are not listed. Missing objects are skipped. A
 * broken object is an error, because the objects that it reaches are unknown.
 * Returns 0 or a negative error code.
 */
int unreachable_keep(struct unreachable *u, int64_t expiry, struct error *err);

/*
 * Finds the type of a listed object that is to be packed. Returns 0; 1 if the
 * object cannot be packed, because it is a damaged loose object without a
 * packed copy; or a negative error code. Before it returns 1, the function
 * calls u->warn with a message that names the object. After 1, the caller
 * should keep the file of the loose object.
 */
int unreachable_type(struct unreachable *u, const struct unreachable_item *item,
		     enum object_type *type, struct error *err);

/*
 * Returns whether a listed object is in the local pack `name` ("pack-<hex>").
 * Returns false if the pack is a cruft pack.
 */
bool unreachable_in_pack(const struct unreachable *u, const char *name);

/* Returns the item of an object, or NULL if the object is not listed. */
struct unreachable_item *unreachable_find(const struct unreachable *u,
					  uint32_t obj_pos);

/*
 * ---- recent-hook.c
 *
 * Runs gc.recentObjectsHook: commands that print ids of objects to treat as
 * recent (git-config(1)).
 */

/*
 * Run each command with the shell. Call `fn` for each id that a command
 * prints, one id in each line. If `fn` returns a nonzero value, the function
 * stops and returns this value. Otherwise returns 0, ERR_INVALID if a command
 * fails or prints a line that is no id, or another negative error code.
 */
int recent_hook_each(const struct repo *repo,
		     int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		     struct error *err);

#endif
