/* SPDX-License-Identifier: MIT */
/*
 * Which island a reference puts its objects into (git-pack-objects(1), "DELTA
 * ISLANDS"): the patterns of pack.island, the last that matches wins, and what
 * it captured is the island's name.
 */
#ifndef ISLANDS_PATTERNS_H
#define ISLANDS_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/pattern.h"
#include "config/config.h"

struct island_name {
	char *name;      /* owned */
	uint32_t island; /* its number */
};

struct island_patterns {
	struct pattern **patterns; /* owned, as what they point to */
	size_t nr, alloc;
	struct island_name *names; /* owned: sorted by name */
	size_t name_nr, name_alloc;
	struct buf scratch;
};

#define ISLAND_PATTERNS_INIT                                                   \
	{                                                                      \
		NULL, 0, 0, NULL, 0, 0, BUF_INIT                               \
	}

/* Compile what is configured, perhaps nothing. Release in any case. */
int island_patterns_load(struct island_patterns *patterns,
			 const struct config *config, struct error *err);
void island_patterns_release(struct island_patterns *patterns);

/*
 * Number of the island of a reference. Islands are numbered from 0 in the
 * order in which they are met. 1, 0 when it is in none, or negative.
 */
int island_patterns_match(uint32_t *island, struct island_patterns *patterns,
			  const char *ref, struct error *err);

/* Number of the island of that name; UINT32_MAX when none was met. */
uint32_t island_patterns_find(const struct island_patterns *patterns,
			      const char *name);

#endif
