/* SPDX-License-Identifier: MIT */
/*
 * The packs that a list of items becomes: one, or with a limit to their size
 * as many as it takes.
 *
 * All are complete under temporary names before the first is installed.
 */
#ifndef PACKS_NEWPACKS_H
#define PACKS_NEWPACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "packs/newpack.h"

struct newpacks {
	struct newpack **packs; /* owned, and what they point to */
	size_t nr, alloc;
	struct write_report report; /* of all */
};

/*
 * Make and index the packs in directory `dir`. `mtimes`, by item, makes them
 * cruft packs; NULL: they are none. Release in any case.
 */
int newpacks_make(struct newpacks *np, struct packing_items *items,
		  const uint32_t *mtimes, const char *dir,
		  const struct newpack_options *options, struct error *err);

/* newpack_promisor() for all. */
int newpacks_promisor(struct newpacks *np, const char *dir, struct error *err);

/* newpack_send(): a single pack into a sink. */
int newpacks_send(struct newpacks *np, struct packing_items *items,
		  struct pack_sink sink, const struct newpack_options *options,
		  struct error *err);
void newpacks_release(struct newpacks *np);

/* newpack_install() all. */
int newpacks_install(struct newpacks *np, const char *base, struct error *err);

#endif
