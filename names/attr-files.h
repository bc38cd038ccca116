/* SPDX-License-Identifier: MIT */
/*
 * Where rules of attributes are kept, as gitattributes(5) has it. Weakest
 * first: a system-wide file, the user's (core.attributesFile), .gitattributes
 * of the tree, $GIT_DIR/info/attributes.
 *
 * .gitattributes are those of the work tree, and of its index where a file is
 * missing; a bare repository has none. A tree named by GIT_ATTR_SOURCE or
 * attr.tree takes the place of both. In a work tree the directories looked into
 * are those of files in the index, and its top.
 */
#ifndef NAMES_ATTR_FILES_H
#define NAMES_ATTR_FILES_H

#include "base/error.h"
#include "names/attrs.h"
#include "odb/odb.h"

/*
 * The rules about one attribute: settled, owned by the caller. `GIT_ATTR_SOURCE
 * that names no tree is ERR_INVALID in Git's words; an attr.tree that does not
 * is an empty one. Files that are not there, or symlinks in the work tree, are
 * passed over.
 */
int attr_files_load(struct attrs **out, const char *name, const struct odb *odb,
		    struct error *err);

/*
 * Path of the user's file, malloc()ed: core.attributesFile, or the default
 * below XDG_CONFIG_HOME or HOME. 0 with NULL when there is no such place.
 */
int attr_files_user_path(char **out, const struct config *config,
			 struct error *err);

#endif
