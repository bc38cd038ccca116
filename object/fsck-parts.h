/* SPDX-License-Identifier: MIT */
/* Internal to fsck.c and its parts: the check of one object. */
#ifndef OBJECT_FSCK_PARTS_H
#define OBJECT_FSCK_PARTS_H

#include "object/fsck.h"

/* An object that is being checked. */
struct fsck_check {
	struct fsck *f;
	const struct oid *oid;
	enum object_type type;
	const char *data;
	size_t len;
	struct error *err;
};

/*
 * Reports a message. Returns 1 if the message is an error, 0 if it is less
 * severe, or a negative error code.
 */
int fsck_say(const struct fsck_check *c, enum fsck_msg msg, const char *fmt,
	     ...) __attribute__((format(printf, 3, 4)));

/*
 * Check a commit, a tag or a tree. Return 0, 1 if an error was reported, or a
 * negative error code.
 */
int fsck_commit(const struct fsck_check *c);
int fsck_tag(const struct fsck_check *c);
int fsck_tree(const struct fsck_check *c);

#endif
