/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with the objects of a pack that is coming in: are they
 * well-formed, and is what they name there, in the pack or in the repository.
 *
 * Objects come from all threads of an indexer, in any order. What they name is
 * gathered in a set of ids (a quarter of a hundred bytes for each distinct
 * one), and looked for in the end.
 */
#ifndef ODB_PACK_CHECK_H
#define ODB_PACK_CHECK_H

#include <stdbool.h>

#include "object/fsck.h"
#include "odb/fsck-blob.h"
#include "pack/indexer.h"

struct pack_check;

struct pack_check_options {
	const struct fsck_rules *rules; /* borrowed; NULL: form is no matter */
	bool links;                     /* gather what objects name */
	unsigned threads;
	enum hash_algo algo;
	/* Something is wrong with an object; calls do not overlap. */
	int (*report)(void *ctx, const struct fsck_report *report,
		      struct error *err);
	void *ctx;
};

/* The options are copied. NULL when out of memory. */
struct pack_check *pack_check_new(const struct pack_check_options *options);
void pack_check_free(struct pack_check *check);

/*
 * Look at an object: struct pack_indexer_hooks' `object`, of which `ctx` is
 * the check. ERR_CORRUPT ("fsck error in packed object") for one that is
 * malformed, or does not parse when links are gathered.
 */
int pack_check_object(void *ctx, unsigned thread_nr, const struct oid *oid,
		      enum object_type type, const void *data, size_t len,
		      struct error *err);

/*
 * Check the blobs that trees have as .gitmodules and the like, read from `ix`
 * or by hooks.base. One that neither has is left for who gets the rest:
 * `missing` gets its id (NULL: an error). 0, ERR_CORRUPT, or another error.
 */
int pack_check_blobs(struct pack_check *check, struct pack_indexer *ix,
		     const struct pack_indexer_hooks *known,
		     void (*missing)(void *ctx, const struct oid *oid),
		     void *ctx, struct error *err);

/*
 * Check that all that was named is there, by `has`. *is_self_contained tells
 * whether the pack had all of it. 0, ERR_MISSING ("did not receive expected
 * object <id>"), ERR_CORRUPT for one of another type than its place says, or
 * another error.
 */
int pack_check_links(struct pack_check *check,
		     const struct pack_indexer_hooks *known,
		     bool *is_self_contained, struct error *err);

#endif
