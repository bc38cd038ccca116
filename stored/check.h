/* SPDX-License-Identifier: MIT */
/*
 * Checks the content of a repository in a store. Changes nothing in the store.
 */
#ifndef STORED_CHECK_H
#define STORED_CHECK_H

#include "generations/history.h"
#include "sys/progress.h"

struct stored_check {
	/*
	 * true: also download the files, compare their SHA-256, check packs and
	 * bitmap indexes, and check that all objects that refs reach exist
	 */
	bool full;
	/* directory for temporary files, used if `full` is true */
	const char *tmp;
	/* called for each problem; `what` is a line of text for the user */
	void (*wrong)(void *ctx, const char *what);
	void *ctx;
	const struct progress_out *progress; /* NULL: none */
};

struct stored_check_report {
	/* number of the newest generation */
	uint64_t number;
	/* number of generations whose records were read */
	uint64_t generation_nr;
	/* number and total size of the files of the newest generation */
	uint64_t file_nr, bytes;
	uint64_t wrong_nr; /* number of problems */
};

/*
 * Checks the newest generation of a repository:
 * - each file is in the store, with its size;
 * - each record has the right hash of its parent, the record before it. The
 *   check goes back to the first record, or to the newest retired record. A
 *   garbage collection has removed the content of a retired record. So its hash
 *   is not the one that the next record has, and is not compared.
 *
 * Problems are reported to how->wrong(). Returns 0 if all checks were made, or
 * if a problem made further checks impossible. Returns ERR_MISSING if the
 * repository has no generation, ERR_IO if the store or the local disk failed,
 * or another negative error code.
 */
int stored_check_run(struct stored_check_report *report,
		     const struct generation_place *place,
		     const struct stored_check *how, struct error *err);

/* ---- check-objects.c */

/*
 * Checks the repository in `dir`: its packs with their .idx and .rev files; the
 * multi-pack-indexes; the bitmap indexes; the commit-graphs; the prepared
 * answers and kept deltas of the packs; and whether all reachable objects
 * exist. Calls how->wrong() for each problem. Returns the number of problems,
 * or a negative error code.
 */
int stored_check_objects(const char *dir, const struct stored_check *how,
			 struct error *err);

#endif
