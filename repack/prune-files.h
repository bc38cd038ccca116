/* SPDX-License-Identifier: MIT */
/*
 * The files among which `git prune` finds what to remove: those of the 256
 * directories of loose objects, and temporary ones ("tmp_*") beside them.
 */
#ifndef REPACK_PRUNE_FILES_H
#define REPACK_PRUNE_FILES_H

#include "repack/prune.h"

struct prune_file {
	struct oid oid;   /* of a loose object */
	char *path;       /* owned: of another file; NULL: an object's */
	int64_t mtime_ns; /* since 1970 */
};

struct prune_files {
	struct prune_file *files; /* owned */
	size_t nr, alloc;
	size_t object_nr; /* those that are loose objects */
};

/*
 * List the 256 directories. 0 or a negative error; release in any case.
 */
int prune_files_list(struct prune_files *files, const struct repo *repo,
		     struct error *err);
void prune_files_release(struct prune_files *files);

/* Remove a temporary file or directory that is old enough, and still there. */
int prune_file_stale(const char *path, const struct prune_options *options,
		     struct error *err);

/* Deal with one that is no object: a temporary file, or a strange one. */
int prune_file_other(const struct prune_file *file,
		     const struct prune_options *options, struct error *err);

/*
 * The temporary files and directories of the object and the pack directory, and
 * in the directory for what is known of objects those that only we make.
 */
int prune_stale(const struct repo *repo, const struct prune_options *options,
		struct error *err);

#endif
