/* SPDX-License-Identifier: MIT */
/*
 * Finds one attribute of paths, by the rules of gitattributes(5).
 *
 * Rules are added file by file, lowest precedence first, and then settled.
 * Settling keeps only the rules that set the attribute, directly or through
 * macros. After settling the rules are immutable, and threads may share them.
 * attr-files.c finds the files.
 *
 * A line is a pattern with attributes, or the definition of a macro. A pattern
 * may be quoted as in C:
 *
 * 	*.bin  -delta diff=hex        # delta is unset, diff has a value
 * 	"a b"  !delta                 # delta is unspecified
 * 	[attr]packed  -delta -diff    # defines the macro `packed`
 * 	*.zip  packed                 # uses the macro
 */
#ifndef NAMES_ATTRS_H
#define NAMES_ATTRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "odb/odb.h"

enum attr_state {
	ATTR_UNSPECIFIED,
	ATTR_SET,
	ATTR_UNSET,
	/* the attribute is set to a string, as in "diff=hex" */
	ATTR_VALUE,
};

struct attrs;

/*
 * Makes an empty set of rules for the attribute `name`. Returns NULL if memory
 * runs out.
 */
struct attrs *attrs_new(const char *name);
void attrs_free(struct attrs *attrs);

enum {
	/*
	 * The file may define macros. Without this flag, definitions are
	 * skipped, as files of subdirectories may not define any.
	 */
	ATTRS_MACROS = 1 << 0,
	ATTRS_ICASE = 1 << 1, /* core.ignoreCase */
};

/*
 * Adds the lines of an attribute file, which apply to paths below `dir`. `dir`
 * is "" or ends in a slash. The text must have a NUL after `len` bytes. Lines
 * that Git rejects are skipped: negative patterns, invalid names, lines of
 * 2,048 bytes or more, and macros without ATTRS_MACROS. Returns 0 or ERR_NOMEM.
 */
int attrs_add(struct attrs *attrs, const char *text, size_t len,
	      const char *dir, unsigned flags);

/*
 * Call this function after all rules were added. It drops the rules that do not
 * set the wanted attribute. Returns 0, ERR_NOMEM, or ERR_UNSUPPORTED if more
 * than 255 macros set the attribute.
 */
int attrs_settle(struct attrs *attrs, struct error *err);

/*
 * Returns whether any rule sets the attribute. If the result is false, the
 * attribute is unspecified for all paths. attrs_settle() must have been called.
 */
bool attrs_any(const struct attrs *attrs);

/*
 * Returns the attribute of a file. `path` is relative to the top, and must not
 * be a directory. Rules are matched from the last one back, until a rule sets
 * the attribute.
 */
enum attr_state attrs_of(const struct attrs *attrs, const char *path);

/* ---- rules from files (attr-files.c) */

/*
 * Loads rules of attributes from the files of gitattributes(5), lowest
 * precedence first: a system-wide file, the user's file (core.attributesFile),
 * .gitattributes files, $GIT_DIR/info/attributes.
 *
 * A .gitattributes file is read from the work tree, or from the index if the
 * work tree lacks the file. A bare repository has no .gitattributes files. If
 * GIT_ATTR_SOURCE or attr.tree names a tree, the files are read from this tree
 * instead. In a work tree, only its top and the directories of files in the
 * index are searched.
 */

/*
 * Loads the rules about one attribute. *out is owned by the caller, and is
 * ready for queries (attrs_settle() was called). Missing files, and symlinks in
 * the work tree, are skipped. If GIT_ATTR_SOURCE does not name a tree, returns
 * ERR_INVALID with Git's message. If attr.tree does not name a tree, an empty
 * tree is used. Returns 0 or another negative error code.
 */
int attr_files_load(struct attrs **out, const char *name, const struct odb *odb,
		    struct error *err);

/*
 * Sets *out to the malloc()ed path of the user's attributes file:
 * core.attributesFile, or the default below XDG_CONFIG_HOME or HOME. *out is
 * NULL if none of these is set. Returns 0 or ERR_NOMEM.
 */
int attr_files_user_path(char **out, const struct config *config,
			 struct error *err);

#endif
