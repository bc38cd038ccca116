/* SPDX-License-Identifier: MIT */
/*
 * How objects are reached, in words that git-rev-parse(1) understands:
 * "HEAD@{1234567890}~25^2:src/". An object has the name it got first: roots are
 * given one, and what an object names gets one from that of the object.
 *
 * One thread. A string for each object that has a name.
 */
#ifndef CHECK_FSCK_NAMES_H
#define CHECK_FSCK_NAMES_H

#include "walk/objspace.h"

struct fsck_names {
	struct objspace *space; /* borrowed */
	char **names;           /* owned, and each: by obj_pos; NULL: none */
	size_t alloc;
};

void fsck_names_init(struct fsck_names *n, struct objspace *space);
void fsck_names_release(struct fsck_names *n);

/* Where in an object another is named. */
struct fsck_way {
	size_t parent_nr;  /* of a commit, from 1 on; 0: not as a parent */
	const char *entry; /* of a tree: its name, of entry_len bytes */
	size_t entry_len;
};

/* Name a root. 0 or ERR_NOMEM. */
int fsck_names_root(struct fsck_names *n, const struct oid *oid,
		    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * `from`, an object of the type `from_type`, names `to`, which should be of the
 * type `type`. 0 or ERR_NOMEM.
 */
int fsck_names_link(struct fsck_names *n, const struct oid *from,
		    enum object_type from_type, const struct oid *to,
		    enum object_type type, const struct fsck_way *way);

/* NULL when it has none. */
const char *fsck_names_get(const struct fsck_names *n, const struct oid *oid);

#endif
