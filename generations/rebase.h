/* SPDX-License-Identifier: MIT */
/*
 * Used only inside generations/: applies a change to a generation (version) of
 * a repository in a store, and so makes the next generation.
 */
#ifndef GENERATIONS_REBASE_H
#define GENERATIONS_REBASE_H

#include "generations/history.h"

/*
 * Checks those properties of a change that do not depend on a generation. The
 * strings of the change (such as names of refs, paths of files, the node and
 * the user) must be allowed. No path or ref may occur twice, and names of refs
 * must not conflict. A record with only this change must not be too long.
 * Returns 0, ERR_INVALID if the change is not allowed, or ERR_NOMEM.
 */
int rebase_check(const struct generation_change *change, struct error *err);

/*
 * Starts the generation after *base: sets *next to a copy of *base with the
 * next number, and sets next->parent to the hash of the record *base. The node,
 * user, action and token of *next are empty. base->number 0 means that the
 * repository has no generation yet. Returns 0, an error of generation_print(),
 * or ERR_NOMEM. After an error, *next is released.
 */
int rebase_start(struct generation *next, const struct generation *base,
		 struct error *err);

/*
 * Applies a change, which rebase_check() has accepted, to a generation that is
 * being made. `upload` is the token in the store names of the files that the
 * change adds. `is_first`: no other change was applied to *next. Returns 0, a
 * conflict, or a negative error code. A conflict is GENERATION_REF_CHANGED,
 * GENERATION_EPOCH_CHANGED or GENERATION_FILE_CHANGED, and *next is then
 * unchanged. After ERR_NOMEM, *next must not be used.
 */
int rebase_apply(struct generation *next,
		 const struct generation_change *change,
		 const uint8_t upload[GENERATION_TOKEN_LEN], bool is_first,
		 struct error *err);

#endif
