/* SPDX-License-Identifier: MIT */
/*
 * A list of names of packs, as users give them to --keep-pack and on standard
 * input: "pack-<hex>.pack", without the directory.
 */
#ifndef PACKS_NAMED_PACKS_H
#define PACKS_NAMED_PACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "pack/pack.h"

struct named_packs {
	/* owned: names without extension */
	char **names;
	size_t nr, alloc;
};

#define NAMED_PACKS_INIT                                                       \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * Add a name; an extension ".pack" or ".idx" is removed first. Returns 0 or
 * ERR_NOMEM.
 */
int named_packs_add(struct named_packs *names, const char *name);

/*
 * Add the name of a pack, without an extension, as in the field `name` of
 * struct pack. If `name` ends with ".pack", this ending is a part of the name:
 * the pack with the name "a.pack" has the files "a.pack.pack" and "a.pack.idx".
 * Returns 0 or ERR_NOMEM.
 */
int named_packs_add_name(struct named_packs *names, const char *name);
void named_packs_release(struct named_packs *names);

/*
 * Return whether a list has a given name, or the name of a given pack. If
 * `names` is NULL, return false.
 */
bool named_packs_has_name(const struct named_packs *names, const char *name);

static inline bool named_packs_has(const struct named_packs *names,
				   const struct pack *pack)
{
	return named_packs_has_name(names, pack->name);
}

#endif
