/* SPDX-License-Identifier: MIT */
/* What the files that make up packing/find.h share. */
#ifndef PACKING_FIND_PARTS_H
#define PACKING_FIND_PARTS_H

#include "packing/find.h"

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
 * The same after a walk whose objects are listed: only as far as that may say
 * something of these, or be a base for them.
 */
int find_boundary_collect_near(struct found *f, const struct walk_tips *wants,
			       struct error *err);

/*
 * Whether a receiver that has a commit has all of this type that is in its
 * trees: no filter that it asks with could have left them out.
 */
bool find_has_entries(const struct found *f, enum object_type type);

/*
 * Make tips of the wants, asking the index what they are: for a client that has
 * nothing. The index may be wrong about it, if it is not proven. 0 or negative.
 */
int find_wants(struct found *f, struct walk_tips *tips, struct error *err);

/*
 * Take the answer to a request that is prepared, and tags that come along: 1,
 * or 0 when there is none, or negative. Only for who copies what is stored, and
 * understands distances.
 */
int find_prepared(struct found *f, struct error *err);

/*
 * Whether an object is sent as part of found->content; false where there is
 * none. In find-tags.c.
 */
bool find_is_prepared(const struct found *f, const struct oid *oid);

/*
 * The order of a pack: proven, unless `wanted` objects are few of it. NULL with
 * *err when out of memory.
 */
const struct pack_rev *find_order(struct pack *pack, size_t wanted,
				  struct error *err);

/* Whether `nr` objects are few of a pack's. */
static inline bool find_is_few(const struct pack *pack, size_t nr)
{
	return nr < pack->idx.nr / 64;
}

#endif
