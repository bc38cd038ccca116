/* SPDX-License-Identifier: MIT */
/*
 * Names of tree entries that some file system takes for another one: a tree
 * with an entry ".GIT", "git~1" or ".g<U+200C>it" writes into .git when it is
 * checked out on macOS or Windows.
 *
 * - HFS+ folds case and passes over zero-width characters (U+200C..200F,
 *   202A..202E, 206A..206F, FEFF).
 * - NTFS folds case, drops blanks and dots at the end, takes what follows a
 *   colon as the name of a stream, a backslash as a separator, and knows files
 *   by their short names as well: "GITMOD~1", or six characters of which the
 *   last four are a hash, "GI7EBA~1".
 *
 * Which names count was found by asking stock Git about them.
 */
#ifndef OBJECT_DOTNAME_H
#define OBJECT_DOTNAME_H

#include <stdbool.h>
#include <stddef.h>

/* What a name may stand for, as bits. */
enum dotname {
	DOTNAME_GIT = 1 << 0,
	DOTNAME_GITMODULES = 1 << 1,
	DOTNAME_GITATTRIBUTES = 1 << 2,
	DOTNAME_GITIGNORE = 1 << 3,
	DOTNAME_MAILMAP = 1 << 4,
};

/*
 * The names that the `len` bytes at `name` may stand for: bits of enum
 * dotname. There is a NUL after them and none among them. Most names are told
 * from these by their first byte and the absence of a few others.
 */
unsigned dotname_find(const char *name, size_t len);

#endif
