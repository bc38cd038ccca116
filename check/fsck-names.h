/* SPDX-License-Identifier: MIT */
/*
 * Names of objects by how they are reached, in the syntax of git-rev-parse(1):
 * "HEAD@{1234567890}~25^2:src/". An object keeps its first name. Roots are
 * given names. Other objects get a name from an object with a link to them.
 *
 * For one thread. Memory: one string per named object.
 */
#ifndef CHECK_FSCK_NAMES_H
#define CHECK_FSCK_NAMES_H

#include "walk/objspace.h"

struct fsck_names {
	struct objspace *space; /* borrowed */
	/* array and strings owned; by obj_pos; NULL: no name */
	char **names;
	size_t alloc;
};

void fsck_names_init(struct fsck_names *n, struct objspace *space);
void fsck_names_release(struct fsck_names *n);

/* The place of a link in an object. */
struct fsck_way {
	/* number of the parent, from 1 on; 0: not a parent */
	size_t parent_nr;
	/* name of the tree entry, entry_len bytes */
	const char *entry;
	size_t entry_len;
};

/* Names a root. Returns 0 or ERR_NOMEM. */
int fsck_names_root(struct fsck_names *n, const struct oid *oid,
		    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * Names `to`, which `from` has a link to. `from_type` is the type of `from`,
 * `type` the expected type of `to`. Returns 0 or ERR_NOMEM.
 */
int fsck_names_link(struct fsck_names *n, const struct oid *from,
		    enum object_type from_type, const struct oid *to,
		    enum object_type type, const struct fsck_way *way);

/* Returns the name of an object, or NULL if it has none. */
const char *fsck_names_get(const struct fsck_names *n, const struct oid *oid);

#endif
