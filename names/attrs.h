/* SPDX-License-Identifier: MIT */
/*
 * Finds one attribute of paths, by the rules of gitattributes(5).
 *
 * Rules are added file by file, lowest precedence first, and then settled.
 * Settling drops all rules that do not set the attribute, directly or through
 * macros. After settling the rules are immutable, and threads may share them.
 * attr-files.h finds the files.
 *
 * A line is a pattern with attributes, or the definition of a macro:
 *
 * 	*.bin  -delta diff=hex        # unset, set to a value
 * 	"a b"  !delta                 # quoted as in C; unspecified
 * 	[attr]packed  -delta -diff    # *.zip packed
 */
#ifndef NAMES_ATTRS_H
#define NAMES_ATTRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum attr_state {
	ATTR_UNSPECIFIED,
	ATTR_SET,
	ATTR_UNSET,
	ATTR_VALUE, /* set to a string */
};

struct attrs;

/*
 * Makes an empty set of rules for the attribute `name`. Returns NULL if memory
 * runs out.
 */
struct attrs *attrs_new(const char *name);
void attrs_free(struct attrs *attrs);

enum {
	/* macros may be defined here; not in files of subdirectories */
	ATTRS_MACROS = 1 << 0,
	ATTRS_ICASE = 1 << 1, /* core.ignoreCase */
};

/*
 * Adds the lines of a file, which apply to paths below `dir`. `dir` is "" or
 * ends in a slash. The text must have a NUL after `len` bytes. Lines that Git
 * rejects are skipped: negative patterns, invalid names, lines of 2,048 bytes
 * or more, macros where they are not allowed. Returns 0 or ERR_NOMEM.
 */
int attrs_add(struct attrs *attrs, const char *text, size_t len,
	      const char *dir, unsigned flags);

/*
 * Settles the rules after all were added. Returns 0, ERR_NOMEM, or
 * ERR_UNSUPPORTED if more than 255 macros set the attribute.
 */
int attrs_settle(struct attrs *attrs, struct error *err);

/*
 * Returns whether there is any rule. If not, the attribute is unspecified for
 * all paths.
 */
bool attrs_any(const struct attrs *attrs);

/*
 * Returns the attribute of a file, not of a directory, by its path from the
 * top. Cost: one match per rule until a rule decides.
 */
enum attr_state attrs_of(const struct attrs *attrs, const char *path);

#endif
