/* SPDX-License-Identifier: MIT */
/*
 * A list of pack names, as --keep-pack and standard input give them:
 * "pack-<hex>.pack", without directory.
 */
#ifndef PACKS_NAMED_PACKS_H
#define PACKS_NAMED_PACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "pack/pack.h"

struct named_packs {
	char **names; /* owned; without extension */
	size_t nr, alloc;
};

#define NAMED_PACKS_INIT                                                       \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * Add a name; ".pack" or ".idx" at its end is removed. Returns 0 or ERR_NOMEM.
 */
int named_packs_add(struct named_packs *names, const char *name);
void named_packs_release(struct named_packs *names);

/* Whether a name, or the name of a pack, is listed. `names` NULL: false. */
bool named_packs_has_name(const struct named_packs *names, const char *name);

static inline bool named_packs_has(const struct named_packs *names,
				   const struct pack *pack)
{
	return named_packs_has_name(names, pack->name);
}

#endif
