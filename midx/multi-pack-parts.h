/* SPDX-License-Identifier: MIT */
/*
 * What writers of the one multi-pack-index and of chains share; in
 * multi-pack.c.
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
 * Put bytes into a file of a pack directory, by way of a temporary one there;
 * `path` may be NULL, when there was no memory for it. 0 or negative.
 */
int multi_pack_put_file(const char *dir, const char *path, const void *bytes,
			size_t len, unsigned mode, enum sys_fsync_method method,
			struct error *err);

/* A multi-pack-index and its bitmap index. */
struct multi_pack_files {
	const char *dir;         /* a pack directory; borrowed */
	const char *path;        /* of the multi-pack-index; borrowed */
	const char *bitmap_path; /* borrowed; NULL: no memory for it */
	const struct buf *bytes, *bitmap; /* borrowed; no bitmap: empty */
	unsigned mode, bitmap_mode;
};

/*
 * Put both into place, the bitmap index first: nobody looks at it before there
 * is a multi-pack-index of that checksum. Both are written before the first
 * gets its name, so that a full disk leaves nothing. A multi-pack-index that
 * holds these bytes already is left as it is. 0 or negative.
 */
int multi_pack_put_files(const struct multi_pack_files *files,
			 enum sys_fsync_method method, struct error *err);

/* What a layer has to do with others; all borrowed, or NULL. */
struct multi_pack_below {
	const struct pack_bitmap *base; /* of the layers below it */
	const struct pack_bitmap *old;  /* see multi-pack-bitmap.h: `below` */
	bool compacts;
};

/*
 * Append the bytes of the bitmap index of `om`, which is linked to its packs,
 * to *out, and say in *result what was made. `below` is NULL for the one file.
 * As multi_pack_bitmap_make().
 */
int multi_pack_make_bitmap(struct buf *out, struct multi_pack_result *result,
			   const struct odb *odb, struct odb_midx *om,
			   const struct multi_pack_options *options,
			   const struct multi_pack_below *below,
			   struct error *err);

#endif
