/* SPDX-License-Identifier: MIT */
/*
 * Used only inside generations/: makes one record for one or several changes.
 */
#ifndef GENERATIONS_COMMIT_H
#define GENERATIONS_COMMIT_H

#include "generations/history.h"

/*
 * One of the changes for which a record is made, and its result. Only one
 * thread may use it at a time.
 */
struct commit_member {
	const struct generation_change *change; /* borrowed */
	struct generation_session session;
	/*
	 * A value of generation_commit_result or a negative error code. `err`
	 * is set unless the result is GENERATION_COMMITTED. The value is final
	 * only when `is_done` is set.
	 */
	int result;
	bool is_done;
	struct error err;
};

/*
 * Checks a change, and starts the time limit for its uploads and its record
 * (m->session). Returns 0 or a negative error code.
 */
int commit_start(struct commit_member *m, const struct generation_place *place,
		 const struct generation_change *change, struct error *err);

/*
 * Writes the files of a change. If the change has files and `hint` is not 0,
 * also writes the number `hint` into the hint, a small file that tells a search
 * for the newest record where to start. Record number `hint` must exist.
 * If the change has no files, writes nothing, not even the hint. Returns 0,
 * GENERATION_STORE_DOWN, or a negative error code.
 */
int commit_upload(const struct generation_change *change,
		  const struct generation_session *session,
		  const struct generation_place *place, uint64_t hint,
		  struct error *err);

/*
 * Makes the next generation of a repository, with one record for `nr` (> 0)
 * changes. members[i] has one of the changes: callers that commit at the same
 * time share the record. The files of the changes are written already.
 * Afterwards, members[i]->result is set for each change. *base is used and
 * replaced as in generation_commit().
 */
void commit_make(struct generation *base, const struct generation_place *place,
		 struct commit_member *const *members, size_t nr);

#endif
