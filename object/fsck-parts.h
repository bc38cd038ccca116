/* SPDX-License-Identifier: MIT */
/* Internal declarations that fsck.c and the files that check objects share. */
#ifndef OBJECT_FSCK_PARTS_H
#define OBJECT_FSCK_PARTS_H

#include <stdbool.h>
#include <stddef.h>

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
 * Reports a message about the object. Returns 0 if the message is no error, 1
 * if it is an error, or a negative error code.
 */
int fsck_say(const struct fsck_check *c, enum fsck_msg msg, const char *fmt,
	     ...) __attribute__((format(printf, 3, 4)));

/*
 * Check a commit, a tag or a tree. Return 0 if no error was reported, 1 if an
 * error was reported, or a negative error code.
 */
int fsck_commit(const struct fsck_check *c);
int fsck_tag(const struct fsck_check *c);
int fsck_tree(const struct fsck_check *c);

/*
 * Finds names of tree entries that a file system treats as another name. A tree
 * with an entry ".GIT", "git~1" or ".g<U+200C>it" writes into .git when it is
 * checked out on macOS or Windows.
 *
 * - HFS+ ignores case and zero-width characters (U+200C..200F, 202A..202E,
 *   206A..206F, FEFF).
 * - NTFS ignores case, and drops blanks and dots at the end of a name. A colon
 *   starts the name of a stream, and a backslash is a separator. A file also
 *   has a short name. For .gitmodules, this name is "GITMOD~1" or "GI7EBA~1",
 *   where 7EBA is a hash of the long name.
 *
 * The names that are found here are those that stock Git refuses.
 */

/* The special names that a name may stand for, as bits. */
enum dotname {
	DOTNAME_GIT = 1 << 0,
	DOTNAME_GITMODULES = 1 << 1,
	DOTNAME_GITATTRIBUTES = 1 << 2,
	DOTNAME_GITIGNORE = 1 << 3,
	DOTNAME_MAILMAP = 1 << 4,
};

/*
 * Returns the special names that the `len` bytes at `name` may stand for: bits
 * of enum dotname. A NUL follows the name, and the name contains none. The cost
 * is low for most names: their first byte and a search for three byte values
 * rule them out.
 */
unsigned dotname_find(const char *name, size_t len);

#endif
