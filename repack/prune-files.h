/* SPDX-License-Identifier: MIT */
/*
 * Lists and removes the files that `git prune` looks at: files in the 256
 * directories of loose objects, and temporary files ("tmp_*") in the object
 * directory and below it.
 */
#ifndef REPACK_PRUNE_FILES_H
#define REPACK_PRUNE_FILES_H

#include "repack/prune.h"

struct prune_file {
	/* of a loose object, if `path` is NULL */
	struct oid oid;
	/*
	 * Owned: the path of a file that is no loose object. NULL: a loose
	 * object.
	 */
	char *path;
	int64_t mtime_ns; /* nanoseconds since 1970 */
};

struct prune_files {
	struct prune_file *files; /* owned */
	size_t nr, alloc;
	/* how many of them are loose objects */
	size_t object_nr;
};

/*
 * List the files in the 256 directories. Returns 0 or a negative error code.
 * The caller releases *files in any case.
 */
int prune_files_list(struct prune_files *files, const struct repo *repo,
		     struct error *err);
void prune_files_release(struct prune_files *files);

/*
 * Remove a temporary file or directory that is not younger than
 * `options->expiry`. A file that is already gone is no error. Returns 0 or a
 * negative error code.
 */
int prune_file_stale(const char *path, const struct prune_options *options,
		     struct error *err);

/*
 * Handle a file that is no loose object. A temporary file is removed if it is
 * old enough. Any other file is reported to `hooks.strange` and stays. Returns
 * 0 or a negative error code.
 */
int prune_file_other(const struct prune_file *file,
		     const struct prune_options *options, struct error *err);

/*
 * Remove old temporary files and directories: all in the object directory and
 * in objects/pack, and in objects/info only those that this project writes.
 * Returns 0 or a negative error code.
 */
int prune_stale(const struct repo *repo, const struct prune_options *options,
		struct error *err);

#endif
