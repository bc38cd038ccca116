/* SPDX-License-Identifier: MIT */
/*
 * Removing multi-pack-indexes: those that name packs about to be removed, those
 * that were replaced, and their side files.
 *
 * `dir` is a pack directory. Of a chain, the file that lists the layers is
 * removed first, so that a reader finds a whole chain or none. All functions
 * return 0, ERR_IO or ERR_NOMEM.
 */
#ifndef PACKS_MULTI_PACK_REMOVE_H
#define PACKS_MULTI_PACK_REMOVE_H

#include <stdbool.h>

#include "base/error.h"
#include "packs/named-packs.h"

struct odb_midx; /* odb/odb-midx.h */

/*
 * Remove the single-file multi-pack-index with its bitmap index and order; not
 * a chain.
 */
int multi_pack_remove(const char *dir, struct error *err);

/*
 * Remove the bitmap indexes and orders of all multi-pack-indexes except the one
 * with checksum `keep` (hex digits; "": none is kept). Its bitmap index is kept
 * if `keep_bitmap` is true.
 */
int multi_pack_remove_parts(const char *dir, const char *keep, bool keep_bitmap,
			    struct error *err);

/* Remove the chain and all its files. */
int multi_pack_remove_chain(const char *dir, struct error *err);

/*
 * Remove the files of layers that are not in the chain of `top` (NULL: of all
 * layers).
 */
int multi_pack_remove_layers(const char *dir, const struct odb_midx *top,
			     struct error *err);

/*
 * Remove the multi-pack-index if it names one of these packs or cannot be read.
 * Remove the chain if one of its layers names one of them, names a pack that
 * does not exist, or cannot be read. (Git before 2.47 removes packs without
 * looking at chains.) Takes and releases the lock (multi-pack-lock.h); callers
 * of the other functions hold it. Also returns ERR_DENIED if another process
 * holds the lock.
 */
int multi_pack_remove_naming(const char *dir, const struct named_packs *names,
			     unsigned share, struct error *err);

#endif
