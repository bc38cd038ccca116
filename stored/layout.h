/* SPDX-License-Identifier: MIT */
/*
 * Lays out a generation as a bare repository in a directory. Every Git command
 * can open this repository. The refs are reftables:
 *
 *	<files of the record>      config, objects/pack/..., reftable/<name>;
 *	                           without the side bundle (stored/side.h)
 *	                           and published packs (stored/offer-list.h)
 *	reftable/tables.list       the tables in the order of the record
 *	reftable/<new table>       one more table: the updates of the record, if
 *	                           there are any
 *	HEAD, refs/heads           text for programs that do not know reftables
 *
 * An update is a ref that has changed since the tables of the record were
 * written (struct generation_update). Its value is the id of an object in
 * hexadecimal, or "ref: " and the name of another ref.
 */
#ifndef STORED_LAYOUT_H
#define STORED_LAYOUT_H

#include "generations/record.h"
#include "stored/updates.h"
#include "sys/tempfile.h"

/*
 * Returns whether a generation may have a file at `path`. Only the files that
 * stored_stage_make() makes are allowed. The check is necessary because an
 * attacker who can write to the store can choose the paths in a record. A file
 * "commondir" or "objects/info/alternates" would give access to other
 * repositories. Files such as "HEAD" are not allowed either, because
 * stored_layout_make() makes them itself.
 */
bool stored_layout_allows(const char *path);

struct stored_layout {
	/*
	 * Makes the file `path` with the content of `file`. The directory of
	 * `path` exists. Several threads may call this function at the same
	 * time. Returns 0 or a negative error code.
	 */
	int (*put)(void *ctx, const struct generation_file *file,
		   const char *path, struct error *err);
	void *ctx;
	/* number of threads that call put(), at least 1 */
	unsigned threads;
	/*
	 * how the files that stored_layout_make() writes without put() are made
	 * durable
	 */
	enum sys_fsync_method method;
};

/*
 * Makes the empty directory `dir` a bare repository. Returns 0 or a negative
 * error code. ERR_CORRUPT: the files of the record do not form a repository, or
 * a file is not allowed. After an error, some files may be in the directory.
 */
int stored_layout_make(const char *dir, const struct generation *g,
		       const struct stored_layout *how, struct error *err);

/*
 * Writes the files HEAD and refs/heads of a repository whose refs are tables,
 * and the directories that every repository has. Returns 0 or a negative error
 * code.
 */
int stored_layout_frame(const char *dir, enum sys_fsync_method method,
			struct error *err);

#endif
