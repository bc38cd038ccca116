/* SPDX-License-Identifier: MIT */
/*
 * One attribute of paths, by the rules of gitattributes(5).
 *
 * Rules are added file by file, those that others override first, and settled;
 * what says nothing about the attribute, by itself or through macros, is
 * dropped then. After that it is immutable, and threads may share it. Where
 * the files are: attr-files.h.
 *
 * A line is a pattern and attributes, or the definition of a macro:
 *
 *	*.bin  -delta diff=hex        # unset, set to a value
 *	"a b"  !delta                 # quoted as in C; unspecified
 *	[attr]packed  -delta -diff    # *.zip packed
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
	ATTR_VALUE, /* some string */
};

struct attrs;

/* Rules for the attribute `name`: none yet. NULL when out of memory. */
struct attrs *attrs_new(const char *name);
void attrs_free(struct attrs *attrs);

enum {
	ATTRS_MACROS = 1 << 0, /* macros may be defined here: not in files of
				  subdirectories */
	ATTRS_ICASE = 1 << 1,  /* core.ignoreCase */
};

/*
 * Add the lines of a file, which hold for paths below `dir`: "" or one that
 * ends in a slash. What Git does not take (negative patterns, names that are
 * none, lines of 2,048 bytes or more, macros where there may be none) is passed
 * over. The text is NUL-terminated past `len`. 0 or ERR_NOMEM.
 */
int attrs_add(struct attrs *attrs, const char *text, size_t len,
	      const char *dir, unsigned flags);

/*
 * All rules are there. 0, ERR_NOMEM, or ERR_UNSUPPORTED for more than 255
 * macros that lead to the attribute.
 */
int attrs_settle(struct attrs *attrs, struct error *err);

/* Whether there is any rule: if not, the attribute is unspecified anywhere. */
bool attrs_any(const struct attrs *attrs);

/*
 * The attribute of a file (not a directory), by its path from the top. Costs a
 * match for each rule until one decides.
 */
enum attr_state attrs_of(const struct attrs *attrs, const char *path);

#endif
