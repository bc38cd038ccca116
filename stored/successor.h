/* SPDX-License-Identifier: MIT */
/*
 * Makes the next generation (version) of a repository in a store from the files
 * of a directory.
 *
 *	newest generation    a.pack  b.pack  old table
 *	the directory        a.pack  c.pack  new table
 *	the change           drops b.pack and the old table, uploads c.pack and
 *	                     the new table
 */
#ifndef STORED_SUCCESSOR_H
#define STORED_SUCCESSOR_H

#include "generations/history.h"

/*
 * STORED_SESSION_MAX is the maximum time in seconds between the upload of a
 * file and the record that names the file. STORED_GRACE_MIN is the minimum age
 * in seconds at which a garbage collection may delete an unused file
 * (generations/collect.h). This age must be greater than STORED_SESSION_MAX.
 */
#define STORED_SESSION_MAX ((int64_t)6 * 3600)
#define STORED_GRACE_MIN ((int64_t)12 * 3600)

/*
 * The input for the next generation (version) of a repository in a store. All
 * pointers are borrowed.
 */
struct stored_successor {
	/*
	 * A bare repository that nobody changes meanwhile. Its refs are in
	 * reftables. A side bundle (stored/side.h) is written into it. Files
	 * that a generation cannot have (stored_layout_allows()) are ignored.
	 */
	const char *dir;
	/* names of the node, the user and the action in the record */
	const char *node, *user, *action;
	/*
	 * true: the directory may lack objects that the base generation has. In
	 * this case, the call fails if the store has a newer generation.
	 */
	bool drops_objects;
};

/*
 * Numbers about a new generation and about its uploads, which include the side
 * bundle.
 */
struct stored_written {
	uint64_t number; /* number of the generation */
	/* number and total size of the generation's files */
	uint64_t file_nr, bytes;
	/*
	 * number and total size of those files of the generation that were
	 * uploaded
	 */
	uint64_t upload_nr, upload_bytes;
	/*
	 * true: the base generation had this content already, so nothing was
	 * made
	 */
	bool is_same;
};

/*
 * Makes the next generation from the files of a directory. *base is the
 * generation with which the directory was compared; it is zeroed if the
 * repository does not exist. The call may replace *base by a newer generation.
 *
 * If the base has a file with the same path and content as a file of the
 * directory, the file is not uploaded again: the new generation keeps the file
 * of the base. If the directory lacks a file of the base, or has different
 * content at its path, the new generation drops the file of the base.
 *
 * Reftables are an exception: those of the base are dropped, and those of the
 * directory are uploaded, also if they are equal. The reftable of the base is
 * kept only if three conditions are met. The base has exactly one reftable. The
 * record of the base has no updates (changes of refs that are in no reftable
 * yet). And the reftable has the same refs as the directory.
 *
 * Other writers may have made generations after the base. Without
 * `drops_objects`, the new generation keeps the packs and refs that these
 * writers have added.
 *
 * Returns 0, ERR_DENIED if a change of another writer conflicts with this one,
 * ERR_IO if the store does not answer, or another negative error code. After an
 * error, no new generation was made, unless *err says that this is unknown.
 */
int stored_successor_commit(struct stored_written *out, struct generation *base,
			    const struct generation_place *place,
			    const struct stored_successor *how,
			    struct error *err);

#endif
