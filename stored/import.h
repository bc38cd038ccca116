/* SPDX-License-Identifier: MIT */
/*
 * Imports a local repository: makes the next generation (version) of a
 * repository in a store from the content of the local repository.
 */
#ifndef STORED_IMPORT_H
#define STORED_IMPORT_H

#include "generations/history.h"
#include "repo/repo.h"
#include "stored/successor.h"
#include "sys/progress.h"

struct stored_import {
	/*
	 * names of the node and of the user that the new record shall contain
	 */
	const char *node, *user;
	/* directory for temporary files */
	const char *tmp;
	/*
	 * true: if the repository exists in the store, replace its content;
	 * false: this is an error
	 */
	bool force;
	const struct progress_out *progress; /* NULL: none */
};

struct stored_import_result {
	struct stored_written written;
	/* number of objects in the packs that the import made */
	uint64_t packed_nr;
};

/*
 * Makes a generation with the content of `source` (stored/stage.h), which is
 * not changed. Files that the newest generation has are not written again.
 *
 * Returns 0 or a negative error code. ERR_DENIED: the repository exists in the
 * store and `force` is not set, or another writer changed it during the import.
 * ERR_IO: the store does not answer. After an error, no new generation was
 * made, unless *err says that this is unknown.
 */
int stored_import_run(struct stored_import_result *result,
		      const struct generation_place *place,
		      const struct repo *source,
		      const struct stored_import *how, struct error *err);

#endif
