/* SPDX-License-Identifier: MIT */
/*
 * Taking multi-pack-indexes out of the way: those that name packs that will be
 * removed, those that others have replaced, and what belongs to them.
 *
 * `dir` is a pack directory. Of a chain the file that names the layers goes
 * first: a reader finds a chain or none. All return 0, ERR_IO or ERR_NOMEM.
 */
#ifndef PACKS_MULTI_PACK_REMOVE_H
#define PACKS_MULTI_PACK_REMOVE_H

#include <stdbool.h>

#include "base/error.h"
#include "packs/named-packs.h"

struct odb_midx; /* odb/odb-midx.h */

/* The multi-pack-index, with its bitmap index and order; no chain. */
int multi_pack_remove(const char *dir, struct error *err);

/*
 * The bitmap indexes and orders of all multi-pack-indexes but the one with
 * checksum `keep` (digits; "": all), and its bitmap index unless `keep_bitmap`.
 */
int multi_pack_remove_parts(const char *dir, const char *keep, bool keep_bitmap,
			    struct error *err);

/* The chain, with all that belongs to it. */
int multi_pack_remove_chain(const char *dir, struct error *err);

/* The files of layers that are not in the chain of `top` (NULL: of all). */
int multi_pack_remove_layers(const char *dir, const struct odb_midx *top,
			     struct error *err);

/*
 * The multi-pack-index if it names one of these packs, or cannot be read, and
 * the chain if one of its layers does. A chain also goes when it names a pack
 * that is not there: Git before 2.47 removes packs and does not know of it.
 * Takes the lock (multi-pack-lock.h) and gives it back; callers of the others
 * have it. ERR_DENIED: somebody else has it.
 */
int multi_pack_remove_naming(const char *dir, const struct named_packs *names,
			     struct error *err);

#endif
