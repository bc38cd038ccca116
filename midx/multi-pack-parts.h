/* SPDX-License-Identifier: MIT */
/*
 * Functions that the writers of a single multi-pack-index and of chains share.
 * multi-pack.c defines them.
 */
#ifndef MIDX_MULTI_PACK_PARTS_H
#define MIDX_MULTI_PACK_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "midx/multi-pack.h"
#include "sys/tempfile.h"

struct odb_midx;    /* odb/odb-midx.h */
struct pack_bitmap; /* pack-bitmap.h */

/*
 * Write bytes to a temporary file in the pack directory `dir`, and rename the
 * file to `path`. Returns ERR_NOMEM if `path` is NULL, so that a caller need
 * not check its allocation. Otherwise returns 0 or a negative error code.
 */
int multi_pack_put_file(const char *dir, const char *path, const void *bytes,
			size_t len, unsigned mode, enum sys_fsync_method method,
			struct error *err);

/* The files of a multi-pack-index and of its bitmap index. */
struct multi_pack_files {
	/* borrowed: the pack directory */
	const char *dir;
	/* borrowed: path of the multi-pack-index */
	const char *path;
	/*
	 * Borrowed: path of the bitmap index. NULL is an error:
	 * multi_pack_put_files() returns ERR_NOMEM, so a caller need not check
	 * its allocation.
	 */
	const char *bitmap_path;
	/*
	 * borrowed: content of both files; an empty `bitmap` means that no
	 * bitmap index is written
	 */
	const struct buf *bytes, *bitmap;
	unsigned mode, bitmap_mode;
};

/*
 * Install both files, the bitmap index first. Readers ignore the bitmap index
 * until its multi-pack-index, identified by checksum, is installed too. Both
 * files are written before the first one is renamed, so that a full disk
 * changes nothing. A multi-pack-index that already has these bytes is not
 * written again. Returns 0 or a negative error code.
 */
int multi_pack_put_files(const struct multi_pack_files *files,
			 enum sys_fsync_method method, struct error *err);

/*
 * What is needed to make the bitmap index of a layer of a chain (an incremental
 * multi-pack-index). The pointers are borrowed and may be NULL.
 */
struct multi_pack_below {
	/* the bitmap index of the layers below the new layer */
	const struct pack_bitmap *base;
	/*
	 * a bitmap index whose bitmaps are used; it is passed to
	 * multi_pack_bitmap_make() as request->below
	 */
	const struct pack_bitmap *old;
	bool compacts;
};

/*
 * Set options->bitmap to NULL if no bitmap index is possible in this
 * repository, and describe the reason in *warning. There are two possible
 * reasons: a shallow boundary, and promisor packs. In both cases commits may
 * lack objects that they reach, and a bitmap must contain all these objects.
 * Returns 0 or a negative error code.
 */
int multi_pack_check_bitmap(struct multi_pack_options *options,
			    struct error *warning, const struct odb *odb,
			    struct error *err);

/*
 * Append to *out the bytes of the bitmap index of the multi-pack-index `om`,
 * and store its counts in *result. Before the call, odb_midx_link() must have
 * found the packs of `om` in `odb`. If `om` is a layer of a chain (an
 * incremental multi-pack-index), `below` has what is needed of other layers. If
 * `om` is not in a chain, `below` is NULL. Returns the same codes as
 * multi_pack_bitmap_make().
 */
int multi_pack_make_bitmap(struct buf *out, struct multi_pack_result *result,
			   const struct odb *odb, struct odb_midx *om,
			   const struct multi_pack_options *options,
			   const struct multi_pack_below *below,
			   struct error *err);

#endif
