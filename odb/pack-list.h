/* SPDX-License-Identifier: MIT */
/*
 * The packs in a directory, by name: those that have an index, which comes last
 * and goes first of a pack's files. Nothing is opened.
 *
 * What else there is of a pack (.keep, .promisor, .mtimes) comes before its
 * index does, so it is seen by who looks after that. With more than a few packs
 * the directory is listed a second time for it; to ask for three files of each
 * would be more than to open them.
 */
#ifndef ODB_PACK_LIST_H
#define ODB_PACK_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "pack/pack.h"

struct pack_list_entry {
	char *base; /* owned: "<dir>/pack-<hex>", no extension */
	struct pack_beside beside;
};

struct pack_list {
	struct pack_list_entry *entries; /* owned, in no order */
	size_t nr, alloc;
	bool knows_beside; /* else it has to be looked for */
};

/* Up to so many packs are left to be looked around by who opens them. */
#define PACK_LIST_FEW 3

/*
 * List directory `dir`; one that is not there has no packs. 0, ERR_IO or
 * ERR_NOMEM; *list is to be released in any case.
 */
int pack_list_read(struct pack_list *list, const char *dir, struct error *err);
void pack_list_release(struct pack_list *list);

/* For pack_open_beside(); NULL: not known. */
static inline const struct pack_beside *pack_list_beside(
	const struct pack_list *list, size_t i)
{
	return list->knows_beside ? &list->entries[i].beside : NULL;
}

#endif
