/* SPDX-License-Identifier: MIT */
/*
 * Loads rules of attributes from the files of gitattributes(5). Lowest
 * precedence first: a system-wide file, the user's file (core.attributesFile),
 * .gitattributes files, $GIT_DIR/info/attributes.
 *
 * .gitattributes files come from the work tree; where a file is missing there,
 * from the index. A bare repository has none. A tree named by GIT_ATTR_SOURCE
 * or attr.tree replaces both. In a work tree, only its top and the directories
 * of files in the index are searched.
 */
#ifndef NAMES_ATTR_FILES_H
#define NAMES_ATTR_FILES_H

#include "base/error.h"
#include "names/attrs.h"
#include "odb/odb.h"

/*
 * Loads the rules about one attribute into *out: settled, owned by the caller.
 * Missing files, and symlinks in the work tree, are skipped. If GIT_ATTR_SOURCE
 * does not name a tree, returns ERR_INVALID with Git's message; if attr.tree
 * does not, it counts as an empty tree. Returns 0 or a negative error code.
 */
int attr_files_load(struct attrs **out, const char *name, const struct odb *odb,
		    struct error *err);

/*
 * Returns the path of the user's file in *out, malloc()ed: core.attributesFile,
 * or the default below XDG_CONFIG_HOME or HOME. *out is NULL if none of these
 * is set. Returns 0 or ERR_NOMEM.
 */
int attr_files_user_path(char **out, const struct config *config,
			 struct error *err);

#endif
