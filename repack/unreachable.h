/* SPDX-License-Identifier: MIT */
/*
 * The objects of a repository that nothing reaches, each with the time when it
 * was last known to be in use, and which of them are to be kept for a while.
 *
 * An object's time is the latest of its copies: of a loose one the file's, in
 * a cruft pack the one that is noted there, in another pack the pack's. It is
 * recent when that is later than the time of expiry. What a recent object
 * reaches is kept as well, however old: somebody may be about to make it
 * reachable, and would count on that.
 *
 * One thread.
 */
#ifndef REPACK_UNREACHABLE_H
#define REPACK_UNREACHABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

struct unreachable_item {
	uint32_t obj_pos;
	uint32_t mtime;         /* seconds since 1970 */
	uint32_t loose_mtime;   /* of its own file; 0: it has none */
	uint32_t staying_mtime; /* the latest that is noted by a cruft pack of
				   an alternate, or one that stays; 0: none */
	bool is_packed;         /* in a pack that is about to go */
	bool is_loose;          /* in a file of its own */
	bool is_safe; /* also where it stays: in a pack that does not go, or
			 in an alternate. A cruft pack counts if it notes
			 `mtime` or later */
	bool is_kept; /* recent, or reached by what is recent */
};

struct unreachable {
	struct unreachable_item *items; /* owned: each object once */
	size_t nr, alloc;
	uint32_t *by_packed; /* owned: item + 1 by obj_pos; 0: none */
	uint32_t *by_extra;  /* owned: the same past packed_nr */
	size_t extra_alloc;
	const struct bitset *reached; /* borrowed */
	struct walk *walk;            /* borrowed */
};

struct unreachable_options {
	/* Whether a pack of the repository itself is about to go. */
	bool (*is_leaving)(void *ctx, const struct pack *pack);
	void *ctx;
	bool loose; /* loose objects too; else only what packs have */
};

/*
 * List the local objects of which `reached` (by obj_pos) has no bit. Reads all
 * indexes, the times of cruft packs, and the times of loose objects; no
 * objects. A damaged .mtimes file is ERR_CORRUPT. *u may hold a part on
 * failure; release it in any case.
 */
int unreachable_collect(struct unreachable *u, struct walk *walk,
			const struct bitset *reached,
			const struct unreachable_options *options,
			struct error *err);
void unreachable_release(struct unreachable *u);

/*
 * Mark what is kept. `expiry`: seconds since 1970 (approxidate_parse_expiry());
 * with 0 that is everything, with INT64_MAX what gc.recentObjectsHook names
 * and what that reaches. Reads what recent objects reach, as far as it is
 * listed or lies on the way there. Objects that are missing are passed over;
 * broken ones are errors, for nobody knows what they would keep.
 */
int unreachable_keep(struct unreachable *u, int64_t expiry, struct error *err);

/*
 * Whether an object that is listed is in the pack, "pack-<hex>" of the
 * repository itself, which was no cruft pack.
 */
bool unreachable_in_pack(const struct unreachable *u, const char *name);

/* The item of an object; NULL when it is not listed. */
struct unreachable_item *unreachable_find(const struct unreachable *u,
					  uint32_t obj_pos);

#endif
