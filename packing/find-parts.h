/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files that implement packing/find.h. */
#ifndef PACKING_FIND_PARTS_H
#define PACKING_FIND_PARTS_H

#include "packing/find.h"

/*
 * Add commits (commit_nr) whose trees the receiver has, as long as there is
 * room. Returns 0 or ERR_NOMEM.
 */
int find_boundary_add(struct found *f, const uint32_t *commits, size_t nr);

/*
 * Collect the objects of the boundary's trees; later calls do nothing. If all
 * objects of the receiver are known already, the trees only provide delta
 * bases. The newest commits then suffice. Returns 0 or a negative error code.
 */
int find_boundary_collect(struct found *f, struct error *err);

/*
 * Collect like find_boundary_collect(), for the listed objects that a walk has
 * found. Only boundary trees that can share objects or bases with the listed
 * objects are read. Returns 0 or a negative error code.
 */
int find_boundary_collect_near(struct found *f, const struct walk_tips *wants,
			       struct error *err);

/*
 * Whether a receiver that has a commit has all objects of this type in the
 * commit's trees. False if the filter could have left some of them out.
 */
bool find_has_entries(const struct found *f, enum object_type type);

/*
 * Make tips of the wants of a client without haves, using the index to learn
 * their types. The index may be wrong if it is not proven. Returns 0 or a
 * negative error code.
 */
int find_wants(struct found *f, struct walk_tips *tips, struct error *err);

/*
 * Take the prepared answer to a request, with the tags that the request
 * includes. Call this function only if stored bytes may be copied and the
 * receiver reads OFS_DELTA. Returns 1 if there is an answer, 0 if there is
 * none, or a negative error code.
 */
int find_prepared(struct found *f, struct error *err);

/*
 * Whether an object is sent as part of found->content; false if there is no
 * content. In find-tags.c.
 */
bool find_is_prepared(const struct found *f, const struct oid *oid);

/*
 * The order of a pack. The order is checked unless `wanted` objects are few of
 * the pack's. Returns NULL and sets *err if memory is exhausted.
 */
const struct pack_rev *find_order(struct pack *pack, size_t wanted,
				  struct error *err);

/* Whether `nr` objects are few of a pack's. */
static inline bool find_is_few(const struct pack *pack, size_t nr)
{
	return nr < pack->idx.nr / 64;
}

#endif
