/* SPDX-License-Identifier: MIT */
/*
 * The names of packs and of their files. This is the one place that decides
 * which names belong to a pack of a repository.
 *
 * All files of a pack have the same name, with different extensions. Git names
 * a pack after its checksum, but the first part of the name differs:
 *
 * 	pack-<checksum>             git repack, git fetch, git receive-pack
 * 	loose-<checksum>            git maintenance run --task=loose-objects
 * 	<any>-<checksum>            git pack-objects <any>
 * 	<any>                       git index-pack <any>.pack
 * 	.tmp-<pid>-pack-<checksum>  git repack of stock Git, until the repack
 * 	                            gives the pack its final name
 *
 * So a name may have any form. Two kinds of names are special:
 * - If a name begins with ".", it is temporary. Readers use such a pack. But
 *   the pack must not be merged, removed or listed in a multi-pack-index,
 *   because a running repack may rename it.
 * - If a name begins with "multi-pack-index-", its files belong to a
 *   multi-pack-index.
 */
#ifndef PACK_PACK_NAME_H
#define PACK_PACK_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"

/* Returns whether the name of a pack is temporary. */
static inline bool pack_name_is_temporary(const char *name)
{
	return *name == '.';
}

/*
 * If `file_name` is the name of a file of a pack, returns the length of the
 * pack's name at its start. file_name + this length is the extension: ".pack",
 * ".idx", ".rev", ".bitmap", ".mtimes", ".promisor" or ".keep". Returns 0 for
 * all other names, and if the name of the pack is temporary. `file_name` has no
 * directory.
 */
size_t pack_name_len(const char *file_name);

/*
 * Adds the name of a pack to a list of names. Removes an extension ".pack" or
 * ".idx", which users may give to --keep-pack and on standard input. If the
 * name of the pack itself ends with ".pack", use strlist_add(): it adds a name
 * unchanged. Returns 0 or ERR_NOMEM.
 */
int pack_names_add(struct strlist *names, const char *name);

/*
 * Returns whether a list has the name of a pack (without an extension). If
 * `names` is NULL, returns false.
 */
static inline bool pack_names_has(const struct strlist *names, const char *name)
{
	return names && strlist_has(names, name);
}

#endif
