/* SPDX-License-Identifier: MIT */
/*
 * Checks whether the objects of a received pack are well-formed, and whether
 * all linked objects exist in the pack or in the repository.
 *
 * All threads of an indexer call the checker, in any order of objects. Ids of
 * linked objects are collected in a set (about 25 bytes for each distinct id)
 * and looked up at the end.
 */
#ifndef ODB_PACK_CHECK_H
#define ODB_PACK_CHECK_H

#include <stdbool.h>

#include "object/fsck.h"
#include "odb/fsck-blob.h"
#include "indexer/indexer.h"

struct pack_check;

struct pack_check_options {
	/* borrowed; NULL: do not check that objects are well-formed */
	const struct fsck_rules *rules;
	bool links; /* collect links of objects */
	unsigned threads;
	enum hash_algo algo;
	/* Called for each problem with an object. Calls do not overlap. */
	int (*report)(void *ctx, const struct fsck_report *report,
		      struct error *err);
	void *ctx;
};

/*
 * Makes a checker with a copy of the options. Returns NULL if memory runs out.
 */
struct pack_check *pack_check_new(const struct pack_check_options *options);
void pack_check_free(struct pack_check *check);

/*
 * Adds a commit of the shallow boundary, whose parents need not exist. Add all
 * commits of the boundary before the first object is checked. `ctx` is the
 * checker, so this is a callback for repo_shallow_each(). Returns 0 or
 * ERR_NOMEM.
 */
int pack_check_add_boundary(void *ctx, const struct oid *oid);

/*
 * Checks one object. This function is the callback `object` of struct
 * pack_indexer_hooks, and `ctx` is the checker. Returns 0, ERR_CORRUPT, or
 * another error code. ERR_CORRUPT means one of two things: the object is
 * malformed ("fsck error in packed object"), or links are collected and the
 * object cannot be parsed.
 */
int pack_check_object(void *ctx, unsigned thread_nr, const struct oid *oid,
		      enum object_type type, const void *data, size_t len,
		      struct error *err);

/*
 * Checks the blobs that trees list as .gitmodules or .gitattributes. The blobs
 * are read from the pack in `ix` or by the callback known->base. `missing`
 * receives the ids of blobs that cannot be read, so that the caller can check
 * them later. If `missing` is NULL, such a blob is an error. Returns 0,
 * ERR_CORRUPT, or another error code.
 */
int pack_check_blobs(struct pack_check *check, struct pack_indexer *ix,
		     const struct pack_indexer_hooks *known,
		     void (*missing)(void *ctx, const struct oid *oid),
		     void *ctx, struct error *err);

/*
 * Checks that all linked objects exist. The callback known->has looks up
 * objects in the repository; NULL: only the pack is searched. If known->has
 * does not find an object, known->base is asked, if it is not NULL.
 * *is_self_contained is set to whether the pack has all linked objects. Returns
 * 0, ERR_MISSING ("did not receive expected object <id>"), ERR_CORRUPT if an
 * object has another type than a link to it requires, or another error code.
 */
int pack_check_links(struct pack_check *check,
		     const struct pack_indexer_hooks *known,
		     bool *is_self_contained, struct error *err);

#endif
