/* SPDX-License-Identifier: MIT */
/*
 * Downloads one file of a generation. Size and SHA-256 are checked while the
 * file is written.
 *
 * The functions in stored/ convert results of the store to negative error
 * codes: ERR_IO if the store does not answer, ERR_MISSING if a file is not in
 * the store.
 */
#ifndef STORED_FETCH_H
#define STORED_FETCH_H

#include "generations/history.h"
#include "sys/tempfile.h"

/* number of threads that upload or check files in parallel */
#define STORED_THREADS 4
/*
 * Number of threads that download files in parallel. Each thread has its own
 * connection, and waits for the store most of the time.
 */
#define STORED_DOWNLOADS 16

/* Returns "<dir>/<name>", malloc()ed, or NULL with *err set. */
char *stored_join(const char *dir, const char *name, struct error *err);

/*
 * Sets file->size and file->sha256 to those of the local file `path`. Returns 0
 * or a negative error code.
 */
int stored_describe(struct generation_file *file, const char *path,
		    struct error *err);

/*
 * Converts a result of a function of the store: a positive value (enum
 * filestore_result) becomes an error code, and other values stay. `what` names
 * the file in the message.
 */
int stored_result(int ret, const char *what, struct error *err);

/*
 * Downloads a file of a generation to `path`, whose directory exists. The file
 * appears complete or not at all, and replaces a file of that name. Files below
 * "objects/" are read-only, and executable files get x bits. With a `method`
 * other than SYS_FSYNC_NONE, the file and its name are durable. Returns 0,
 * ERR_MISSING if the store lacks the file, ERR_CORRUPT if the size or the
 * SHA-256 is wrong, ERR_IO if the store or the disk fails, or another error.
 */
int stored_fetch(const struct generation_place *place,
		 const struct generation_file *file, const char *path,
		 enum sys_fsync_method method, struct error *err);

/*
 * Works like stored_fetch(), with `len` bytes that the caller has. No request
 * is sent. Returns 0, ERR_CORRUPT if the size or the SHA-256 is wrong, ERR_IO
 * or another error.
 */
int stored_fetch_put(const struct generation_file *file, const char *path,
		     const void *bytes, size_t len,
		     enum sys_fsync_method method, struct error *err);

#endif
