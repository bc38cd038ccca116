/* SPDX-License-Identifier: MIT */
/*
 * Lists the packs in a directory by name, without opening them. A pack is
 * listed if it has an index: the index is written last and removed first.
 *
 * Side files of a pack (.keep, .promisor, .mtimes) are written before the
 * index. So a second listing of the directory sees the side files of all listed
 * packs. If there are more than a few packs, the second listing costs less than
 * three look-ups for each pack.
 */
#ifndef ODB_PACK_LIST_H
#define ODB_PACK_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "pack/pack.h"

struct pack_list_entry {
	/* owned: path of the pack without suffix, "<dir>/pack-<hex>" */
	char *base;
	struct pack_side_files side_files;
};

struct pack_list {
	struct pack_list_entry *entries; /* owned, not sorted */
	size_t nr, alloc;
	/* true: `side_files` is set in all entries of the list */
	bool knows_side_files;
};

/*
 * If a directory has more packs than this, pack_list_read() lists it a second
 * time to find the side files of the packs (such as .keep). For fewer packs, a
 * second listing costs more than a look-up of each side file. So the code that
 * opens a pack looks them up.
 */
#define PACK_LIST_FEW 3

/*
 * Lists the directory `dir`. A missing directory has no packs. Returns 0,
 * ERR_IO or ERR_NOMEM. The caller releases *list in any case.
 */
int pack_list_read(struct pack_list *list, const char *dir, struct error *err);
void pack_list_release(struct pack_list *list);

/*
 * Returns the side files of pack `i` for pack_open_with(), or NULL if they
 * are not known.
 */
static inline const struct pack_side_files *pack_list_side_files(
	const struct pack_list *list, size_t i)
{
	return list->knows_side_files ? &list->entries[i].side_files : NULL;
}

#endif
