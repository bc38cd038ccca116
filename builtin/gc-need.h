/* SPDX-License-Identifier: MIT */
/*
 * What there is to be cleaned up: is it time for `git gc --auto`, and which
 * packs are too large to be made anew (git-gc(1), gc.auto and others).
 */
#ifndef BUILTIN_GC_NEED_H
#define BUILTIN_GC_NEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "repo/repo.h"

/* A pack of the repository's own. */
struct gc_pack {
	char *name;    /* owned: "pack-<hex>.pack" */
	uint64_t size; /* bytes */
	bool is_kept;  /* has a .keep */
	bool is_cruft; /* has a .mtimes */
	bool stays;    /* gc_packs_keep() says so */
};

struct gc_packs {
	struct gc_pack *packs; /* owned; in no order */
	size_t nr, alloc;
};

/* List the packs. 0 or negative; release in any case. */
int gc_packs_list(struct gc_packs *list, const struct repo *repo,
		  struct error *err);
void gc_packs_release(struct gc_packs *list);

/* How many have no .keep. */
size_t gc_packs_count(const struct gc_packs *list);

/*
 * Choose those that stay: of at least `threshold` bytes and no cruft packs; 0:
 * the largest one only. How many.
 */
size_t gc_packs_keep(struct gc_packs *list, uint64_t threshold);

/*
 * Whether there are more than about `limit` loose objects: one of their 256
 * directories stands for all. 1, 0 or negative.
 */
int gc_has_many_loose(const struct repo *repo, uint64_t limit,
		      struct error *err);

/*
 * Whether `git gc --auto` has something to do: more than gc.auto loose objects
 * (0: never), or, with *all set, more than gc.autoPackLimit packs (0: any
 * number). 1, 0 or negative.
 */
int gc_is_needed(bool *all, const struct repo *repo, uint64_t auto_limit,
		 uint64_t pack_limit, struct error *err);

#endif
