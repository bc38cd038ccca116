/* SPDX-License-Identifier: MIT */
/*
 * Removes multi-pack-indexes with their side files. Two kinds of
 * multi-pack-indexes are removed: those that name packs about to be removed,
 * and those that were replaced.
 *
 * `dir` is a pack directory. The file that lists the layers of a chain is
 * removed before the layers, so that a reader finds a whole chain or none. All
 * functions return 0, ERR_IO or ERR_NOMEM. The caller of a function that
 * removes files holds the lock of the directory (sys/dirlock.h).
 */
#ifndef PACKS_MULTI_PACK_REMOVE_H
#define PACKS_MULTI_PACK_REMOVE_H

#include <stdbool.h>

#include "base/error.h"
#include "pack/pack-name.h"
#include "sys/tempfile.h"

struct odb_midx; /* odb/odb-midx.h */

/*
 * Remove the single-file multi-pack-index with its bitmap index and its order
 * file. A chain is not removed. Returns 0, ERR_IO or ERR_NOMEM.
 */
int multi_pack_remove(const char *dir, struct error *err);

/*
 * Remove the bitmap indexes and order files of all multi-pack-indexes.
 * Exception: the files of the multi-pack-index whose checksum is `keep`, in
 * hexadecimal digits; "": no exception. The bitmap index of this
 * multi-pack-index is removed too, unless `keep_bitmap` is true. Returns 0,
 * ERR_IO or ERR_NOMEM.
 */
int multi_pack_remove_parts(const char *dir, const char *keep, bool keep_bitmap,
			    struct error *err);

/*
 * Remove the chain file and the files of all layers. Returns 0, ERR_IO or
 * ERR_NOMEM.
 */
int multi_pack_remove_chain(const char *dir, struct error *err);

/*
 * Remove the files of layers that are not in the chain that ends with `top`. If
 * `top` is NULL, remove the files of all layers. Returns 0, ERR_IO or
 * ERR_NOMEM.
 */
int multi_pack_remove_layers(const char *dir, const struct odb_midx *top,
			     struct error *err);

/*
 * Look for files that are of no use beside a single multi-pack-index. They are
 * of two kinds: the files that multi_pack_remove_parts() would remove if it got
 * the same arguments; and the files of all layers of a chain. Removes nothing.
 * Returns 1 if there is such a file, 0 if not, ERR_IO or ERR_NOMEM.
 */
int multi_pack_has_replaced(const char *dir, const char *keep, bool keep_bitmap,
			    struct error *err);

/*
 * Take the lock of the multi-pack-indexes (packs/multi-pack-lock.h) before
 * packs are removed. Call this function before the directory itself is locked
 * (sys/dirlock.h): writers of multi-pack-indexes take the two locks in this
 * order, too.
 *
 * Takes no lock if there is no multi-pack-index. Also takes no lock if another
 * process still has the lock after a second: a killed process may have left it.
 * Then *held has the message of sys_lockfile_create(), which names the lock
 * file; else held->code is 0. If the other process still runs and is one of
 * this project, removing packs is safe: before the other process installs a
 * multi-pack-index, it takes the lock of the directory and checks that the
 * packs exist. Release the lock with sys_tempfile_abort(). Returns 0, ERR_IO or
 * ERR_NOMEM.
 */
int multi_pack_lock_removal(struct sys_tempfile *lock, const char *dir,
			    unsigned share, struct error *held,
			    struct error *err);

/*
 * Remove the multi-pack-index if it names one of the packs in `names` or cannot
 * be read. Remove the chain if one of its layers names one of these packs,
 * cannot be read, or names a pack that does not exist. (Git before 2.47 removes
 * packs without looking at chains.) The caller has called
 * multi_pack_lock_removal(). Returns 0, ERR_IO or ERR_NOMEM.
 */
int multi_pack_remove_naming(const char *dir, const struct strlist *names,
			     struct error *err);

#endif
