/* SPDX-License-Identifier: MIT */
/* What the files that make up repack/find.h share. */
#ifndef REPACK_FIND_PARTS_H
#define REPACK_FIND_PARTS_H

#include "repack/find.h"

/*
 * Add commits (commit_nr) whose trees the receiver has, as long as there is
 * room. 0 or ERR_NOMEM.
 */
int find_boundary_add(struct found *f, const uint32_t *commits, size_t nr);

/*
 * Find the objects of the boundary's trees, once. When it is known what is had,
 * by bitmap or otherwise, they only serve as bases: those of the newest commits
 * are as good as all. 0 or negative.
 */
int find_boundary_collect(struct found *f, struct error *err);

/*
 * Whether a receiver that has a commit has all of this type that is in its
 * trees: no filter that it asks with could have left them out.
 */
bool find_has_entries(const struct found *f, enum object_type type);

#endif
