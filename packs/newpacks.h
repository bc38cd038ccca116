/* SPDX-License-Identifier: MIT */
/*
 * Makes the packs for one list of objects: one, or several if the size of packs
 * is limited.
 *
 * All packs are complete under temporary names before the first one is
 * installed.
 */
#ifndef PACKS_NEWPACKS_H
#define PACKS_NEWPACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pack/pack-name.h"
#include "packs/newpack.h"

struct newpacks {
	/* owned array of owned packs */
	struct newpack **packs;
	size_t nr, alloc;
	/* sum of the reports of all packs */
	struct write_report report;
};

/*
 * Make and index the packs in directory `dir`. If `mtimes` is not NULL, the
 * packs become cruft packs; mtimes[i] is the time of item i. Release *np in any
 * case. Returns 0 or a negative error code.
 */
int newpacks_make(struct newpacks *np, struct packing_items *items,
		  const uint32_t *mtimes, const char *dir,
		  const struct newpack_options *options, struct error *err);

/*
 * Make all packs promisor packs, see newpack_promisor(). Returns 0 or a
 * negative error code.
 */
int newpacks_promisor(struct newpacks *np, const char *dir, struct error *err);

/*
 * Write a single pack into a sink, see newpack_send(). Returns 0 or a negative
 * error code.
 */
int newpacks_send(struct newpacks *np, struct packing_items *items,
		  struct pack_sink sink, const struct newpack_options *options,
		  struct error *err);
void newpacks_release(struct newpacks *np);

/*
 * Install all packs; see newpack_install(). Returns 0 or a negative error code.
 */
int newpacks_install(struct newpacks *np, const char *base, struct error *err);

/*
 * Add the names of the packs ("pack-<hex>"). Returns 0 or ERR_NOMEM.
 */
int newpacks_names(struct strlist *names, const struct newpacks *np);

#endif
