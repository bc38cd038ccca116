/* SPDX-License-Identifier: MIT */
/*
 * Writing loose objects; loose.h says what their files look like.
 *
 * A file is written beside its place ("tmp_obj_XXXXXX"), made durable as
 * core.fsync says for loose-object, and renamed. One thread per writer.
 */
#ifndef ODB_LOOSE_WRITE_H
#define ODB_LOOSE_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"
#include "pack/deflate-stream.h"
#include "pack/inflate.h"
#include "repo/repo.h"
#include "sys/tempfile.h"

struct loose_writer {
	const char *dir; /* borrowed: the object directory */
	enum hash_algo algo;
	enum sys_fsync_method fsync;
	unsigned share;            /* core.sharedRepository */
	int level;                 /* of compression */
	struct deflater *deflater; /* owned */
	struct buf path, bytes;    /* of the object at hand */
	/* An object that comes in pieces; else NULL, inactive. */
	struct deflate_stream *stream; /* owned */
	struct sys_tempfile file;
};

/*
 * Write below the object directory `dir` (borrowed) with the repository's
 * core.looseCompression (or core.compression; by default the fastest level).
 * 0 or a negative error; release in any case.
 */
int loose_writer_init(struct loose_writer *w, const struct repo *repo,
		      const char *dir, struct error *err);
void loose_writer_release(struct loose_writer *w);

/*
 * Write one object, whose id the caller knows to be `oid`. Returns 1 when it
 * was written, 0 when its file was there (and is new now), or a negative error.
 */
int loose_writer_put(struct loose_writer *w, const struct oid *oid,
		     enum object_type type, const void *data, size_t len,
		     struct error *err);

/*
 * The same for an object of `len` bytes that comes in pieces. 1: begun, feed
 * all of them and end it; 0: it is there; or a negative error. Whether they
 * are the bytes of that id is for the caller to know. An object that is not
 * ended leaves nothing behind once the writer is released.
 */
int loose_writer_begin(struct loose_writer *w, const struct oid *oid,
		       enum object_type type, uint64_t len, struct error *err);
int loose_writer_feed(struct loose_writer *w, const void *data, size_t len,
		      struct error *err);
int loose_writer_end(struct loose_writer *w, struct error *err);

#endif
