/* SPDX-License-Identifier: MIT */
/* What the parts of fsck.c share: one check of one object. */
#ifndef OBJECT_FSCK_PARTS_H
#define OBJECT_FSCK_PARTS_H

#include "object/fsck.h"

/* One object under inspection. */
struct fsck_check {
	struct fsck *f;
	const struct oid *oid;
	enum object_type type;
	const char *data;
	size_t len;
	struct error *err;
};

/*
 * Report something. Returns 1 for an error, 0 for less, or a negative error.
 */
int fsck_say(const struct fsck_check *c, enum fsck_msg msg, const char *fmt,
	     ...) __attribute__((format(printf, 3, 4)));

/* Each returns 0, 1 when an error was reported, or a negative error. */
int fsck_commit(const struct fsck_check *c);
int fsck_tag(const struct fsck_check *c);
int fsck_tree(const struct fsck_check *c);

#endif
