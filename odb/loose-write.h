/* SPDX-License-Identifier: MIT */
/*
 * Writes loose objects; loose.h describes their files.
 *
 * A file is first written as "tmp_obj_XXXXXX" in the directory of the object.
 * Then the file is made durable (core.fsync, loose-object) and renamed. Each
 * writer is for one thread.
 */
#ifndef ODB_LOOSE_WRITE_H
#define ODB_LOOSE_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"
#include "pack/inflate.h"
#include "repo/repo.h"
#include "sys/tempfile.h"

struct loose_writer {
	/* borrowed: path of the object directory */
	const char *dir;
	enum hash_algo algo;
	enum sys_fsync_method fsync;
	unsigned share; /* core.sharedRepository */
	/* compression level, -1 to 9 */
	int level;
	struct deflater *deflater; /* owned */
	struct deflater *of_trees; /* owned; used for trees */
	/* path and file content of the current object */
	struct buf path, bytes;
	/*
	 * The state of an object that is written in pieces. If no object is
	 * being written, `stream` is NULL and `file` is inactive.
	 */
	struct deflate_stream *stream; /* owned */
	struct sys_tempfile file;
};

/*
 * Initialises a writer for the object directory `dir` (borrowed). The level of
 * compression is core.looseCompression. If this key is not set, the level is
 * core.compression. If neither key is set, trees are not compressed, because
 * ids make most of their bytes random; other objects get the fastest level.
 * Returns 0; ERR_DENIED if the repository is a copy (repo_check_copy()) and
 * `dir` is its object directory; or another negative error code. The caller
 * releases the writer in any case.
 */
int loose_writer_init(struct loose_writer *w, const struct repo *repo,
		      const char *dir, struct error *err);
void loose_writer_release(struct loose_writer *w);

/*
 * Writes one object. The caller guarantees that `oid` is its id. Returns 1 if
 * the object was written, 0 if its file existed, or a negative error code. The
 * time of an existing file is renewed.
 */
int loose_writer_put(struct loose_writer *w, const struct oid *oid,
		     enum object_type type, const void *data, size_t len,
		     struct error *err);

/*
 * Three functions write an object of `len` bytes in pieces.
 * loose_writer_begin() returns 1 if the object must be written, 0 if its file
 * existed, or a negative error code. After 1, pass all pieces to
 * loose_writer_feed() and then call loose_writer_end(). The caller guarantees
 * that the pieces are the object `oid`. If loose_writer_end() is not called,
 * releasing the writer removes the temporary file.
 */
int loose_writer_begin(struct loose_writer *w, const struct oid *oid,
		       enum object_type type, uint64_t len, struct error *err);
int loose_writer_feed(struct loose_writer *w, const void *data, size_t len,
		      struct error *err);
int loose_writer_end(struct loose_writer *w, struct error *err);

#endif
