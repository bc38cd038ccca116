/* SPDX-License-Identifier: MIT */
/*
 * The files of a directory become the next generation of a repository in a
 * store.
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
 * The longest time between the upload of a file and the record that names it,
 * and the shortest grace of a garbage collection (generations/collect.h), which
 * must be longer. Both in seconds.
 */
#define STORED_SESSION_MAX ((int64_t)6 * 3600)
#define STORED_GRACE_MIN ((int64_t)12 * 3600)

/* What becomes the next generation. All pointers are borrowed. */
struct stored_successor {
	/*
	 * A bare repository whose refs are tables, and which nobody changes.
	 * Files that a generation cannot have (stored_layout_allows()) are left
	 * out.
	 */
	const char *dir;
	const char *node, *user, *action; /* for the record */
	/*
	 * The directory may lack objects that the base has. A later generation
	 * than the base is an obstacle then.
	 */
	bool drops_objects;
};

/* What the next generation has, and what was written for it. */
struct stored_written {
	uint64_t number;         /* of the generation */
	uint64_t file_nr, bytes; /* of the generation */
	uint64_t upload_nr,
		upload_bytes; /* of these, files that were written */
	bool is_same; /* the base had this content already; nothing was made */
};

/*
 * Makes the generation. *base is the generation that the directory was compared
 * with or made from; zeroed for a repository that does not exist. It may become
 * a newer one.
 * Files that the base has are not written again, and its other files are
 * dropped. Without `drops_objects`, changes of other writers since the base are
 * kept: their packs and refs stay in the new generation.
 * Returns 0, ERR_DENIED if the repository was changed in a way that the change
 * does not fit to, ERR_IO if the store does not answer, or another negative
 * error code. After an error there is no new generation, except if *err says
 * that this could not be found out.
 */
int stored_successor_commit(struct stored_written *out, struct generation *base,
			    const struct generation_place *place,
			    const struct stored_successor *how,
			    struct error *err);

#endif
