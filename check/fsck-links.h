/* SPDX-License-Identifier: MIT */
/*
 * Whether all that is needed is there: what the roots reach, which of it is
 * missing, and what is there that nothing reaches. After fsck-scan.h, which
 * knows what there is.
 *
 * A repository that lacks nothing is enumerated by tree difference
 * (newobj.h), with all processors. As soon as anything is missing or of
 * another type than its place says, the objects are gone through one by one,
 * so that each broken link can be named.
 *
 * The commit-graph is not relied on. One thread calls.
 */
#ifndef CHECK_FSCK_LINKS_H
#define CHECK_FSCK_LINKS_H

#include <stdbool.h>

#include "check/fsck-names.h"
#include "check/fsck-scan.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/* An object as it is spoken of. */
struct fsck_links_object {
	struct oid oid;
	enum object_type type; /* expected, for one that is not there */
};

struct fsck_links_events {
	/* `from` is there and names `to`, which is not. */
	int (*broken)(void *ctx, const struct fsck_links_object *from,
		      const struct fsck_links_object *to, struct error *err);
	/*
	 * `from` names `to` as something else than its type `actual`. What the
	 * link would reach does not count as reached.
	 */
	int (*mistyped)(void *ctx, const struct fsck_links_object *from,
			const struct fsck_links_object *to,
			enum object_type actual, struct error *err);
	/* Something reachable is not there. */
	int (*missing)(void *ctx, const struct fsck_links_object *object,
		       struct error *err);
	/* Nothing reaches this; `used`: another such object names it. */
	int (*unreachable)(void *ctx, const struct fsck_links_object *object,
			   bool used, struct error *err);
	void *ctx;
};

struct fsck_links {
	struct walk *walk;                      /* borrowed */
	const struct fsck_scan *scan;           /* borrowed */
	const struct fsck_links_events *events; /* borrowed */
	/*
	 * Borrowed, may be set: what is gone through one by one is named from
	 * the roots on. NULL: no names.
	 */
	struct fsck_names *names;
	struct bitset reached;    /* owned: by obj_pos */
	struct walk_items roots;  /* owned: those that are there */
	struct walk_items absent; /* owned: reached, but not there */
	uint32_t *stack;          /* owned: obj_pos, for going one by one */
	size_t stack_nr, stack_alloc;
};

/*
 * `scan` is over; its space is the walk's. 0 or a negative error; release in
 * any case.
 */
int fsck_links_init(struct fsck_links *l, struct walk *walk,
		    const struct fsck_scan *scan,
		    const struct fsck_links_events *events, struct error *err);
void fsck_links_release(struct fsck_links *l);

/*
 * Add a root. Returns its type; 0 when it is not there, which is not reported
 * (unless `expected` is a type: then as missing, in the end); or a negative
 * error.
 */
int fsck_links_root(struct fsck_links *l, const struct oid *oid,
		    enum object_type expected, struct error *err);

/* Find what the roots reach, and report what is missing. */
int fsck_links_reach(struct fsck_links *l, struct error *err);

/* Report what is not reached, in the order of obj_pos. */
int fsck_links_leftover(struct fsck_links *l, struct error *err);

#endif
