/* SPDX-License-Identifier: MIT */
/*
 * The islands to which references belong (git-pack-objects(1), "DELTA
 * ISLANDS"). The last pattern of pack.island that matches a reference decides.
 * The text that the pattern captures is the island's name.
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
	uint32_t island; /* number of the island */
};

struct island_patterns {
	/*
	 * owned: the compiled patterns of pack.island; each of them is owned
	 * too
	 */
	struct pattern **patterns;
	size_t nr, alloc;
	/* owned: names of the islands, sorted */
	struct island_name *names;
	size_t name_nr, name_alloc;
	struct buf scratch;
};

#define ISLAND_PATTERNS_INIT                                                   \
	{                                                                      \
		NULL, 0, 0, NULL, 0, 0, BUF_INIT                               \
	}

/*
 * Compiles the patterns of pack.island, of which there may be none. Release in
 * any case. Returns 0 or a negative error code.
 */
int island_patterns_load(struct island_patterns *patterns,
			 const struct config *config, struct error *err);
void island_patterns_release(struct island_patterns *patterns);

/*
 * Sets *island to the number of the island of a reference. New islands are
 * numbered from 0. Returns 1 if the reference is in an island, 0 if not, or a
 * negative error code.
 */
int island_patterns_match(uint32_t *island, struct island_patterns *patterns,
			  const char *ref, struct error *err);

/*
 * Returns the number of the island with a name, or UINT32_MAX if no reference
 * is in this island.
 */
uint32_t island_patterns_find(const struct island_patterns *patterns,
			      const char *name);

#endif
