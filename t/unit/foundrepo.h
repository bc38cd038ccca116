/* SPDX-License-Identifier: MIT */
/*
 * Functions for random repositories: some handle the objects that a walk has
 * found, others visit the tags to which refs of the repository point.
 */
#ifndef T_UNIT_FOUNDREPO_H
#define T_UNIT_FOUNDREPO_H

#include "packing/find.h"
#include "t/unit/bitmaprepo.h"

/*
 * Returns the index in r->objects[] of the object to which a tag peels. Returns
 * `nr` if the object is not a tag.
 */
static inline uint32_t foundrepo_peel(const struct randrepo *r, uint32_t nr)
{
	while (r->objects[nr].type == OBJ_TAG)
		nr = r->objects[nr].refs[0];
	return nr;
}

/* Context of a callback that visits all tags to which refs point. */
struct foundrepo_tags {
	const struct randrepo *r;
	const bool *named; /* indexed by object number */
	uint32_t visits;
};

static inline int foundrepo_each_tag(void *ctx,
				     int (*fn)(void *fn_ctx,
					       const struct packing_tag *tag),
				     void *fn_ctx, struct error *err)
{
	struct foundrepo_tags *tags = ctx;
	const struct randrepo_object *objects = tags->r->objects;
	int ret = 0;

	(void)err;
	tags->visits++;
	for (uint32_t i = 0; i < tags->r->nr && !ret; i++) {
		struct packing_tag tag = {.tag = objects[i].oid};

		tag.target = objects[foundrepo_peel(tags->r, i)].oid;
		if (tags->named[i])
			ret = fn(fn_ctx, &tag);
	}
	return ret;
}

static inline void foundrepo_mark(const struct randrepo *r, bool *set,
				  const struct oid *oid)
{
	uint32_t nr = randrepo_find(r, oid);

	/* A walk must find each object only once. */
	assert_false(set[nr]);
	set[nr] = true;
}

/*
 * Set set[i] for each found object, where `i` is the object's index in
 * r->objects[].
 */
static inline void foundrepo_mark_all(const struct randrepo *r, bool *set,
				      struct found *f)
{
	struct oid oid;

	memset(set, 0, RANDREPO_MAX);
	for (size_t i = 0; i < f->objects.nr; i++) {
		objspace_oid(&oid, &f->walk.space, f->objects.items[i].obj_pos);
		foundrepo_mark(r, set, &oid);
	}
	for (size_t bit = bitset_next(&f->packed, 0); bit < f->packed.bits;
	     bit = bitset_next(&f->packed, bit + 1)) {
		uint32_t idx_pos = bitmap_space_idx_pos(&f->space,
							(uint32_t)bit);

		oid_from_raw(&oid, bitmap_space_id(&f->space, idx_pos),
			     HASH_SHA1);
		foundrepo_mark(r, set, &oid);
	}
}

#endif
