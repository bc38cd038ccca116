/* SPDX-License-Identifier: MIT */
/*
 * Checks reachability: which objects the roots reach, which of these are
 * missing, and which existing objects nothing reaches. Runs after fsck-scan.h,
 * which knows which objects exist.
 *
 * A repository without missing objects is enumerated by tree diffs (newobj.h),
 * with all processors. If an object is missing or has another type than a link
 * to it says, the objects are visited one by one. So each broken link can be
 * named.
 *
 * The commit-graph is not used. For one thread.
 */
#ifndef CHECK_FSCK_LINKS_H
#define CHECK_FSCK_LINKS_H

#include <stdbool.h>

#include "check/fsck-names.h"
#include "check/fsck-scan.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/* An object in a report. */
struct fsck_links_object {
	struct oid oid;
	/* of a missing object: the expected type */
	enum object_type type;
};

struct fsck_links_events {
	/* `from` exists and has a link to `to`, which is missing. */
	int (*broken)(void *ctx, const struct fsck_links_object *from,
		      const struct fsck_links_object *to, struct error *err);
	/*
	 * A link in `from` says that `to` has another type than its type
	 * `actual`. Objects that only this link reaches do not count as
	 * reached.
	 */
	int (*mistyped)(void *ctx, const struct fsck_links_object *from,
			const struct fsck_links_object *to,
			enum object_type actual, struct error *err);
	/* A reachable object is missing. */
	int (*missing)(void *ctx, const struct fsck_links_object *object,
		       struct error *err);
	/*
	 * No root reaches this object. `used`: another unreachable object has a
	 * link to it.
	 */
	int (*unreachable)(void *ctx, const struct fsck_links_object *object,
			   bool used, struct error *err);
	void *ctx;
};

struct fsck_links {
	struct walk *walk;                      /* borrowed */
	const struct fsck_scan *scan;           /* borrowed */
	const struct fsck_links_events *events; /* borrowed */
	/*
	 * Borrowed; may be set by the caller. Objects that are visited one by
	 * one get names, starting at the roots. NULL: no names.
	 */
	struct fsck_names *names;
	struct bitset reached;   /* owned: by obj_pos */
	struct walk_items roots; /* owned: existing roots */
	/* owned: reached but missing */
	struct walk_items absent;
	/* owned: obj_pos of objects to visit one by one */
	uint32_t *stack;
	size_t stack_nr, stack_alloc;
};

/*
 * `scan` must be complete, and use the space of the walk. Returns 0 or a
 * negative error code. Release in any case.
 */
int fsck_links_init(struct fsck_links *l, struct walk *walk,
		    const struct fsck_scan *scan,
		    const struct fsck_links_events *events, struct error *err);
void fsck_links_release(struct fsck_links *l);

/*
 * Adds a root. Returns its type, 0 if it is missing, or a negative error code.
 * A missing root is reported as missing at the end if `expected` is a type, and
 * not reported if `expected` is OBJ_NONE.
 */
int fsck_links_root(struct fsck_links *l, const struct oid *oid,
		    enum object_type expected, struct error *err);

/*
 * Finds all objects that the roots reach, and reports missing ones. Returns 0
 * or a negative error code.
 */
int fsck_links_reach(struct fsck_links *l, struct error *err);

/*
 * Reports objects that are not reached, in the order of obj_pos. Returns 0 or a
 * negative error code.
 */
int fsck_links_leftover(struct fsck_links *l, struct error *err);

#endif
