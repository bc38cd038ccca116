/* SPDX-License-Identifier: MIT */
/*
 * Decides whether `git gc --auto` has something to do, and which packs are too
 * large to be rewritten (git-gc(1), gc.auto and other keys).
 */
#ifndef BUILTIN_GC_NEED_H
#define BUILTIN_GC_NEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "repo/repo.h"

/* A pack of the repository itself, not of an alternate. */
struct gc_pack {
	char *name;    /* owned: "pack-<hex>.pack" */
	uint64_t size; /* bytes */
	bool is_kept;  /* has a .keep */
	bool is_cruft; /* has a .mtimes */
	/* chosen by gc_packs_keep() */
	bool stays;
};

struct gc_packs {
	struct gc_pack *packs; /* owned; unordered */
	size_t nr, alloc;
};

/*
 * List the packs. Returns 0 or a negative error code. The caller must release
 * *list in both cases.
 */
int gc_packs_list(struct gc_packs *list, const struct repo *repo,
		  struct error *err);
void gc_packs_release(struct gc_packs *list);

/* Returns the number of packs without .keep. */
size_t gc_packs_count(const struct gc_packs *list);

/*
 * Choose the packs to keep: all packs of at least `threshold` bytes that are
 * not cruft packs. A threshold of 0 means only the largest pack. Returns their
 * number.
 */
size_t gc_packs_keep(struct gc_packs *list, uint64_t threshold);

/*
 * Whether there are more than about `limit` loose objects, estimated from one
 * of their 256 directories. Returns 1, 0 or a negative error code.
 */
int gc_has_many_loose(const struct repo *repo, uint64_t limit,
		      struct error *err);

/*
 * Whether `git gc --auto` has something to do. It has if there are more than
 * `auto_limit` loose objects (gc.auto; 0: never). It also has if there are more
 * than `pack_limit` packs (gc.autoPackLimit; 0: no limit); then *all is set.
 * Returns 1, 0 or a negative error code.
 */
int gc_is_needed(bool *all, const struct repo *repo, uint64_t auto_limit,
		 uint64_t pack_limit, struct error *err);

/*
 * Whether the repository borrows from one with a chain of commit-graphs. Then a
 * layer of its own on top of that chain is enough. Returns 1, 0 or a negative
 * error code.
 */
int gc_borrows_graph(const struct repo *repo, struct error *err);

#endif
